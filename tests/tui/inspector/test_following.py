"""The item list follows the newest item until the person moves."""

from pathlib import Path

from textual.pilot import Pilot

from contextui.agent.models.scripted import call
from contextui.tui.inspector.items import ItemList
from contextui.tui.inspector.tabs import TabBar
from tests.tui.inspector.scene import enter, inspector, not_see, rows, see
from tests.tui.running import desk_in, running, say, until


def newest(pilot: "Pilot[int]") -> bool:
    listing = rows(pilot)
    return listing.cursor >= listing._newest()


async def test_the_list_follows_until_the_person_moves(tmp_path: Path) -> None:
    async with running(desk_in(tmp_path, "One.", "Two.", "Three.", "Four.")) as pilot:
        listing = rows(pilot)
        assert isinstance(listing, ItemList)
        await say(pilot, "first")
        await until(pilot, lambda: len(listing.rows) > 3 and newest(pilot))
        await see(pilot, "following")
        assert listing.item_row is not None
        assert listing.item_row.item.seq == 3
        await enter(pilot)
        await pilot.press("up")
        chosen = listing.item_row.item.id
        tabs = inspector(pilot).query_one(TabBar)
        await until(pilot, lambda: "following" not in tabs.render().plain)
        await say(pilot, "second")
        await see(pilot, "2 new, end")
        assert listing.item_row.item.id == chosen  # a person's place is left alone
        await enter(pilot)
        await pilot.press("end")
        await see(pilot, "following")
        assert newest(pilot)
        await pilot.press("slash", *"first", "enter")
        await until(pilot, lambda: listing.item_row is not None and len(listing.rows) == 1)
        await say(pilot, "third")
        assert listing.item_row.item.content == "first"  # a search is not followed away
        await enter(pilot)
        await pilot.press("escape", "home")
        await say(pilot, "fourth")
        await see(pilot, "2 new, end")
        await pilot.click(TabBar, offset=(tabs.size.width - 3, 0))
        await see(pilot, "following")
        assert newest(pilot)


async def test_the_cursor_stays_on_a_dropped_item_that_moves(tmp_path: Path) -> None:
    """Also the note of a key goes with the next one."""
    desk = desk_in(tmp_path, call("create", name="todo", args={"items": ["milk"]}), "Open.")
    desk.controller.model.has_cache = False  # type: ignore[attr-defined]
    async with running(desk) as pilot:
        listing, windows = rows(pilot), desk.session.windows
        await say(pilot, "a list")
        await enter(pilot)
        await windows.act("todo_1", "add", {"text": "eggs"})  # its new version comes last
        [window] = desk.session.context.live_window_items
        await until(pilot, lambda: listing.item_row is not None and listing.item_row.item is window)
        await see(pilot, "following")
        assert listing.item_row is not None
        await pilot.press("r")
        await see(pilot, f"{window.seq:04} is sent: nothing to restore.")
        await pilot.press("d")
        await see(pilot, f"Dropped {window.seq:04}. u undoes.", f"[X] {window.seq:04} Window")
        assert listing.item_row.item is window
        await pilot.press("r")
        await see(pilot, f"Restored {window.seq:04}. u undoes.", f"[✓] {window.seq:04}")
        assert listing.item_row.item is window
        await pilot.press("c")
        await not_see(pilot, "Restored")
