"""Shutdown within a time limit, and signal handling."""

import asyncio
import faulthandler
import os
import select
import signal
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from types import FrameType
from typing import Any

from contextui.interrupt import is_ignored
from contextui.tui import guard
from contextui.words import Words, msg

_LONGEST = 5.0  # seconds for a clean exit, after which the process is killed


class Shutdown:
    """Ends the process if the app does not exit in time once the person quits."""

    def __init__(self, words: Words, close: Callable[[], int]) -> None:
        self._words, self._close = words, close
        self.may_end_process = False
        self._is_over = threading.Event()
        self._status: int | None = None  # of a signal
        self._frozen = ""

    def end_frozen(self, seconds: float) -> None:
        """Kill the process, whose event loop a widget has blocked for this many seconds."""
        text = msg("A window froze the program, so it was stopped after {seconds} s.")
        self._frozen = self._words(text, seconds=f"{seconds:g}")
        self.end_within(0.0, 1)

    def end_within(self, seconds: float = _LONGEST, status: int | None = None) -> None:
        """Kill the process after this many seconds, unless it ended by itself."""
        self._status = status or self._status
        if self.may_end_process:
            args = (seconds,)
            threading.Thread(target=self._end, args=args, daemon=True, name="shutdown").start()

    def over(self) -> None:
        self._is_over.set()

    def _end(self, seconds: float) -> None:
        if self._is_over.wait(seconds):
            return
        found = 0
        with suppress(Exception):
            found = self._close()
        with suppress(Exception):
            text = self._words("Stopped a task that did not exit in time.")
            print(self._frozen or text, file=sys.__stderr__, flush=True)
            if self._frozen:
                faulthandler.dump_traceback(sys.__stderr__ or 2)
        os._exit(self._status or found)


STATUSES = {
    signal.SIGINT: 130,
    signal.SIGQUIT: 131,
    signal.SIGTERM: 143,
    signal.SIGHUP: 129,
}
"""Exit statuses that a shell reports for these signals."""

_STDIN, _STDOUT, _STDERR = 0, 1, 2
_LONGEST_WAIT = 10.0  # seconds for a clean exit
_LONGEST_AGAIN = 1.0  # seconds after a second signal
_BLOCKED = 2.0  # seconds that the event loop is blocked before Ctrl+C twice ends the program
_HANGUP = 0.5  # seconds for the signal to arrive once the terminal is gone
_BEAT = 0.5  # seconds between two checks that the event loop runs


class Signals:
    """Quits the app on a signal, and always restores the terminal.

    The handlers are Python's own, not the event loop's: they also run while a window blocks the
    loop.
    """

    def __init__(self, leave: Callable[[int], object], shutdown: Shutdown) -> None:
        self._leave, self._shutdown = leave, shutdown
        self._attributes: list[Any] | None = None
        self._guard: subprocess.Popen[bytes] | None = None
        self._before: dict[signal.Signals, Any] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._count = self._status = 0
        self._blocked = 0.0  # seconds that the event loop has not run
        self.is_hung_up = False
        """Whether the terminal is gone."""
        self.max_freeze = 30.0
        """Seconds that a widget may block the event loop, before the process is killed."""
        self.report = _STDERR
        """Where a process that is killed writes why: a file descriptor."""

    def __enter__(self) -> "Signals":
        with suppress(termios.error, OSError):
            self._attributes = termios.tcgetattr(_STDIN)
            self._start_guard(self._attributes)
        for number in STATUSES:
            if not is_ignored(number):
                self._before[number] = signal.signal(number, self._handle)
        return self

    def __exit__(self, *_: object) -> None:
        self.restore_attributes()
        self._report_restored()
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _start_guard(self, attributes: Sequence[Any]) -> None:
        """Start a process that restores the terminal if this one is killed.

        It is not forked: windows that were opened before have threads, which may be starting
        programs and would wait for pipes that a fork holds open.
        """
        *flags, characters = attributes
        argv = [sys.executable, "-I", "-S", guard.__file__]
        argv += [str(one) for one in (*flags, *(ord(character) for character in characters))]
        # In a session of its own, it gets no signals from the terminal.
        self._guard = subprocess.Popen(argv, stdin=subprocess.PIPE, start_new_session=True)
        if self._guard.stdin is not None:
            self.report = self._guard.stdin.fileno()

    def _report_restored(self) -> None:
        if self.report != _STDERR:
            with suppress(OSError):  # the guard was killed, too
                os.write(self.report, guard.RESTORED)

    def listen(self, driver: Any = None) -> None:
        """Handle signals through the running event loop from now on."""
        self._loop = asyncio.get_running_loop()
        if self._attributes is not None and getattr(driver, "attrs_before", None) is not None:
            driver.attrs_before = self._attributes
        for one in self._before:  # a driver may have set its own handlers
            self._loop.remove_signal_handler(one)
            signal.signal(one, self._handle)
        args = (self._loop,)
        threading.Thread(target=self._watch, args=args, daemon=True, name="freeze").start()
        if self._attributes is not None:
            threading.Thread(target=self._await_hangup, daemon=True, name="hangup").start()

    def watch_key(self, key: str) -> None:
        """End the program on Ctrl+C twice while the event loop is blocked; on any thread.

        In a full-screen app, Ctrl+C is a key, which nobody reads while the loop is blocked.
        """
        if key == "ctrl+c" and self._blocked >= _BLOCKED:
            self._handle(signal.SIGINT, None)

    def restore_attributes(self) -> None:
        if self._attributes is not None:
            with suppress(termios.error, OSError):
                termios.tcsetattr(_STDIN, termios.TCSANOW, self._attributes)

    def restore(self) -> None:
        """Reset the terminal without the driver, which may be blocked."""
        if self._attributes is not None:
            with suppress(OSError):
                guard.restore(_STDOUT, self._attributes)
                self._report_restored()

    def _watch(self, loop: asyncio.AbstractEventLoop) -> None:
        """Kill the process once the event loop has not run for too long."""
        ran = threading.Event()
        with suppress(RuntimeError):  # the loop has ended
            while True:
                self._blocked = 0.0  # counted in steps: a suspended program is not frozen
                loop.call_soon_threadsafe(ran.set)
                while not ran.wait(_BEAT):
                    self._blocked += _BEAT
                    if self._blocked >= self.max_freeze:
                        self._shutdown.end_frozen(self._blocked)
                        return
                ran.clear()
                time.sleep(_BEAT)

    def _await_hangup(self) -> None:
        """Quit once the terminal is gone, even if the signal for that is ignored or not sent."""
        poll = select.poll()
        poll.register(_STDIN, 0)  # nothing but hangups and errors
        if any(event & (select.POLLHUP | select.POLLERR) for _, event in poll.poll()):
            self.is_hung_up = True
            time.sleep(_HANGUP)
            if not self._count:
                self._handle(signal.SIGHUP, None)

    def _handle(self, number: int, _: FrameType | None) -> None:
        self._count += 1
        status = self._status = self._status or STATUSES[signal.Signals(number)]
        if self._loop is None or self._loop.is_closed():  # before the first frame, or at exit
            self.restore()
            os._exit(status)
        self._shutdown.end_within(_LONGEST_WAIT if self._count == 1 else _LONGEST_AGAIN, status)
        if self._count == 1:
            with suppress(RuntimeError):  # the loop has ended: the app exits anyway
                self._loop.call_soon_threadsafe(self._leave, status)
