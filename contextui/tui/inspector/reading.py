"""Reading earlier turns: the context as it was then, out of the session's log."""

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from contextui.model import Tool
from contextui.session.session import Session, SessionOptions
from contextui.session.store import SessionStore, SessionView
from contextui.tui.inspector.look import Look, Looker
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
