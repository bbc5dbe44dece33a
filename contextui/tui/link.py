"""The link between session and screen: batched change events, and turns with their queue."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from contextui.agent.controller import InteractionController
from contextui.agent.mention import Attachments
from contextui.agent.preamble import PreambleText
from contextui.agent.room import CompactionStoppedError
from contextui.config.schema import Notify
from contextui.context.item import ItemType
from contextui.errors import ContextUIError
from contextui.events import (
    WOKEN,
    Event,
    JobsChanged,
    Notice,
    TurnFinished,
    TurnStarted,
    WindowActed,
    WindowChanged,
    WindowClosed,
    WindowDetailChanged,
    WindowNotified,
    WindowOpened,
    WindowOpenedAgain,
    WindowReady,
    WindowRestored,
    WindowTroubled,
)
from contextui.model import CachePrices
from contextui.session.session import Session
from contextui.tokens import Usage
from contextui.windowing.finding.registry import WindowEntry
from contextui.windowing.finding.reload import Reloader
from contextui.windowing.host import latest_render, running_jobs
from contextui.windowing.manager import WindowManager
from contextui.words import Text, Words

if TYPE_CHECKING:
    from contextui.config.sources import Loaded
    from contextui.context.messages import Composition


@dataclass(slots=True)
class Desk:
    """Everything a screen works on.

    Attributes:
        session: The conversation, its windows, and the log that stores them.
        controller: Runs the turns.
        entries: All registered windows; those that cannot be opened carry the reason.
        notices: One-line notices to show at startup.
        is_offline: Whether no model is connected.
        settings: Loads the settings again, with the keys that the person entered.
        switch_model: Connects another model by name; raises a `ContextUIError` on failure.
        switch_strategy: Selects another strategy by name; raises likewise.
        notify: How to notify the person while the terminal has not the focus.
        wakes: Whether a window's notification starts a turn when the model is idle.
        reloader: Loads changed window files again.
        load_settings: Loads the settings again, for the sheet of settings.
    """

    session: Session
    controller: InteractionController
    entries: list[WindowEntry] = field(default_factory=list)
    notices: list[Text] = field(default_factory=list)
    is_offline: bool = False
    switch_model: Callable[[str], None] | None = None
    settings: "Callable[[], Loaded] | None" = None
    switch_strategy: Callable[[str], None] | None = None
    wakes: bool = False
    notify: Notify = "bell"
    reloader: Reloader | None = None
    load_settings: "Callable[[], Loaded] | None" = None
    _figures: "tuple[tuple[int, ...], Composition, dict[str, int]] | None" = None

    @property
    def has_messages(self) -> bool:
        """Whether the person sent a message."""
        return any(one.type is ItemType.USER for one in self.session.context.get_all())

    @property
    def has_cache(self) -> bool:
        """Whether the model has a prompt cache, so that its state and savings mean something."""
        prices = getattr(self.controller.model, "prices", None)
        if getattr(self.controller.model, "has_cache", None) is False:
            return False
        return not isinstance(prices, CachePrices) or prices.has_cache

    def cost_of(self, usage: Usage) -> float | None:
        """Return the cost of a usage in dollars, or None if the model has no known prices."""
        cost = getattr(self.controller.model, "cost", None)
        try:
            return float(found) if callable(cost) and (found := cost(usage)) is not None else None
        except Exception:  # models may be third-party code
            return None

    def rewrite_cost(self, tokens: int) -> float | None:
        """Return what tokens cost more if they have to be written to the cache again."""
        written = self.cost_of(Usage(cache_creation_input_tokens=tokens))
        if written is None:  # a provider that charges nothing extra for writing
            written = self.cost_of(Usage(tokens))
        read = self.cost_of(Usage(cache_read_input_tokens=tokens))
        return None if written is None or read is None else max(written - read, 0.0)

    def job_in(self, window_id: str) -> str:
        """Return the name of the newest running job of a window; empty if there is none."""
        window = self.session.windows.get(window_id)
        jobs = running_jobs(window) if window is not None else []
        return jobs[-1].name if jobs else ""

    def tokens_of(self, window_id: str) -> int | None:
        """Return a window's tokens in the next request, or None if no item refers to it.

        Of several windows of a class, the first has the actions of all, as in the inspector. One
        that is left out has the tokens that it would have alone.
        """
        context, windows = self.session.context, self.session.windows
        items = context.window_items(window_id)
        if not items:
            return None
        if items[-1].hidden is not None:
            return context.counter.calibrated(context.item_tokens(items[-1]))
        state = (context.generation, *(hash(latest_render(one).xml) for one in windows.windows()))
        if self._figures is None or self._figures[0] != state:
            self._figures = state, context.outlook(), {}
        _, outlook, known = self._figures
        if window_id not in known:
            known[window_id] = context.tokens_in(outlook, items[-1])
        return context.counter.calibrated(known[window_id])

    def close(self) -> None:
        """Write pending data and release the session."""
        self.controller.close()
        self.session.close()


@dataclass(slots=True)
class Changes:
    """What changed since the screen last took changes.

    Attributes:
        windows: Ids of windows that were opened, changed or closed.
        acted: The last actor on each window.
        again: Ids of windows that were asked for and are open already.
        troubles: Errors in windows, as text.
        notified: The last notification of each window.
        context: Whether the context changed.
    """

    windows: set[str] = field(default_factory=set)
    acted: dict[str, str] = field(default_factory=dict)
    again: list[str] = field(default_factory=list)
    troubles: list[str] = field(default_factory=list)
    notified: dict[str, str] = field(default_factory=dict)
    context: bool = False


class Link:
    """Subscribes to a session's events, on any thread, and collects what changed.

    Args:
        desk: The desk whose session to watch.
        wake: Called on any thread when the first change since the last `take` arrives.
    """

    def __init__(self, desk: Desk, wake: Callable[[], object]) -> None:
        self._wake = wake
        self._changes: Changes | None = None
        self._lock = threading.Lock()
        self._ends = [
            desk.session.windows.subscribe(self._handle_window_event),
            desk.session.context.subscribe(self._handle_context_event),
        ]

    def take(self) -> Changes:
        """Return the changes since the last call, and reset them."""
        with self._lock:
            changes, self._changes = self._changes or Changes(), None
        return changes

    def close(self) -> None:
        """Unsubscribe."""
        for end in self._ends:
            end()

    def _handle_context_event(self, _: Event) -> None:
        self._note(lambda changes: setattr(changes, "context", True))

    def _handle_window_event(self, event: Event) -> None:
        def note(changes: Changes) -> None:
            changes.context = True
            match event:
                case WindowActed():
                    changes.acted[event.window_id] = event.actor
                    changes.windows.add(event.window_id)
                case WindowNotified():
                    changes.notified[event.window_id] = event.text
                    changes.windows.add(event.window_id)
                case WindowOpenedAgain():
                    changes.again.append(event.window_id)
                    changes.windows.add(event.window_id)
                case WindowTroubled():
                    changes.troubles.append(f"{event.window_id} {event.reason}")
                case (
                    WindowOpened() | WindowReady() | WindowRestored() | WindowChanged()
                    | WindowClosed() | WindowDetailChanged() | JobsChanged()
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

    def queue(self, text: str, attached: Sequence[PreambleText] | None = None) -> None:
        """Queue a message until the turn ends; a wait for a job ends now."""
        self.waiting.append(text)
        if attached is not None:
            self._attached[text] = attached
        self._controller.windows.end_waits()

    async def run(self, text: str, attached: Sequence[PreambleText] | None = None) -> None:
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
                attached = self._attached.pop(words, None) if words is not None else None
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
        await self.run(words, ())  # the files that it mentions are in the context already

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
            await self.run(words, self._attached.pop(words, None))
