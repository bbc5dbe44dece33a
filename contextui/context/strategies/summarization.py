"""Summarization: the oldest rounds become a summary, while the person reads."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from contextui.context.item import ContextItem
from contextui.context.strategies.sliding import SlidingWindow
from contextui.context.strategies.strategy import Payload, StrategyError
from contextui.context.trim import ROUNDS_KEPT
from contextui.context.units import units
from contextui.model import Tool


@dataclass(frozen=True, slots=True)
class _Fold:
    """A summary that is ready: of what, and what it was when it was read."""

    revisions: Mapping[str, int]
    memory: str
    summary: str


class Summarization(SlidingWindow):
    """Folds the oldest rounds, with the summary there is, into a new summary.

    The model is asked after a turn, and what it said counts from the next one on. If anything of
    what it read was changed meanwhile, it is thrown away. Without a summary, or with too little
    room in spite of it, this is the sliding window.

    Args:
        threshold: How many rounds there may be.
        fold: How many of the oldest are folded when there are more.
    """

    name = "summarization"
    before_compaction = True

    def __init__(self, *, threshold: int = 10, fold: int = 5) -> None:
        super().__init__()
        if fold < 1 or threshold < fold + ROUNDS_KEPT - 1:
            raise StrategyError(
                f"threshold must be at least fold + {ROUNDS_KEPT - 1}, and fold at least 1: "
                f"the last {ROUNDS_KEPT} rounds always stay."
            )
        self.threshold, self.fold = threshold, fold
        self._ready: _Fold | None = None

    async def compose_payload(
        self,
        system_prompt: str,
        history: Sequence[ContextItem],
        tools: Sequence[Tool],
        rag_context: str | None = None,
    ) -> Payload:
        """What the summary does not stand for, as far as there is room."""
        ready, self._ready = self._ready, None
        room, memory = self.env.room, None
        if ready is not None and self._is_fresh(ready, history):
            memory = ready.summary
            history = [item for item in history if item.id not in ready.revisions]
            room += self.env.count(ready.memory) - self.env.count(memory)
        return Payload(self.newest(history, room), memory)

    async def on_turn_complete(self, history: Sequence[ContextItem]) -> None:
        """Have the oldest rounds summarized, if there are too many."""
        rounds = self.env.rounds(history)
        if len(rounds) <= self.threshold:
            return
        oldest = [item for one in rounds[: self.fold] for item in one]
        goes = [item for unit in units(oldest) if not unit.pinned for item in unit.items]
        if not goes:
            return
        revisions = {item.id: item.revision for item in goes}
        memory = self.env.memory
        summary = await self.env.summarize([*self.env.memory_items, *goes])
        self._ready = _Fold(revisions, memory, summary)

    def _is_fresh(self, ready: _Fold, history: Sequence[ContextItem]) -> bool:
        now = {item.id: item.revision for item in history if not item.pinned}
        same = all(now.get(name) == revision for name, revision in ready.revisions.items())
        return same and ready.memory == self.env.memory
