"""Output of a terminal: read it, split it at marks, and pass it on in short slices.

The event loop stays responsive. When output arrives faster than anyone can read, only its start and
its end are drawn.
"""

import asyncio
import os
import re
import time
from collections import deque
from collections.abc import Callable

from contextui.windows.terminal.emulator import Emulator
from contextui.windows.terminal.integration import Integration, Mark

_SLICE = 0.006  # seconds of interpreting before other callbacks run
_READ = 0.004  # seconds of reading
PIECE = 4 * 1024  # bytes interpreted between two looks at the clock
_BACKLOG = 1024 * 1024  # bytes that wait to be interpreted; more are skipped
_KEPT = 128 * 1024  # bytes of them that are interpreted after a skip
_FRAME = 0.05  # seconds between two slices while output floods
_FLOOD = 32 * 1024  # bytes that wait; with more, reading comes first
_REST = 0.02  # seconds of rest between two slices, for each other shell whose output floods
_LAST_OUTPUT = 0.5  # seconds to read after the shell has ended, if a daemon holds its terminal
_ALTERNATE = rb"\x1b\[\?(?:[0-9;]{0,40};)?(?:1049|1047|47)(?:;[0-9;]{0,40})?([hl])"
_MODES = re.compile(rb"\x1b\[\?[0-9;]{1,40}[hl]|\x1b\[[0-9;]{0,20}r|\x1b\[[0-9;:]{0,60}m")

_flooding = set["OutputReader"]()
"""The readers of all threads whose output floods. They take turns: Python runs one thread at a
time, and the thread that draws the screen would wait for all of them."""


class OutputReader:
    """Reads a terminal on the running event loop."""

    def __init__(
        self,
        terminal: int,
        integration: Integration,
        emulator: Emulator,
        *,
        take: Callable[[bytes | Mark | bool], None],
        keep: Callable[[bytes], bytes],
        changed: Callable[[], None],
    ) -> None:
        self.waiting = 0  # bytes that are read and not yet taken
        self._terminal, self._integration, self._emulator = terminal, integration, emulator
        self._take, self._keep, self._changed = take, keep, changed
        self._loop = asyncio.get_running_loop()
        self._items = deque[bytes | Mark | bool]()
        self._held = b""
        self._splitter = re.compile(integration.pattern.pattern + b"|" + _ALTERNATE)
        self._reading = self._eof = False
        self._slice: asyncio.Handle | None = None
        self._rest: asyncio.Handle | None = None  # while others read
        self._fresh = False  # whether there was output since the last slice
        self._resume()

    @property
    def is_idle(self) -> bool:
        return not self._items

    async def finish(self) -> None:
        """Read and pass on the rest, after the shell has ended."""
        # The kernel passes the last output on a moment later; then it reports the end.
        deadline = time.monotonic() + _LAST_OUTPUT
        while not self._eof and time.monotonic() < deadline:
            await asyncio.sleep(0 if self._read() else _LAST_OUTPUT / 50)
        self._pause()
        while self._items:
            self._interpret(time.monotonic() + _SLICE)
            await asyncio.sleep(0)
        _flooding.discard(self)
        for handle in (self._slice, self._rest):
            if handle is not None:
                handle.cancel()

    def _resume(self) -> None:
        if not self._reading and not self._eof and self._rest is None:
            self._reading = True
            self._loop.add_reader(self._terminal, self._readable)

    def _pause(self) -> None:
        if self._reading:
            self._reading = False
            self._loop.remove_reader(self._terminal)

    def _readable(self) -> None:
        self._read()
        if self.waiting > _FLOOD:
            _flooding.add(self)
            if rest := self._rest_between():
                self._pause()
                self._rest = self._loop.call_later(rest, self._read_on)
        self._schedule()

    def _read_on(self) -> None:
        self._rest = None
        if self.waiting <= _BACKLOG:
            self._resume()

    def _rest_between(self) -> float:
        """Return how long this shell lets others work, if its output floods and theirs too."""
        return _REST * (len(_flooding) - 1) if self in _flooding else 0.0

    def _read(self) -> int:
        parts, end = list[bytes](), time.monotonic() + _READ
        while time.monotonic() < end:
            try:
                data = os.read(self._terminal, 65536)
            except BlockingIOError:
                break
            except OSError:  # EIO: no process has the terminal open any more
                data = b""
            if not data:
                self._eof = True
                self._pause()
                break
            parts.append(data)
        data = b"".join(parts)
        self._split(data)
        self._fresh = self._fresh or bool(data)
        if self.waiting > _BACKLOG:
            self._drop()
        return len(data)

    def _split(self, data: bytes) -> None:
        """Queue output in parts between marks and switches of the screen."""
        if not self._held and b"\x1b" not in data:
            self._queue(data)
            return
        data = self._held + data
        at = 0
        for match in self._splitter.finditer(data):
            self._queue(data[at : match.start()])
            at = match.end()
            self._items.append(match[3] == b"h" if match[3] else self._integration.read(match))
        rest = data[at:]
        last = rest.rfind(b"\x1b")
        short = last >= 0 and len(rest) - last < 48
        if last >= 0 and (
            (short and re.fullmatch(rb"\x1b(?:\[(?:\?[0-9;]*)?)?", rest[last:]))
            or (len(rest) - last < _BACKLOG and self._integration.may_start_mark(rest[last:]))
        ):
            self._queue(rest[:last])
            self._held = rest[last:]
        else:
            self._queue(rest)
            self._held = b""

    def _queue(self, data: bytes) -> None:
        if data:
            self._items.append(data)
            self.waiting += len(data)

    def _schedule(self) -> None:
        if self._slice is not None or not self._items:
            return
        # While output floods, most of it is skipped: time goes into reading it.
        rest = self._rest_between()
        if rest or (self._fresh and self._reading and self.waiting > _FLOOD):
            self._slice = self._loop.call_later(max(rest, _FRAME), self._slice_of_work)
        else:
            self._slice = self._loop.call_soon(self._slice_of_work)

    def _slice_of_work(self) -> None:
        self._slice = None
        self._interpret(time.monotonic() + _SLICE)
        if not self._items:
            _flooding.discard(self)
        if self.waiting > _BACKLOG:
            self._drop()  # nothing could be skipped while a mark was first in the queue
        if self.waiting > _BACKLOG:
            self._pause()
        elif not self._eof:
            self._resume()
        self._changed()
        self._schedule()
        self._fresh = False

    def _interpret(self, deadline: float) -> None:
        while self._items and time.monotonic() < deadline:
            item = self._items.popleft()
            if isinstance(item, bytes):
                if len(item) > PIECE:
                    self._items.appendleft(item[PIECE:])
                    item = item[:PIECE]
                self.waiting -= len(item)
            self._take(item)

    def _drop(self) -> None:
        """Skip the drawing of output that nobody can read at this speed; keep it in the spool."""
        if self._emulator.alternate:
            self._pause()  # a full-screen program would leave a wrong picture
            return
        lines, modes, is_last = 0, list[bytes](), False
        while self.waiting > _KEPT and not is_last and isinstance(item := self._items[0], bytes):
            self._items.popleft()
            end, is_last = len(item), self.waiting - len(item) < _KEPT
            if is_last:  # up to the end of a line, or the rest of it would count as one
                end = item.find(b"\n", self.waiting - _KEPT) + 1 or item.rfind(b"\n") + 1 or end
                if item[end:]:
                    self._items.appendleft(item[end:])
            self.waiting -= end
            skipped = self._keep(item[:end])
            lines += skipped.count(b"\n")
            if b"\x1b" in skipped:
                modes = [*modes, *_MODES.findall(skipped)][-50:]
        if lines:
            self._emulator.gap(lines, b"".join(modes).decode())
