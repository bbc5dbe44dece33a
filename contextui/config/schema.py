"""The settings without their validation: name, default, description and choices of each.

Help and completions need only these; `contextui.config.settings` validates values.
"""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, get_args

from contextui.words import LANGUAGES, Lang, msg

Provider = Literal[
    "auto", "anthropic", "openai", "openrouter", "ollama", "llamacpp", "lmstudio", "vllm", "offline"
]
"""The model provider; ``auto`` depends on the model's name, and on whether an API key or base URL
is set."""

Placement = Literal["price", "in-place"]
"""Where windows go in a request, see `contextui.context.placement`."""

LodName = Literal["full", "summary", "gist"]
"""The level of detail at which a window opens."""

Approval = Literal["ask", "auto", "read-only"]
"""When to ask before writing: each time, never (allow all), or allow no writes."""

Notify = Literal["off", "bell", "desktop"]
"""How to notify while the terminal has not the focus: not, by its bell, or on the desktop."""

ToolProtocol = Literal["native", "text"]
"""How a model calls tools: natively by the provider's API, or with `<tool_call>` tags in its
text."""

CONFIG_FILE = "config.toml"
PROJECT_FOLDER = ".contextui"

_LOCALE_VARIABLES = ("LC_ALL", "LC_MESSAGES", "LANG")


class Setting(NamedTuple):
    """A setting.

    Attributes:
        values: The values of an enumeration, or the placeholder of its value in the help.
        key: Its table and key in config.toml, if it is in a table.
    """

    default: Any
    description: str
    values: str | tuple[str, ...]
    key: str = ""

    @property
    def choices(self) -> tuple[str, ...]:
        """The values of an enumeration; empty otherwise."""
        return () if isinstance(self.values, str) else self.values


MODEL_SETTINGS: Mapping[str, Setting] = {
    "model": Setting(
        "claude-sonnet-5-5",
        "the model to use, such as ollama/qwen3 or openai/NAME; offline is the built-in one",
        "NAME",
    ),
    "base_url": Setting(
        None, "the URL of the provider's server, if it is not the usual one", "URL"
    ),
    "provider": Setting(
        "auto",
        "the model's provider; auto is the one before the slash of --model, else anthropic if "
        "there is a key or a base URL, else offline",
        get_args(Provider),
    ),
    "budget": Setting(128_000, "maximum tokens of a request", "TOKENS"),
    "max_tokens": Setting(8_192, "maximum tokens of an answer", "TOKENS"),
    "max_steps": Setting(50, "maximum requests of a turn before it pauses", "N"),
    "max_calls": Setting(64, "maximum tool calls of one answer; more are refused", "N"),
    "max_silence": Setting(
        120, "seconds without progress after which an answer is cancelled", "SECONDS"
    ),
    "max_answer_time": Setting(3_600, "maximum seconds of one answer", "SECONDS"),
    "tool_protocol": Setting(
        "native",
        "how the model calls tools: through the API, or in its text",
        get_args(ToolProtocol),
    ),
}
"""The settings of the model by name, in the order in which they are listed."""

WINDOW_SETTINGS: Mapping[str, Setting] = {
    "window": Setting((), "a file with windows, FILE.py or FILE.py:Class", "FILE"),
    "windows": Setting((), "a folder of window files", "DIR", "windows.folders"),
    "windows_lod": Setting(
        "full", "the level of detail at which windows open", get_args(LodName), "windows.lod"
    ),
    "max_windows": Setting(100, "maximum number of open windows", "N"),
    "max_freeze": Setting(
        30, "seconds that a window may freeze the program before it is stopped", "SECONDS"
    ),
    "max_job_time": Setting(
        600, "maximum seconds that -p waits for jobs when its turn has ended", "SECONDS"
    ),
    "turns_wake": Setting(
        False,
        "whether a window's notification starts a turn when the model is idle",
        "true|false",
        "turns.wake",
    ),
    "approval": Setting(
        "ask",
        "which actions may write outside of windows: those you allow, all, or none",
        get_args(Approval),
        "approval.mode",
    ),
    "allow_commands": Setting(
        (),
        "commands that run without asking, such as git status or pytest *",
        "COMMAND",
        "approval.commands",
    ),
    "sandbox": Setting(
        False,
        "whether commands may change only this folder and have no network (needs bwrap)",
        "true|false",
        "approval.sandbox",
    ),
    "secret_files": Setting(
        (),
        "more files that need approval before the model reads them, besides .env, *.pem …",
        "PATTERN",
        "approval.secret_files",
    ),
    "placement": Setting(
        "price",
        "where windows are placed: by price, or where they were opened",
        get_args(Placement),
    ),
    "strategy": Setting("sliding", "how a long conversation is shortened for the model", "NAME"),
    "compaction_auto": Setting(
        True,
        "whether to summarize older messages when the context is almost full",
        "true|false",
        "compaction.auto",
    ),
    "compaction_threshold": Setting(
        0.8,
        "the share of the budget at which the context counts as almost full",
        "SHARE",
        "compaction.threshold",
    ),
    "screen_notify": Setting(
        "bell",
        "what to do when a long turn or command ends or a question waits in an unfocused terminal",
        get_args(Notify),
        "screen.notify",
    ),
    "lang": Setting("en", "the language; by default that of the locale", LANGUAGES),
}
"""The settings of windows and context by name, in the order in which they are listed."""

SETTINGS: Mapping[str, Setting] = {**MODEL_SETTINGS, **WINDOW_SETTINGS}
GROUPS: Mapping[str, str] = {
    "model": msg("Model"),
    "window": msg("Windows"),
    "approval": msg("Approval"),
    "placement": msg("Context"),
    "screen_notify": msg("Screen"),
}
"""The groups of settings by the first setting of each."""
LISTS = tuple(name for name, one in SETTINGS.items() if isinstance(one.default, tuple))
"""The settings that are lists."""


def flag_of(name: str) -> str:
    """The command line flag of a setting."""
    return "--" + name.replace("_", "-")


def key_of(name: str) -> str:
    """The key of a setting in config.toml, such as ``compaction.auto`` for one in a table."""
    key = SETTINGS[name].key if name in SETTINGS else ""  # the screen has settings of its own
    return name if not key or key.startswith(f"{name}.") else key


def locale_variable(environ: Mapping[str, str]) -> str:
    """The variable that sets the locale; empty if none does."""
    return next((name for name in _LOCALE_VARIABLES if environ.get(name)), "")


def locale_lang(environ: Mapping[str, str]) -> Lang | None:
    """The language of the locale; None if no locale is set."""
    locale = environ.get(locale_variable(environ), "").lower()
    return ("zh" if locale.startswith("zh") else "en") if locale else None
