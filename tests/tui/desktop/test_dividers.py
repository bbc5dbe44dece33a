"""The dividers between windows, chat and inspector."""

import asyncio
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.geometry import Size

from contextui.session.preferences import Preferences
from contextui.tui.dialogs.help import GoTo, HelpScreen
from contextui.tui.dividers import NARROW, WIDE, Dividers, Grip
from contextui.tui.main import MainScreen
from tests.tui.desktop.samples import desk_with, desktop, frame_of, frames, opened
from tests.tui.running import lines, running, shown, until
from tests.tui.sharing import SharedChat

if TYPE_CHECKING:
    from textual.pilot import Pilot

PLACES = st.none() | st.floats(0.001, 1.5)


def main(pilot: "Pilot[int]") -> MainScreen:
    screen = pilot.app.screen_stack[0]
    assert isinstance(screen, MainScreen)
    return screen


@given(width=st.integers(NARROW, 400), height=st.integers(12, 120), data=st.data())
def test_every_pane_keeps_the_room_it_needs(width: int, height: int, data: st.DataObject) -> None:
    dividers = Dividers(data.draw(PLACES), data.draw(PLACES), data.draw(PLACES))
    inspector, rows = dividers.inspector_columns(width), dividers.most_rows(height)
    assert 5 <= rows <= height - 3
    assert height - 3 - rows >= min(7, height - 8)  # X20: the chat has some, too
    assert inspector >= 30
    assert width - inspector >= 60  # windows and chat
    if width >= WIDE:
        windows = dividers.window_columns(width, inspector)
        assert windows >= 60
        assert width - inspector - windows >= 20


def test_a_share_is_remembered_and_not_a_number_of_rows() -> None:
    """X20: what was dragged on a large screen starved the chat on a small one."""
    dividers = Dividers()
    for name, size in (("rows", 40), ("columns", 130), ("inspector", 60)):
        dividers.put(name, size, Size(240, 83))  # type: ignore[arg-type]
    assert (dividers.most_rows(83), dividers.inspector_columns(240)) == (40, 60)
    assert dividers.window_columns(240, 60) == 126  # the chat keeps what it needs
    assert (dividers.most_rows(43), dividers.inspector_columns(160)) == (20, 40)
    assert dividers.window_columns(160, 0) == 87
    assert dividers.most_rows(24) == 10


@pytest.mark.parametrize(
    ("width", "panes"), [(160, (60, 54, 46)), (200, (92, 62, 46)), (240, (120, 74, 46))]
)
def test_a_wide_terminal_is_shared_as_drawn(width: int, panes: tuple[int, int, int]) -> None:
    dividers = Dividers()
    inspector = dividers.inspector_columns(width)
    windows = dividers.window_columns(width, inspector)
    assert (windows, width - inspector - windows, inspector) == panes


@given(saved=st.dictionaries(st.sampled_from(["rows", "columns", "inspector", "x"]),
                             st.none() | st.integers() | st.floats() | st.text()))  # fmt: skip
def test_whatever_was_remembered_is_a_place_or_nothing(saved: dict[str, object]) -> None:
    dividers = Dividers()
    dividers.restore(saved)
    dividers.restore("nonsense")
    assert all(one is None or one > 0 for one in asdict(dividers).values())
    assert dividers.most_rows(40) <= 31


async def test_a_key_that_does_not_resize_leaves_resizing_and_acts_as_always(
    chat: SharedChat, pilot: "Pilot[int]"
) -> None:
    """X39: also a key that goes somewhere from the menu."""
    opened(chat, "note")
    await frame_of(pilot, "note_1")
    prompt = main(pilot).prompt
    await pilot.press("ctrl+g", "down", *"icp1", "ctrl+g", "down", "ctrl+g", "p")
    await until(pilot, lambda: prompt.text == "icp1")
    prompt.clear()
    await pilot.press("ctrl+g", "down", *"hi")
    await until(pilot, lambda: prompt.text == "hi")
    await pilot.press("ctrl+g", "up", "enter")  # not sent: enter confirms the size
    await until(pilot, lambda: not isinstance(pilot.app.screen, GoTo))
    await pilot.press("ctrl+g", "backspace", "f1")
    await until(pilot, lambda: isinstance(pilot.app.screen, HelpScreen))
    await pilot.press("escape")
    await until(pilot, lambda: isinstance(pilot.app.screen, MainScreen))
    assert prompt.text == "h"
    await pilot.press("ctrl+g", "1", "ctrl+g", "down", "x")
    await until(pilot, lambda: shown(pilot, "Close note_1?"))  # the window's own key
    assert prompt.text == "h"


async def test_the_mouse_drags_the_dividers_and_a_double_click_fits_them(
    chat: SharedChat, pilot: "Pilot[int]"
) -> None:
    opened(chat, "note")
    await frame_of(pilot, "note_1")
    await until(pilot, lambda: desktop(pilot).region.height == 5)
    grip, edge = main(pilot).query(Grip)
    assert "╌╌╌╌╌" in lines(pilot)[grip.region.y]
    await pilot.mouse_down(grip, offset=(3, 0))
    await pilot.hover(offset=(20, 14))
    await pilot.mouse_up(offset=(20, 14))
    await until(pilot, lambda: desktop(pilot).region.height == 13)
    assert grip.region.y == 14  # under the mouse
    await pilot.mouse_down(edge, offset=(0, 20))
    await pilot.hover(offset=(70, 20))
    await pilot.mouse_up(offset=(70, 20))
    await until(pilot, lambda: edge.region.x == 70)
    await pilot.click(grip, offset=(3, 0), times=2)
    await until(pilot, lambda: desktop(pilot).region.height == 5)
    assert edge.region.x == 78


async def test_keys_resize_and_the_arrangement_is_there_again(tmp_path: Path) -> None:
    desk = desk_with(tmp_path, "note", "shelf", "form")

    def layout() -> Any:
        return Preferences.of_folder(tmp_path / "work", tmp_path / "home").get("layout")

    def height(pilot: "Pilot[int]", window_id: str) -> int:
        return frames(pilot)[window_id].region.height

    async with running(desk) as pilot:
        await frame_of(pilot, "form_1")
        await until(pilot, lambda: desktop(pilot).region.height == 8)
        await pilot.press("ctrl+g", "down", "down", "down", "up", "left")
        await until(
            pilot, lambda: desktop(pilot).region.height == 10 and layout()["rows"] == 10 / 37
        )
        assert len(pilot.app.screen_stack) == 2  # open for the next arrow
        assert main(pilot).query_one("#inspector").outer_size.width == 43
        await pilot.press("=")
        await until(pilot, lambda: desktop(pilot).region.height == 8 and layout()["rows"] is None)
        await until(pilot, lambda: len(pilot.app.screen_stack) == 1)
        assert main(pilot).query_one("#inspector").outer_size.width == 41
        await pilot.press("ctrl+g", "2")
        await until(pilot, lambda: frames(pilot)["shelf_1"].has_focus)
        before = height(pilot, "shelf_1")
        await pilot.press("ctrl+g", "down", "down", "escape")
        await until(pilot, lambda: height(pilot, "shelf_1") == before + 2)
        await pilot.press("ctrl+g", "3")
        await until(pilot, lambda: frames(pilot)["form_1"].has_focus)
        desk.session.windows.close("note_1")
        await until(pilot, lambda: "note_1" not in frames(pilot))
        await pilot.press("m")
        await until(pilot, lambda: shown(pilot, "pinned"))
        await pilot.press("ctrl+g", "p", "ctrl+g", "down", "left", "escape")
        await until(pilot, lambda: not isinstance(pilot.app.screen, GoTo))
        assert layout()["rows"] == desktop(pilot).region.height / 37

    seen = list[str]()
    async with running(desk_with(tmp_path, session_id=desk.session.id)) as pilot:
        for _ in range(5):
            seen.extend(lines(pilot))
            await asyncio.sleep(0.01)
        assert not any("too small" in one for one in seen)
        await until(pilot, lambda: shown(pilot, "╭─ 3 form"))
        assert shown(pilot, "pinned")  # the main window
        assert shown(pilot, "╭─ 2 shelf")
        assert main(pilot).query_one("#inspector").outer_size.width == 43
        assert layout()["rows"] == desktop(pilot).region.height / 37
        await pilot.resize_terminal(80, 24)
        await until(pilot, lambda: main(pilot).has_class("-narrow"))
        await pilot.press("ctrl+g", "2")
        await until(pilot, lambda: "shelf_1" in frames(pilot))
        await pilot.press("ctrl+g", "down")
        await until(pilot, lambda: main(pilot).has_class("-zoom-windows"))
        await pilot.press("up")
        await until(pilot, lambda: not main(pilot).has_class("-zoom"))


async def test_a_tiny_terminal_says_so_and_nothing_breaks(
    chat: SharedChat, pilot: "Pilot[int]"
) -> None:
    opened(chat, "note", "todo")
    await frame_of(pilot, "note_1")
    for width, height in ((19, 40), (120, 4), (1, 1)):
        words = "Terminal too small"[: width - 1]
        await pilot.resize_terminal(width, height)
        await until(pilot, lambda words=words: lines(pilot)[0].startswith(words))  # type: ignore[misc]
        await until(pilot, lambda: not any(lines(pilot)[1:]))
    await pilot.resize_terminal(120, 40)
    await until(pilot, lambda: shown(pilot, "╭─ 1 note"))
    await pilot.press("h")
    await until(pilot, lambda: main(pilot).prompt.text == "h")  # it still has the focus
