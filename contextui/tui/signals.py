"""Signals that end the program: it quits in order, and its exit status says which it was."""

import asyncio
import os
import signal
import termios
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import Any

STATUSES = {
    signal.SIGINT: 130,
    signal.SIGQUIT: 131,
    signal.SIGTERM: 143,
    signal.SIGHUP: 129,
}
"""What a shell shows for a program that such a signal ended."""

_STDIN, _STDOUT = 0, 1
_LONGEST = 10.0  # seconds that quitting in order may take
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
        self._end_within(_LONGEST if self._count == 1 else _LONGEST_AGAIN, status)
        if self._count == 1:
            with suppress(RuntimeError):  # the loop has ended: so does the program
                self._loop.call_soon_threadsafe(self._leave, status)
