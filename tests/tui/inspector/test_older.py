"""What only the log has is reached, read and found in the inspector too."""

from pathlib import Path

import pytest

from contextui.context.item import ContextItem, ItemType
from contextui.tui.app_session import AppSession
from contextui.tui.dialogs.whole_text import WholeText
from tests.tui.inspector.scene import enter, go_to, not_see, rows, see
from tests.tui.running import desk_in, running, shown, until


def gone_on_with(folder: Path) -> AppSession:
    """A session whose beginning stands in a summary, and which is gone on with."""
    desk = desk_in(folder)
    context = desk.session.context
    for number in range(4):
        context.add(ContextItem(ItemType.USER, f"question {number}"))
        context.add(ContextItem(ItemType.ASSISTANT, f"answer {number}\nin two lines"))
    context.end_turn()
    sent = [one for one in context.get_active() if one.type is not ItemType.SYSTEM]
    context.edit(sent[1].id, "another answer")
    context.compact(sent[:4], "They talked.", trigger="strategy")
    context.ledger.steps.clear()  # as after a hundred steps more
    context.drop(sent[4].id)
    context.end_turn()
    desk.session._recorder.checkpoint()
    desk.close()
    return desk_in(folder, session_id=desk.session.id)


async def test_items_unfold_at_the_top(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Else a log that is gone is written again.
    monkeypatch.setattr("contextui.tui.main.RETRY", 3600)
    desk = gone_on_with(tmp_path)
    async with running(desk) as pilot:
        await enter(pilot)
        await see(pilot, "↑ 4 earlier items, Enter shows them")
        assert rows(pilot).item_row is not None  # the cursor begins on an item
        count = rows(pilot).count
        await pilot.press("home")
        await see(pilot, "Earlier items")
        await pilot.press("d", "g", "c", "p")  # nothing of that applies
        desk.session.path.rename(tmp_path / "elsewhere")
        await pilot.press("enter")
        await see(pilot, "The log cannot be read: There is no")
        assert shown(pilot, "↑ 4 earlier items, Enter shows them")
        await pilot.press("comma")
        await see(pilot, "Turn 4 cannot be shown: There is no")
        await pilot.press("end")
        await not_see(pilot, "cannot be shown")
        (tmp_path / "elsewhere").rename(desk.session.path)
        await pilot.press("enter")
        await see(pilot, "↓ 4 earlier items, Enter hides them", "[X] 0002 User   question 0")
        await not_see(pilot, "The log cannot be read")
        assert rows(pilot).count == count + 4
        await pilot.press("down", "down")
        await see(pilot, "in summary 00")
        row = rows(pilot).item_row
        assert row is not None
        assert (row.item.content, row.item.hidden) == ("another answer", "compacted")
        await pilot.press("d")  # what is not there cannot be dropped
        assert row.item.hidden == "compacted"
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, WholeText))
        await see(pilot, "0003 another answer")
        await pilot.press("escape", "home", "enter")
        await see(pilot, "↑ 4 earlier items")
        await until(pilot, lambda: rows(pilot).count == count)


async def test_an_earlier_item_is_found_and_restored_and_stays_so(tmp_path: Path) -> None:
    desk = gone_on_with(tmp_path)
    context = desk.session.context
    async with running(desk) as pilot:
        await enter(pilot)
        await see(pilot, "↑ 4 earlier items")
        await pilot.press("home", "enter")
        await see(pilot, "question 0")
        await pilot.press("down", "r")
        await see(pilot, "Restored 0002. u undoes.", "↓ 3 earlier items", "[✓] 0002 User")
        row = rows(pilot).item_row
        assert row is not None
        assert (row.log, row.item.seq, row.item.pinned) == (None, 2, True)
        await pilot.press("u")
        await see(pilot, "Undone: 0002", "[X] 0002 User")
        await pilot.press("slash", *"question", "enter")
        await see(pilot, "question 0", "question 1", "question 3")
        item = await go_to(pilot, "question 1")
        assert item.hidden == "compacted"
        await pilot.press("r")
        await see(pilot, "Restored 0004. u undoes.", "[✓] 0004 User")
        await pilot.press("escape")
        await see(pilot, "3 earlier items")
    shown = [item.content for item in context.get_active()]
    again = desk_in(tmp_path, session_id=desk.session.id)
    assert [item.content for item in again.session.context.get_active()] == shown
    assert "question 1" in shown
    again.close()
