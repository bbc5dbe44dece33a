"""Turns, one after the other: what is said while one runs waits for its end."""

from collections.abc import Callable

from contextui.agent.controller import InteractionController
from contextui.agent.events import Notice, TurnFinished
from contextui.agent.making_room import CompactionStoppedError
from contextui.errors import ContextUIError
from contextui.events import Event


class Talk:
    """Runs the turns of a conversation and tells their events.

    Args:
        controller: The loop.
        hear: Told of every event of every turn.

    Attributes:
        waiting: What was said meanwhile, in order; may be changed by whoever shows it.
    """

    def __init__(self, controller: InteractionController, hear: Callable[[Event], None]) -> None:
        self._controller, self._hear = controller, hear
        self.waiting: list[str] = []
        self.last: TurnFinished | None = None

    @property
    def is_running(self) -> bool:
        """Whether a turn, or a compaction, is under way."""
        return self._controller.is_running

    def stop(self) -> None:
        """Stop the turn under way; what waits stays, and is not sent by itself."""
        self._controller.stop()

    async def run(self, text: str) -> None:
        """Run a turn with these words, and then one for each that was said meanwhile.

        A turn that was stopped or failed ends the row: the person decides what comes next.
        """
        words: str | None = text
        while words is not None:
            async for event in self._controller.run_turn(words):
                self._hear(event)
                if isinstance(event, TurnFinished):
                    self.last = event
            went_well = self.last is not None and self.last.reason == "done"
            words = self.waiting.pop(0) if self.waiting and went_well else None

    async def compact(self) -> None:
        """Compact the conversation; then come the turns of what was said meanwhile."""
        try:
            await self._controller.compact(self._hear)
        except CompactionStoppedError:
            return  # its end was told
        except ContextUIError as error:
            self._hear(Notice(str(error)))
            return
        if self.waiting:
            await self.run(self.waiting.pop(0))
