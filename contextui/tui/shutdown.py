"""Leaving in time: nothing that a window brought along holds the program up for long."""

import asyncio
import os
import signal
import sys
import termios
import threading
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import Any

from contextui.tui.desktop.widgets import holders
from contextui.tui.words import Words

_PATIENCE = 2.0  # seconds that everybody has to end by themselves
_AGAIN = 0.5  # seconds after which it is looked again who did not
_LONGEST = 10.0  # seconds after which the process ends, whatever still runs


class Leaving:
    """Sees to it that the program ends once the person wants that.

    Whoever holds it up is a widget of a stranger that waits for something and never gets it: it is
    told to stop, and its window is named. What does not stop even then ends with the process.

    Args:
        words: The person's language.
        leave: Has the program end, with a line about who held it up.
        close: Puts everything in order before the process ends by force; gives its exit status.

    Attributes:
        may_end_process: Whether the process may be ended if nothing else helps; until `over`.
    """

    def __init__(
        self, words: Words, leave: Callable[[str], object], close: Callable[[], int]
    ) -> None:
        self._words, self._leave, self._close = words, leave, close
        self.may_end_process = False
        self._is_over = threading.Event()
        self._has_begun = self._is_closed = False
        self._names: dict[str, None] = {}

    def begin(self) -> None:
        """The person wants to leave: from now on the time runs."""
        if self._has_begun:
            return
        self._has_begun = True
        asyncio.get_running_loop().call_later(_PATIENCE, self._insist)
        self.end_within(_LONGEST)

    def end_within(self, seconds: float, status: int | None = None) -> None:
        """End the process after so many seconds, unless it has ended by itself."""
        if self.may_end_process:
            args = (seconds, status)
            threading.Thread(target=self._end, args=args, daemon=True, name="leaving").start()

    def closed(self) -> None:
        """All widgets are gone: nobody has to be told to stop any more."""
        self._is_closed = True

    def over(self) -> None:
        """The program has ended."""
        self._is_over.set()

    @property
    def told(self) -> str:
        """Who held it up, in one line."""
        if not self._names:
            return ""
        told = "{names} did not end by itself, and was stopped."
        return self._words(told, names=", ".join(self._names))

    def _insist(self) -> None:
        if self._is_closed:
            return
        before = self.told
        for task, guard in holders().items():
            self._names[guard.guarded_window] = None
            guard.guarded_is_given_up = True
            task.cancel()
        self._leave(self.told if self.told != before else "")
        asyncio.get_running_loop().call_later(_AGAIN, self._insist)

    def _end(self, seconds: float, status: int | None) -> None:
        """Wait for the end on a thread of its own; then wait no longer."""
        if self._is_over.wait(seconds):
            return
        found = 0
        with suppress(Exception):
            found = self._close()
        told = self.told or self._words("Something did not end by itself, and was stopped.")
        with suppress(Exception):
            print(told, file=sys.__stderr__, flush=True)
        os._exit(found if status is None else status)


STATUSES = {
    signal.SIGINT: 130,
    signal.SIGQUIT: 131,
    signal.SIGTERM: 143,
    signal.SIGHUP: 129,
}
"""What a shell shows for a program that such a signal ended."""

_STDIN, _STDOUT = 0, 1
_LONGEST_WAIT = 10.0  # seconds that quitting in order may take
_LONGEST_AGAIN = 1.0  # seconds after a second signal
# Everything that a terminal was switched to: bracketed paste, the mouse, focus events, the keys
# of kitty, the other screen, a hidden cursor, no line wrap.
_RESTORE = (
    b"\x1b[?2004l\x1b[?1000l\x1b[?1003l\x1b[?1015l\x1b[?1006l\x1b[?1004l\x1b[?2048l\x1b[<u"
    b"\x1b[?7h\x1b[?1049l\x1b[?25h"
)


class Signals:
    """Has the program quit when a signal asks for it, and gives the terminal back in any case.

    The handlers are Python's own, not the event loop's: they also run while a window keeps the
    loop from running.

    Args:
        leave: Quits in order with a status; called inside the event loop.
        end_within: Ends the process by force after so many seconds, with a status.

    Example:
        >>> with Signals(app.leave, app.end_within) as signals:
        ...     app.run()
    """

    def __init__(
        self, leave: Callable[[int], object], end_within: Callable[[float, int], object]
    ) -> None:
        self._leave, self._end_within = leave, end_within
        self._attributes: list[Any] | None = None
        self._before: dict[signal.Signals, Any] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._count = 0

    def __enter__(self) -> "Signals":
        with suppress(termios.error, OSError):
            self._attributes = termios.tcgetattr(_STDIN)
        for one in STATUSES:
            if signal.getsignal(one) is not signal.SIG_IGN:  # `nohup` wants it ignored
                self._before[one] = signal.signal(one, self._hear)
        return self

    def __exit__(self, *_: object) -> None:
        self.restore_attributes()
        for one, handler in self._before.items():
            signal.signal(one, handler)

    def listen(self) -> None:
        """From now on signals quit through the running event loop."""
        self._loop = asyncio.get_running_loop()
        for one in self._before:  # a driver may have put its own handlers there
            self._loop.remove_signal_handler(one)
            signal.signal(one, self._hear)

    def restore_attributes(self) -> None:
        """Have the terminal echo and wait for lines again."""
        if self._attributes is not None:
            with suppress(termios.error, OSError):
                termios.tcsetattr(_STDIN, termios.TCSANOW, self._attributes)

    def _hear(self, number: int, _: FrameType | None) -> None:
        self._count += 1
        status = STATUSES[signal.Signals(number)]
        if self._loop is None or self._loop.is_closed():  # before the first frame, or at the end
            self.restore_attributes()
            if self._attributes is not None:
                with suppress(OSError):
                    os.write(_STDOUT, _RESTORE)
            os._exit(status)
        self._end_within(_LONGEST_WAIT if self._count == 1 else _LONGEST_AGAIN, status)
        if self._count == 1:
            with suppress(RuntimeError):  # the loop has ended: so does the program
                self._loop.call_soon_threadsafe(self._leave, status)
