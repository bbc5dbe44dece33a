"""Which summary replaces which items, also after the session was opened again."""

from pathlib import Path

from contextui.context.item import ContextItem, ItemType
from contextui.session.store import SessionStore


def test_a_session_knows_it_when_it_is_opened_again(tmp_path: Path) -> None:
    store = SessionStore(tmp_path / "home")
    session = store.create(tmp_path)
    context = session.context
    items = [
        context.add(ContextItem(ItemType.USER, "one")),
        context.add(ContextItem(ItemType.ASSISTANT, "two")),
        context.add(ContextItem(ItemType.USER, "three")),
        context.add(ContextItem(ItemType.ASSISTANT, "four")),
    ]
    context.end_turn()
    summary = context.compact(items[:2], "It was counted.")
    session.close()
    again = store.open(session.id)
    folds = again.context.ledger.folds
    assert folds.items_of(summary.id) == (items[0].id, items[1].id)
    assert folds.summary_of(items[0].id) == summary.id
    again.close()
