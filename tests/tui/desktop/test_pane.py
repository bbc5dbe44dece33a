"""The desktop: where windows stand, and going from one to the other."""

from pathlib import Path

import pytest
from textual.events import Key, Resize
from textual.geometry import Size
from textual.pilot import Pilot

from contextui.agent.models.scripted import call
from contextui.tui.conversation.prompt import Prompt
from contextui.tui.desktop.frame import WindowFrame
from contextui.tui.desktop.layout import WindowLines
from contextui.tui.desktop.menu import MenuScreen
from tests.tui.desktop.samples import (
    desk_with,
    desktop,
    enter,
    frame_of,
    frames,
    opened,
    region_text,
)
from tests.tui.running import lines, running, say, shown, until
from tests.tui.sharing import SharedChat

pytestmark = pytest.mark.long


def numbers(found: dict[str, WindowFrame]) -> list[str]:
    """The windows that are shown, in the order of their places."""
    by_place = sorted(found.values(), key=lambda one: (one.region.y, one.region.x))
    return [one.window.id for one in by_place]


async def focused(pilot: "Pilot[int]", window_id: str) -> None:
    await until(pilot, lambda: window_id in frames(pilot) and frames(pilot)[window_id].has_focus)


async def test_small_windows_stand_on_a_shelf_as_high_as_the_tallest_needs(
    chat: SharedChat, pilot: "Pilot[int]"
) -> None:
    windows = chat.desk.session.windows
    windows.open("todo", items=["a", "b", "c"])
    frame = await frame_of(pilot, "todo_1")
    await until(pilot, lambda: frame.region.height == 5)
    for number in range(4):
        await windows.act("todo_1", "add", {"text": f"more {number}"})
    await until(pilot, lambda: frame.region.height == desktop(pilot).region.height == 9)
    await windows.act("todo_1", "delete", {"item": 7})
    await until(pilot, lambda: frame.region.height == desktop(pilot).region.height == 8)
    windows.close("todo_1")
    await until(pilot, lambda: not frames(pilot))
    opened(chat, "note", "shelf", "form")
    await frame_of(pilot, "form_1")
    await until(pilot, lambda: frames(pilot)["shelf_1"].region.height == 8)
    found = frames(pilot)
    assert {one.region.size for one in found.values()} == {(26, 8)}  # two lines wrap
    assert {one.region.y for one in found.values()} == {1}
    assert desktop(pilot).region.height == 8  # nothing is reserved for nothing
    for title in ("╭─ 1 note  some words", "╭─ 2 shelf", "╭─ 3 form"):
        assert shown(pilot, title)


async def test_a_file_has_the_whole_width_and_small_windows_a_shelf_below(
    chat: SharedChat, pilot: "Pilot[int]"
) -> None:
    text = "\n".join(f"line {number}" for number in range(84))
    (chat.work / "cart.py").write_text(text)
    opened(chat, "note", "todo").session.windows.open("editor", path="cart.py")
    frame = await frame_of(pilot, "editor_1")
    await until(pilot, lambda: frame.region.size == (78, 17))
    assert frame.body.size.width >= 69
    await until(pilot, lambda: shown(pilot, "╭─ 3 editor  cart.py ─"))
    await until(pilot, lambda: shown(pilot, "1–15 of 84 ─╮"))
    await until(pilot, lambda: frames(pilot)["note_1"].region.y == frame.region.bottom)
    assert desktop(pilot).region.height == 22  # 60 of 100 of what there is
    await pilot.resize_terminal(200, 60)  # one column of windows beside the chat
    await until(pilot, lambda: frame.region.width == desktop(pilot).region.width == 92)
    assert pilot.app.screen.query_one("#chat").outer_size.width == 62
    found = frames(pilot)
    await until(pilot, lambda: found["todo_1"].region.y == frame.region.bottom)
    assert found["note_1"].region.y == found["todo_1"].region.y


async def test_a_window_just_opened_is_readable_and_says_so_until_a_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("contextui.tui.desktop.pane._FRESH", 1_000.0)  # a slow machine needs long
    steps = (call("create", name="editor", args={"path": "cart.py"}), "Open.")
    desk = desk_with(tmp_path, *["note"] * 6, steps=steps)
    (tmp_path / "work" / "cart.py").write_text("pass\n" * 100)
    async with running(desk) as pilot:
        await say(pilot, "open it")
        frame = await frame_of(pilot, "editor_1")
        assert frame.region.width >= 60
        await until(pilot, lambda: "just opened" in region_text(pilot, frame)[0])
        assert isinstance(pilot.app.focused, Prompt)
        await pilot.press("h")
        await until(pilot, lambda: "just opened" not in region_text(pilot, frame)[0])


async def test_numbers_stay_with_their_windows(chat: SharedChat, pilot: "Pilot[int]") -> None:
    windows = opened(chat, "note", "shelf", "form").session.windows

    async def placed(*wanted: str) -> None:
        await until(pilot, lambda: numbers(frames(pilot)) == [f"{one}_1" for one in wanted])

    await enter(pilot, "form_1")
    await pilot.press("m")
    await placed("form", "note", "shelf")
    await until(pilot, lambda: shown(pilot, "pinned"))
    assert frames(pilot)["form_1"].has_focus
    assert shown(pilot, "╭─ 3 form")
    await pilot.press("full_stop")
    await placed("note", "form", "shelf")
    await pilot.press("comma")
    await placed("form", "note", "shelf")
    pilot.app.post_message(Key("fullwidth_full_stop", "．"))  # of an input method
    await placed("note", "form", "shelf")
    await pilot.press("ｍ")
    await placed("form", "shelf", "note")
    windows.close("note_1")
    await placed("form", "shelf")
    assert shown(pilot, "╭─ 3 form")
    assert shown(pilot, "╭─ 2 shelf")
    windows.open("todo")
    await until(pilot, lambda: shown(pilot, "╭─ 1 todo"))  # the lowest that is free
    await pilot.press("2")
    await focused(pilot, "shelf_1")
    await pilot.press("ctrl+g", "3")
    await focused(pilot, "form_1")


async def test_keys_lead_from_window_to_window_and_z_gives_one_all_the_room(
    chat: SharedChat, pilot: "Pilot[int]"
) -> None:
    opened(chat, "note", "shelf", "form")
    await frame_of(pilot, "form_1")
    await pilot.press("ctrl+g", "1")
    await focused(pilot, "note_1")
    for key, window_id in (
        ("right", "shelf_1"),
        ("right", "form_1"),
        ("right", "form_1"),
        ("left", "shelf_1"),
        ("1", "note_1"),
        ("3", "form_1"),
    ):
        await pilot.press(key)
        await focused(pilot, window_id)
    await pilot.press("7")
    await until(pilot, lambda: shown(pilot, "There is no window 7."))
    before = frames(pilot)["form_1"].region
    await pilot.press("z")
    await until(pilot, lambda: frames(pilot)["form_1"].region.width == 120)
    assert list(frames(pilot)) == ["form_1"]
    await pilot.press("escape")
    await until(pilot, lambda: frames(pilot)["form_1"].region == before)
    await focused(pilot, "form_1")


@pytest.mark.parametrize("size", [(80, 24)])
async def test_a_narrow_terminal_has_one_window_and_lines_with_gists(
    chat: SharedChat, pilot: "Pilot[int]"
) -> None:
    pilot.app.screen.add_class("-pane-windows")
    await until(pilot, lambda: shown(pilot, "No window is open. Ask for one, or /open."))
    desk = opened(chat, "todo", "note", "note")
    await until(pilot, lambda: list(frames(pilot)) == ["note_2"])
    desktop(pilot).action_go_to(1)
    await until(pilot, lambda: list(frames(pilot)) == ["todo_1"])
    await until(pilot, lambda: shown(pilot, "2 note  some words"))
    await until(pilot, lambda: shown(pilot, "3 note_2  some words"))
    (line,) = [one for one in lines(pilot) if "2 note  some words" in one]
    assert line.endswith(str(desk.tokens_of("note_1")))  # what it costs
    assert "Full" not in line  # only what is not usual is said
    await pilot.press("ctrl+g", "p")
    await until(pilot, lambda: isinstance(pilot.app.focused, Prompt))
    await pilot.press("ctrl+g", "2")  # from the chat
    await focused(pilot, "note_1")
    await until(pilot, lambda: shown(pilot, "1 todo  0 open, 0 done"))
    desk.session.windows.open("shelf")
    await until(pilot, lambda: shown(pilot, "4 shelf"))
    assert list(frames(pilot)) == ["note_1"]  # the person is in it
    for height in (9, 7, 5):
        await pilot.resize_terminal(60, height)
    await until(pilot, lambda: shown(pilot, "╭─ 2 note  some words"))


async def test_the_model_opens_at_the_end_and_what_it_closes_leaves_the_person_in_the_next(
    chat: SharedChat, pilot: "Pilot[int]"
) -> None:
    opening = (call("create", name="shelf"), call("create", name="form"), "Two more.")
    chat.answer(*opening, call("action", window_id="shelf_1", action_id="close"), "Closed.")
    opened(chat, "note")
    await frame_of(pilot, "note_1")
    await say(pilot, "open two")
    await frame_of(pilot, "form_1")
    assert numbers(frames(pilot)) == ["note_1", "shelf_1", "form_1"]
    assert isinstance(pilot.app.focused, Prompt)
    await enter(pilot, "shelf_1")
    await say(pilot, "close it")
    await until(pilot, lambda: set(frames(pilot)) == {"note_1", "form_1"})
    await focused(pilot, "form_1")


async def test_a_click_leads_to_a_window_to_a_line_and_to_the_list_of_more(
    chat: SharedChat, pilot: "Pilot[int]"
) -> None:
    opened(chat, *["note"] * 30)
    frame = await frame_of(pilot, "note_30")
    await pilot.click(frame, offset=(9, 2))
    await until(pilot, lambda: frame.has_focus_within)
    (listed,) = desktop(pilot).query(WindowLines)
    before = list(frames(pilot))
    number, name = region_text(pilot, listed)[1].split()[:2]
    assert name == f"note_{number}"
    assert name not in before
    await pilot.click(listed, offset=(4, 1))
    await focused(pilot, name)
    least_recent = min(before, key=lambda one: int(one.removeprefix("note_")))
    assert set(before) - set(frames(pilot)) == {least_recent}
    await until(pilot, lambda: shown(pilot, "more windows"))
    await pilot.click(listed, offset=(4, listed.size.height - 1))
    await until(pilot, lambda: isinstance(pilot.app.screen, MenuScreen))
    await pilot.press("home", "enter")
    await focused(pilot, "note_1")


async def test_a_storm_of_resizes_leaves_everything_in_its_place(tmp_path: Path) -> None:
    async with running(desk_with(tmp_path, "note", "shelf", "form", "todo", "monitor")) as pilot:
        await frame_of(pilot, "note_1")
        for step in range(40):  # as a terminal reports them while it is dragged: without a pause
            size = Size(20 + (step * 37) % 200, 5 + (step * 13) % 60)
            pilot.app.post_message(Resize(size, size))
            if step % 8 == 0:
                await pilot.pause()
        await pilot.resize_terminal(120, 40)
        await until(pilot, lambda: frames(pilot)["note_1"].region.width == 26)
        assert shown(pilot, "╭─ 1 note  some words")


@pytest.mark.parametrize("size", [(80, 24)])
async def test_after_the_last_window_closes_one_can_type_at_once(
    chat: SharedChat, pilot: "Pilot[int]"
) -> None:
    opened(chat, "note")
    await pilot.press("ctrl+g", "1")
    await focused(pilot, "note_1")
    await pilot.press("x", "enter")
    await until(pilot, lambda: not frames(pilot))
    await until(pilot, lambda: isinstance(pilot.app.focused, Prompt))
    await pilot.press(*"hi")
    await until(pilot, lambda: shown(pilot, "│ hi"))
