"""A conversation in a session, and whether two such conversations are the same."""

from collections.abc import Sequence
from pathlib import Path

from contextui import ContextManager, Window, WindowManager
from contextui.session.session import Session, SessionOptions
from contextui.session.store import SessionStore
from contextui.windowing.runtime import runtime_of
from tests.context.conversation import Conversation, NotesWindow, wire


class Talk(Conversation):
    """A conversation whose context and windows belong to a session."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.take(session)

    def take(self, session: Session) -> None:
        self.session = session
        self.windows: WindowManager = session.windows
        self.context: ContextManager = session.context


def store_in(
    folder: Path, checkpoint_every: int = 1_000, classes: Sequence[type[Window]] = (NotesWindow,)
) -> SessionStore:
    return SessionStore(folder / "home", SessionOptions(classes, checkpoint_every=checkpoint_every))


def same_state(one: Conversation, other: Conversation) -> None:
    assert wire(one.composed()) == wire(other.composed())
    assert one.context.get_stats() == other.context.get_stats()
    assert one.context.ledger.cut == other.context.ledger.cut
    assert [w.id for w in one.windows.windows()] == [w.id for w in other.windows.windows()]
    for mine, others in zip(one.windows.windows(), other.windows.windows(), strict=True):
        assert mine.state == others.state
        assert mine.to_xml() == others.to_xml()
        assert [e.action for e in runtime_of(mine).history.entries] == [
            e.action for e in runtime_of(others).history.entries
        ]
