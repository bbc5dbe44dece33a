"""A board of the calls into windows that are running now, for the watchdog and at exit."""

import struct
import sys
import threading
from collections import deque
from itertools import count
from types import FrameType

SLOT = struct.Struct("<QQ112s")
"""One running call: its native thread id (0 for none), the call's number, and the window's name."""

SLOTS = 64
"""Slots of the board; further calls are not recorded."""

OWN = "contextui.windows."
"""Module prefix of built-in windows, which never keep the process from exiting."""


class Board:
    """The calls into windows that are running now.

    Attributes:
        memory: Holds the slots; a watchdog replaces it with memory shared between processes.
    """

    def __init__(self) -> None:
        self.memory: bytearray | memoryview = bytearray(SLOT.size * SLOTS)
        self._free = deque(range(SLOTS))
        self._numbers = count(1)

    def enter(self, name: str) -> int:
        """Record a call on this thread; return its slot, or -1 if the board is full."""
        try:
            slot = self._free.pop()
        except IndexError:
            return -1
        named = name.encode("utf-8", "replace")[:112]
        entry = SLOT.pack(threading.get_native_id(), next(self._numbers), named)
        self.memory[slot * SLOT.size : (slot + 1) * SLOT.size] = entry
        return slot

    def leave(self, slot: int) -> None:
        """Clear the slot of a call that has ended."""
        if slot >= 0:
            self.memory[slot * SLOT.size : (slot + 1) * SLOT.size] = bytes(SLOT.size)
            self._free.append(slot)


board = Board()
_modules: dict[str, str] = {}  # modules of third-party windows, each with a window's name


class running:  # noqa: N801  used like a function
    """Context manager that records on the board that a window's code runs on this thread.

    Example:
        >>> with running("todo_1"):
        ...     job()
    """

    __slots__ = ("_name", "_slot")

    def __init__(self, name: str) -> None:
        self._name = name

    def __enter__(self) -> None:
        self._slot = board.enter(self._name)

    def __exit__(self, *_: object) -> None:
        board.leave(self._slot)


def note_module(module: str, name: str) -> None:
    """Remember which window a module belongs to, unless it is built in."""
    if not module.startswith(OWN):
        _modules[module] = name


def holding_exit() -> list[str]:
    """Return the windows that probably keep the process from exiting.

    These are the windows whose code runs on the main thread or another non-daemon thread; if there
    is none, all third-party windows: an exit handler of theirs may run code that is not their own.
    """
    waited_for = {one.ident for one in threading.enumerate() if not one.daemon}
    frames = sys._current_frames()
    names = [_owner(frame) for ident, frame in frames.items() if ident in waited_for]
    found = dict.fromkeys(name for name in names if name)
    return list(found or dict.fromkeys(_modules.values()))


def _owner(frame: FrameType | None) -> str | None:
    while frame is not None:
        name = _modules.get(frame.f_globals.get("__name__", ""))
        if name is not None:
            return name
        frame = frame.f_back
    return None
