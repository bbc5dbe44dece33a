"""Signals that end the program: it leaves in order, and its status says which it was."""

import asyncio
import signal
from collections.abc import Callable

STATUSES = {signal.SIGTERM: 143, signal.SIGHUP: 129}
"""What a shell shows for a program that such a signal ended."""


def on_signals(leave: Callable[[int], object]) -> None:
    """Have `leave` called with the status when such a signal comes; inside an event loop."""
    loop = asyncio.get_running_loop()
    for one, status in STATUSES.items():
        loop.add_signal_handler(one, leave, status)
