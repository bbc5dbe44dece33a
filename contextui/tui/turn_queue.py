"""The queue of messages, each of which becomes a turn."""

from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from contextui.agent.controller import CompactionStoppedError, InteractionController
from contextui.agent.prompt import PreambleText
from contextui.errors import ContextUIError
from contextui.events import WOKEN, Event, Notice, TurnFinished, TurnStarted
from contextui.tui.conversation.prompt import Prompt
from contextui.words import Words


class TurnQueue:
    """Runs a turn for each message, one after the other."""

    def __init__(
        self,
        controller: InteractionController,
        emit: Callable[[Event], None],
        start: Callable[[Coroutine[Any, Any, None]], object],
        refuse: Callable[[ContextUIError, str], None],
    ) -> None:
        self._controller, self._emit = controller, emit
        self._start, self._refuse = start, refuse
        self.waiting: list[Prompt.Submitted] = []
        self.last: TurnFinished | None = None
        self._began: TurnStarted | None = None
        self._read: Prompt.Submitted | None = None  # whose files are being read
        self._is_active = False  # also between two turns

    @property
    def is_running(self) -> bool:
        """Whether a turn or a compaction is running, or the next queued message is due."""
        return self._is_active or self._controller.is_running

    @property
    def unsent(self) -> list[str]:
        return [one.text for one in (self._read, *self.waiting) if one is not None]

    def stop(self) -> bool:
        """Stop the current turn; queued messages stay queued. Return whether there was one."""
        is_running = self.is_running
        if is_running:
            self._controller.stop()
        return is_running

    def send(self, message: Prompt.Submitted) -> None:
        """Send a message, or queue it until the turn ends; a wait for a job ends now."""
        if self.is_running:
            self.waiting.append(message)
            self._controller.windows.end_waits()
        else:
            self.waiting.insert(0, message)  # before those that a failed turn left
            self._run()

    def wake(self, words: Words) -> None:
        """Run a turn because a window reported something, unless one is running."""
        if not self.is_running:
            self.send(Prompt.Submitted(words(WOKEN)))

    def retry(self, go_on: str) -> None:
        """Retry the last turn if it failed, unless that has begun.

        A message that got no response at all is sent again and replaces the first one.
        """
        if self.is_running or self.last is None or self.last.reason != "failed":
            return
        assert self._began is not None
        words = go_on
        if not (self.last.steps or self.last.text):
            words = self._began.text
            self._controller.context.drop(self._began.item_id)
        self._run(words)  # the files that it mentions are in the context already

    def compact(self) -> None:
        self._start(self._compact())

    async def _compact(self) -> None:
        try:
            await self._controller.compact(self._emit)
        except CompactionStoppedError:
            return  # its end was already emitted
        except ContextUIError as error:
            self._emit(Notice(error.text(self._controller.windows.lang)))
            return
        await self._run_turns()

    def _run(self, first: str = "") -> None:
        self._is_active = True  # a message that is sent before the turn starts is queued
        self._start(self._run_turns(first))

    async def _run_turns(self, first: str = "") -> None:
        """Run a turn for a message without attachments, if any, and for each queued one.

        A turn that was stopped or failed ends the loop: the person decides what comes next.
        """
        self._is_active = True
        try:
            went_well = not first or await self._run_turn(first)
            while self.waiting and went_well:
                self._read = message = self.waiting.pop(0)
                try:
                    read = self._controller.attachments.read
                    attached = await read(message.visible, message.mentions)
                    self._controller.check_idle()  # a compaction may have begun meanwhile
                except ContextUIError as error:
                    # Also what was sent after it: the person meant it to follow.
                    kept = "\n\n".join(self.unsent)
                    self.waiting.clear()
                    self._refuse(error, kept)
                    return
                finally:
                    self._read = None
                went_well = await self._run_turn(message.text, attached)
        finally:
            self._is_active = False

    async def _run_turn(self, text: str, attached: Sequence[PreambleText] = ()) -> bool:
        async for event in self._controller.run_turn(text, attached):
            self._emit(event)
            if isinstance(event, TurnStarted):
                self._began = event
            elif isinstance(event, TurnFinished):
                self.last = event
        return self.last is not None and self.last.reason == "done"
