"""The settings without their validation: name, default, description and choices of each.

Help and completions need only these; `contextui.config.settings` validates values, which loads
pydantic.
"""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, get_args

from contextui.words import LANGUAGES, Lang

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
    """A setting: its default, its description, and the values of an enumeration."""

    default: Any
    description: str
    choices: tuple[str, ...] = ()


SETTINGS: Mapping[str, Setting] = {
    "provider": Setting(
        "auto",
        "the model's provider; auto is the one before the slash of --model, else anthropic if "
        "there is a key or a base URL, else offline",
        get_args(Provider),
    ),
    "model": Setting(
        "claude-sonnet-5-5",
        "the model to use, such as ollama/qwen3 or openai/NAME; offline is the built-in one",
    ),
    "base_url": Setting(None, "the URL of the provider's server, if it is not the usual one"),
    "budget": Setting(128_000, "maximum tokens of a request"),
    "max_tokens": Setting(8_192, "maximum tokens of an answer"),
    "max_steps": Setting(50, "maximum requests of a turn before it pauses"),
    "max_calls": Setting(64, "maximum tool calls of one answer; more are refused"),
    "max_windows": Setting(100, "maximum number of open windows"),
    "max_silence": Setting(120, "seconds without progress after which an answer is cancelled"),
    "max_answer_time": Setting(3_600, "maximum seconds of one answer"),
    "max_job_time": Setting(600, "maximum seconds that -p waits for jobs when its turn has ended"),
    "max_freeze": Setting(30, "seconds that a window may freeze the program before it is stopped"),
    "tool_protocol": Setting(
        "native",
        "how the model calls tools: through the API, or in its text",
        get_args(ToolProtocol),
    ),
    "strategy": Setting("sliding", "how a long conversation is shortened for the model"),
    "placement": Setting(
        "price",
        "where windows are placed: by price, or where they were opened",
        get_args(Placement),
    ),
    "approval": Setting(
        "ask",
        "which actions may write outside of windows: those you allow, all, or none",
        get_args(Approval),
    ),
    "allow_commands": Setting(
        (), "commands that run without asking, such as git status or pytest *"
    ),
    "sandbox": Setting(
        False, "whether commands may change only this folder and have no network (needs bwrap)"
    ),
    "secret_files": Setting(
        (), "more files that need approval before the model reads them, besides .env, *.pem …"
    ),
    "window": Setting((), "a file with windows, FILE.py or FILE.py:Class"),
    "windows": Setting((), "a folder of window files"),
    "windows_lod": Setting("full", "the level of detail at which windows open", get_args(LodName)),
    "turns_wake": Setting(
        False, "whether a window's notification starts a turn when the model is idle"
    ),
    "compaction_auto": Setting(
        True, "whether to summarize older messages when the context is almost full"
    ),
    "compaction_threshold": Setting(
        0.8, "the share of the budget at which the context counts as almost full"
    ),
    "screen_notify": Setting(
        "bell",
        "what to do when a long turn or command ends or a question waits in an unfocused terminal",
        get_args(Notify),
    ),
    "lang": Setting("en", "the language; by default that of the locale", LANGUAGES),
}
"""All settings by name, in the order in which they are listed."""


def flag_of(name: str) -> str:
    """The command line flag of a setting."""
    return "--" + name.replace("_", "-")


def choices(name: str) -> tuple[str, ...]:
    """The values of a setting that is an enumeration; empty otherwise."""
    return SETTINGS[name].choices


def locale_variable(environ: Mapping[str, str]) -> str:
    """The variable that sets the locale; empty if none does."""
    return next((name for name in _LOCALE_VARIABLES if environ.get(name)), "")


def locale_lang(environ: Mapping[str, str]) -> Lang | None:
    """The language of the locale; None if no locale is set."""
    locale = environ.get(locale_variable(environ), "").lower()
    return ("zh" if locale.startswith("zh") else "en") if locale else None
