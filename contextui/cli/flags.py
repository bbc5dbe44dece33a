"""Flags that several commands share, including one for each setting; exit statuses."""

import argparse
from collections.abc import Iterable

from contextui.config.schema import LISTS, MODEL_SETTINGS, SETTINGS, WINDOW_SETTINGS, flag_of
from contextui.errors import ContextUIError
from contextui.words import t


class UsageError(ContextUIError):
    """Invalid arguments; the message says what to change."""


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


def add_switch(
    parser: argparse._ActionsContainer, *names: str, about: str, dest: str | None = None
) -> None:
    """Add a flag without a value."""
    parser.add_argument(*names, action="store_true", help=about, dest=dest)


def add_run(parser: argparse.ArgumentParser) -> None:
    """Add the flags of the app: those that resume a session, and all settings."""
    group = parser.add_argument_group("sessions")
    which = group.add_mutually_exclusive_group()
    newest = "resume the newest session of this folder"
    add_switch(which, "-c", "--continue", about=newest, dest="newest")
    which.add_argument(
        "-r",
        "--resume",
        action=Once,
        metavar="ID",
        help="resume this session; the start of its id is enough",
    )
    add_switch(group, "--fork", about="with -c or -r: resume a copy of the session")
    add_settings(parser.add_argument_group("model"), MODEL_SETTINGS)
    add_settings(parser.add_argument_group("windows and context"), WINDOW_SETTINGS)


def add_json(parser: argparse._ActionsContainer, what: str = "print the list as JSON") -> None:
    """Add the --json flag."""
    add_switch(parser, "--json", about=what)


def add_settings(parser: argparse._ActionsContainer, names: Iterable[str]) -> None:
    """Add a flag for each of these settings, with the setting's description."""
    for name in names:
        setting = SETTINGS[name]
        default, is_list = setting.default, name in LISTS
        about = t(setting.description).replace("%", "%%")
        if default and name != "lang":
            about += t(" (default: {default})", default="true" if default is True else default)
        metavar = "|".join(setting.choices) or setting.values
        if name == "provider":  # too many for a placeholder
            about, metavar = f"{about}: {', '.join(setting.choices)}", "NAME"
        parser.add_argument(
            flag_of(name),
            dest=name,
            action="append" if is_list else "store",
            metavar=metavar,
            help=about + (t("; may be repeated") if is_list else ""),
        )


DONE = 0
FAILED = 1  # the turn failed, or an unexpected error occurred
WRONG = 2  # the arguments or the settings are wrong; nothing was done
SIGNALLED = 128  # plus the signal's number: 130 for SIGINT, 143 for SIGTERM
BROKEN_PIPE = 141  # the reader closed the output; what SIGPIPE would give
