"""Which window's code runs on which thread, kept where a frozen program can still be asked.

The board is plain memory: a watchdog process may share it (see `contextui.cli.watchdog`) and read
it while no Python code of this process can run.
"""

import struct
import sys
import threading
from collections import deque
from itertools import count
from types import FrameType

SLOT = struct.Struct("<QQ112s")
"""One running call: the system's number of its thread (0: none), the call's own number, and the
window's name."""

SLOTS = 64
"""Calls that the board has room for; more than that are simply not on it."""

OWN = "contextui.windows."
"""The modules of windows that ship with the program: those keep nobody from ending."""


class Board:
    """The calls into windows that are under way.

    Attributes:
        memory: Where they stand; a watchdog exchanges it for memory that two processes share.
    """

    def __init__(self) -> None:
        self.memory: bytearray | memoryview = bytearray(SLOT.size * SLOTS)
        self._free = deque(range(SLOTS))
        self._numbers = count(1)

    def enter(self, name: str) -> int:
        """Note a call on this thread; the slot that it takes, -1 if there is none."""
        try:
            slot = self._free.pop()
        except IndexError:
            return -1
        named = name.encode("utf-8", "replace")[:112]
        entry = SLOT.pack(threading.get_native_id(), next(self._numbers), named)
        self.memory[slot * SLOT.size : (slot + 1) * SLOT.size] = entry
        return slot

    def leave(self, slot: int) -> None:
        """Note that a call has ended."""
        if slot >= 0:
            self.memory[slot * SLOT.size : (slot + 1) * SLOT.size] = bytes(SLOT.size)
            self._free.append(slot)


board = Board()
_modules: dict[str, str] = {}  # the modules of windows from outside, each with a window's name


class running:  # noqa: N801  used like a function
    """Note on the board that a window's code runs on this thread.

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
    """Remember which window a module belongs to, unless it ships with the program."""
    if not module.startswith(OWN):
        _modules[module] = name


def holding_exit() -> list[str]:
    """The windows that keep the process from ending, as far as that can be known.

    Those whose code runs on the main thread or on one that is waited for at the end; else every
    window from outside: what it registered to be called at the end may be no code of its own.
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
