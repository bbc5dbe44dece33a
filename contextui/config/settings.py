"""The settings schema: every setting with its type, default, flag and config key."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_serializer, model_validator

from contextui.errors import ContextUIError

Provider = Literal["auto", "anthropic", "offline"]
"""The model provider; ``auto`` depends on whether an API key or base URL is set."""

Placement = Literal["tail", "in-place"]
"""Where live windows go in a request, see `contextui.context.placement`."""

LodName = Literal["full", "summary", "gist"]
"""The level of detail at which a window opens."""

Approval = Literal["ask", "auto", "read-only"]
"""When to ask before writing: each time, never (allow all), or allow no writes."""

Lang = Literal["en", "zh"]
"""The language of the user interface."""

ToolProtocol = Literal["native", "text"]
"""How a model calls tools: natively by the provider's API, or with `<tool_call>` tags in its
text."""


OUR_OWN = ("sliding", "summarization", "entities")
"""The names of the built-in strategies."""

ALLOWED = {
    "type": "a strategy's name, or plugin",
    "plugin": "the name of a strategy that a package brings",
    "model": "a model's name, without spaces",
    "config": "a table",
}
"""The allowed values of each key in the strategy table, for error messages."""
PLUGIN_UNASKED = "plugin, or strategy.plugin left out"
"""The allowed values of the type if a plugin is named, for error messages."""

_PLUGIN = "plugin"


class StrategyChoice(BaseModel):
    """The selected strategy, given by name or as a table.

    Attributes:
        type: The name of a built-in strategy, or ``plugin``.
        plugin: The name of a strategy from an installed package.
        model: The model that the strategy may use; by default the one that answers.
        config: Its own settings.

    Example:
        >>> StrategyChoice.model_validate("summarization").name
        'summarization'
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    type: str = Field(pattern=r"^[\w.-]{1,100}$")
    plugin: str | None = Field(default=None, pattern=r"^[\w.-]{1,100}$")
    model: str | None = Field(default=None, pattern=r"^[^\s\x00-\x1f]{1,200}$")
    config: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _by_name(cls, given: object) -> object:
        return {"type": given} if isinstance(given, str) else given

    @model_validator(mode="after")
    def _whole(self) -> "StrategyChoice":
        if (self.type == _PLUGIN) != (self.plugin is not None):
            raise ValueError("plugin is named with the type plugin, and only there")
        return self

    @model_serializer
    def _shortest(self) -> str | dict[str, Any]:
        rest = {"plugin": self.plugin, "model": self.model, "config": self.config}
        set_ones = {name: value for name, value in rest.items() if value}
        return {"type": self.type, **set_ones} if set_ones else self.type

    def __str__(self) -> str:
        return self.name

    @property
    def name(self) -> str:
        """The name of the strategy."""
        return self.plugin or self.type

    @property
    def is_a_strangers(self) -> bool:
        """Whether it is third-party code, not built in."""
        return self.name not in OUR_OWN


OFFLINE = "offline"
"""The model name of the embedded offline model."""


LIMITS = ("max_calls", "max_windows", "max_silence", "max_answer_time", "max_freeze")
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
    int, Field(ge=1, le=1_000_000_000), Allowed("a whole number from 1 to 1,000,000,000")
]
Switch = Annotated[bool, Allowed("true or false")]
Share = Annotated[float, Field(ge=0.1, le=1), Allowed("a number from 0.1 to 1")]
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
_GivenPath = Annotated[str, Field(pattern=r"\S")]  # an empty path would be the current folder
Paths = Annotated[tuple[_GivenPath, ...], Allowed("a list of paths, and none of them empty")]


_Pattern = Annotated[str, Field(pattern=r"^!?[^\s\x00-\x1f!]")]
Patterns = Annotated[
    tuple[_Pattern, ...], Allowed("a list of patterns such as *.vault; !PATTERN takes one out")
]


class Settings(BaseModel):
    """All settings. Each has a flag, an environment variable and a config key derived from its
    name."""

    # Most invocations only read the field definitions and validate nothing.
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
    max_calls: Count = Field(
        default=64, description="calls of one answer that are carried out; more are refused"
    )
    max_windows: Count = Field(default=100, description="windows that may be open at a time")
    max_silence: Count = Field(
        default=120, description="seconds without progress after which an answer is given up"
    )
    max_answer_time: Count = Field(
        default=3_600, description="seconds that one answer may take in all"
    )
    max_freeze: Count = Field(
        default=30, description="seconds that a window may freeze the program before it is ended"
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
    secret_files: Patterns = Field(
        default=(),
        description="more files that ask before the model reads them, beside .env, *.pem …",
    )
    window: Paths = Field(default=(), description="a file of windows, FILE.py or FILE.py:Class")
    windows: Paths = Field(default=(), description="a folder of such files")
    windows_lod: LodName = Field(
        default="full", description="how much of themselves windows show when they open"
    )
    compaction_auto: Switch = Field(
        default=True, description="whether older messages become a summary when room gets short"
    )
    compaction_threshold: Share = Field(
        default=0.8, description="the share of the budget at which room counts as short"
    )
    lang: Lang = Field(default="en", description="the language; by default that of the locale")


TABLES: Mapping[str, Mapping[str, str]] = {
    "windows": {"folders": "windows", "lod": "windows_lod"},
    "approval": {"mode": "approval", "secret_files": "secret_files"},
    "compaction": {"auto": "compaction_auto", "threshold": "compaction_threshold"},
}
"""The tables of config.toml that hold settings, and the setting of each key."""


def key_of(name: str) -> str:
    """The key of a setting in config.toml, such as ``compaction.auto`` for one in a table."""
    for table, keys in TABLES.items():
        for key, setting in keys.items():
            if setting == name and setting != table:
                return f"{table}.{key}"
    return name


def flag_of(name: str) -> str:
    """The command line flag of a setting."""
    return "--" + name.replace("_", "-")


def choices(name: str) -> tuple[str, ...]:
    """The values of a setting that is an enumeration; empty otherwise."""
    words = get_args(Settings.model_fields[name].annotation)
    return words if all(isinstance(word, str) for word in words) else ()


def allowed(name: str) -> str:
    """Describe the allowed values of a setting."""
    field = Settings.model_fields[name]
    if words := choices(name):
        return f"one of {', '.join(words)}"
    found = [one for one in _metadata(field.annotation, field.metadata) if isinstance(one, Allowed)]
    return found[0].words


def _metadata(annotation: Any, own: Sequence[Any]) -> Iterator[Any]:
    """The metadata of a field, including that of the members of a union."""
    yield from own
    for one in get_args(annotation):
        yield from getattr(one, "__metadata__", ())
