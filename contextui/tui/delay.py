"""Calls after a delay."""

import asyncio
from collections.abc import Callable

from textual.message_pump import MessagePump


def call_after(
    widget: MessagePump, seconds: float, call: Callable[[], object]
) -> asyncio.TimerHandle:
    """Call a function of a widget after a delay.

    Unlike `set_timer` it always calls: a timer of Textual is skipped if the process is held up for
    longer than the delay just when the timer starts.
    """
    return asyncio.get_running_loop().call_later(seconds, widget.call_next, call)
