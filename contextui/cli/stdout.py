"""The standard output, kept for what the program itself says.

A window may print, and what it starts may too. In the middle of an answer or of JSON that would be
taken for a part of it, so all of it goes to stderr.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TextIO

_ours: list[TextIO] = []  # the last one counts; there is none where nothing is kept


def output() -> TextIO:
    """Where to write what was asked for."""
    return _ours[-1] if _ours else sys.stdout


@contextmanager
def kept() -> Iterator[None]:
    """Meanwhile only what is written to `output` gets to the standard output."""
    standard = sys.stdout
    standard.flush()
    try:
        number, aside = standard.fileno(), sys.stderr.fileno()
    except (OSError, ValueError):  # it is no file, but something in this process
        with _printed_aside(standard):
            yield
        return
    real = os.dup(number)
    os.dup2(aside, number)  # for processes that windows start
    own = open(real, "w", encoding=standard.encoding, errors=standard.errors)  # noqa: SIM115
    try:
        with _printed_aside(own):
            yield
    finally:
        with suppress(OSError, ValueError):  # there may be no stderr; or a window closed it
            standard.flush()  # what a window wrote to just this one goes aside too
        os.dup2(real, number)
        _close(own)


def give_away() -> None:
    """All was said: what a window prints when the process ends goes to stderr too."""
    with suppress(OSError, ValueError):  # one of them is no file, or closed
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())


@contextmanager
def _printed_aside(own: TextIO) -> Iterator[None]:
    standard, sys.stdout = sys.stdout, sys.stderr
    _ours.append(own)
    try:
        yield
    finally:
        _ours.remove(own)
        sys.stdout = standard


def _close(stream: TextIO) -> None:
    """Close a stream; what cannot be written any more was told of before, or nobody reads it."""
    try:
        stream.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    stream.close()
