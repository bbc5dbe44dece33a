"""Which turn is looked at: the present one, or an earlier one as it was then."""

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from contextui.agent.events import StepStarted, TurnFinished, UsageSpent
from contextui.context.item import ContextItem
from contextui.errors import ContextUIError
from contextui.events import Compacted, Event, ItemsChanged, TurnEnded
from contextui.model import Tool
from contextui.session.entry import decode
from contextui.session.logfile import lines, open_plain
from contextui.session.session import Session, SessionOptions
from contextui.session.store import SessionStore, SessionView
from contextui.text import one_line
from contextui.tui.inspector.look import Look, Looker, Sent
from contextui.tui.inspector.rows import Fold, Span
from contextui.tui.inspector.usage import Spending, usage_of
from contextui.tui.link import Desk
from contextui.tui.words import Words
from contextui.windowing.trouble import reason_of


@dataclass(frozen=True, slots=True)
class EarlierTurn:
    """A turn as it was when it ended.

    Attributes:
        turn: Its number.
        look: What there was to see; None if it could not be read.
        reason: Why not.
    """

    turn: int
    look: Look | None
    reason: str = ""


class Reader:
    """Reads earlier turns, one at a time, on a thread; of several asked for, the last one counts.

    Args:
        session: Whose turns.
        tools: What is declared to the model.
        tell: Called on that thread with what was read.
    """

    def __init__(
        self, session: Session, tools: Iterable[Tool], tell: Callable[[EarlierTurn], object]
    ) -> None:
        self._session, self._tools, self._tell = session, list(tools), tell
        self._lock = threading.Lock()
        self._wanted: int | None = None
        self._is_reading = False

    def ask(self, turn: int) -> None:
        """Have a turn read."""
        with self._lock:
            self._wanted = turn
            if self._is_reading:
                return
            self._is_reading = True
        # A daemon: leaving does not wait for a long log.
        threading.Thread(target=self._read_wanted, daemon=True, name="earlier turn").start()

    def forget(self) -> None:
        """Nothing is wanted any more."""
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
                self._tell(found)

    def _read(self, turn: int) -> EarlierTurn:
        try:
            view = view_of(self._session, turn)
        except Exception as error:  # a log may be damaged in any way: then that is told
            return EarlierTurn(turn, None, reason_of(error))
        view.windows.settle_now()
        look = Looker(view.context, self._tools).look()
        view.close()  # its windows stand still from now on, as they did then
        return EarlierTurn(turn, look)


def view_of(session: Session, turn: int | None = None, *, whole: bool = False) -> SessionView:
    """A session as its log has it, now or after a turn; `whole` with all items that it ever had."""
    options = SessionOptions(
        classes=session.windows.classes.values(),
        lang=session.windows.lang,
        lod=session.windows.lod,
        placement=session.context.placement,
    )
    return SessionStore(session.path.parents[2], options).view(session.id, turn, whole=whole)


_SEQ = b'"data":{"seq":'
_ID = len(b'{"uuid":"')
_TOLD = tuple(
    f'"subtype":"{name}"'.encode() for name in ("usage", "change", "turn_end", "compact_boundary")
)
_UNREADABLE = (ContextUIError, LookupError, TypeError, ValueError)


def read_past(path: Path) -> Spending:
    """Read the account of a session out of its log. For a thread of its own: logs may be long.

    Only entries that tell of it are parsed; of an item, nothing but its seq is looked at. A
    damaged line costs that line.
    """
    return _Reading().run(path)


class _Reading:
    def __init__(self) -> None:
        self._spending = Spending()
        self._seqs: dict[bytes, int] = {}
        self._seq, self._turn = 0, 0

    def run(self, path: Path) -> Spending:
        """Read all of it."""
        try:
            with open_plain(path) as file:
                for line in lines(file):
                    self._read(line.text)
        except OSError:
            pass  # the log says nothing: then nothing is known of the turns before
        return self._spending

    def _read(self, line: bytes) -> None:
        try:
            place = line.rfind(_SEQ)
            if place >= 0:
                digits = line[place + len(_SEQ) : place + len(_SEQ) + 20]
                self._seq = int(digits.split(b",")[0].split(b"}")[0])
                self._seqs[line[_ID : line.index(b'"', _ID)]] = self._seq
            elif any(told in line for told in _TOLD):
                self._take(line)
        except _UNREADABLE:
            return

    def _take(self, line: bytes) -> None:
        entry = decode(line)
        data = entry.data or {}
        match entry.subtype:
            case "usage":
                self._spending.spend(self._turn + 1, usage_of(data["usage"]), data["counted"])
            case "change":
                first = self._seqs.get(str(data["itemIds"][0]).encode(), 0)
                self._spending.note(data["operation"], first)
            case "compact_boundary":
                # Its summary comes next; in older logs it came before.
                comes = data.get("summaryId", "").encode() not in self._seqs
                self._spending.note("compact", self._seq + comes)
            case "turn_end" if not data["early"]:
                self._turn = int(data["turn"])
                self._spending.end_turn(self._seq)


class Watch:
    """Knows of a session what no single look at it could tell.

    Args:
        desk: The session, and who answers in it.
        tell: Called, on another thread, when the turns before this run are known.
    """

    def __init__(self, desk: Desk, tell: Callable[[], object]) -> None:
        session = desk.session
        self._context, self._session, self._tell = session.context, session, tell
        self.tools = desk.controller.declared
        self.sent = Sent(session.context, lambda: desk.controller.model.name)
        known = session.context.current_seq if session.turn else 0
        self.spending = Spending(session.turn + 1, after=known)
        self._looker = Looker(session.context, self.tools, self.sent)
        self._turn, self._counted = session.turn + 1, 0
        self._end = session.context.subscribe(self._hear_context)
        if session.turn:
            # A daemon: leaving does not wait for a long log.
            threading.Thread(target=self._read_past, daemon=True, name="past turns").start()

    def stop(self) -> None:
        """Follow no longer."""
        self.sent.stop()
        self._end()

    def look(self) -> Look:
        """The context as it is now."""
        return self._looker.look()

    def hear(self, event: Event) -> None:
        """Take note of what a turn costs."""
        match event:
            case TurnFinished():  # the next one has not begun; at a start, it may have ended
                self._turn = self._session.turn + 1
            case StepStarted():
                self._counted = event.tokens
            case UsageSpent():
                self.spending.spend(self._turn, event.usage, self._counted)

    def _hear_context(self, event: Event) -> None:
        match event:
            case ItemsChanged() if event.item_ids:
                item = self._context.get(event.item_ids[0])
                self.spending.note(event.operation, item.seq)
            case Compacted():
                self.spending.note("compact", self._context.current_seq)
            case TurnEnded(early=False):
                self.spending.end_turn(event.through_seq)

    def _read_past(self) -> None:
        self.spending.put_before(read_past(self._session.path))
        self._tell()


class Earlier:
    """Goes back and forth between the turns of a session.

    Args:
        desk: The session.
        watch: Knows the present.
        tell: Called, on another thread, when an earlier turn was read.

    Attributes:
        wanted: The turn that is to be looked at, None for the present.
    """

    def __init__(self, desk: Desk, watch: Watch, tell: Callable[[EarlierTurn], object]) -> None:
        self._desk, self._watch = desk, watch
        self._reader = Reader(desk.session, watch.tools, tell)
        self._shown: EarlierTurn | None = None
        self.wanted: int | None = None

    @property
    def now(self) -> int:
        """The number of the turn under way, or of the last one."""
        return self._desk.session.turn + self._desk.controller.is_running

    @property
    def is_now(self) -> bool:
        """Whether it is the present that is looked at."""
        return self._shown is None or self._shown.look is None

    def step(self, step: int) -> bool:
        """Go to an earlier or a later turn; whether there is one."""
        turn = (self.now if self.wanted is None else self.wanted) + step
        if turn < 1:
            return False
        self.go(turn)
        return True

    def go(self, turn: int) -> None:
        """Go to a turn; the present is shown until it is read."""
        if turn >= self.now:
            self.return_to_now()
        else:
            self.wanted = turn
            self._reader.ask(turn)

    def return_to_now(self) -> None:
        """Look at the present again."""
        self.wanted = self._shown = None
        self._reader.forget()

    def take(self, read: EarlierTurn) -> None:
        """An earlier turn was read: look at it, if it is still wanted."""
        if read.turn == self.wanted:
            self._shown = read

    def look(self) -> Look:
        """What there is to see of the turn that is looked at."""
        if self._shown is not None and self._shown.look is not None:
            return self._shown.look
        return self._watch.look()

    def banner(self, words: Words) -> str:
        """What tells that this is not the present."""
        if self.wanted is None:
            return ""
        turns = {"turn": self.wanted, "turns": self.now}
        if self._shown is None or self._shown.turn != self.wanted:
            return words("Turn {turn} of {turns} is being read …", **turns)
        if self._shown.look is None:
            reason = one_line(self._shown.reason, 120)
            return words("Turn {turn} cannot be shown: {reason}", reason=reason, **turns)
        return words("Turn {turn} of {turns}, as it was then. End returns.", **turns)


class OlderItems:
    """Reads them when somebody wants to see them, on a thread; until then they cost nothing.

    They are shown as they stand at the end of the log. Whoever wants to change one has it come
    back into the session first.

    Args:
        session: Whose items.
        tell: Called on that thread when they were read, or could not be.

    Attributes:
        rows: The items, once they are read.
        is_unfolded: Whether they are to be seen among the others.
    """

    def __init__(self, session: Session, tell: Callable[[], object]) -> None:
        self._session, self._tell = session, tell
        self._count = session.context.current_seq - len(session.context.ledger.items)
        self._is_reading, self._reason = False, ""
        self._view: SessionView | None = None
        self.rows: Span | None = None
        self.is_unfolded = False

    @property
    def fold(self) -> Fold | None:
        """The line that stands for them; None if there are none."""
        count = self._count if self.rows is None else len(self.rows)
        if not count:
            return None
        return Fold(count, self.is_unfolded, self._is_reading, self._reason)

    def turn(self) -> None:
        """Unfold them, or fold them again."""
        self.is_unfolded = not self.is_unfolded
        if self.is_unfolded:
            self.read()

    def read(self) -> None:
        """Have them read, unless they are."""
        if self.rows is None and not self._is_reading and self.fold is not None:
            self._is_reading, self._reason = True, ""
            # A daemon: leaving does not wait for a long log.
            threading.Thread(target=self._read, daemon=True, name="older items").start()

    def recall(self, item: ContextItem) -> None:
        """Have one of them in the session again, and what belongs to its call."""
        if self._view is not None:
            self._session.recall(item.id, self._view.context, self._view.offsets)
            self.rows = self._left_in(self._view)

    def _left_in(self, view: SessionView) -> Span:
        items, known = view.context.get_all(), self._session.context.ledger.items
        places = [place for place, item in enumerate(items) if item.id in known]
        return Span(items, 0, len(items), places, view.context)

    def _read(self) -> None:
        try:
            view = view_of(self._session, whole=True)
            view.close()  # its windows stand still
        except Exception as error:  # a log may be damaged in any way: then that is told
            is_told = isinstance(error, ContextUIError)
            self._reason = str(error) if is_told else reason_of(error)
            self.is_unfolded = False
        else:
            self._view, self.rows = view, self._left_in(view)
        self._is_reading = False
        self._tell()
