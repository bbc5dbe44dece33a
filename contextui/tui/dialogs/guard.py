"""Guard of a question against keys that were meant for something else."""

import time
from collections.abc import Callable
from typing import Any

from textual.screen import Screen
from textual.timer import Timer

from contextui.tui.timers import sure_timer

DEAF = 0.5
"""Seconds without a key before a question accepts one: earlier keys were not meant for it."""
SETTLE = 0.15
"""Seconds without another key before a key approves: typed or pasted words do not approve."""


class KeyGuard:
    """Ignores keys until a question was visible for a moment, and while the person types."""

    def __init__(self, screen: Screen[Any], delay: float | None = None) -> None:
        self._screen, self._delay = screen, delay
        self.deaf_until = float("inf")  # until it is visible
        self._pending: Timer | None = None  # a decision that takes effect if no other key follows

    def begin(self) -> None:
        """Ignore keys until the question has been visible for a moment."""
        self.deaf_until = float("inf")
        self._screen.call_after_refresh(self._visible)

    def _visible(self) -> None:
        self.deaf_until = time.monotonic() + (DEAF if self._delay is None else self._delay)

    def hold(self, at: float | None = None) -> None:
        """Ignore keys for a moment: the person is typing something else."""
        self.deaf_until = max(self.deaf_until, (time.monotonic() if at is None else at) + DEAF)

    def accepts(self, at: float) -> bool:
        return at >= self.deaf_until

    def decide(self, decision: Callable[[], object], *, at_once: bool = False) -> None:
        if at_once:
            decision()
        else:
            self._pending = sure_timer(self._screen, SETTLE, decision)

    def take_back(self) -> bool:
        """Take back a decision that has not taken effect; return whether there was one."""
        pending, self._pending = self._pending, None
        if pending is not None:
            pending.stop()
        return pending is not None
