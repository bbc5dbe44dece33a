"""Signals at the start of the program: Ctrl+C exits at once, and children inherit none as ignored.

Nothing needs cleanup during startup and shutdown. This module is loaded first, so it imports as
little as possible.
"""

# `signal` wraps `_signal`, but imports many modules, during which Ctrl+C may arrive.
import _signal as signal  # type: ignore[import-not-found]
import os


def exit_on_interrupt() -> None:
    """Make Ctrl+C exit the process, unless the parent process set it to be ignored."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _end)


def reset_for_children() -> None:
    """Start every child process with default signal handling and an empty mask.

    `nohup`, cron and a shell without job control start programs with ignored signals, and a child
    inherits them: Ctrl+C would reach no program in a terminal window. A handler, unlike `SIG_IGN`,
    is not inherited, so this process keeps ignoring the signal with a handler that does nothing.
    """
    for number in signal.valid_signals() - {signal.SIGPIPE, signal.SIGXFSZ}:  # Python's own
        if signal.getsignal(number) == signal.SIG_IGN:
            # With a handler, the calls that these two stop would fail, and `wait` would not wait.
            is_default = number in (signal.SIGTTIN, signal.SIGTTOU, signal.SIGCHLD)
            signal.signal(number, signal.SIG_DFL if is_default else _ignore)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def is_ignored(number: int) -> bool:
    """Whether the parent process wants a signal to be ignored, as `nohup` does."""
    return signal.getsignal(number) in (signal.SIG_IGN, _ignore)


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


def _ignore(number: int, frame: object) -> None:
    """Do nothing."""


def _end(number: int, frame: object) -> None:  # noqa: ARG001
    os._exit(128 + number)
