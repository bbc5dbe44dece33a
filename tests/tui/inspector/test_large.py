"""Tens of thousands of items, five megabytes of text, a storm of resizes: it stays usable."""

from pathlib import Path

import pytest
from textual.pilot import Pilot

from contextui.context.item import ContextItem, ItemType
from contextui.tui.desktop.rowlist import FilterInput
from contextui.tui.dialogs.diff import ChangeView
from contextui.tui.dialogs.whole_text import WholeText
from contextui.tui.inspector.rows import Line, Rows
from contextui.words import Words
from tests.tui.inspector.scene import enter, finished, inspector, rows, see
from tests.tui.running import desk_in, running, shown, until
from tests.tui.sharing import SharedApp

MANY = 30_000


@pytest.fixture
def shared(dialogs: SharedApp) -> SharedApp:
    return dialogs


class Counted(Rows):
    """Rows that count how often one was asked for."""

    asked = 0

    def __getitem__(self, index: int) -> Line:  # type: ignore[override]
        Counted.asked += 1
        return super().__getitem__(index)


@pytest.mark.long
async def test_only_rows_in_view_are_made_and_a_filter_finds_one_of_many(tmp_path: Path) -> None:
    desk = desk_in(tmp_path)
    finished(desk, MANY)
    async with running(desk) as pilot:
        widgets = len(pilot.app.screen.query("*"))
        await enter(pilot)
        listing = rows(pilot)
        await see(pilot, f"words number {MANY - 1}")  # the newest are followed
        await pilot.press("home")
        await see(pilot, "words number 3")
        snapshot = listing._snapshot
        assert isinstance(listing.rows, Rows)
        assert snapshot is not None
        counted = Counted(listing.rows._runs)
        Counted.asked = 0
        listing.show_items(snapshot, counted)
        await pilot.pause()
        listing.choose(15_000)
        await pilot.pause()
        assert 0 < Counted.asked < 12 * listing.size.height
        await pilot.press("slash")
        inspector(pilot).query_one("#listing FilterInput", FilterInput).value = "number 18777"
        await see(pilot, "words number 18777")
        await until(pilot, lambda: rows(pilot).count == 1)
        await pilot.press("escape")
        await until(pilot, lambda: listing.count > MANY)
        assert abs(len(pilot.app.screen.query("*")) - widgets) < 20


@pytest.mark.long
async def test_five_megabytes_are_shown_line_by_line(tmp_path: Path) -> None:
    text = "\n".join(f"line {number} 你好 {'x' * 40}" for number in range(80_000))
    desk = desk_in(tmp_path, "Fine.")
    desk.session.context.add(ContextItem(ItemType.USER, text))
    async with running(desk) as pilot:
        await enter(pilot)
        await pilot.press("home", "down", "enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, WholeText))
        pages = pilot.app.screen.query_one(ChangeView)
        await see(pilot, "line 3 你好")  # before all of it is broken into lines
        for share in range(10_000, 80_000, 10_000):  # each has its own patience
            await until(pilot, lambda share=share: pages.count > share)  # type: ignore[misc]
        await until(pilot, lambda: pages.count == 80_000)
        await pilot.press("end")
        await see(pilot, "line 79999 你好")
        await pilot.press("escape")


@pytest.mark.parametrize("size", [(80, 24)])
async def test_no_letter_of_a_long_text_touches_the_scrollbar(pilot: "Pilot[int]") -> None:
    """X45."""
    pilot.app.push_screen(WholeText(Words("en"), "long", "你a b " * 2_000))
    await until(pilot, lambda: pilot.app.screen.query(ChangeView))
    text = pilot.app.screen.query_one(ChangeView)
    await until(pilot, lambda: text.show_vertical_scrollbar and shown(pilot, "你a b"))
    x = text.vertical_scrollbar.region.x
    strips = pilot.app.screen._compositor.render_strips()[text.region.y : text.region.bottom]
    assert {strip.crop(x - 1, x).text for strip in strips} == {" "}
    assert any("你a b" in strip.crop(x - 9, x - 1).text for strip in strips)
