"""Events that windows and the context emit, and the listeners that receive them.

Events refer to things by id, so they can be logged as they are. A window may emit events on its own
thread; a listener that needs another thread must hand them over.
"""

import logging
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from threading import Lock, RLock
from typing import Any, Literal

Actor = Literal["person", "model", "window"]
"""Who caused the event: the person, the model, or the window itself (a timer or a hook)."""


class Event:
    """Base class of all events."""

    __slots__ = ()


# --- windows ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class WindowOpened(Event):
    """A window is on the screen; while its `opened` hook runs, it is shown as opening.

    `WindowReady` or `WindowNotOpened` follows.
    """

    window_id: str


@dataclass(frozen=True, slots=True)
class WindowReady(Event):
    """The `opened` hook of a window that was shown as opening has finished."""

    window_id: str


@dataclass(frozen=True, slots=True)
class WindowNotOpened(Event):
    """The `opened` hook of a window that was shown as opening has failed; the window is closed."""

    window_id: str
    reason: str


@dataclass(frozen=True, slots=True)
class WindowCommitted(Event):
    """A window's state has changed; emitted before the change is rendered.

    Attributes:
        window_id: Its id.
        version: The version that the change made.
        actor: Who changed it; `window` for a timer or a hook.
    """

    window_id: str
    version: str
    actor: Actor


@dataclass(frozen=True, slots=True)
class WindowRestored(Event):
    """A window of an earlier run was restored under its id, with its state."""

    window_id: str


@dataclass(frozen=True, slots=True)
class WindowChanged(Event):
    """A window has a new render: new state, another level of detail, or an error."""

    window_id: str
    version: str


@dataclass(frozen=True, slots=True)
class WindowActed(Event):
    """An action succeeded or failed; a failed one is rolled back."""

    window_id: str
    action_id: str
    actor: Actor
    ok: bool
    text: str


@dataclass(frozen=True, slots=True)
class WindowDetailChanged(Event):
    """A window's level of detail was switched."""

    window_id: str
    lod: str


@dataclass(frozen=True, slots=True)
class WindowFocused(Event):
    """Focus moved to this window from another one."""

    window_id: str


@dataclass(frozen=True, slots=True)
class WindowClosed(Event):
    """A window was closed.

    Attributes:
        window_id: Its id.
        summary: The closing summary, if one was given.
        actor: Who closed it.
        given_up: The unsaved edits that were discarded, as the window describes them; or empty.
    """

    window_id: str
    summary: str | None
    actor: Actor
    given_up: str = ""


@dataclass(frozen=True, slots=True)
class WindowTroubled(Event):
    """A window raised, is late, or declared something that was ignored."""

    window_id: str
    reason: str


# --- the context -----------------------------------------------------------------------

Operation = Literal[
    "pin", "unpin", "drop", "restore", "edit", "fold", "unfold", "undo", "close", "replace", "trim"
]  # fmt: skip
Trigger = Literal["auto", "manual", "strategy"]
"""What triggered a compaction: `auto` for lack of room, `manual` for the person, `strategy` for the
conversation's context strategy."""


@dataclass(frozen=True, slots=True)
class ItemAdded(Event):
    """An item was added to the context and has its seq."""

    item_id: str
    seq: int


@dataclass(frozen=True, slots=True)
class ItemsChanged(Event):
    """Items were pinned, hidden, edited … in one step: these fields were set to these values.

    An `undo` has no fields: it reverts the previous step.
    """

    item_ids: tuple[str, ...]
    operation: Operation
    fields: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CutMoved(Event):
    """From now on the conversation before this seq is omitted from requests."""

    cut: int


@dataclass(frozen=True, slots=True)
class Compacted(Event):
    """A summary replaced these items; one undo restores them, unless a strategy compacted.

    Attributes:
        item_ids: The items that were replaced.
        summary_id: The item that holds the summary.
        trigger: What triggered the compaction.
        pre_tokens: The tokens of a request before.
        post_tokens: The tokens of a request now.
        files: The files whose content went into the summary.
    """

    item_ids: tuple[str, ...]
    summary_id: str
    trigger: Trigger
    pre_tokens: int
    post_tokens: int
    files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RequestSent(Event):
    """A request was sent with everything up to this seq; its bytes are final.

    Attributes:
        through_seq: The seq of the newest item that it considered.
        carrier_id: The item that carried the windows, if any did.
        waiting_ids: Items up to that seq that it could not include yet.
    """

    through_seq: int
    carrier_id: str | None = None
    waiting_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class UsageReported(Event):
    """The provider reported the usage of a request; `counted` is our own token count."""

    counted: int
    usage: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class TurnEnded(Event):
    """The turn took its final form; `early` means in mid-turn, to make room."""

    through_seq: int
    early: bool = False


Listener = Callable[[Event], None]


class Dispatcher:
    """Delivers events to listeners one at a time, in the order in which they were posted.

    Managers that depend on each other share one dispatcher, so events arrive in order across all of
    them and two threads cannot deadlock while delivering.
    """

    def __init__(self) -> None:
        self._waiting: deque[tuple[Listeners, Event]] = deque()
        self._telling = RLock()
        self._busy = False

    def post(self, listeners: "Listeners", event: Event) -> None:
        """Queue an event; the next `deliver` emits it."""
        self._waiting.append((listeners, event))

    @property
    def is_waiting(self) -> bool:
        """Whether any posted event is still undelivered."""
        return bool(self._waiting)

    def deliver(self, wait: bool = True) -> None:
        """Emit all queued events.

        Args:
            wait: Return only after they are delivered. Otherwise, if another thread is delivering,
                leave them to that thread.
        """
        while self._waiting and self._telling.acquire(blocking=wait):
            try:
                if self._busy:
                    return  # called from within a listener: the outer call delivers the rest
                self._tell_all()
            finally:
                self._telling.release()
        if wait:
            with self._telling:  # wait for another thread that may be delivering our events
                return

    def _tell_all(self) -> None:
        self._busy = True
        try:
            while self._waiting:
                listeners, event = self._waiting.popleft()
                listeners.tell(event)
        finally:
            self._busy = False


class Listeners:
    """A list of listeners; each receives every event, in order.

    A listener may cause further events: they are delivered after the current one has reached all
    listeners. It must not wait for another thread. An exception in a listener affects neither the
    other listeners nor the change itself; it is logged to ``contextui.events``.
    """

    def __init__(self, dispatcher: Dispatcher | None = None) -> None:
        self.dispatcher = dispatcher or Dispatcher()
        self._all: tuple[tuple[object, Listener], ...] = ()
        self._changing = Lock()

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Register a callback for all events from now on; the returned function unsubscribes it."""
        subscription = object()
        with self._changing:
            self._all = (*self._all, (subscription, listener))

        def unsubscribe() -> None:
            with self._changing:
                self._all = tuple(one for one in self._all if one[0] is not subscription)

        return unsubscribe

    def emit(self, event: Event, wait: bool = True) -> None:
        """Post an event and deliver it; see `Dispatcher.deliver`."""
        self.post(event)
        self.dispatcher.deliver(wait)

    def post(self, event: Event) -> None:
        """Queue an event without calling listeners, for callers that hold locks."""
        self.dispatcher.post(self, event)

    def tell(self, event: Event) -> None:
        """Call every listener now. Only the dispatcher uses this."""
        for _, listener in self._all:
            try:
                listener(event)
            except Exception:
                logging.getLogger("contextui.events").exception("A listener failed on %r", event)
