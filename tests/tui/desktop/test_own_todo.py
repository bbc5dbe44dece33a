"""The to-do list's own widget: check marks to click, and a cursor that stays."""

from textual.pilot import Pilot

from contextui.tui.desktop.frame import WindowFrame
from tests.tui.desktop.samples import enter, region_text, seen
from tests.tui.running import until
from tests.tui.sharing import SharedChat


async def listed(pilot: "Pilot[int]") -> WindowFrame:
    frame = await enter(pilot, "todo_1")
    await until(pilot, lambda: "·" in region_text(pilot, frame)[1])
    return frame


async def test_items_are_ticked_off_by_key_and_click_and_the_cursor_stays(
    chat: SharedChat, pilot: "Pilot[int]"
) -> None:
    windows = chat.desk.session.windows
    windows.open("todo", items=["eggs", "milk", "bread"])
    frame = await listed(pilot)

    async def see(*wanted: str) -> None:
        def rows() -> list[str]:
            texts = [one.strip("│ ") for one in region_text(pilot, frame)[1:-1]]
            return [one for one in texts if one]

        await until(pilot, lambda: rows() == list(wanted))

    await windows.act("todo_1", "done", {"item": 1})
    await see("✓ eggs", "· milk", "· bread")
    assert "1 todo  2 open" in region_text(pilot, frame)[0]
    await pilot.press("enter", "down", "space")
    await see("✓ eggs", "✓ milk", "· bread")
    await until(pilot, lambda: frame.note == "2 'milk' is done.")
    await until(pilot, lambda: "◇ you" in region_text(pilot, frame)[-1])
    await pilot.press("space")
    await see("✓ eggs", "· milk", "· bread")
    await pilot.click(frame.body, offset=(0, 2))
    await see("✓ eggs", "· milk", "✓ bread")
    await windows.act("todo_1", "delete", {"item": 1})
    await see("· milk", "✓ bread")
    await pilot.press("space")  # at the item that was clicked
    await see("· milk", "· bread")
    await windows.act("todo_1", "done", {"item": 2})
    await see("✓ milk", "· bread")
    await pilot.press("escape", "minus")  # less detail
    await see("· bread")
    await pilot.press("plus", "enter", "delete")
    await see("✓ milk")
    await windows.act("todo_1", "add", {"text": [f"thing {number}" for number in range(500)]})
    await seen(pilot, frame, "· thing 0")
    await pilot.press(*["down"] * 30)  # the list scrolls with its cursor
    await seen(pilot, frame, "· thing 29")
