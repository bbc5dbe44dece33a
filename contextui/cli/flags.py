"""Flags that several commands share, including one for each setting; exit statuses."""

import argparse
from collections.abc import Iterable

from contextui.config.schema import SETTINGS, choices, flag_of
from contextui.errors import ContextUIError
from contextui.words import t


class UsageError(ContextUIError):
    """Invalid arguments; the message says what to change."""


MODEL_FLAGS = (
    "model", "base_url", "provider", "budget", "max_tokens", "max_steps", "max_calls",
    "max_silence", "max_answer_time", "tool_protocol"
)  # fmt: skip
"""The settings of the model, in the order of the help."""

WINDOW_FLAGS = (
    "window", "windows", "windows_lod", "max_windows", "max_freeze", "max_job_time", "turns_wake",
    "approval", "allow_commands", "sandbox", "secret_files", "placement",
    "strategy", "compaction_auto", "compaction_threshold", "screen_notify", "lang",
)  # fmt: skip
"""The settings of windows and context, in the order of the help."""

_METAVARS = {
    "model": "NAME", "base_url": "URL", "provider": "NAME", "budget": "TOKENS",
    "max_tokens": "TOKENS",
    "compaction_auto": "true|false", "compaction_threshold": "SHARE",
    "max_steps": "N", "max_calls": "N", "max_windows": "N", "max_silence": "SECONDS",
    "max_answer_time": "SECONDS", "max_freeze": "SECONDS", "max_job_time": "SECONDS",
    "turns_wake": "true|false", "sandbox": "true|false", "window": "FILE", "windows": "DIR",
    "strategy": "NAME",
    "allow_commands": "COMMAND",
    "secret_files": "PATTERN",
}  # fmt: skip


class Once(argparse.Action):
    """Rejects a flag that is given twice. Of a repeated setting, the last one counts."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,  # noqa: ARG002
        namespace: argparse.Namespace,
        values: object,
        option_string: str | None = None,
    ) -> None:
        """Store the value, unless there is one."""
        if getattr(namespace, self.dest, None) is not None:
            raise UsageError("{flag} is given twice.", flag=option_string)
        setattr(namespace, self.dest, values)


def add_help(parser: argparse._ActionsContainer) -> None:
    """Add the --help flag."""
    parser.add_argument("-h", "--help", action="help", help="show this help")


def add_resume(group: argparse._ArgumentGroup) -> None:
    """Add the flags that resume an earlier session."""
    which = group.add_mutually_exclusive_group()
    which.add_argument(
        "-c",
        "--continue",
        dest="newest",
        action="store_true",
        help="resume the newest session of this folder",
    )
    which.add_argument(
        "-r",
        "--resume",
        action=Once,
        metavar="ID",
        help="resume this session; the start of its id is enough",
    )
    group.add_argument(
        "--fork", action="store_true", help="with -c or -r: resume a copy of the session"
    )


def add_json(parser: argparse._ActionsContainer, what: str = "print the list as JSON") -> None:
    """Add the --json flag."""
    parser.add_argument("--json", action="store_true", help=what)


def add_settings(parser: argparse._ActionsContainer, names: Iterable[str]) -> None:
    """Add a flag for each of these settings, with the setting's description."""
    for name in names:
        field = SETTINGS[name]
        about = t(field.description).replace("%", "%%")
        if field.default and name != "lang":
            default = field.default
            shown = "true" if default is True else default
            about += t(" (default: {default})", default=shown)
        if name == "provider":  # too many for a placeholder
            about += f": {', '.join(choices(name))}"
        several = name in ("window", "windows", "allow_commands", "secret_files")
        parser.add_argument(
            flag_of(name),
            dest=name,
            action="append" if several else "store",
            metavar=_METAVARS.get(name) or "|".join(choices(name)),
            help=about + (t("; may be repeated") if several else ""),
        )


DONE = 0
FAILED = 1
"""The turn failed, or an unexpected error occurred."""
WRONG = 2
"""The arguments or the settings are wrong; nothing was done."""
SIGNALLED = 128
"""Plus the signal's number: 130 for SIGINT, 143 for SIGTERM."""
BROKEN_PIPE = 141
"""The reader closed the output; what SIGPIPE would give."""
