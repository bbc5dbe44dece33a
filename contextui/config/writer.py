"""Writing a setting into the user's config.toml; comments and all other lines stay."""

import errno
import os
import tomllib
from pathlib import Path
from typing import Any

import tomlkit
from tomlkit.items import Array

from contextui.config.schema import CONFIG_FILE, LISTS, key_of
from contextui.config.settings import SettingsError, StrategyChoice, allowed
from contextui.config.sources import Layer, users_layer
from contextui.errors import os_reason
from contextui.plain_file import read_plain, write_private
from contextui.secrets import mask
from contextui.text import quote, shown_path

_LARGEST = 1_000_000  # bytes


def write_setting(home: Path, name: str, typed: str) -> Any:
    """Validate a setting and write it into the user's config file; return its value.

    Raises:
        SettingsError: The value is not allowed, looks like a key, or the file cannot be changed
            without changing something else. The file stays as it was.
    """
    value = _checked(name, typed)
    path = Path(os.path.realpath(home / CONFIG_FILE))  # it may be a link to a dotfile
    shown = shown_path(home / CONFIG_FILE)
    users_layer(home)  # a file with a mistake is reported, and not changed
    text = read_plain(path, _LARGEST).decode("utf-8-sig") if path.exists() else ""
    document = tomlkit.parse(text)
    table, _, key = key_of(name).rpartition(".")
    if name in document and not isinstance(document[name], dict):
        table, key = "", name  # it is there, without its table
    parent = document.setdefault(table, tomlkit.table()) if table else document
    is_safe = isinstance(parent, dict)
    if is_safe and isinstance(old := parent.get(key), Array):
        is_safe = not {"#", "\n"} <= set(old.as_string())  # a comment in a list would be lost
    if is_safe:
        parent[key] = _plain(value)
    new = tomlkit.dumps(document)
    if not is_safe or tomllib.loads(new) != document.unwrap():
        raise SettingsError(
            "{file} cannot be changed safely: edit {name} there yourself.",
            file=shown,
            name=key_of(name),
        )
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        mode = path.stat().st_mode & 0o777 if path.exists() else 0o600
        if not mode & 0o222:  # also where the folder would allow to replace it
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        write_private(path, new.encode("utf-8"), mode=mode)
    except OSError as error:
        raise SettingsError(
            "{file} cannot be written: {reason}.", file=shown, reason=os_reason(error)
        ) from error
    return value


def set_default_model(home: Path, model: str) -> str:
    """Write the default model, and return the file's path for display.

    A provider in the file would decide instead of the one that the model names.
    """
    write_setting(home, "model", model)
    if users_layer(home).values.get("provider", "auto") != "auto":
        write_setting(home, "provider", "auto")
    return shown_path(home / CONFIG_FILE)


def _checked(name: str, typed: str) -> Any:
    if mask(typed) != typed:
        raise SettingsError("API keys are not allowed in config files.")
    given: Any = typed.strip()
    if name in LISTS:
        given = tuple(one.strip() for one in typed.split(",") if one.strip())
    try:
        return Layer({name: given}, {name: key_of(name)}).checked()[name]
    except SettingsError:
        raise SettingsError(
            "{name} is {value}: it must be {allowed}.",
            name=key_of(name),
            value=quote(typed[:80]),
            allowed=allowed(name),
        ) from None


def _plain(value: Any) -> Any:
    if isinstance(value, StrategyChoice):
        return value.name
    return list(value) if isinstance(value, tuple) else value
