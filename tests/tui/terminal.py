"""The real program in a real pseudo-terminal, and a terminal's picture of what it writes."""

import fcntl
import os
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyte

from tests import forkserver

_COLOURS = re.compile(rb"\x1b\[[0-9;]*m")  # not in the picture, and most of what is written
_LAST = b"\x1b[0;12345m"  # after it, nothing that an ended program wrote is still on its way
_PATIENCE = 180.0  # seconds after which something that should happen counts as not happening


class Terminal:
    """A program in a pseudo-terminal of a given size.

    Attributes:
        written: All bytes that the program wrote.
    """

    def __init__(
        self,
        words: Sequence[str],
        folder: Path,
        size: tuple[int, int] = (120, 40),
        program: Sequence[str] = (sys.executable, "-m", "contextui"),
        **variables: str,
    ) -> None:
        columns, rows = size
        self._screen = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self._screen)
        self._lines: list[str] | None = None
        self.written = b""
        self._ours, theirs = os.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.before = [int(one) for one in termios.tcgetattr(theirs)[:4]]
        self._theirs = theirs
        how: dict[str, Any] = {
            "cwd": folder,
            "env": _environment(folder, variables),
            **dict.fromkeys(("stdin", "stdout", "stderr"), theirs),
            "start_new_session": True,
        }
        self.process: subprocess.Popen[bytes]
        if program[0] == sys.executable and program[1] in ("-m", "-c"):
            self.process = forkserver.Popen([*program, *words], terminal=True, **how)
        else:
            self.process = subprocess.Popen(
                [*program, *words],
                preexec_fn=lambda: fcntl.ioctl(theirs, termios.TIOCSCTTY, 0),  # noqa: PLW1509
                **how,
            )

    def __enter__(self) -> "Terminal":
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for one in (self._ours, self._theirs):
            if one >= 0:
                os.close(one)

    def type(self, text: str) -> None:
        os.write(self._ours, text.encode())

    def hang_up(self) -> None:
        """Close the terminal under the program."""
        os.close(self._ours)
        os.close(self._theirs)
        self._ours = self._theirs = -1

    def send(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def lines(self) -> list[str]:
        self._read(0.0)
        if self._lines is None:
            rows, columns = self._screen.buffer, range(self._screen.columns)
            whole = ["".join(rows[y][x].data for x in columns) for y in range(self._screen.lines)]
            self._lines = [line.rstrip() for line in whole]
        return self._lines

    def shows(self, text: str) -> bool:
        """Whether a text stands on the screen, in one line."""
        return any(text in line for line in self.lines())

    def is_ready(self) -> bool:
        """Whether the session is open, without a model, and nothing was said yet."""
        return self.shows("offline model") or self.shows("No model is connected")

    def wait_for(self, condition: Callable[[], object]) -> None:
        """Wait until it holds, but not for ever."""
        until = time.monotonic() + _PATIENCE
        while not condition():
            if time.monotonic() > until:
                raise AssertionError(
                    "\n".join(["It never came to hold. The screen:", *self.lines()])
                )
            if self._ours < 0:
                time.sleep(0.02)
            self._read(0.05)

    def press(self, key: str, answered: Callable[[], object]) -> None:
        """Press a key until it has an effect: a dialog takes no keys at first."""
        pressed = 0.0

        def is_answered() -> bool:
            nonlocal pressed
            if answered():
                return True
            if time.monotonic() > pressed + 0.7:
                pressed = time.monotonic()
                self.type(key)
            return False

        self.wait_for(is_answered)

    def end(self) -> int:
        """The exit status, once the program has ended."""
        self.wait_for(lambda: self.process.poll() is not None)
        if self._ours >= 0:
            self._read(0.05)
            os.write(self._theirs, _LAST)
            self.wait_for(lambda: _LAST in self.written)
            self.written = self.written.replace(_LAST, b"")
        status = self.process.returncode
        return status if status >= 0 else 128 - status

    def now(self) -> list[int]:
        """The terminal's settings that decide whether it echoes and waits for lines."""
        attributes = termios.tcgetattr(self._theirs)
        return [int(one) for one in attributes[:4]]

    def _read(self, seconds: float) -> None:
        while self._ours >= 0 and select.select([self._ours], [], [], seconds)[0]:
            try:
                data = os.read(self._ours, 65_536)
            except OSError:
                return
            if not data:
                return
            self.written += data
            self._stream.feed(_COLOURS.sub(b"", data))
            self._lines = None
            seconds = 0.0


def _environment(folder: Path, variables: Mapping[str, str]) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "PYTHONPATH") if name in os.environ}
    home = folder.parent / "terminal-home"
    return {
        **kept,
        "HOME": str(home),
        "CONTEXTUI_HOME": str(home / ".contextui"),
        "TERM": "xterm-256color",
        "LC_ALL": "C.UTF-8",
        **variables,
    }
