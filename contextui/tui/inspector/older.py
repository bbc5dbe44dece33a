"""Items that only the log has: a session that is gone on with leaves them there."""

import threading
from collections.abc import Callable

from contextui.context.item import ContextItem
from contextui.errors import ContextUIError
from contextui.session.session import Session
from contextui.session.store import SessionView
from contextui.tui.inspector.reading import view_of
from contextui.tui.inspector.spans import Fold, Span
from contextui.windowing.trouble import reason_of


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
