"""The queue of messages, each of which becomes a turn."""

from collections.abc import Callable, Sequence

from contextui.agent.context_space import CompactionStoppedError
from contextui.agent.controller import InteractionController
from contextui.agent.mention import Attachments
from contextui.agent.preamble import PreambleText
from contextui.errors import ContextUIError
from contextui.events import WOKEN, Event, Notice, TurnFinished, TurnStarted
from contextui.windowing.manager import WindowManager
from contextui.words import Words


class TurnQueue:
    """Runs the turns of a conversation and emits their events.

    Args:
        controller: Runs a turn.
        callback: Callback for every event of every turn.

    Attributes:
        waiting: Messages queued while a turn runs, in order; the UI may change the list.
    """

    def __init__(
        self, controller: InteractionController, callback: Callable[[Event], None]
    ) -> None:
        self._controller, self._callback = controller, callback
        self.waiting: list[str] = []
        self._attached: dict[str, Sequence[PreambleText]] = {}  # to queued messages
        self.last: TurnFinished | None = None
        self._began: TurnStarted | None = None
        self._is_active = False  # also between two turns

    @property
    def windows(self) -> WindowManager:
        """The windows of the conversation."""
        return self._controller.windows

    @property
    def is_running(self) -> bool:
        """Whether a turn or a compaction is running, or the next queued message is due."""
        return self._is_active or self._controller.is_running

    @property
    def has_failed(self) -> bool:
        """Whether the last turn failed and can be retried."""
        return self.last is not None and self.last.reason == "failed"

    def stop(self) -> None:
        """Stop the current turn; queued messages stay queued."""
        self._controller.stop()

    @property
    def attachments(self) -> Attachments:
        """Reads the files that a message mentions."""
        return self._controller.attachments

    def queue(self, text: str, attached: Sequence[PreambleText] = ()) -> None:
        """Queue a message until the turn ends; a wait for a job ends now."""
        self.waiting.append(text)
        self._attached[text] = attached
        self._controller.windows.end_waits()

    async def run(self, text: str, attached: Sequence[PreambleText] = ()) -> None:
        """Run a turn with this message, then one for each queued message.

        A turn that was stopped or failed ends the loop: the person decides what comes next. Of
        several messages that are sent before the first turn starts, the later ones are queued.

        Args:
            text: The message.
            attached: What precedes it, see `InteractionController.run_turn`.
        """
        if self.is_running:
            self.queue(text, attached)
            return
        words: str | None = text
        self._is_active = True
        try:
            while words is not None:
                async for event in self._controller.run_turn(words, attached):
                    self._callback(event)
                    if isinstance(event, TurnStarted):
                        self._began = event
                    elif isinstance(event, TurnFinished):
                        self.last = event
                went_well = self.last is not None and self.last.reason == "done"
                words = self.waiting.pop(0) if self.waiting and went_well else None
                attached = self._attached.pop(words, ()) if words is not None else ()
        finally:
            self._is_active = False

    async def run_woken(self, words: Words) -> None:
        """Run a turn because a window reported something, unless one is running."""
        if not self.is_running:
            await self.run(words(WOKEN))

    async def retry(self, go_on: str) -> None:
        """Retry the failed turn, unless that has begun.

        A message that got no response at all is sent again and replaces the first one.

        Args:
            go_on: The message to send if there was a response, or a part of one.
        """
        if self.is_running:
            return
        assert self._began is not None, "no turn has failed"
        words = go_on
        if self.last is not None and not (self.last.steps or self.last.text):
            words = self._began.text
            self._controller.context.drop(self._began.item_id)
        await self.run(words)  # the files that it mentions are in the context already

    async def compact(self) -> None:
        """Compact the conversation, then run turns for the queued messages."""
        try:
            await self._controller.compact(self._callback)
        except CompactionStoppedError:
            return  # its end was already emitted
        except ContextUIError as error:
            self._callback(Notice(error.text(self._controller.windows.lang)))
            return
        if self.waiting:
            words = self.waiting.pop(0)
            await self.run(words, self._attached.pop(words, ()))
