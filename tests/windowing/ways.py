"""Ways in which a window's code can fail, by the reason that is shown."""

import sys
from collections.abc import Callable
from typing import NoReturn


class Unspeakable(Exception):  # noqa: N818
    def __str__(self) -> str:
        raise RuntimeError("not even this")


def recurse() -> NoReturn:
    recurse()
    raise AssertionError


def leave() -> NoReturn:
    sys.exit(3)


def interrupt() -> NoReturn:
    raise KeyboardInterrupt


def fail() -> NoReturn:
    raise ValueError("broken\x1b[2J")


def mumble() -> NoReturn:
    raise Unspeakable


WAYS: dict[str, Callable[[], NoReturn]] = {
    "ValueError: broken␛[2J": fail,
    "SystemExit: 3": leave,
    "KeyboardInterrupt": interrupt,
    "RecursionError": recurse,
    "Unspeakable: (its message is unavailable: RuntimeError)": mumble,
}
