"""Which summary replaces which items, also after the session was opened again."""

from pathlib import Path

from contextui.context.item import ContextItem, ItemType
from contextui.context.units import Folds
from contextui.session.store import SessionStore


def test_a_later_summary_counts() -> None:
    folds = Folds()
    folds.note(["a", "b"], "first")
    folds.note(["first", "b", "c"], "second")
    assert folds.summary_of("a") == "first"
    assert folds.summary_of("b") == "second"
    assert folds.items_of("second") == ("first", "b", "c")
    assert folds.summary_of("d") is None
    assert folds.items_of("d") == ()


def test_what_is_kept_comes_back() -> None:
    folds, again = Folds(), Folds()
    folds.note(["a", "b"], "first")
    again.restore(folds.among(["b", "x"]))
    assert again.items_of("first") == ("b",)
    assert again.summary_of("a") is None


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
