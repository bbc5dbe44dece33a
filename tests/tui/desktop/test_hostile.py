"""Whatever a window, a model or a file says is shown, and never obeyed."""

from pathlib import Path

import pytest
from textual.events import Paste
from textual.pilot import Pilot
from textual.widget import Widget

from contextui.text import for_terminal
from contextui.tui.desktop.form import FormScreen
from contextui.tui.desktop.layout import WindowLines
from contextui.tui.desktop.menu import MenuScreen
from contextui.tui.dialogs.diff import spelled
from contextui.tui.dialogs.whole_text import WholeText
from tests.tui.desktop.samples import (
    PAYLOADS,
    desk_with,
    desktop,
    enter,
    frame_of,
    opened,
    region_text,
)
from tests.tui.hostile import check
from tests.tui.running import running, shown, until
from tests.tui.sharing import SharedChat


async def see_in(
    pilot: "Pilot[int]", widget: Widget, row: int | None, text: str, times: int = 1
) -> None:
    """Wait until a text stands in a row of a widget, or in any of its rows."""
    rows = slice(None) if row is None else slice(row, row + 1 or None)
    await until(
        pilot, lambda: sum(text in one for one in region_text(pilot, widget)[rows]) >= times
    )


def literal(text: str) -> str:
    """The beginning of a payload, as it must be seen."""
    return for_terminal(text)[:8]


@pytest.mark.long
async def test_content_attributes_labels_gists_and_titles(tmp_path: Path) -> None:
    desk = desk_with(tmp_path)
    for payload in PAYLOADS:
        desk.session.windows.open("hostile", text=payload)
    for _ in range(16):  # so many that the others become lines
        desk.session.windows.open("note")
    async with running(desk) as pilot:
        await frame_of(pilot, "note_16")
        (listed,) = desktop(pilot).query(WindowLines)
        for payload in PAYLOADS[1:4]:  # the first window is the main one, and has a frame
            await see_in(pilot, listed, None, literal(payload))
        check(pilot)
        await enter(pilot, "note_16")
        await pilot.press("z")
        for number, payload in enumerate(PAYLOADS, 1):
            desktop(pilot).action_go_to(number)
            frame = await enter(pilot, f"hostile_{number}")
            await until(pilot, lambda frame=frame: frame.region.width == 120)  # type: ignore[misc]
            await see_in(pilot, frame, 0, literal(payload))  # the title
            await see_in(pilot, frame, 1, literal(payload))  # text, attribute and anchor
            check(pilot)
            await pilot.press("enter", "down", "escape")
            check(pilot)
            await desk.session.windows.act(f"hostile_{number}", "fail")
            await see_in(pilot, frame, 1, f"ValueError: {literal(payload)}")
            check(pilot)


async def test_results_errors_and_long_results(chat: SharedChat, pilot: "Pilot[int]") -> None:
    opened(chat, "hostile")
    frame = await enter(pilot, "hostile_1")
    for payload in PAYLOADS:
        for action in ("say", "refuse"):
            frame.runner.run(action, {"text": payload})
            await see_in(pilot, frame, -1, literal(payload))
            check(pilot)
            frame.clear_note()
        frame.runner.run("say_much", {"text": payload})
        await until(pilot, lambda: isinstance(pilot.app.screen, WholeText))
        await see_in(pilot, pilot.app.screen, None, spelled(payload).plain[:8])
        check(pilot)
        await pilot.app.pop_screen()


async def test_menus_forms_and_what_is_pasted_into_them(
    chat: SharedChat, pilot: "Pilot[int]"
) -> None:
    opened(chat, "hostile")
    frame = await enter(pilot, "hostile_1")
    await pilot.press("a")
    await until(pilot, lambda: isinstance(pilot.app.screen, MenuScreen))
    await until(pilot, lambda: shown(pilot, "zap[@click=app.quit]x[/]"))  # a label
    check(pilot)
    await pilot.press("escape")
    for payload in PAYLOADS:
        await until(pilot, lambda: frame.has_focus)
        frame.runner.choose("refuse")
        await until(pilot, lambda: isinstance(pilot.app.screen, FormScreen))
        await until(pilot, lambda: pilot.app.focused is not None)
        assert pilot.app.focused is not None
        pilot.app.focused.post_message(Paste(payload))
        await see_in(pilot, pilot.app.screen, None, literal(payload))
        await pilot.press("enter")  # it is refused with these very words
        await see_in(pilot, pilot.app.screen, None, literal(payload), times=2)
        check(pilot)
        await pilot.app.pop_screen()
