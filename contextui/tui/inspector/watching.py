"""Follows a session for the inspector: what was sent, what turns cost, what changed."""

import threading
from collections.abc import Callable

from contextui.agent.events import StepStarted, TurnFinished, UsageSpent
from contextui.events import Compacted, Event, ItemsChanged, TurnEnded
from contextui.tui.desk import Desk
from contextui.tui.inspector.look import Look, Looker
from contextui.tui.inspector.past import read_past
from contextui.tui.inspector.sending import Sent
from contextui.tui.inspector.spending import Spending


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
