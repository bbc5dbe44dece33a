"""Gists, summaries and what was left out: each is shown with what stands in its place."""

from pathlib import Path

import pytest

from contextui.context.item import ContextItem, Hidden, ItemType
from contextui.context.manager import ContextManager
from contextui.tui.dialogs.whole_text import WholeText
from contextui.tui.inspector.labels import fate, replaced, state, tokens
from contextui.windowing.manager import WindowManager
from contextui.words import Words
from tests.tui.inspector.scene import enter, go_to, not_see, rows, see, shop, talk
from tests.tui.running import running, until

pytestmark = pytest.mark.long


def talked(*words: str) -> tuple[ContextManager, list[ContextItem]]:
    """A context with these messages."""
    context = ContextManager(WindowManager())
    kinds = (ItemType.USER, ItemType.ASSISTANT)
    items = [context.add(ContextItem(kinds[i % 2], one)) for i, one in enumerate(words)]
    context.end_turn()
    return context, items


def test_a_summary_and_what_it_stands_for_name_each_other() -> None:
    context, items = talked("one", "two", "three", "four")
    summary = context.compact(items[:3], "All was texts.")
    say = Words("en")
    assert state(items[0], context, say) == f"in summary {summary.seq:04}"
    assert fate(items[0], context, context.counter, say) == f"in summary {summary.seq:04}"
    assert state(summary, context, say) == "for 3 items"
    assert replaced(summary, context) == items[:3]
    assert state(items[3], context, say) == ""
    context.undo()
    assert [state(one, context, say) for one in items] == [""] * 4


@pytest.mark.parametrize(
    ("reason", "in_list", "in_detail"),
    [
        ("dropped", "dropped", "dropped by you"),
        ("trimmed", "trimmed", "not sent: no room"),
        ("closed", "closed", "closed with its window"),
        ("replaced", "replaced", "replaced"),  # a prompt, by a newer one
        ("compacted", "compacted", "compacted"),  # by which summary is not known here
    ],
)
def test_every_reason_is_shown(reason: Hidden, in_list: str, in_detail: str) -> None:
    context, items = talked("one", "two")
    context.ledger.set(items[:1], {"hidden": reason})
    say = Words("en")
    assert state(items[0], context, say) == in_list
    assert fate(items[0], context, context.counter, say) == in_detail


def test_what_is_too_long_to_be_counted_at_once_is_estimated() -> None:
    counter = ContextManager().counter
    assert tokens("one two three", counter) == "3"
    assert tokens("one two three " * 5_000, counter).startswith("~")


async def test_enter_shows_a_summary_and_what_it_replaces(tmp_path: Path) -> None:
    desk = shop(tmp_path)
    async with running(desk) as pilot:
        await talk(pilot)
        context = desk.session.context
        texts = [one for one in context.get_all() if one.type is not ItemType.WINDOW]
        summary = context.compact(texts[1:-1], "All so far:\n\n## Goal\nsell milk.")
        await enter(pilot)
        await see(pilot, f"[✓] {summary.seq:04} System")
        await see(pilot, f"↑ {len(texts) - 2} earlier items, Enter shows them")  # X44
        await not_see(pilot, "in summary")
        await pilot.press("home", "enter")
        await go_to(pilot, "Money is")
        await see(pilot, f"in summary {summary.seq:04}")
        await go_to(pilot, "Summary  Goal")
        await see(pilot, "Summary of earlier turns", f"for {len(texts) - 2} items")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, WholeText))
        await see(pilot, "## Goal", "sell milk.", "── 0002 Money is Decimal, never float")
        await pilot.press("escape")
        await until(pilot, lambda: rows(pilot).has_focus)
