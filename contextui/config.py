"""The settings: what there is to choose, and where each choice comes from.

What counts, first to last: flags, ``CONTEXTUI_*``, ``ANTHROPIC_*``, the project's
``.contextui/config.toml``, the user's ``config.toml``, what the locale says, the defaults. Each of
them is checked whole, so that a wrong value is told even where it would not count.
"""

import difflib
import os
import stat
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, get_args
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from contextui.errors import ContextUIError
from contextui.strategy_choice import StrategyChoice
from contextui.text import one_line

Provider = Literal["auto", "anthropic", "offline"]
Placement = Literal["tail", "in-place"]
Approval = Literal["ask", "auto", "read-only"]
Lang = Literal["en", "zh"]
ToolProtocol = Literal["native", "text"]

OFFLINE = "offline"
"""The model's name that stands for the embedded one."""

KEY_VARIABLE = "ANTHROPIC_API_KEY"
CONFIG_FILE = "config.toml"
PROJECT_FOLDER = ".contextui"

_PREFIX = "CONTEXTUI_"
_OWN_VARIABLES = {"CONTEXTUI_HOME", "CONTEXTUI_DEBUG"}
_PROVIDER_VARIABLES = {"model": "ANTHROPIC_MODEL", "base_url": "ANTHROPIC_BASE_URL"}
_LOCALE_VARIABLES = ("LC_ALL", "LC_MESSAGES", "LANG")
# A project is anyone's: with these it could run its code, or have the key sent to a stranger.
_NOT_A_PROJECTS = ("base_url", "provider", "window", "windows", "home")
_SECRET_WORDS = ("api_key", "apikey", "auth_token", "secret", "password")
_LARGEST_FILE = 1_000_000
_DEFAULT = "default"
_LEAST_TO_MOST: tuple[Approval, ...] = ("read-only", "ask", "auto")


class SettingsError(ContextUIError):
    """A setting that cannot be used; the text names it, where it stands, and what is allowed."""


@dataclass(frozen=True, slots=True)
class Allowed:
    """What a setting may be, in words."""

    words: str


def _checked_url(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("no address")
    if "@" in parts.netloc or parts.query or parts.fragment or (parts.port or 0) < 0:
        raise ValueError("more than an address")
    return url.rstrip("/")


Count = Annotated[
    int, Field(ge=1, le=1_000_000_000), Allowed("a whole number from 1 to 1,000,000,000")
]
ModelName = Annotated[
    str, Field(pattern=r"^[^\s\x00-\x1f]{1,200}$"), Allowed("a model's name, without spaces")
]
Url = Annotated[
    str,
    Field(pattern=r"^[\x21-\x7e]{1,2000}$"),
    AfterValidator(_checked_url),
    Allowed("an address such as http://localhost:11434, without a key in it"),
]
Strategy = Annotated[
    StrategyChoice,
    Allowed("a strategy's name, or a table with type, plugin, model and config"),
]
_GivenPath = Annotated[str, Field(pattern=r"\S")]  # an empty one would be the current folder
Paths = Annotated[tuple[_GivenPath, ...], Allowed("a list of paths, and none of them empty")]


class Settings(BaseModel):
    """Everything that can be set. Each has a flag, a variable and a key of these names."""

    # Most calls of the program ask what there is to set, and set nothing.
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    provider: Provider = Field(
        default="auto",
        description="who answers; auto is anthropic if there is a key or a base URL, else offline",
    )
    model: ModelName = Field(
        default="claude-sonnet-5-5", description="the model to ask; offline is the embedded one"
    )
    base_url: Url | None = Field(
        default=None,
        description="where the model is served; any server that speaks Anthropic's API",
    )
    budget: Count = Field(default=128_000, description="tokens that a request may have")
    max_tokens: Count = Field(default=8_192, description="tokens that an answer may have")
    max_steps: Count = Field(
        default=50, description="requests that a turn may take before it pauses"
    )
    tool_protocol: ToolProtocol = Field(
        default="native", description="how the model calls tools: by the API, or in its text"
    )
    strategy: Strategy = Field(
        default=StrategyChoice(type="sliding"), description="what the model reads of a long talk"
    )
    placement: Placement = Field(
        default="tail",
        description="where live windows stand: at the end, or where they were opened",
    )
    approval: Approval = Field(
        default="ask",
        description="what may write outside of windows: what you allow, all, or nothing",
    )
    window: Paths = Field(default=(), description="a file of windows, FILE.py or FILE.py:Class")
    windows: Paths = Field(default=(), description="a folder of such files")
    lang: Lang = Field(default="en", description="the language; by default that of the locale")


@dataclass(frozen=True, slots=True)
class Loaded:
    """The settings, and what is known about them.

    Attributes:
        settings: What counts.
        origins: Where each comes from, in words: a flag, a variable, a file, or ``default``.
        notices: What the user should know.
        api_key: The provider's key. It is no setting, and it is never shown.
    """

    settings: Settings
    origins: Mapping[str, str]
    notices: tuple[str, ...] = ()
    api_key: "Secret | None" = None

    @property
    def provider(self) -> Literal["anthropic", "offline"]:
        """Who answers."""
        settings = self.settings
        if settings.provider != "auto":
            return settings.provider
        configured = self.api_key is not None or settings.base_url is not None
        return "anthropic" if configured and settings.model != OFFLINE else "offline"


@dataclass(frozen=True, slots=True, repr=False)
class Secret:
    """A text that no log, error or dump shows."""

    value: str

    def __repr__(self) -> str:
        return "Secret(***)"


@dataclass(frozen=True, slots=True)
class _Layer:
    """What one place sets.

    Attributes:
        values: The settings by name.
        names: What each is called there, for errors.
        origin: Where it comes from; empty if the name says that.
        strict: Whether the values have types; variables and flags are all text.
    """

    values: Mapping[str, Any]
    names: Mapping[str, str]
    origin: str = ""
    strict: bool = False

    def checked(self) -> dict[str, Any]:
        """The values as settings.

        Raises:
            SettingsError: One of them cannot be used.
        """
        try:
            valid = Settings.model_validate(dict(self.values), strict=self.strict)
        except ValidationError as error:
            first = error.errors(include_url=False, include_context=False)[0]
            name = str(first["loc"][0])
            value = one_line(_shown(self.values[name]), 60)
            raise SettingsError(
                f"{self.names[name]} is {value}: it must be {allowed(name)}."
            ) from error
        return {name: getattr(valid, name) for name in self.values}

    def origin_of(self, name: str) -> str:
        return self.origin or self.names[name]


def load_settings(
    flags: Mapping[str, Any], environ: Mapping[str, str], home: Path, project: Path
) -> Loaded:
    """Gather the settings from everywhere.

    Args:
        flags: What was given on the command line, by the settings' names.
        environ: The environment's variables.
        home: Where contextui keeps what lasts.
        project: The folder in which contextui works.

    Raises:
        SettingsError: Something cannot be used; the text says what, where and why.
    """
    notices = list(_misspelt(environ))
    users = _file_layer(home / CONFIG_FILE)
    layers = [
        _locale(environ),
        users,
        _project_layer(project / PROJECT_FOLDER, home, users, notices),
        _variables(environ, _PROVIDER_VARIABLES),
        _variables(environ, {name: _PREFIX + name.upper() for name in Settings.model_fields}),
        _Layer(flags, {name: flag_of(name) for name in flags}),
    ]
    values: dict[str, Any] = {}
    origins = dict.fromkeys(Settings.model_fields, _DEFAULT)
    for layer in layers:
        values |= layer.checked()
        origins |= {name: layer.origin_of(name) for name in layer.values}
    key = environ.get(KEY_VARIABLE, "").strip()
    return Loaded(Settings(**values), origins, tuple(notices), Secret(key) if key else None)


def flag_of(name: str) -> str:
    """The flag of a setting."""
    return "--" + name.replace("_", "-")


def choices(name: str) -> tuple[str, ...]:
    """What a setting can be, if that is one of a few words."""
    words = get_args(Settings.model_fields[name].annotation)
    return words if all(isinstance(word, str) for word in words) else ()


def allowed(name: str) -> str:
    """What a setting may be, in words."""
    field = Settings.model_fields[name]
    if words := choices(name):
        return f"one of {', '.join(words)}"
    found = [one for one in _metadata(field.annotation, field.metadata) if isinstance(one, Allowed)]
    return found[0].words


def locale_lang(environ: Mapping[str, str]) -> Lang | None:
    """The language of the locale; None if it says nothing."""
    locale = environ.get(_locale_variable(environ), "").lower()
    return ("zh" if locale.startswith("zh") else "en") if locale else None


# --- the places ------------------------------------------------------------------------------


def _variables(environ: Mapping[str, str], names: Mapping[str, str]) -> _Layer:
    """What the environment sets; an empty variable sets nothing."""
    values: dict[str, Any] = {
        name: environ[variable] for name, variable in names.items() if environ.get(variable)
    }
    for name in ("window", "windows"):
        if name in values:
            values[name] = [one for one in values[name].split(",") if one]
    return _Layer(values, {name: names[name] for name in values})


def _locale(environ: Mapping[str, str]) -> _Layer:
    variable, lang = _locale_variable(environ), locale_lang(environ)
    return _Layer({"lang": lang}, {"lang": variable}) if lang else _Layer({}, {})


def _locale_variable(environ: Mapping[str, str]) -> str:
    return next(filter(environ.get, _LOCALE_VARIABLES), "")


def _misspelt(environ: Mapping[str, str]) -> Iterator[str]:
    known = {_PREFIX + name.upper() for name in Settings.model_fields} | _OWN_VARIABLES
    for variable in sorted(environ):
        if variable.startswith(_PREFIX) and variable not in known:
            near = difflib.get_close_matches(variable, known, 1, 0.85)
            if near:
                yield f"{one_line(variable)} is no setting. Is {near[0]} meant?"


def _project_layer(folder: Path, home: Path, users: _Layer, notices: list[str]) -> _Layer:
    if folder.resolve() == home.resolve():
        return _Layer({}, {})  # in the user's home folder the two files are one
    layer = _file_layer(folder / CONFIG_FILE, of_project=True)
    chosen = layer.checked().get("strategy")
    if chosen is not None and chosen.is_a_strangers:
        raise SettingsError(
            f"{layer.origin} sets the strategy {chosen}, which a project may not, as it does not "
            "ship with contextui: give it as a flag, or set it in your own config.toml."
        )
    wanted = layer.checked().get("approval")
    usual = users.checked().get("approval", Settings.model_fields["approval"].default)
    if wanted and _LEAST_TO_MOST.index(wanted) > _LEAST_TO_MOST.index(usual):
        notices.append(
            f"{layer.origin} asks for approval {wanted}; it stays {usual}, as a project cannot "
            f"raise it. Use --approval {wanted} if you want that."
        )
        values = {name: value for name, value in layer.values.items() if name != "approval"}
        return _Layer(values, layer.names, layer.origin, strict=True)
    return layer


def _file_layer(path: Path, *, of_project: bool = False) -> _Layer:
    shown = one_line(str(path), 160)
    values = _parsed(path, shown)
    for key in values:
        _check_key(key, shown, of_project=of_project)
    for name in {"window", "windows"} & values.keys():
        if isinstance(values[name], list):  # else it is refused with all that is wrong
            values[name] = tuple(_beside(path, one) for one in values[name])
    return _Layer(values, {name: f"{name} in {shown}" for name in values}, shown, strict=True)


def _beside(path: Path, name: object) -> object:
    """A path in a file of settings is meant from where that file is."""
    is_path = isinstance(name, str) and name.strip()  # an empty one is refused
    return str(path.parent / Path(str(name)).expanduser()) if is_path else name


def _parsed(path: Path, shown: str) -> dict[str, Any]:
    try:
        return tomllib.loads(_content(path).decode("utf-8-sig"))
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


def _content(path: Path) -> bytes:
    """All of a plain file; a pipe in its place would be waited for."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        info = os.fstat(descriptor)
        if not stat.S_ISREG(info.st_mode):
            raise OSError(None, "it is not a file")
        if info.st_size > _LARGEST_FILE:
            raise OSError(None, f"it has more than {_LARGEST_FILE:,} bytes")
        return file.read(_LARGEST_FILE)


def _check_key(key: str, shown: str, *, of_project: bool) -> None:
    plain = key.lower().replace("-", "_")
    named = one_line(key, 60)
    if any(word in plain for word in _SECRET_WORDS):
        raise SettingsError(
            f"{shown} holds {named}: a key does not belong into a file. "
            f"Set the variable {KEY_VARIABLE} instead."
        )
    if of_project and plain in _NOT_A_PROJECTS:
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


# --- words -----------------------------------------------------------------------------------


def _metadata(annotation: Any, own: Sequence[Any]) -> Iterator[Any]:
    """What is noted about a field, also where its type is one of several."""
    yield from own
    for one in get_args(annotation):
        yield from getattr(one, "__metadata__", ())


def _shown(value: object) -> str:
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_shown, value)) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else str(value)
