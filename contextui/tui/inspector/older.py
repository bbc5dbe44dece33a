"""Items that only the log has: a session that is gone on with leaves them there."""

import threading
from collections.abc import Callable

from contextui.errors import ContextUIError
from contextui.session.session import Session
from contextui.tui.inspector.reading import view_of
from contextui.tui.inspector.spans import Fold, Span
from contextui.windowing.trouble import reason_of


class OlderItems:
    """Reads them when somebody wants to see them, on a thread; until then they cost nothing.

    They are shown as they stand at the end of the log. No request can show them any more, so
    that they can be read, but not changed.

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

    def _read(self) -> None:
        try:
            view = view_of(self._session, whole=True)
            view.close()  # its windows stand still
        except Exception as error:  # a log may be damaged in any way: then that is told
            is_told = isinstance(error, ContextUIError)
            self._reason = str(error) if is_told else reason_of(error)
            self.is_unfolded = False
        else:
            items, known = view.context.get_all(), self._session.context.ledger.items
            places = [place for place, item in enumerate(items) if item.id in known]
            self.rows = Span(items, 0, len(items), places, view.context)
        self._is_reading = False
        self._tell()
