"""The to-do list's own widget: check marks to click, and a cursor that stays."""

import asyncio
from pathlib import Path

import pytest
from textual.pilot import Pilot

from contextui.tui.desktop.frame import WindowFrame
from contextui.windows.todo.window import TodoWindow
from contextui.words import Lang
from tests.tui.desktop.samples import desk_with, enter, region_text
from tests.tui.running import running, shown, until
from tests.tui.sharing import SharedChat

FOOD = {"en": ["eggs", "milk", "bread"], "zh": ["鸡蛋", "牛奶", "面包"]}


async def listed(pilot: "Pilot[int]") -> WindowFrame:
    frame = await enter(pilot, "todo_1")
    await until(pilot, lambda: "·" in region_text(pilot, frame)[1])
    return frame


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_items_have_marks_and_the_title_counts_what_is_open(tmp_path: Path, lang: Lang) -> None:
    async def go() -> None:
        desk = desk_with(tmp_path, lang=lang)
        desk.session.windows.open("todo", items=FOOD[lang])
        async with running(desk, lang=lang) as pilot:
            frame = await listed(pilot)
            await desk.session.windows.act("todo_1", "done", {"item": 1})
            await until(pilot, lambda: "✓" in region_text(pilot, frame)[1])
            text = region_text(pilot, frame)
            rows = [one.strip("│ ") for one in text[1:4]]
            assert rows == [f"✓ {FOOD[lang][0]}", f"· {FOOD[lang][1]}", f"· {FOOD[lang][2]}"]
            title = {"en": "1 todo  2 open", "zh": "1 todo  2 项未完成"}[lang]
            assert title in text[0]
            assert len(text) == 5  # three items and the border

    asyncio.run(go())


def test_space_ticks_off_and_takes_that_back(chat: SharedChat) -> None:
    async def go(pilot: "Pilot[int]") -> None:
        desk = chat.desk
        desk.session.windows.open("todo", items=FOOD["en"])
        frame = await listed(pilot)
        await pilot.press("enter", "down", "space")
        await until(pilot, lambda: "✓ milk" in region_text(pilot, frame)[2])
        await until(pilot, lambda: frame.note == "2 'milk' is done.")
        await until(pilot, lambda: "◇ you" in region_text(pilot, frame)[-1])
        await pilot.press("space")
        await until(pilot, lambda: "· milk" in region_text(pilot, frame)[2])
        await pilot.press("delete")
        await until(pilot, lambda: "· bread" in region_text(pilot, frame)[2])

    chat.talk(go)


def test_a_click_ticks_off(chat: SharedChat) -> None:
    async def go(pilot: "Pilot[int]") -> None:
        desk = chat.desk
        desk.session.windows.open("todo", items=FOOD["en"])
        frame = await listed(pilot)
        await pilot.click(frame.body, offset=(0, 2))
        await until(pilot, lambda: "✓ bread" in region_text(pilot, frame)[3])

    chat.talk(go)


def test_the_cursor_stays_at_its_item_while_the_model_changes_the_list(chat: SharedChat) -> None:
    async def go(pilot: "Pilot[int]") -> None:
        desk = chat.desk
        desk.session.windows.open("todo", items=FOOD["en"])
        frame = await listed(pilot)
        await pilot.press("enter", "down", "down")
        await desk.session.windows.act("todo_1", "delete", {"item": 1})
        await until(pilot, lambda: "· milk" in region_text(pilot, frame)[1])
        await pilot.press("space")
        await until(pilot, lambda: "✓ bread" in region_text(pilot, frame)[2])

    chat.talk(go)


@pytest.mark.long
def test_a_long_list_scrolls_with_its_cursor(chat: SharedChat) -> None:
    async def go(pilot: "Pilot[int]") -> None:
        desk = chat.desk
        desk.session.windows.open("todo", items=[f"thing {number}" for number in range(500)])
        frame = await listed(pilot)
        await pilot.press("enter", *["down"] * 30)
        await until(pilot, lambda: "thing 30" in "".join(region_text(pilot, frame)))
        window = desk.session.windows.get("todo_1")
        assert isinstance(window, TodoWindow)
        await pilot.press("space")
        await until(pilot, lambda: window.state.items[30].done)

    chat.talk(go)


def test_less_detail_hides_what_is_done(chat: SharedChat) -> None:
    async def go(pilot: "Pilot[int]") -> None:
        desk = chat.desk
        desk.session.windows.open("todo", items=FOOD["en"])
        frame = await listed(pilot)
        await desk.session.windows.act("todo_1", "done", {"item": 1})
        await until(pilot, lambda: shown(pilot, "✓ eggs"))
        await pilot.press("minus")
        await until(pilot, lambda: not shown(pilot, "✓ eggs"))
        assert "· milk" in region_text(pilot, frame)[1]

    chat.talk(go)
