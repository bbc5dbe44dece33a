"""Small answers of commands: undo after a compaction, stop without a turn, a small dialog."""

import asyncio
from pathlib import Path

from contextui.context.item import ContextItem, ItemType
from contextui.tui.inspector.edit import EditScreen, listed
from contextui.words import Words
from tests.tui.running import desk_in, running, shown, until
from tests.tui.test_switch import app_of


def test_many_items_are_named_in_one_line() -> None:
    items = [ContextItem(ItemType.USER, "x", seq=number) for number in range(1, 46)]
    assert listed(items, Words("en")) == "45 items, 0001 to 0045"
    assert listed(items[:3], Words("en")) == "0001, 0002, 0003"
    assert listed(items, Words("zh")) == "45 个条目，0001 至 0045"


def test_stop_without_a_turn_says_so_and_the_dialog_of_five_words_is_small(tmp_path: Path) -> None:
    async def edit() -> None:
        async with running(desk_in(tmp_path)) as pilot:
            app_of(pilot).main.run_command("/stop")
            await until(pilot, lambda: shown(pilot, "Nothing is running."))
            for text, least, most in [("just these five short words", 5, 9), ("x\n" * 500, 30, 38)]:
                screen = EditScreen(Words("en"), "0002", text, "", lambda _: None)
                pilot.app.push_screen(screen)
                await until(pilot, lambda screen=screen: screen.is_current)  # type: ignore[misc]
                await pilot.pause()
                assert least <= screen.query_one("#edit").region.height <= most
                assert screen.query_one("#keys-of-edit").region.height == 1
                box = screen.query_one("#edit").region
                assert screen.query_one("#keys-of-edit").region.bottom < box.bottom
                await pilot.press("escape")

    asyncio.run(edit())
