"""The last rounds of action and result of one window."""

import threading
from collections.abc import Sequence
from datetime import datetime

from contextui.text import one_line
from contextui.windowing.action import ActionResult
from contextui.windowing.snapshot import HistoryEntry


class History:
    """What was done to a window, and what came of it; the oldest rounds are forgotten.

    Args:
        limit: How many rounds are kept.
    """

    def __init__(self, limit: int) -> None:
        self._limit, self._round = limit, 0
        self._lock = threading.Lock()
        self.entries: tuple[HistoryEntry, ...] = ()

    def note(self, action_id: str, result: ActionResult, now: datetime) -> None:
        """Add a round."""
        with self._lock:
            self._round += 1
            entry = HistoryEntry(
                round=self._round,
                action=action_id,
                result=one_line(result.text, 200),
                timestamp=now,
            )
            self.entries = self._newest((*self.entries, entry))

    def recall(self, entries: Sequence[HistoryEntry]) -> None:
        """Take over the rounds of an earlier run."""
        with self._lock:
            self.entries = self._newest(tuple(entries))
            self._round = entries[-1].round if entries else 0

    def _newest(self, entries: tuple[HistoryEntry, ...]) -> tuple[HistoryEntry, ...]:
        return entries[max(0, len(entries) - self._limit) :]
