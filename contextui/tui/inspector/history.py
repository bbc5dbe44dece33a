"""Inspector history: earlier turns, past usage and older items, read from the session log."""

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from contextui.context.item import ContextItem
from contextui.errors import ContextUIError
from contextui.events import (
    Compacted,
    Event,
    ItemsChanged,
    RequestSent,
    StepStarted,
    TurnEnded,
    TurnFinished,
    UsageSpent,
)
from contextui.model import Tool
from contextui.session.archive import scan_entries
from contextui.session.entry import moment
from contextui.session.session import Session, SessionOptions
from contextui.session.store import SessionStore, SessionView
from contextui.text import one_line
from contextui.tui.app_session import AppSession
from contextui.tui.inspector.look import Look, Looker, Sent
from contextui.tui.inspector.rows import Fold, Span
from contextui.tui.inspector.sweeps import Sweep, outdated_in, sweep_of
from contextui.tui.inspector.usage import Spending, usage_of
from contextui.windowing.error_text import reason_of
from contextui.words import Text, Words


@dataclass(frozen=True, slots=True)
class EarlierTurn:
    """A turn as its last request was sent.

    Attributes:
        turn: Its number.
        look: The snapshot; None if it could not be read.
        reason: Why it could not be read.
    """

    turn: int
    look: Look | None
    reason: str = ""


class Reader:
    """Reads earlier turns on a thread, one at a time; only the latest request counts.

    Args:
        session: The session.
        tools: The tools declared to the model.
        callback: Callback with the result, called on that thread.
    """

    def __init__(
        self, session: Session, tools: Iterable[Tool], callback: Callable[[EarlierTurn], object]
    ) -> None:
        self._session, self._tools, self._callback = session, list(tools), callback
        self._lock = threading.Lock()
        self._wanted: int | None = None
        self._is_reading = False

    def ask(self, turn: int) -> None:
        """Request a turn."""
        with self._lock:
            self._wanted = turn
            if self._is_reading:
                return
            self._is_reading = True
        # A daemon: quitting does not wait for a long log.
        threading.Thread(target=self._read_wanted, daemon=True, name="earlier turn").start()

    def forget(self) -> None:
        """Cancel the pending request."""
        with self._lock:
            self._wanted = None

    def _read_wanted(self) -> None:
        while True:
            with self._lock:
                turn, self._wanted = self._wanted, None
                if turn is None:
                    self._is_reading = False
                    return
            found = self._read(turn)
            with self._lock:
                is_wanted = self._wanted is None
            if is_wanted:
                self._callback(found)

    def _read(self, turn: int) -> EarlierTurn:
        try:
            view = view_of(self._session, turn, as_sent=True)
        except Exception as error:  # a log may be damaged in any way: report it
            return EarlierTurn(turn, None, reason_of(error))
        view.windows.settle_now()
        look = Looker(view.context, self._tools).look()
        view.close()  # its windows no longer change
        return EarlierTurn(turn, look)


def view_of(
    session: Session,
    turn: int | None = None,
    *,
    whole: bool = False,
    as_sent: bool = False,
    session_id: str = "",
) -> SessionView:
    """Load a session from its log, see `SessionStore.view`.

    With `session_id`, load another one of the same home instead.
    """
    options = SessionOptions(
        classes=session.windows.classes.values(),
        lang=session.windows.lang,
        lod=session.windows.lod,
        placement=session.context.placement,
    )
    return SessionStore(session.path.parents[2], options).view(
        session_id or session.id, turn, whole=whole, as_sent=as_sent
    )


_KINDS = ("request", "usage", "change", "turn_end", "compact_boundary")
_UNREADABLE = (ContextUIError, LookupError, TypeError, ValueError)


def read_past(path: Path) -> Spending:
    """Read the usage of a session from its log. Run it on a thread: logs may be long."""
    spending, turn = Spending(), 0
    for scanned in scan_entries(path, _KINDS):
        data = scanned.data
        try:
            match scanned.subtype:
                case "request":
                    plan = data.get("plan")
                    sent = moment(scanned.when)
                    spending.plan(outdated_in(plan), sweep_of(plan, scanned.seqs.get, sent))
                case "usage":
                    spending.spend(turn + 1, usage_of(data["usage"]), data["counted"])
                case "change":
                    spending.note(data["operation"], scanned.seqs.get(str(data["itemIds"][0]), 0))
                case "compact_boundary":
                    # Its summary follows; in older logs it came before.
                    comes = data.get("summaryId", "") not in scanned.seqs
                    spending.note("compact", scanned.seq + comes)
                case "turn_end" if not data["early"]:
                    turn = int(data["turn"])
                    spending.end_turn(scanned.seq)
        except _UNREADABLE:
            continue
    return spending


class Watch:
    """Tracks what a single snapshot of a session cannot show: sent requests and usage.

    Args:
        desk: The session and its controller.
        callback: Callback on another thread when the usage of earlier turns is read.
        swept: Callback with each sweep, possibly on another thread.

    Attributes:
        first_turn: The first turn of this run of the program.
    """

    def __init__(
        self, desk: AppSession, callback: Callable[[], object], swept: Callable[[Sweep], object]
    ) -> None:
        session = desk.session
        self._context, self._session, self._callback = session.context, session, callback
        self._swept = swept
        self._has_cache: Callable[[], bool] = lambda: desk.has_cache
        self.tools = desk.controller.declared
        self.sent = Sent(session.context, lambda: desk.controller.model.name)
        known = session.context.current_seq if session.turn else 0
        self.spending = Spending(session.turn + 1, after=known)
        self._looker = Looker(session.context, self.tools, self.sent, self._has_cache)
        self.first_turn = self._turn = session.turn + 1
        self._counted = 0
        self._end = session.context.subscribe(self._handle_context_event)
        if session.turn:
            # A daemon: quitting does not wait for a long log.
            threading.Thread(target=self._read_past, daemon=True, name="past turns").start()

    def stop(self) -> None:
        """Unsubscribe."""
        self.sent.stop()
        self._end()

    def look(self) -> Look:
        """Return a snapshot of the current context."""
        return self._looker.look()

    def handle(self, event: Event) -> None:
        """Record the usage of a turn from its events."""
        match event:
            case TurnFinished():  # the next one has not begun; at startup it may have ended
                self._turn = self._session.turn + 1
            case StepStarted():
                self._counted = event.tokens
            case UsageSpent():
                self.spending.spend(self._turn, event.usage, self._counted)

    def _handle_context_event(self, event: Event) -> None:
        match event:
            case ItemsChanged() if event.item_ids:
                item = self._context.get(event.item_ids[0])
                self.spending.note(event.operation, item.seq)
            case Compacted():
                self.spending.note("compact", self._context.current_seq)
            case RequestSent():
                sweep = sweep_of(event.plan, self._seq_of) if self._has_cache() else None
                self.spending.plan(outdated_in(event.plan), sweep)
                if sweep is not None:
                    self._swept(sweep)
            case TurnEnded(early=False):
                self.spending.end_turn(event.through_seq)

    def _seq_of(self, item_id: str) -> int | None:
        item = self._context.items.get(item_id)
        return item.seq if item is not None else None

    def _read_past(self) -> None:
        self.spending.put_before(read_past(self._session.path))
        self._callback()


class Earlier:
    """Navigates between the turns of a session.

    Args:
        desk: The session.
        watch: Provides the current snapshot.
        callback: Callback on another thread when an earlier turn is read.

    Attributes:
        wanted: The selected turn; None for the present.
    """

    def __init__(
        self, desk: AppSession, watch: Watch, callback: Callable[[EarlierTurn], object]
    ) -> None:
        self._desk, self._watch = desk, watch
        self._reader = Reader(desk.session, watch.tools, callback)
        self._shown: EarlierTurn | None = None
        self.wanted: int | None = None

    @property
    def now(self) -> int:
        """The number of the current or last turn."""
        return self._desk.session.turn + self._desk.controller.is_running

    @property
    def is_now(self) -> bool:
        """Whether the present is shown."""
        return self._shown is None or self._shown.look is None

    def step(self, step: int) -> bool:
        """Select an earlier or later turn; return whether there is one."""
        last = self._desk.session.turn
        turn = (last + 1 if self.wanted is None else self.wanted) + step
        if turn < 1:
            return False
        self.go(turn)
        return True

    def go(self, turn: int) -> None:
        """Select a turn; the present is shown until it is read."""
        if turn > self._desk.session.turn:
            self.return_to_now()
        else:
            self.wanted = turn
            self._reader.ask(turn)

    def return_to_now(self) -> None:
        """Return to the present."""
        self.wanted = self._shown = None
        self._reader.forget()

    def take(self, read: EarlierTurn) -> None:
        """Show an earlier turn, unless the result is stale."""
        if read.turn == self.wanted:
            self._shown = read

    def look(self) -> Look:
        """Return the snapshot of the selected turn."""
        if self._shown is not None and self._shown.look is not None:
            return self._shown.look
        return self._watch.look()

    def banner(self, words: Words) -> str:
        """Return a message that an earlier turn is shown or read; empty for the present."""
        if self.wanted is None:
            return ""
        turns = {"turn": self.wanted, "turns": self.now}
        if self._shown is None or self._shown.turn != self.wanted:
            return words("Reading turn {turn} of {turns} …", **turns)
        if self._shown.look is None:
            reason = one_line(self._shown.reason, 120)
            return words("Turn {turn} cannot be shown: {reason}", reason=reason, **turns)
        return words("Turn {turn} of {turns}, as it was sent. End returns.", **turns)


class OlderItems:
    """Items that a resumed session did not load; read from the log on demand, on a thread.

    They are shown as of the end of the log. To change one, it is recalled into the session first.

    Args:
        session: The session.
        callback: Callback on that thread when they are read, or reading failed.

    Attributes:
        rows: The items, once read.
        is_unfolded: Whether they are shown in the list.
    """

    def __init__(self, session: Session, callback: Callable[[], object]) -> None:
        self._session, self._callback = session, callback
        self._count = session.context.current_seq - len(session.context.items)
        self._is_reading = False
        self._reason: Text = ""
        self._view: SessionView | None = None
        self.rows: Span | None = None
        self.is_unfolded = False

    @property
    def fold(self) -> Fold | None:
        """The line that represents them while folded; None if there are none."""
        count = self._count if self.rows is None else len(self.rows)
        if not count:
            return None
        return Fold(count, self.is_unfolded, self._is_reading, self._reason)

    def turn(self) -> None:
        """Fold or unfold them."""
        self.is_unfolded = not self.is_unfolded
        if self.is_unfolded:
            self.read()

    def read(self) -> None:
        """Start reading them, unless done already."""
        if self.rows is None and not self._is_reading and self.fold is not None:
            self._is_reading, self._reason = True, ""
            # A daemon: quitting does not wait for a long log.
            threading.Thread(target=self._read, daemon=True, name="older items").start()

    def recall(self, item: ContextItem) -> None:
        """Recall an item, with the rest of its tool call, into the session."""
        if self._view is not None:
            self._session.recall(item.id, self._view.context, self._view.offsets)
            self.rows = self._left_in(self._view)

    def _left_in(self, view: SessionView) -> Span:
        items, known = view.context.get_all(), self._session.context.items
        places = [place for place, item in enumerate(items) if item.id in known]
        return Span(items, 0, len(items), places, view.context)

    def _read(self) -> None:
        try:
            view = view_of(self._session, whole=True)
            view.close()  # its windows no longer change
        except Exception as error:  # a log may be damaged in any way: report it
            self._reason = error if isinstance(error, ContextUIError) else reason_of(error)
            self.is_unfolded = False
        else:
            self._view, self.rows = view, self._left_in(view)
        self._is_reading = False
        self._callback()
