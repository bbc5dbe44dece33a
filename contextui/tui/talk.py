"""Turns, one after the other: what is said while one runs waits for its end."""

from collections.abc import Callable

from contextui.agent.controller import InteractionController
from contextui.agent.events import Notice, TurnFinished, TurnStarted
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
        self._began: TurnStarted | None = None

    @property
    def is_running(self) -> bool:
        """Whether a turn, or a compaction, is under way."""
        return self._controller.is_running

    @property
    def has_failed(self) -> bool:
        """Whether the last turn did, so that it can be tried again."""
        return self.last is not None and self.last.reason == "failed"

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
                if isinstance(event, TurnStarted):
                    self._began = event
                elif isinstance(event, TurnFinished):
                    self.last = event
            went_well = self.last is not None and self.last.reason == "done"
            words = self.waiting.pop(0) if self.waiting and went_well else None

    async def retry(self, go_on: str) -> None:
        """Try the turn that failed once more.

        Words that got no answer at all are said anew, in place of the first ones.

        Args:
            go_on: What to say where there was an answer, or a part of one.
        """
        assert self._began is not None, "no turn has failed"
        words = go_on
        if self.last is not None and not (self.last.steps or self.last.text):
            words = self._began.text
            self._controller.context.drop(self._began.item_id)
        await self.run(words)

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
