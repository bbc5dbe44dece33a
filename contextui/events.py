"""What happened, told to whoever listens: a log, a screen, the context.

Events name things by id, so that they can be logged as they are. A window's events may
arrive on that window's thread; a listener hands them over to its own thread if it has one.
"""

import logging
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from threading import Lock, RLock
from typing import Any, Literal

Actor = Literal["person", "model", "window"]
"""Who did it: the person, the model, or the window itself (a timer, a hook)."""


class Event:
    """The base of all events."""

    __slots__ = ()


# --- windows ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class WindowOpened(Event):
    """A window is on the screen. While its `opened` hook still runs it is shown as opening;
    `WindowReady` or `WindowNotOpened` follows."""

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
    """A window's state has changed. This is emitted before the change is drawn.

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
    """A window of an earlier run is back under its id, with its state."""

    window_id: str


@dataclass(frozen=True, slots=True)
class WindowChanged(Event):
    """A window has a new render: new state, another level of detail, or an error."""

    window_id: str
    version: str


@dataclass(frozen=True, slots=True)
class WindowActed(Event):
    """An action was carried out or failed; nothing of a failed one remains."""

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
    """A window is in use that was not the one used last."""

    window_id: str


@dataclass(frozen=True, slots=True)
class WindowClosed(Event):
    """A window was closed, with the closing words if there were any.

    Attributes:
        window_id: Its id.
        summary: The closing words.
        actor: Who closed it.
        given_up: What it had not saved, in its own words; empty if there was nothing.
    """

    window_id: str
    summary: str | None
    actor: Actor
    given_up: str = ""


@dataclass(frozen=True, slots=True)
class WindowTroubled(Event):
    """A window raised, is late, or declared something that had to be left out."""

    window_id: str
    reason: str


# --- the context -----------------------------------------------------------------------

Operation = Literal[
    "pin", "unpin", "drop", "restore", "edit", "fold", "unfold", "undo", "close", "replace", "trim"
]  # fmt: skip
Trigger = Literal["auto", "manual", "strategy"]
"""Who wanted a compaction: the program, because there was little room left, the person, or the
strategy of the conversation."""


@dataclass(frozen=True, slots=True)
class ItemAdded(Event):
    """An item has its seq and stands in the context."""

    item_id: str
    seq: int


@dataclass(frozen=True, slots=True)
class ItemsChanged(Event):
    """Items were pinned, hidden, edited … in one step, by giving these fields these values.

    An undo has no fields: it takes back whatever the step before it had changed.
    """

    item_ids: tuple[str, ...]
    operation: Operation
    fields: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CutMoved(Event):
    """The conversation before this seq is left out from now on."""

    cut: int


@dataclass(frozen=True, slots=True)
class Compacted(Event):
    """A summary stands for these items from now on; one undo brings them back, unless it was a
    strategy's doing.

    Attributes:
        item_ids: The items that it stands for.
        summary_id: The item that holds it.
        trigger: Who wanted it.
        pre_tokens: What a request cost before.
        post_tokens: What it costs now.
        files: The files whose content the summary was made with.
    """

    item_ids: tuple[str, ...]
    summary_id: str
    trigger: Trigger
    pre_tokens: int
    post_tokens: int
    files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RequestSent(Event):
    """A request left with everything up to this seq; its bytes are fixed.

    Attributes:
        through_seq: The newest item that it knew.
        carrier_id: The item that windows arrived with, if any did; it tells which.
        waiting_ids: Items up to that seq which it could not hold yet.
    """

    through_seq: int
    carrier_id: str | None = None
    waiting_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class UsageReported(Event):
    """The provider said what a request cost that was counted as so many tokens."""

    counted: int
    usage: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class TurnEnded(Event):
    """The turn took its final form; early says that room had to be made in mid-turn."""

    through_seq: int
    early: bool = False


Listener = Callable[[Event], None]


class Dispatcher:
    """Tells everyone everything, in the order in which it happened, one thing after the other.

    Managers that know of each other share one, so that nobody hears of two things in an order
    in which they did not happen, and no two threads can wait for each other here.
    """

    def __init__(self) -> None:
        self._waiting: deque[tuple[Listeners, Event]] = deque()
        self._telling = RLock()
        self._busy = False

    def post(self, listeners: "Listeners", event: Event) -> None:
        """Note an event; it is told by whoever delivers next."""
        self._waiting.append((listeners, event))

    @property
    def is_waiting(self) -> bool:
        """Whether anything was posted that nobody heard of yet."""
        return bool(self._waiting)

    def deliver(self, wait: bool = True) -> None:
        """Tell what was posted.

        Args:
            wait: Come back only when it was told. Otherwise, if someone is telling already, it is
                left to them.
        """
        while self._waiting and self._telling.acquire(blocking=wait):
            try:
                if self._busy:
                    return  # a listener is calling: whoever called it goes on telling
                self._tell_all()
            finally:
                self._telling.release()
        if wait:
            with self._telling:  # someone else may be telling our own events at this moment
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
    """Those who want to be told. All of them hear everything in the order in which it happened.

    A listener may change things: what follows from that is told after everyone has heard what is
    being told now. It must not wait for another thread. One that raises does not keep the others
    from being told, nor undo what happened: its error goes to the log ``contextui.events``.
    """

    def __init__(self, dispatcher: Dispatcher | None = None) -> None:
        self.dispatcher = dispatcher or Dispatcher()
        self._all: tuple[tuple[object, Listener], ...] = ()
        self._changing = Lock()

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Tell ``listener`` of every event from now on; the returned call ends that."""
        subscription = object()
        with self._changing:
            self._all = (*self._all, (subscription, listener))

        def unsubscribe() -> None:
            with self._changing:
                self._all = tuple(one for one in self._all if one[0] is not subscription)

        return unsubscribe

    def emit(self, event: Event, wait: bool = True) -> None:
        """Tell everyone; see `Dispatcher.deliver`."""
        self.post(event)
        self.dispatcher.deliver(wait)

    def post(self, event: Event) -> None:
        """Note an event, in order, while locks are held that no listener should meet."""
        self.dispatcher.post(self, event)

    def tell(self, event: Event) -> None:
        """Tell everyone now. For the dispatcher alone."""
        for _, listener in self._all:
            try:
                listener(event)
            except Exception:
                logging.getLogger("contextui.events").exception("A listener failed on %r", event)
