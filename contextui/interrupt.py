"""Ctrl+c while the program starts and ends: it is over at once, without a word.

Python would tell where in its own modules it was. Nothing was begun by then that had to be ended.
"""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


def end_at_once() -> None:
    """From now on ctrl+c ends the process, unless whoever started it wants ctrl+c ignored."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _end)


@contextmanager
def raised() -> Iterator[None]:
    """Meanwhile it is raised as a `KeyboardInterrupt`, for there is something to be ended."""
    ends = signal.getsignal(signal.SIGINT) is _end
    if ends:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        if ends:
            signal.signal(signal.SIGINT, _end)


def _end(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
    os._exit(128 + number)
