"""Ctrl+c while the program starts and ends: it is over at once, without a word.

Python would tell where in its own modules it was. Nothing was begun by then that had to be ended.
This comes before all else that is loaded, so it loads nothing itself that it can do without.
"""

# What `signal` is made of: that one loads many more, and ctrl+c may come meanwhile.
import _signal as signal  # type: ignore[import-not-found]
import os


def end_at_once() -> None:
    """From now on ctrl+c ends the process, unless whoever started it wants ctrl+c ignored."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _end)


class Raised:
    """Meanwhile it is raised as a `KeyboardInterrupt`, for there is something to be ended.

    Example:
        >>> with Raised():
        ...     carry_out(arguments)
    """

    def __enter__(self) -> None:
        self._ends = signal.getsignal(signal.SIGINT) is _end
        if self._ends:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def __exit__(self, *problem: object) -> None:
        if self._ends:
            signal.signal(signal.SIGINT, _end)


def _end(number: int, frame: object) -> None:  # noqa: ARG001
    os._exit(128 + number)
