"""Writing a setting into the user's config.toml; comments and all other lines stay."""

import errno
import json
import os
import re
import tomllib
from collections.abc import Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

from contextui.config.schema import CONFIG_FILE
from contextui.config.settings import SettingsError, StrategyChoice, allowed, key_of
from contextui.config.sources import Layer, users_layer
from contextui.errors import os_reason
from contextui.plain_file import read_plain, replace_plain
from contextui.secrets import mask
from contextui.text import quote, shown_path

_LARGEST = 1_000_000  # bytes
_LISTS = ("window", "windows", "secret_files", "allow_commands")
_HEADER = re.compile(r"\s*\[")
_COMMENT = re.compile(r"\s*#")


def write_setting(home: Path, name: str, typed: str) -> Any:
    """Validate a setting and write it into the user's config file; return its value.

    Args:
        home: The folder of persistent data.
        name: The setting.
        typed: The value as typed; the items of a list are separated by commas.

    Raises:
        SettingsError: The value is not allowed, looks like a key, or the file cannot be changed
            without changing something else. The file stays as it was.
    """
    value = _checked(name, typed)
    path = Path(os.path.realpath(home / CONFIG_FILE))  # it may be a link to a dotfile
    shown = shown_path(home / CONFIG_FILE)
    users_layer(home)  # a file with a mistake is reported, and not changed
    try:
        text = read_plain(path, _LARGEST).decode("utf-8") if path.exists() else ""
    except (OSError, UnicodeDecodeError) as error:
        why = os_reason(error) if isinstance(error, OSError) else "UTF-8"
        raise SettingsError("{file} cannot be read: {why}.", file=shown, why=why) from error
    table, _, key = key_of(name).rpartition(".")
    plain, before = _plain(value), _parsed(text) or {}
    if name in before and not isinstance(before[name], dict):
        table, key = "", name  # it is there, without its table
    new = _with(text, table, key, _toml(plain))
    expected = _expected(before, table, key, plain)
    if expected is None or _parsed(new) != expected:
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
        replace_plain(path, new.encode("utf-8"), mode)
    except OSError as error:
        raise SettingsError(
            "{file} cannot be written: {reason}.", file=shown, reason=os_reason(error)
        ) from error
    return value


def set_default_model(home: Path, model: str) -> str:
    """Write the default model, and return the file's path for display.

    A provider in the file would decide instead of the one that the model names.

    Raises:
        SettingsError: As for `write_setting`.
    """
    write_setting(home, "model", model)
    if users_layer(home).values.get("provider", "auto") != "auto":
        write_setting(home, "provider", "auto")
    return shown_path(home / CONFIG_FILE)


def _checked(name: str, typed: str) -> Any:
    if mask(typed) != typed:
        raise SettingsError("API keys are not allowed in config files.")
    given: Any = typed.strip()
    if name in _LISTS:
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


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")


def _parsed(text: str) -> dict[str, Any] | None:
    try:
        return tomllib.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError):
        return None


def _expected(before: Mapping[str, Any], table: str, key: str, value: Any) -> dict[str, Any] | None:
    after = deepcopy(dict(before))
    target = after.setdefault(table, {}) if table else after
    if not isinstance(target, dict):
        return None
    target[key] = value
    return after


def _with(text: str, table: str, key: str, value: str) -> str:
    """Return the text with a setting in its line, or in a new one."""
    end_of_line = "\r\n" if "\r\n" in text else "\n"
    lines = re.split(r"\r?\n", text)
    if not lines[-1]:
        del lines[-1]
    start, end = _section(lines, table)
    name = rf'(?:{re.escape(key)}|"{re.escape(key)}")'
    found = _find(lines, range(start, end), rf"\s*{name}\s*=")
    if found is None and table:
        top = range(*_section(lines, ""))
        found = _find(lines, top, rf"\s*{re.escape(table)}\s*\.\s*{name}\s*=")
    if found is not None:
        lines[found] = f"{lines[found].partition('=')[0]}= {value}{_comment(lines[found])}"
    elif table and start == end == len(lines) and not _has_table(lines, table):
        lines += [*([""] if lines else []), f"[{table}]", f"{key} = {value}"]
    else:
        while end > start and not lines[end - 1].strip():
            end -= 1
        lines.insert(end, f"{key} = {value}")
    return "".join(f"{one}{end_of_line}" for one in lines)


def _comment(line: str) -> str:
    """Return the comment at the end of a line: what is before it is complete."""
    places = (one.start() for one in _COMMENT.finditer(line))
    return next((line[at:] for at in places if _parsed(line[:at]) is not None), "")


def _section(lines: list[str], table: str) -> tuple[int, int]:
    """Return the lines of a table, without its header; those at the top for no table."""
    heads = [at for at, one in enumerate(lines) if _HEADER.match(one)]
    if not table:
        return 0, heads[0] if heads else len(lines)
    for place, at in enumerate(heads):
        if _is_table(lines[at], table):
            return at + 1, heads[place + 1] if place + 1 < len(heads) else len(lines)
    return len(lines), len(lines)


def _is_table(line: str, table: str) -> bool:
    return re.match(rf"\s*\[\s*{re.escape(table)}\s*\]", line) is not None


def _has_table(lines: list[str], table: str) -> bool:
    return any(_is_table(one, table) for one in lines)


def _find(lines: list[str], places: range, pattern: str) -> int | None:
    return next((at for at in places if re.match(pattern, lines[at])), None)
