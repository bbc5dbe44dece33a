"""The sliding window: the newest of the conversation stays."""

from collections.abc import Sequence

from contextui.context.item import ContextItem
from contextui.context.strategies.strategy import ContextStrategy, Payload, StrategyError
from contextui.context.trim import ROUNDS_KEPT, STEP_DOWN_TO
from contextui.model import Tool


class SlidingWindow(ContextStrategy):
    """Keeps the newest rounds that there is room for, without holes, and at least three.

    Where anything must go, so much goes that there is room for many turns: each time the oldest
    goes, the provider's cache is lost.

    Args:
        max_messages: From how many messages on only the newest stay, whatever room there is;
            0 for never.
        keep_messages: How many stay then, and what belongs to them.
    """

    name = "sliding"
    before_compaction = False

    def __init__(self, *, max_messages: int = 0, keep_messages: int = 5) -> None:
        if max_messages < 0 or keep_messages < 1:
            raise StrategyError("max_messages must be 0 or more, keep_messages 1 or more.")
        if max_messages and keep_messages > max_messages:
            raise StrategyError(
                f"keep_messages is {keep_messages}: it must not be more than max_messages, "
                f"{max_messages}."
            )
        self.max_messages, self.keep_messages = max_messages, keep_messages

    async def compose_payload(
        self,
        system_prompt: str,
        history: Sequence[ContextItem],
        tools: Sequence[Tool],
        rag_context: str | None = None,
    ) -> Payload:
        """The newest rounds."""
        if self.max_messages and len(history) > self.max_messages:
            return Payload(history[-self.keep_messages :])
        return Payload(self.newest(history, self.env.room))

    def newest(self, history: Sequence[ContextItem], room: int) -> Sequence[ContextItem]:
        """All of the history if there is room for it, else the newest rounds."""
        if sum(map(self.env.size, history)) <= room:
            return history
        kept: list[ContextItem] = []
        used = 0
        for number, one in enumerate(reversed(self.env.rounds(history))):
            used += sum(map(self.env.size, one))
            if number >= ROUNDS_KEPT and used > room * STEP_DOWN_TO:
                break
            kept = [*one, *kept]
        return kept
