"""Inspector history: earlier turns, past usage and older items, read from the session log."""

import asyncio
from collections import deque
from collections.abc import Callable
from pathlib import Path

from contextui.context.item import ContextItem
from contextui.context.messages import Composition
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
from contextui.session.lines import moment
from contextui.session.session import Session, SessionOptions
from contextui.session.store import SessionStore, SessionView
from contextui.session.usage import Sweep, planned, scan, usage_of
from contextui.text import one_line
from contextui.tui.app_session import AppSession
from contextui.tui.inspector.rows import Fold, Span
from contextui.tui.inspector.snapshot import ContextSnapshot, snapshot_of
from contextui.tui.inspector.usage import Spending, sweep_of
from contextui.windowing.error_text import reason_of
from contextui.windowing.worker import in_daemon_thread
from contextui.words import Text, Words


def view_of(
    session: Session,
    turn: int | None = None,
    *,
    whole: bool = False,
    as_sent: bool = False,
    session_id: str = "",
) -> SessionView:
    """Load a session from its log, or another one of its home; see `SessionStore.view`."""
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


def read_past(path: Path) -> Spending:
    """Read the usage of a session from its log. Run it on a thread: logs may be long."""
    spending, turn = Spending(), 0
    for entry, seq, seqs in scan(path, *_KINDS):
        data = entry.data or {}
        match entry.subtype:
            case "request":
                plan = planned(data.get("plan"), moment(entry.timestamp))
                spending.plan(plan, sweep_of(plan, seqs.get))
            case "usage":
                spending.spend(turn + 1, usage_of(data["usage"]), data["counted"])
            case "change" if data["itemIds"]:
                spending.note(data["operation"], seqs.get(data["itemIds"][0], 0))
            case "compact_boundary":
                # Its summary follows; in older logs it came before.
                spending.note("compact", seq + (data.get("summaryId", "") not in seqs))
            case "turn_end" if not data["early"]:
                turn = data["turn"]
                spending.end_turn(seq)
    return spending


class Watch:
    """Tracks what a single snapshot of a session cannot show: sent requests and usage."""

    def __init__(self, desk: AppSession, swept: Callable[[Sweep], object]) -> None:
        session = desk.session
        self._desk, self._context, self._session = desk, session.context, session
        self._swept = swept
        self.sent: deque[Composition] = deque(maxlen=2)
        known = session.context.current_seq if session.turn else 0
        self.spending = Spending(session.turn + 1, after=known)
        self.first_turn = self._turn = session.turn + 1
        self._counted = 0
        self.stop: Callable[[], None] = session.context.subscribe(self._handle_context_event)

    def snapshot(self) -> ContextSnapshot:
        tools = self._desk.controller.strategist.reserved
        return snapshot_of(self._context, tools, knows_cache=self._desk.has_cache)

    def handle(self, event: Event) -> None:
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
                self.sent.append(self._context.last_request or self._context.outlook())
                plan = planned(event.plan)
                sweep = sweep_of(plan, self._seq_of) if self._desk.has_cache else None
                self.spending.plan(plan, sweep)
                if sweep is not None:
                    self._swept(sweep)
            case TurnEnded(early=False):
                self.spending.end_turn(event.through_seq)

    def _seq_of(self, item_id: str) -> int | None:
        item = self._context.items.get(item_id)
        return item.seq if item is not None else None

    async def read_past(self) -> None:
        path = self._session.path
        self.spending.put_before(await in_daemon_thread(lambda: read_past(path)))


class EarlierTurns:
    """Navigates between the turns of a session."""

    def __init__(self, desk: AppSession, watch: Watch) -> None:
        self._desk, self._watch = desk, watch
        self._reading = asyncio.Lock()
        self._read_turn: int | None = None
        self._snapshot: ContextSnapshot | None = None
        self._reason = ""
        self.wanted: int | None = None

    @property
    def is_now(self) -> bool:
        return self._snapshot is None

    def step(self, step: int) -> bool:
        turn = (self._desk.session.turn + 1 if self.wanted is None else self.wanted) + step
        if turn >= 1:
            self.go(turn)
        return turn >= 1

    def go(self, turn: int) -> None:
        self.wanted = turn
        if turn > self._desk.session.turn:
            self.return_to_now()

    def return_to_now(self) -> None:
        self.wanted = self._read_turn = self._snapshot = None

    async def read(self) -> None:
        async with self._reading:
            turn = self.wanted
            if turn is None or turn == self._read_turn:
                return
            snapshot, reason = await in_daemon_thread(lambda: self._read(turn))
            if turn == self.wanted:
                self._read_turn, self._snapshot, self._reason = turn, snapshot, reason

    def _read(self, turn: int) -> tuple[ContextSnapshot | None, str]:
        try:
            view = view_of(self._desk.session, turn, as_sent=True)
        except Exception as error:  # a log may be damaged in any way: report it
            return None, reason_of(error)
        view.windows.settle_now()
        snapshot = snapshot_of(view.context, self._desk.controller.strategist.reserved)
        view.close()  # its windows no longer change
        return snapshot, ""

    def snapshot(self) -> ContextSnapshot:
        return self._snapshot or self._watch.snapshot()

    def banner(self, words: Words) -> str:
        if self.wanted is None:
            return ""
        now = self._desk.session.turn + self._desk.controller.is_running
        turns = {"turn": self.wanted, "turns": now}
        if self._read_turn != self.wanted:
            return words("Reading turn {turn} of {turns} …", **turns)
        if self._snapshot is None:
            reason = one_line(self._reason, 120)
            return words("Turn {turn} cannot be shown: {reason}", reason=reason, **turns)
        return words("Turn {turn} of {turns}, as it was sent. End returns.", **turns)


class OlderItems:
    """Items that a resumed session did not load; read from the log on demand.

    They are shown as of the end of the log. To change one, it is recalled into the session first.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._count = session.context.current_seq - len(session.context.items)
        self._is_reading = False
        self._reason: Text = ""
        self._view: SessionView | None = None
        self.rows: Span | None = None  # the items, once read
        self.is_unfolded = False  # whether they are shown in the list

    def fold(self, in_summaries: int) -> Fold | None:
        """Return the line for them and those that summaries replace; None if there are none."""
        count = (self._count if self.rows is None else len(self.rows)) + in_summaries
        if not count:
            return None
        return Fold(count, self.is_unfolded, self._is_reading, self._reason)

    def begin(self) -> bool:
        if self.rows is not None or self._is_reading or not self._count:
            return False
        self._is_reading, self._reason = True, ""
        return True

    async def read(self) -> None:
        try:
            view = await in_daemon_thread(lambda: view_of(self._session, whole=True))
            view.close()  # its windows no longer change
        except Exception as error:  # a log may be damaged in any way: report it
            self._reason = error if isinstance(error, ContextUIError) else reason_of(error)
            self.is_unfolded = False
        else:
            self._view, self.rows = view, self._left_in(view)
        self._is_reading = False

    def recall(self, item: ContextItem) -> None:
        """Recall an item, with the rest of its tool call, into the session."""
        if self._view is not None:
            self._session.recall(item.id, self._view.context, self._view.loaded.offsets)
            self.rows = self._left_in(self._view)

    def _left_in(self, view: SessionView) -> Span:
        items, known = view.context.get_all(), self._session.context.items
        places = [place for place, item in enumerate(items) if item.id in known]
        return Span(items, 0, len(items), places, view.context)
