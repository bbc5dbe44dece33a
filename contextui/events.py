"""Events that windows, the context and a turn emit, and the listeners that receive them.

Events of windows and the context refer to things by id, so they can be logged as they are. A window
may emit events on its own thread; a listener that needs another thread must hand them over. A turn
also emits the `TextDelta`, `ThinkingDelta` and `CallBegun` of the model's stream, which are part of
the model interface in `contextui.model`.
"""

import logging
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from threading import Lock, RLock
from typing import Any, Literal, dataclass_transform

from contextui.text import one_line
from contextui.tokens import Usage
from contextui.words import Lang, Words, msg

Actor = Literal["person", "model", "window"]
"""Who caused the event: the person, the model, or the window itself (a timer or a hook)."""


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
class Event:
    """Base class of all events, which are frozen dataclasses."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        dataclass(frozen=True)(cls)


# --- windows ---------------------------------------------------------------------------


class WindowOpened(Event):
    """A window is on the screen; while its `opened` hook runs, it is shown as opening.

    `WindowReady` or `WindowNotOpened` follows.
    """

    window_id: str


class WindowReady(Event):
    """The `opened` hook of a window that was shown as opening has finished."""

    window_id: str


class WindowOpenedAgain(Event):
    """A window was asked for that is open already, such as the editor of a file."""

    window_id: str


class WindowNotOpened(Event):
    """The `opened` hook of a window that was shown as opening has failed; the window is closed."""

    window_id: str
    reason: str


class WindowCommitted(Event):
    """A window's state has changed; emitted before the change is rendered.

    Attributes:
        actor: Who changed it; `window` for a timer or a hook.
    """

    window_id: str
    version: str
    actor: Actor


class WindowRestored(Event):
    """A window of an earlier run was restored under its id, with its state."""

    window_id: str


class WindowChanged(Event):
    """A window has a new render: new state, another level of detail, or an error."""

    window_id: str
    version: str


class WindowActed(Event):
    """An action succeeded or failed; a failed one is rolled back."""

    window_id: str
    action_id: str
    actor: Actor
    ok: bool
    text: str


WOKEN = msg("(A window reported something; the person has written nothing.)")
"""The message of a turn that a notification starts."""


class WindowNotified(Event):
    """A window reports something, such as the end of a job."""

    window_id: str
    text: str


JobState = Literal["running", "done", "failed", "cancelled"]
"""Whether a job is running, or how it ended."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a job is.

    Attributes:
        job: The number of the job in its window.
        state: Whether it runs, or how it ended.
        done: How much is done; None if that is unknown.
        total: How much there is to do; None if that is unknown.
        text: A few words on where it is.
        started: When it started, as `time.monotonic` counts.
        is_quiet: Whether its end is not reported; `-p` does not wait for it.
    """

    job: int
    name: str
    state: JobState = "running"
    done: float | None = None
    total: float | None = None
    text: str = ""
    started: float = 0.0
    is_quiet: bool = False

    @property
    def place(self) -> str:
        """How far it is, in words."""
        count = ""
        if self.done is not None:
            count = f"{self.done:g}" if self.total is None else f"{self.done:g} of {self.total:g}"
        return ", ".join(filter(None, (count, self.text)))

    def __str__(self) -> str:
        return ", ".join(filter(None, (self.name, self.place)))


class JobsChanged(Event):
    """Jobs of a window started, progressed or ended; at most ten times a second."""

    window_id: str
    running: tuple[Progress, ...]


class WindowDetailChanged(Event):
    """A window's level of detail was switched."""

    window_id: str
    lod: str


class WindowFocused(Event):
    """Focus moved to this window from another one."""

    window_id: str


class WindowClosed(Event):
    """A window was closed.

    Attributes:
        given_up: The unsaved edits that were discarded, as the window describes them; or empty.
    """

    window_id: str
    summary: str | None
    actor: Actor
    given_up: str = ""


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


class ItemAdded(Event):
    """An item was added to the context and has its seq."""

    item_id: str
    seq: int


class ItemsChanged(Event):
    """Items were pinned, hidden, edited … in one step: these fields were set to these values.

    An `undo` has no fields: it reverts the previous step.
    """

    item_ids: tuple[str, ...]
    operation: Operation
    fields: Mapping[str, Any] = field(default_factory=dict)


class CutMoved(Event):
    """From now on the conversation before this seq is omitted from requests."""

    cut: int


class Compacted(Event):
    """A summary replaced these items; one undo restores them, unless a strategy compacted.

    Attributes:
        files: The files whose content went into the summary.
    """

    item_ids: tuple[str, ...]
    summary_id: str
    trigger: Trigger
    pre_tokens: int
    post_tokens: int
    files: tuple[str, ...] = ()


class RequestSent(Event):
    """A request was sent with everything up to this seq; its bytes are final.

    Attributes:
        through_seq: The seq of the newest item that it considered.
        waiting_ids: Items up to that seq that it could not include yet.
        plan: How it was planned, if windows are placed by price: the blocks that it added, what it
            removed and why, and its cache marks.
    """

    through_seq: int
    waiting_ids: tuple[str, ...] = ()
    plan: Mapping[str, Any] | None = None


class UsageReported(Event):
    """The provider reported the usage of a request; `counted` is our own token count."""

    counted: int
    usage: Mapping[str, Any]


class TurnEnded(Event):
    """The turn took its final form; `early` means in mid-turn, to make room.

    `finished` is how it ended, if that is known.
    """

    through_seq: int
    early: bool = False
    finished: "TurnFinished | None" = None


# --- a turn ----------------------------------------------------------------------------

Reason = Literal[
    "done",  # the model finished its answer
    "stopped",  # the person cancelled it
    "paused",  # it reached the maximum number of steps; the person may continue it
    "stuck",  # it repeated the same failing call
    "cut_off",  # its answer exceeded the token limit
    "refused",  # the model declined
    "empty",  # it answered with nothing, twice
    "failed",  # the request failed
]


class TurnStarted(Event):
    """The person's message was added to the context."""

    text: str
    item_id: str


class StepStarted(Event):
    """A request is sent: the number of the step, from 1 on, and its tokens by our own count."""

    step: int
    tokens: int


class AnswerDiscarded(Event):
    """The answer broke off: discard the text streamed so far. A new attempt may follow."""

    reason: str


class RetryScheduled(Event):
    """The request is retried in this many seconds; emitted again every second."""

    reason: str
    seconds: int
    attempt: int
    attempts: int


class UsageSpent(Event):
    """The usage of one request; step 0 is one before the first step, such as a summary."""

    usage: Usage
    step: int


class AnswerGiven(Event):
    """A whole answer, with its text, was added to the context."""

    item_id: str
    text: str


class CallStarted(Event):
    """A tool call starts."""

    number: int
    name: str
    input: Mapping[str, Any] = field(default_factory=dict)

    @property
    def named(self) -> tuple[str, object]:
        """What it does, such as ``todo_1.add`` or ``create todo``, and the arguments of that."""
        match self.name, self.input:
            case "action", {"window_id": window, "action_id": act}:
                return f"{window}.{act}", self.input.get("params")
            case "create", {"name": kind}:
                return f"create {kind}", self.input.get("args")
        return self.name, self.input


class CallFinished(Event):
    """A tool call finished.

    Attributes:
        number: Its position among the calls of one answer, from 1 on.
        ok: Whether it was carried out; a command that it ran may have failed all the same.
        text: The result, as the model reads it.
        waited: The seconds spent waiting for the person's approval.
        allowed: Whether the person was asked and allowed it.
        added: How many lines it added to its target, if the approval had a diff.
        seconds: How long it took, without the time spent waiting.
        status: The exit status of the command that it ran; None if it ran none, or it still runs.
        ran: The command that the person wrote in place of the model's; it ran if `ok`.
        refused: Whether the person, or the approval mode, refused it.
    """

    number: int
    name: str
    ok: bool
    text: str
    waited: float = 0.0
    allowed: bool = False
    added: int = 0
    removed: int = 0
    seconds: float = 0.0
    status: int | None = None
    ran: str = ""
    refused: bool = False

    @property
    def failed(self) -> bool:
        """Whether it was not carried out, or the command that it ran failed."""
        return not self.ok or bool(self.status)


class ActionRefused(Event):
    """The person, or the approval mode, refused an action.

    Attributes:
        action: The action, as in ``editor_1.save``, or the tool.
        verb: What it would have done to the target.
        problem: Why no preview could be made; empty if there was one.
        reason: Why it was refused, as the model reads it.
        allowed_by: The flag that would allow it; empty if none would.
    """

    action: str
    verb: str
    target: str
    added: int
    removed: int
    problem: str
    reason: str
    allowed_by: str


class Notice(Event):
    """A one-line message for the person."""

    text: str
    is_error: bool = False


class CompactionStarted(Event):
    """A compaction starts: a summary of older messages is requested.

    Attributes:
        tokens: The tokens of the messages to be replaced, by our own count.
    """

    trigger: Trigger
    goes: int
    stays: int
    tokens: int


@dataclass(frozen=True, slots=True)
class CompactionResult:
    """The result of a compaction.

    Attributes:
        success: Whether there is a summary. Without one, only the newest part of the conversation
            stays; undo restores the rest. If that, or the summary, would save too little, nothing
            is changed and `messages` is 0.
        files_included: The files whose content the summary was made with.
        summary: The text that replaces the messages: the summary, or why there is none.
        is_futile: Whether the context is still nearly full, or an automatic attempt saved nothing.
        gave_up: Whether automatic compaction stops, because earlier attempts saved too little.
    """

    success: bool
    trigger: Trigger
    pre_tokens: int
    post_tokens: int
    messages: int = 0
    files_included: tuple[str, ...] = ()
    summary: str = ""
    error: str = ""
    usage: Usage = field(default_factory=Usage)
    requests: int = 0
    is_futile: bool = False
    gave_up: bool = False

    @property
    def percent(self) -> float:
        """The percentage of tokens saved."""
        return round(100 - 100 * self.post_tokens / max(self.pre_tokens, 1), 1)

    def text(self, lang: Lang = "en") -> str:
        """Format the result for the person, in one line."""
        words = Words(lang)
        parts = [self._outcome(words)]
        if self.is_futile:
            parts.append(
                words(
                    " The context is still nearly full: pinned items, windows or the last rounds "
                    "take up the room. Unpin, close or drop something."
                )
            )
        if self.gave_up:
            parts.append(words(" Automatic compaction is paused."))
        return "".join(parts)

    def _outcome(self, words: Words) -> str:
        if not self.success and not self.messages:
            return words("Not compacted: {error} The conversation is unchanged.", error=self.error)
        saved = self.saved(words)
        if not self.success:
            return words(
                "There is no summary: {error} The newest part was kept: {saved}. "
                "/compact tries again, /undo restores everything.",
                error=self.error,
                saved=saved,
            )
        return words.plural(
            self.messages,
            "Compacted 1 message: {saved}. /undo restores it.",
            "Compacted {count} messages: {saved}. /undo restores them.",
            saved=saved,
        )

    def saved(self, words: Words) -> str:
        """Describe the tokens that it saved, and the files that the summary was made with."""
        values = {"before": f"{self.pre_tokens:,}", "after": f"{self.post_tokens:,}"}
        if self.post_tokens >= self.pre_tokens:
            return words("{before} → {after} tokens, which saves nothing", **values)
        tokens = words("{before} → {after} tokens, {percent}% less", percent=self.percent, **values)
        names = ", ".join(one_line(path, 60) for path in self.files_included)
        return tokens + (words(", with {files}", files=names) if names else "")

    def __str__(self) -> str:
        return self.text("en")


class CompactionFinished(Event):
    """A compaction ended; the result is None if it was interrupted and nothing changed."""

    result: "CompactionResult | None"


class TurnFinished(Event):
    """The turn is over; always the last event.

    Attributes:
        explanation: What the person should know about the end; empty if all went well.
        stop_reason: Why the model stopped, as the provider reported it.
        seconds: How long it took, without the time spent waiting for the person.
        calls: How many tool calls it made.
        cached: The share of the input that came from the cache; None if the model has no cache.
    """

    reason: Reason
    text: str = ""
    steps: int = 0
    usage: Usage = field(default_factory=Usage)
    explanation: str = ""
    stop_reason: str = ""
    seconds: float = 0.0
    calls: int = 0
    cached: float | None = None

    @property
    def is_error(self) -> bool:
        """Whether the turn ended without a result and was not cancelled by the person."""
        return self.reason not in ("done", "stopped")


# --- delivery --------------------------------------------------------------------------

Listener = Callable[[Event], None]


class Dispatcher:
    """Delivers events to listeners one at a time, in the order in which they were posted.

    Managers that depend on each other share one dispatcher, so events arrive in order across all of
    them and two threads cannot deadlock while delivering.
    """

    def __init__(self) -> None:
        self._waiting: deque[tuple[Listeners, Event]] = deque()
        self._delivering = RLock()
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
        while self._waiting and self._delivering.acquire(blocking=wait):
            try:
                if self._busy:
                    return  # called from within a listener: the outer call delivers the rest
                self._deliver()
            finally:
                self._delivering.release()
        if wait:
            with self._delivering:  # wait for another thread that may be delivering our events
                return

    def _deliver(self) -> None:
        self._busy = True
        try:
            while self._waiting:
                listeners, event = self._waiting.popleft()
                listeners.call(event)
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

    def call(self, event: Event) -> None:
        """Call every listener now. Only the dispatcher uses this."""
        for _, listener in self._all:
            try:
                listener(event)
            except Exception:
                logging.getLogger("contextui.events").exception("A listener failed on %r", event)
