"""Timers that are never skipped."""

from collections.abc import Callable

from textual.message_pump import MessagePump
from textual.timer import Timer


def sure_timer(widget: MessagePump, delay: float, callback: Callable[[], object]) -> Timer:
    """Call a function after a delay, as `set_timer` does, but always.

    Textual skips what it is late for, and so a single call, if the process is held up for longer
    than the delay just when the timer starts.
    """
    timer = widget.set_timer(delay, callback)
    timer._skip = False
    return timer
