"""The way to the screen."""

import sys
from importlib import import_module
from importlib.util import find_spec

from contextui.cli.arguments import Arguments
from contextui.cli.parsers import UsageError

_INSTEAD = "contextui -p PROMPT answers without one."


def open_screen(arguments: Arguments) -> int:
    """Open the app.

    Raises:
        UsageError: There is no terminal, or no screen.
    """
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError(f"The app needs a terminal; {_INSTEAD}")
    screen = import_module("contextui.tui") if find_spec("contextui.tui") else None
    start = getattr(screen, "run", None)
    if start is None:
        raise UsageError(f"The screen is not there yet; {_INSTEAD}")
    found: int = start(arguments)
    return found
