"""Hands over what happens in a session, on any thread, to the screen, in batches."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from contextui.agent.controller import InteractionController
from contextui.agent.events import Notice, TurnFinished, TurnStarted
from contextui.agent.room import CompactionStoppedError
from contextui.errors import ContextUIError
from contextui.events import (
    Event,
    WindowActed,
    WindowChanged,
    WindowClosed,
    WindowDetailChanged,
    WindowOpened,
    WindowReady,
    WindowRestored,
    WindowTroubled,
)
from contextui.session.session import Session
from contextui.windowing.finding.registry import WindowEntry


@dataclass(slots=True)
class Desk:
    """Everything that a screen works on.

    Attributes:
        session: The conversation, its windows, and the log that keeps them.
        controller: The loop.
        entries: The windows that can be opened, and those that cannot, with the reason.
        notices: What the person should know from the start, in one line each.
        is_offline: Whether no model is connected.
        switch_model: Connects another model by name; raises a `ContextUIError` if it cannot.
        switch_strategy: Takes another strategy by name; likewise.
    """

    session: Session
    controller: InteractionController
    entries: list[WindowEntry] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    is_offline: bool = False
    switch_model: Callable[[str], None] | None = None
    switch_strategy: Callable[[str], None] | None = None

    def tokens_of(self, window_id: str) -> int | None:
        """What a window costs in a request; None if no item refers to it."""
        context = self.session.context
        items = context.ledger.references.get(window_id)
        return context.counter.calibrated(context.ledger.size(items[-1])) if items else None

    def close(self) -> None:
        """Write what is not written yet, and let others have the session."""
        self.controller.close()
        self.session.close()


@dataclass(slots=True)
class Changes:
    """What happened since the screen looked last.

    Attributes:
        windows: The ids of windows that look different now, or have come or gone.
        acted: Who acted on each window last.
        troubles: What went wrong in windows, in words.
        context: Whether anything of the context changed.
    """

    windows: set[str] = field(default_factory=set)
    acted: dict[str, str] = field(default_factory=dict)
    troubles: list[str] = field(default_factory=list)
    context: bool = False


class Link:
    """Listens to a session and gathers what changed.

    Args:
        desk: Whose session.
        wake: Called, on any thread, when there is something to take and there was nothing before.
    """

    def __init__(self, desk: Desk, wake: Callable[[], object]) -> None:
        self._wake = wake
        self._changes: Changes | None = None
        self._lock = threading.Lock()
        self._ends = [
            desk.session.windows.subscribe(self._hear_window),
            desk.session.context.subscribe(self._hear_context),
        ]

    def take(self) -> Changes:
        """What changed since the last time."""
        with self._lock:
            changes, self._changes = self._changes or Changes(), None
        return changes

    def close(self) -> None:
        """Listen no more."""
        for end in self._ends:
            end()

    def _hear_context(self, _: Event) -> None:
        self._note(lambda changes: setattr(changes, "context", True))

    def _hear_window(self, event: Event) -> None:
        def note(changes: Changes) -> None:
            changes.context = True
            match event:
                case WindowActed():
                    changes.acted[event.window_id] = event.actor
                    changes.windows.add(event.window_id)
                case WindowTroubled():
                    changes.troubles.append(f"{event.window_id} {event.reason}")
                case (
                    WindowOpened() | WindowReady() | WindowRestored() | WindowChanged()
                    | WindowClosed() | WindowDetailChanged()
                ):  # fmt: skip
                    changes.windows.add(event.window_id)

        self._note(note)

    def _note(self, note: Callable[[Changes], object]) -> None:
        with self._lock:
            first = self._changes is None
            self._changes = self._changes or Changes()
            note(self._changes)
        if first:
            self._wake()


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
