"""Validation of the settings: the type of each, its allowed values and its config key."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, get_args
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    model_serializer,
    model_validator,
)

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
from contextui.shell import NotSimpleError, Pattern
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


class StrategyChoice(BaseModel):
    """The selected strategy, given by name or as a table.

    Attributes:
        model: The model that the strategy may use; by default the one that answers.

    Example:
        >>> StrategyChoice.model_validate("summarization").name
        'summarization'
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    # The length is checked beside the pattern: a repeated Unicode class takes long to compile.
    type: str = Field(pattern=r"^[\w.-]+$", max_length=100)
    plugin: str | None = Field(default=None, pattern=r"^[\w.-]+$", max_length=100)
    model: str | None = Field(default=None, pattern=r"^[^\s\x00-\x1f]{1,200}$")
    config: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _from_name(cls, given: object) -> object:
        return {"type": given} if isinstance(given, str) else given

    @model_validator(mode="after")
    def _check_plugin(self) -> "StrategyChoice":
        if (self.type == _PLUGIN) != (self.plugin is not None):
            raise ValueError("plugin is named with the type plugin, and only there")
        return self

    @model_serializer
    def _serialize(self) -> str | dict[str, Any]:
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


@dataclass(frozen=True, slots=True)
class Allowed:
    """The allowed values of a setting, for error messages."""

    words: str


def _checked_url(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("no address")
    if "@" in parts.netloc or parts.query or parts.fragment or (parts.port or 0) < 0:
        raise ValueError("more than an address")
    return url.rstrip("/")


Count = Annotated[
    int, Field(ge=1, le=1_000_000_000), Allowed(msg("a whole number from 1 to 1,000,000,000"))
]
Switch = Annotated[bool, Allowed(msg("true or false"))]
Share = Annotated[float, Field(ge=0.1, le=1), Allowed(msg("a number from 0.1 to 1"))]
ModelName = Annotated[
    str, Field(pattern=r"^[^\s\x00-\x1f]{1,200}$"), Allowed(msg("a model's name, without spaces"))
]
Url = Annotated[
    str,
    Field(pattern=r"^[\x21-\x7e]{1,2000}$"),
    AfterValidator(_checked_url),
    Allowed(msg("an address such as http://localhost:11434, without a key in it")),
]
Strategy = Annotated[
    StrategyChoice,
    Allowed(msg("a strategy's name, or a table with type, plugin, model and config")),
]
_GivenPath = Annotated[str, Field(pattern=r"\S")]  # an empty path would be the current folder
Paths = Annotated[tuple[_GivenPath, ...], Allowed(msg("a list of paths, none of them empty"))]


_Pattern = Annotated[str, Field(pattern=r"^!?[^\s\x00-\x1f!]")]


def _checked_command(text: str) -> str:
    try:
        return Pattern(text).text
    except NotSimpleError as error:
        raise ValueError(error.text("en")) from error


Commands = Annotated[
    tuple[Annotated[str, AfterValidator(_checked_command)], ...],
    Allowed(
        msg("a list of commands such as git status or pytest *, where * allows any more words")
    ),
]
Patterns = Annotated[
    tuple[_Pattern, ...], Allowed(msg("a list of patterns such as *.vault; !PATTERN removes one"))
]


PAST_PLACEMENT = "turn"
"""A placement of version 2; a setting that names it means ``price``."""


def _present(placement: object) -> object:
    return "price" if placement == PAST_PLACEMENT else placement


def _described(name: str, default: object = None) -> Any:
    known = SETTINGS[name]
    return Field(default=default or known.default, description=known.description)


class Settings(BaseModel):
    """All settings, with the defaults and descriptions of `contextui.config.schema`.

    Each has a flag, an environment variable and a config key derived from its name.
    """

    # Most invocations only read the field definitions and validate nothing.
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    model: ModelName = _described("model")
    base_url: Url | None = _described("base_url")
    provider: Provider = _described("provider")
    budget: Count = _described("budget")
    max_tokens: Count = _described("max_tokens")
    max_steps: Count = _described("max_steps")
    max_calls: Count = _described("max_calls")
    max_silence: Count = _described("max_silence")
    max_answer_time: Count = _described("max_answer_time")
    tool_protocol: ToolProtocol = _described("tool_protocol")
    window: Paths = _described("window")
    windows: Paths = _described("windows")
    windows_lod: LodName = _described("windows_lod")
    max_windows: Count = _described("max_windows")
    max_freeze: Count = _described("max_freeze")
    max_job_time: Count = _described("max_job_time")
    turns_wake: Switch = _described("turns_wake")
    approval: Approval = _described("approval")
    allow_commands: Commands = _described("allow_commands")
    sandbox: Switch = _described("sandbox")
    secret_files: Patterns = _described("secret_files")
    placement: Annotated[Placement, BeforeValidator(_present)] = _described("placement")
    strategy: Strategy = _described("strategy", StrategyChoice(type="sliding"))
    compaction_auto: Switch = _described("compaction_auto")
    compaction_threshold: Share = _described("compaction_threshold")
    screen_notify: Notify = _described("screen_notify")
    lang: Lang = _described("lang")


def allowed(name: str) -> Message:
    """Describe the allowed values of a setting."""
    field = Settings.model_fields[name]
    if words := SETTINGS[name].choices:
        return Message("one of {words}", {"words": ", ".join(words)})
    found = [one for one in _metadata(field.annotation, field.metadata) if isinstance(one, Allowed)]
    return Message(found[0].words)


def _metadata(annotation: Any, own: Sequence[Any]) -> Iterator[Any]:
    yield from own
    for arg in get_args(annotation):
        yield from getattr(arg, "__metadata__", ())
