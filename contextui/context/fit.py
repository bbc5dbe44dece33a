"""Fit a request into its token budget: lower the detail of windows first, then trim."""

import copy
import time
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager

from contextui.context.item import ContextItem, Stage, assign
from contextui.context.ledger import Ledger
from contextui.context.trim import Trimming, plan_trim
from contextui.tokens import TokenCounter, check_budget
from contextui.windowing.manager import WindowManager
from contextui.windowing.window import Window
from contextui.windowing.worker import LOOP_PATIENCE, in_event_loop


class Room:
    """Measures the context against the token limit, and plans what to reduce."""

    def __init__(
        self,
        ledger: Ledger,
        windows: WindowManager | None,
        counter: TokenCounter,
        lock: AbstractContextManager[object],
    ) -> None:
        self._ledger, self._windows, self._counter = ledger, windows, counter
        self._lock = lock

    def limit(self, budget: int | None) -> int | None:
        """Convert a budget in provider tokens to our own token count."""
        if budget is None:
            return None
        check_budget(budget)
        return self._counter.room_in(budget)

    def is_short(self, limit: int) -> bool:
        """Whether the next request exceeds the limit.

        Raises:
            ContextTooLargeError: It would exceed it even after trimming everything that may be
                trimmed.
        """
        ledger = self._ledger
        if self._fits(limit):
            return False
        sent = {item.id for item in ledger.open if item.stage is Stage.SENT}
        active = ledger.active.view()
        final = [_final_twin(item) if item.id in sent else item for item in active]
        plan_trim(final, limit, ledger.request_size())
        return True

    def lowering(self, limit: int) -> Iterator[Window]:
        """Lower the level of detail of windows until the request fits, least recently used first.

        Pinned windows keep theirs. Yields each window after its level was lowered, so that the
        caller can wait for its render.
        """
        windows = self._windows
        if windows is None:
            return
        candidates = [item for item in self._ledger.live_references if not item.pinned]
        for reference in sorted(candidates, key=lambda item: windows.focused_at(item.content)):
            window = windows.get(reference.content)
            while window and not self._fits(limit) and (less := window.lod.below):
                windows.set_lod(window.id, less)
                yield window

    def _fits(self, limit: int) -> bool:
        with self._lock:
            return self._ledger.compose(limit).tokens <= limit

    def plan(self, limit: int) -> Trimming:
        """Trimming what to trim of the conversation once no window can be lowered further."""
        ledger = self._ledger
        active = list(ledger.active.view())
        return plan_trim(active, limit, ledger.request_size(), self._windows, ledger.cut)


def wait_for_each(lowered: Iterable[Window]) -> None:
    """Wait for the renders of lowered windows; inside an event loop only briefly.

    There, a window that is too slow is smaller only from the next request on;
    `ContextManager.prepare` waits for it without blocking the loop.
    """
    start, limit = time.monotonic(), LOOP_PATIENCE if in_event_loop() else float("inf")
    for window in lowered:
        if time.monotonic() - start < limit:
            window.to_xml()


def _final_twin(item: ContextItem) -> ContextItem:
    twin = copy.copy(item)
    assign(twin, stage=Stage.FINAL)
    return twin
