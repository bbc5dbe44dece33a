"""What `--help` looks like."""

import argparse
import shutil
from collections.abc import Iterable

from contextui.cli.columns import wrapped
from contextui.cli.words import words

HELP_AT = 25
"""The column at which it says what a flag is."""

_WIDTH = 80


class Help(argparse.RawDescriptionHelpFormatter):
    """Help in 80 columns: each flag once with what it takes, and what it is beside it."""

    def __init__(self, prog: str) -> None:
        columns = shutil.get_terminal_size((_WIDTH, 24)).columns
        super().__init__(prog, max_help_position=HELP_AT, width=min(_WIDTH, columns))

    def _format_action_invocation(self, action: argparse.Action) -> str:
        if not action.option_strings:
            return str(action.metavar or action.dest)
        takes = f" {action.metavar or action.dest.upper()}" if action.nargs != 0 else ""
        return ", ".join(action.option_strings) + takes

    def _split_lines(self, text: str, width: int) -> list[str]:
        return wrapped(text, width)

    def _get_help_string(self, action: argparse.Action) -> str:
        return words(action.help or "")

    def start_section(self, heading: str | None) -> None:
        """Begin a group of flags."""
        super().start_section(words(heading or ""))

    def add_usage(
        self,
        usage: str | None,
        actions: Iterable[argparse.Action],
        groups: Iterable[argparse._MutuallyExclusiveGroup],
        prefix: str | None = None,  # noqa: ARG002
    ) -> None:
        """Say how the program is called."""
        super().add_usage(usage, actions, groups, words("usage: "))
