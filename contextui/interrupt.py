"""Ctrl+C handling during startup and shutdown: exit at once, without a traceback.

Nothing needs cleanup at that time. This module is loaded first, so it imports as little as
possible.
"""

# `signal` wraps `_signal`, but imports many modules, during which Ctrl+C may arrive.
import _signal as signal  # type: ignore[import-not-found]
import os


def exit_on_interrupt() -> None:
    """Make Ctrl+C exit the process, unless the parent process set it to be ignored."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _end)


class RaiseInterrupts:
    """Context manager in which Ctrl+C raises `KeyboardInterrupt`, so that cleanup code runs.

    Example:
        >>> with RaiseInterrupts():
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
