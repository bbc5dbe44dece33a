"""Guard process: restores the terminal if the program was killed.

Code that holds Python's lock, or the system, can end the program without warning. The program
starts this file as a script (`python -I -S guard.py`) with the attributes of the terminal, and
writes `RESTORED` to its standard input at a clean exit. Everything else that it writes is printed
once the program has ended. The program itself imports this file for `restore`.
"""

import os
import sys
import termios
from collections.abc import Sequence
from typing import Any

RESTORED = b"\0"
"""Tells the guard that the terminal is restored."""

_STDIN, _STDOUT, _STDERR = 0, 1, 2
# Reset all terminal modes: bracketed paste, mouse, focus events, kitty keys, alternate screen,
# hidden cursor, no line wrap.
_MODES = (
    b"\x1b[?2004l\x1b[?1000l\x1b[?1003l\x1b[?1015l\x1b[?1006l\x1b[?1004l\x1b[?2048l\x1b[<u"
    b"\x1b[?7h\x1b[?1049l\x1b[?25h"
)


def restore(terminal: int, attributes: Sequence[Any]) -> None:
    """Set the attributes of a terminal and reset its modes; raise OSError if it is gone."""
    try:
        termios.tcsetattr(terminal, termios.TCSANOW, list(attributes))
    except termios.error as error:
        raise OSError(*error.args) from error
    os.write(terminal, _MODES)


def guard(flags: Sequence[int]) -> None:
    """Wait until the program has ended, then restore the terminal and print what it reported."""
    report = b""
    while part := os.read(_STDIN, 4096):
        report += part
    if RESTORED not in report:
        restore(_STDOUT, [*flags[:6], list(flags[6:])])
    os.write(_STDERR, report.replace(RESTORED, b""))


if __name__ == "__main__":
    guard([int(word) for word in sys.argv[1:]])
