"""Validation of the settings: the type of each and its allowed values.

The first frame and commands that list need them, so that pydantic would take too long to load.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from contextui.config.schema import (
    SETTINGS,
    Approval,
    LodName,
    Notify,
    Placement,
    Provider,
    ToolProtocol,
)
from contextui.errors import ContextUIError
from contextui.words import Lang, Message, msg

BUILTIN_STRATEGIES = ("sliding", "summarization", "entities")
"""The names of the built-in strategies."""

ALLOWED = {
    "type": msg("a strategy's name, or plugin"),
    "plugin": msg("the name of a strategy from an installed package"),
    "model": msg("a model's name, without spaces"),
    "config": msg("a table"),
}
"""The allowed values of each key in the strategy table, for error messages."""
PLUGIN_CONFLICT = msg("plugin, or strategy.plugin left out")
"""The allowed values of the type if a plugin is named, for error messages."""

_PLUGIN = "plugin"
_NAME = re.compile(r"[\w.-]{1,100}")
_MODEL = re.compile(r"[^\s\x00-\x1f]{1,200}")


class InvalidValueError(ValueError):
    """A value that a setting may not have; its argument is the element or key that is wrong."""


@dataclass(frozen=True, slots=True)
class StrategyChoice:
    """The selected strategy, given by name or as a table.

    Attributes:
        model: The model that the strategy may use; by default the one that answers.

    Example:
        >>> StrategyChoice.of("summarization").name
        'summarization'
    """

    type: str
    plugin: str | None = None
    model: str | None = None
    config: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, given: object) -> "StrategyChoice":
        """Validate a name or a table."""
        table = {"type": given} if isinstance(given, str) else given
        if not isinstance(table, Mapping):
            raise InvalidValueError
        forms = {"type": _NAME, "plugin": _NAME, "model": _MODEL}
        for key in (*table, "type"):
            value = table.get(key)
            is_name = key in forms and isinstance(value, str) and forms[key].fullmatch(value)
            if not is_name and not (key == "config" and isinstance(value, dict)):
                raise InvalidValueError(key)
        if (table["type"] == _PLUGIN) != ("plugin" in table):
            raise InvalidValueError
        return cls(**table)

    @property
    def plain(self) -> str | dict[str, Any]:
        """The name, or the table."""
        rest = {"plugin": self.plugin, "model": self.model, "config": self.config}
        set_ones = {name: value for name, value in rest.items() if value}
        return {"type": self.type, **set_ones} if set_ones else self.type

    def __str__(self) -> str:
        return self.name

    @property
    def name(self) -> str:
        """The entry point of a plugin, else the type of a built-in strategy."""
        return self.plugin or self.type

    @property
    def is_third_party(self) -> bool:
        """Whether it is third-party code, not built in."""
        return self.name not in BUILTIN_STRATEGIES


OFFLINE = "offline"
"""The model name of the embedded offline model."""


LIMITS = (
    "max_calls",
    "max_windows",
    "max_silence",
    "max_answer_time",
    "max_job_time",
    "max_freeze",
    "turns_wake",
    "sandbox",
)
"""Limits that protect the user: a project's config may not set them."""


class SettingsError(ContextUIError):
    """An invalid setting; the message names it, its source, and the allowed values."""


class _Kind(NamedTuple):
    """A type of values: how one is read, and the words for what is allowed."""

    read: Callable[[Any], Any]
    allowed: str
    written: type | tuple[type, ...] = str
    """The type in config.toml; variables and flags are text."""


def _within(least: float, most: float, number: Callable[[str], float]) -> Callable[[Any], float]:
    def read(given: Any) -> float:
        if not least <= (value := number(given)) <= most:
            raise InvalidValueError
        return value

    return read


def _switch(given: Any) -> bool:
    return ("false", "true", "no", "yes", "off", "on", "0", "1").index(str(given).lower()) % 2 == 1


def _matching(pattern: str) -> Callable[[str], str]:
    def read(given: str) -> str:
        if re.match(pattern, given) is None:
            raise InvalidValueError(given)
        return given

    return read


def _list_of(read: Callable[[str], str]) -> Callable[[Any], tuple[str, ...]]:
    def read_all(given: Sequence[Any]) -> tuple[str, ...]:
        if not isinstance(given, list | tuple) or not all(isinstance(one, str) for one in given):
            raise InvalidValueError
        return tuple(map(read, given))

    return read_all


def is_address(url: str, *schemes: str) -> bool:
    """Whether an address has one of these schemes, by default http or https, and a host."""
    try:
        parts = urlsplit(url)
        has_host = bool(parts.hostname) and parts.port != 0
    except ValueError:  # an invalid port or bracket
        return False
    return has_host and parts.scheme in (schemes or ("http", "https"))


def _url(url: str) -> str:
    if not re.fullmatch(r"[\x21-\x7e]{1,2000}", url) or not is_address(url):
        raise InvalidValueError
    parts = urlsplit(url)
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise InvalidValueError
    return url.rstrip("/")


def _command(text: str) -> str:
    from contextui.shell import Pattern  # noqa: PLC0415  (few set commands)

    try:
        return Pattern(text).text
    except ContextUIError as error:
        raise InvalidValueError(text) from error


_COUNT = _Kind(_within(1, 1_000_000_000, int), msg("a whole number from 1 to 1,000,000,000"), int)
_SHARE = _Kind(_within(0.1, 1, float), msg("a number from 0.1 to 1"), (int, float))
_SWITCH = _Kind(_switch, msg("true or false"), bool)
# A path that is empty would be the current folder.
_PATHS = _Kind(_list_of(_matching(r"(?s).*\S")), msg("a list of paths, none of them empty"), list)
_KINDS = {
    "model": _Kind(_matching(_MODEL.pattern + r"\Z"), msg("a model's name, without spaces")),
    "base_url": _Kind(_url, msg("an address such as http://localhost:11434, without a key in it")),
    **dict.fromkeys(("window", "windows"), _PATHS),
    "allow_commands": _Kind(
        _list_of(_command),
        msg("a list of commands such as git status or pytest *, where * allows any more words"),
        list,
    ),
    "secret_files": _Kind(
        _list_of(_matching(r"!?[^\s\x00-\x1f!]")),
        msg("a list of patterns such as *.vault; !PATTERN removes one"),
        list,
    ),
    "strategy": _Kind(
        StrategyChoice.of,
        msg("a strategy's name, or a table with type, plugin, model and config"),
        (str, dict),
    ),
    "compaction_threshold": _SHARE,
}


def _kind(name: str) -> _Kind:
    return _KINDS.get(name) or (_SWITCH if isinstance(SETTINGS[name].default, bool) else _COUNT)


def checked(name: str, given: Any, *, strict: bool) -> Any:
    """Validate and convert the value of a setting.

    Args:
        name: The setting.
        given: The value.
        strict: Whether it is typed, not a text.

    Raises:
        InvalidValueError: The setting may not have this value.
    """
    if choices := SETTINGS[name].choices:
        if given not in choices:
            raise InvalidValueError
        return given
    kind = _kind(name)
    if strict and (
        not isinstance(given, kind.written) or (kind is not _SWITCH and isinstance(given, bool))
    ):
        raise InvalidValueError
    try:
        return kind.read(given)
    except InvalidValueError:
        raise
    except (TypeError, ValueError, ArithmeticError) as error:
        raise InvalidValueError from error


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings, with the defaults of `contextui.config.schema`.

    Each has a flag, an environment variable and a config key derived from its name.
    """

    model: str = SETTINGS["model"].default
    base_url: str | None = SETTINGS["base_url"].default
    provider: Provider = SETTINGS["provider"].default
    budget: int = SETTINGS["budget"].default
    max_tokens: int = SETTINGS["max_tokens"].default
    max_steps: int = SETTINGS["max_steps"].default
    max_calls: int = SETTINGS["max_calls"].default
    max_silence: int = SETTINGS["max_silence"].default
    max_answer_time: int = SETTINGS["max_answer_time"].default
    tool_protocol: ToolProtocol = SETTINGS["tool_protocol"].default
    window: tuple[str, ...] = SETTINGS["window"].default
    windows: tuple[str, ...] = SETTINGS["windows"].default
    windows_lod: LodName = SETTINGS["windows_lod"].default
    max_windows: int = SETTINGS["max_windows"].default
    max_freeze: int = SETTINGS["max_freeze"].default
    max_job_time: int = SETTINGS["max_job_time"].default
    turns_wake: bool = SETTINGS["turns_wake"].default
    approval: Approval = SETTINGS["approval"].default
    allow_commands: tuple[str, ...] = SETTINGS["allow_commands"].default
    sandbox: bool = SETTINGS["sandbox"].default
    secret_files: tuple[str, ...] = SETTINGS["secret_files"].default
    placement: Placement = SETTINGS["placement"].default
    strategy: StrategyChoice = StrategyChoice(SETTINGS["strategy"].default)
    compaction_auto: bool = SETTINGS["compaction_auto"].default
    compaction_threshold: float = SETTINGS["compaction_threshold"].default
    screen_notify: Notify = SETTINGS["screen_notify"].default
    lang: Lang = SETTINGS["lang"].default


def allowed(name: str) -> Message:
    """Describe the allowed values of a setting."""
    if words := SETTINGS[name].choices:
        return Message("one of {words}", {"words": ", ".join(words)})
    return Message(_kind(name).allowed)
