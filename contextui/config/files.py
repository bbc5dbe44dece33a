"""What the two files of settings set: the user's own, and the project's, which is anyone's."""

import difflib
import tomllib
from pathlib import Path
from typing import Any

from contextui.config.choices import Approval
from contextui.config.environment import KEY_VARIABLE, TOKEN_VARIABLE
from contextui.config.layer import Layer
from contextui.config.settings import LIMITS, TABLES, Settings, SettingsError
from contextui.plain_file import read_plain
from contextui.text import one_line, shown_path

CONFIG_FILE = "config.toml"
PROJECT_FOLDER = ".contextui"

# A project is anyone's: with these it could run its code, or have the key sent to a stranger.
_NOT_A_PROJECTS = ("base_url", "provider", "window", "windows", "home", *LIMITS)
_SECRET_WORDS = ("api_key", "apikey", "auth_token", "secret", "password")
_LARGEST_FILE = 1_000_000
_LEAST_TO_MOST: tuple[Approval, ...] = ("read-only", "ask", "auto")


def users_layer(home: Path) -> Layer:
    """What the user's own file sets.

    Raises:
        SettingsError: It cannot be read, or sets what there is not.
    """
    return _file_layer(home / CONFIG_FILE)


def project_layer(project: Path, home: Path, users: Layer, notices: list[str]) -> Layer:
    """What the project's file sets: never more than the user allows.

    Args:
        project: The folder in which contextui works.
        home: Where contextui keeps what lasts.
        users: What the user's own file sets.
        notices: Where to say what the project asked for in vain.

    Raises:
        SettingsError: It cannot be read, or sets what there is not, or what no project may.
    """
    folder = project / PROJECT_FOLDER
    if folder.resolve() == home.resolve():
        return Layer({}, {})  # in the user's home folder the two files are one
    layer = _file_layer(folder / CONFIG_FILE, of_project=True)
    chosen = layer.checked().get("strategy")
    if chosen is not None and chosen.is_a_strangers:
        raise SettingsError(
            f"{layer.origin} sets the strategy {chosen}, which a project may not, as it does not "
            "ship with contextui: give it as a flag, or set it in your own config.toml."
        )
    for pattern in layer.checked().get("secret_files", ()):
        if pattern.startswith("!"):
            raise SettingsError(
                f"{layer.origin} takes {one_line(pattern, 60)} out of secret_files, which a "
                "project may not: set it in your own config.toml."
            )
    wanted = layer.checked().get("approval")
    usual = users.checked().get("approval", Settings.model_fields["approval"].default)
    if wanted and _LEAST_TO_MOST.index(wanted) > _LEAST_TO_MOST.index(usual):
        notices.append(
            f"{layer.origin} asks for approval {wanted}; it stays {usual}, as a project cannot "
            f"raise it. Use --approval {wanted} if you want that."
        )
        values = {name: value for name, value in layer.values.items() if name != "approval"}
        return Layer(values, layer.names, layer.origin, strict=True)
    return layer


def _file_layer(path: Path, *, of_project: bool = False) -> Layer:
    shown = shown_path(path)
    values, names = _flattened(_parsed(path, shown), shown)
    for key in values:
        _check_key(key, shown, of_project=of_project)
    if isinstance(values.get("secret_files"), list):
        values["secret_files"] = tuple(values["secret_files"])
    for name in {"window", "windows"} & values.keys():
        if isinstance(values[name], list):  # else it is refused with all that is wrong
            values[name] = tuple(_beside(path, one) for one in values[name])
    return Layer(values, names, shown, strict=True)


def _flattened(given: dict[str, Any], shown: str) -> tuple[dict[str, Any], dict[str, str]]:
    """The settings by name, those of tables included, and what each is called in the file."""
    values: dict[str, Any] = {}
    names: dict[str, str] = {}
    for key, value in given.items():
        if key not in TABLES or not isinstance(value, dict):
            values[key], names[key] = value, f"{key} in {shown}"
            continue
        table = TABLES[key]
        for inner, one in value.items():
            if inner not in table:
                named, known = one_line(f"{key}.{inner}", 60), ", ".join(table)
                raise SettingsError(
                    f"{shown} sets {named}, and there is no such setting. There is: {known}."
                )
            values[table[inner]] = one
            names[table[inner]] = f"{key}.{inner} in {shown}"
    return values, names


def _beside(path: Path, name: object) -> object:
    """A path in a file of settings is meant from where that file is."""
    is_path = isinstance(name, str) and name.strip()  # an empty one is refused
    return str(path.parent / Path(str(name)).expanduser()) if is_path else name


def _parsed(path: Path, shown: str) -> dict[str, Any]:
    try:
        return tomllib.loads(read_plain(path, _LARGEST_FILE).decode("utf-8-sig"))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise SettingsError(f"{shown}, line {line}: this is not UTF-8 text.") from error
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{shown} is not valid TOML: {one_line(str(error), 200)}.") from error
    except (ValueError, RecursionError) as error:
        raise SettingsError(f"{shown} is not valid TOML: a value is out of bounds.") from error
    except OSError as error:
        raise SettingsError(f"{shown} cannot be read: {error.strerror}.") from error


def _check_key(key: str, shown: str, *, of_project: bool) -> None:
    plain = key.lower().replace("-", "_")
    named = one_line(key, 60)
    if plain != "secret_files" and any(word in plain for word in _SECRET_WORDS):
        variable = TOKEN_VARIABLE if "auth_token" in plain else KEY_VARIABLE
        raise SettingsError(
            f"{shown} holds {named}: a key does not belong into a file. "
            f"Set the variable {variable} instead."
        )
    if of_project and plain in _NOT_A_PROJECTS:
        if plain == "home":
            where = "set the variable CONTEXTUI_HOME."
            raise SettingsError(f"{shown} sets {named}, which a project may not: {where}")
        raise SettingsError(
            f"{shown} sets {named}, which a project may not: "
            "give it as a flag, or set it in your own config.toml."
        )
    if key not in Settings.model_fields:
        raise SettingsError(f"{shown} sets {named}, and there is no such setting.{_nearest(plain)}")


def _nearest(key: str) -> str:
    if key == "home":
        return " Set the variable CONTEXTUI_HOME instead."
    near = difflib.get_close_matches(key, Settings.model_fields, 1, 0.5)
    return f" Is {near[0]} meant?" if near else f" There is: {', '.join(Settings.model_fields)}."
