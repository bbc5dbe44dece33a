"""The desktop: where windows stand, and going from one to the other."""

import asyncio
from pathlib import Path

import pytest
from textual.events import Key, Resize
from textual.geometry import Size

from contextui.agent.models.scripted import call
from contextui.tui.conversation.prompt import Prompt
from contextui.tui.desktop.frame import WindowFrame
from contextui.tui.desktop.layout import WindowLines
from contextui.tui.desktop.menu import MenuScreen
from tests.tui.desktop.samples import desk_with, desktop, enter, frame_of, frames, region_text
from tests.tui.running import lines, running, say, shown, until

pytestmark = pytest.mark.long


def numbers(found: dict[str, WindowFrame]) -> list[str]:
    """The windows that are shown, in the order of their places."""
    by_place = sorted(found.values(), key=lambda one: (one.region.y, one.region.x))
    return [one.window.id for one in by_place]


def test_small_windows_stand_on_a_shelf_as_high_as_the_tallest_needs(tmp_path: Path) -> None:
    async def go() -> None:
        desk = desk_with(tmp_path, "note", "shelf", "form")
        async with running(desk) as pilot:
            await frame_of(pilot, "form_1")
            await until(pilot, lambda: frames(pilot)["shelf_1"].region.height == 8)
            found = frames(pilot)
            assert {one.region.size for one in found.values()} == {(26, 8)}  # two lines wrap
            assert {one.region.y for one in found.values()} == {1}
            assert desktop(pilot).region.height == 8  # nothing is reserved for nothing
            assert shown(pilot, "╭─ 1 note  some words")
            assert shown(pilot, "╭─ 2 shelf")
            assert shown(pilot, "╭─ 3 form")

    asyncio.run(go())


def test_a_file_has_the_whole_width_and_small_windows_a_shelf_below(tmp_path: Path) -> None:
    async def go() -> None:
        desk = desk_with(tmp_path, "note", "todo")
        text = "\n".join(f"line {number}" for number in range(84))
        (tmp_path / "work" / "cart.py").write_text(text)
        desk.session.windows.open("editor", path="cart.py")
        async with running(desk) as pilot:
            frame = await frame_of(pilot, "editor_1")
            await until(pilot, lambda: frame.region.size == (78, 17))
            assert frame.body.size.width >= 69
            await until(pilot, lambda: shown(pilot, "╭─ 3 editor  cart.py ─"))
            await until(pilot, lambda: shown(pilot, "1–15 of 84 ─╮"))
            await until(pilot, lambda: frames(pilot)["note_1"].region.y == frame.region.bottom)
            assert desktop(pilot).region.height == 22  # 60 of 100 of what there is

    asyncio.run(go())


def test_a_window_takes_the_rows_of_its_items(tmp_path: Path) -> None:
    async def go() -> None:
        desk = desk_with(tmp_path)
        desk.session.windows.open("todo", items=["a", "b", "c"])
        async with running(desk) as pilot:
            frame = await frame_of(pilot, "todo_1")
            await until(pilot, lambda: frame.region.height == 5)
            for number in range(4):
                await desk.session.windows.act("todo_1", "add", {"text": f"more {number}"})
            await until(pilot, lambda: frame.region.height == 9)
            assert desktop(pilot).region.height == 9
            await desk.session.windows.act("todo_1", "delete", {"item": 7})
            await until(pilot, lambda: frame.region.height == 8)
            assert desktop(pilot).region.height == 8

    asyncio.run(go())


def test_a_wide_terminal_has_one_column_of_windows(tmp_path: Path) -> None:
    async def go() -> None:
        desk = desk_with(tmp_path, "note", "shelf", "form")
        (tmp_path / "work" / "cart.py").write_text("pass\n" * 100)
        desk.session.windows.open("editor", path="cart.py")
        async with running(desk, (200, 60)) as pilot:
            frame = await frame_of(pilot, "editor_1")
            await until(pilot, lambda: frames(pilot)["form_1"].region.width == 30)
            found = frames(pilot)
            assert found["editor_1"].region.width == desktop(pilot).region.width == 92
            assert pilot.app.screen.query_one("#chat").outer_size.width == 62
            await until(pilot, lambda: found["shelf_1"].region.y == frame.region.bottom)
            assert found["form_1"].region.y == found["shelf_1"].region.y

    asyncio.run(go())


def test_a_window_just_opened_is_readable_and_says_so_until_a_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("contextui.tui.desktop.pane._FRESH", 1_000.0)  # a slow machine needs long

    async def go() -> None:
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

    asyncio.run(go())


def test_numbers_stay_with_their_windows(tmp_path: Path) -> None:
    async def go() -> None:
        desk = desk_with(tmp_path, "note", "shelf", "form")
        async with running(desk) as pilot:
            await enter(pilot, "form_1")
            await pilot.press("m")
            await until(pilot, lambda: shown(pilot, "pinned"))
            assert shown(pilot, "╭─ 3 form")
            desk.session.windows.close("note_1")
            await until(pilot, lambda: "note_1" not in frames(pilot))
            assert shown(pilot, "╭─ 3 form")
            assert shown(pilot, "╭─ 2 shelf")
            desk.session.windows.open("todo")
            await until(pilot, lambda: shown(pilot, "╭─ 1 todo"))  # the lowest that is free
            await pilot.press("2")
            await until(pilot, lambda: frames(pilot)["shelf_1"].has_focus)
            await pilot.press("ctrl+g", "3")
            await until(pilot, lambda: frames(pilot)["form_1"].has_focus)

    asyncio.run(go())


def test_a_narrow_terminal_has_one_window_and_lines_with_gists(tmp_path: Path) -> None:
    async def go() -> None:
        desk = desk_with(tmp_path, "todo", "note", "note")
        async with running(desk, (80, 24)) as pilot:
            pilot.app.screen.add_class("-pane-windows")
            await until(pilot, lambda: shown(pilot, "2 note  some words"))
            await until(pilot, lambda: shown(pilot, "3 note_2  some words"))
            assert list(frames(pilot)) == ["todo_1"]
            (line,) = [one for one in lines(pilot) if "2 note  some words" in one]
            assert line.endswith(str(desk.tokens_of("note_1")))  # what it costs
            assert "Full" not in line  # only what is not usual is said
            desktop(pilot).go_to(2)
            await until(pilot, lambda: list(frames(pilot)) == ["note_1"])
            await until(pilot, lambda: shown(pilot, "1 todo  0 open, 0 done"))

    asyncio.run(go())


def test_with_no_window_a_narrow_pane_says_how_to_get_one(tmp_path: Path) -> None:
    async def go() -> None:
        async with running(desk_with(tmp_path), (80, 24)) as pilot:
            pilot.app.screen.add_class("-pane-windows")
            await until(pilot, lambda: shown(pilot, "No window is open. Ask for one, or /open."))

    asyncio.run(go())


def test_no_room_is_shown_and_nothing_breaks(tmp_path: Path) -> None:
    async def go() -> None:
        async with running(desk_with(tmp_path, "note"), (60, 9)) as pilot:
            pilot.app.screen.add_class("-pane-windows")
            for height in (9, 8, 7, 6, 5):
                await pilot.resize_terminal(60, height)
            await until(pilot, lambda: shown(pilot, "╭─ 1 note  some words"))

    asyncio.run(go())


def test_the_model_opens_at_the_end_and_moves_neither_focus_nor_master(tmp_path: Path) -> None:
    async def go() -> None:
        steps = (call("create", name="shelf"), call("create", name="form"), "Two more.")
        desk = desk_with(tmp_path, "note", steps=steps)
        async with running(desk) as pilot:
            await frame_of(pilot, "note_1")
            await say(pilot, "open two")
            await frame_of(pilot, "form_1")
            assert numbers(frames(pilot)) == ["note_1", "shelf_1", "form_1"]
            assert isinstance(pilot.app.focused, Prompt)

    asyncio.run(go())


def test_keys_lead_from_window_to_window(tmp_path: Path) -> None:
    async def go() -> None:
        desk = desk_with(tmp_path, "note", "shelf", "form")
        async with running(desk) as pilot:
            await enter(pilot, "note_1")
            for key, window_id in (
                ("right", "shelf_1"),
                ("right", "form_1"),
                ("right", "form_1"),
                ("left", "shelf_1"),
                ("1", "note_1"),
                ("3", "form_1"),
            ):
                await pilot.press(key)
                await until(pilot, lambda at=window_id: frames(pilot)[at].has_focus)  # type: ignore[misc]
            await pilot.press("7")
            await until(pilot, lambda: shown(pilot, "There is no window 7."))
            assert frames(pilot)["form_1"].has_focus

    asyncio.run(go())


def test_ctrl_g_and_a_number_leads_there_from_the_prompt(tmp_path: Path) -> None:
    async def go() -> None:
        desk = desk_with(tmp_path, "note", "shelf")
        async with running(desk) as pilot:
            await frame_of(pilot, "shelf_1")
            await pilot.press("ctrl+g", "2")
            await until(pilot, lambda: frames(pilot)["shelf_1"].has_focus)

    asyncio.run(go())


def test_ctrl_g_leads_to_a_window_from_the_chat_of_a_narrow_terminal(tmp_path: Path) -> None:
    async def go() -> None:
        desk = desk_with(tmp_path, "note", "shelf")
        async with running(desk, (80, 24)) as pilot:
            await pilot.press("ctrl+g", "2")
            await until(pilot, lambda: "shelf_1" in frames(pilot))
            await until(pilot, lambda: frames(pilot)["shelf_1"].has_focus)
            assert shown(pilot, "╭─ 2 shelf")

    asyncio.run(go())


def test_m_makes_the_master_and_comma_and_stop_move(tmp_path: Path) -> None:
    async def go() -> None:
        desk = desk_with(tmp_path, "note", "shelf", "form")
        async with running(desk) as pilot:
            await enter(pilot, "form_1")
            await pilot.press("m")
            await until(pilot, lambda: numbers(frames(pilot)) == ["form_1", "note_1", "shelf_1"])
            assert frames(pilot)["form_1"].has_focus
            assert shown(pilot, "╭─ 3 form")
            await pilot.press("full_stop")
            await until(pilot, lambda: numbers(frames(pilot)) == ["note_1", "form_1", "shelf_1"])
            await pilot.press("comma")
            await until(pilot, lambda: numbers(frames(pilot)) == ["form_1", "note_1", "shelf_1"])

    asyncio.run(go())


def test_z_gives_a_window_all_the_room_and_takes_it_back(tmp_path: Path) -> None:
    async def go() -> None:
        desk = desk_with(tmp_path, "note", "shelf")
        async with running(desk) as pilot:
            frame = await enter(pilot, "shelf_1")
            before = frame.region
            await pilot.press("z")
            await until(pilot, lambda: frames(pilot)["shelf_1"].region.width == 120)
            assert list(frames(pilot)) == ["shelf_1"]
            await pilot.press("escape")
            await until(pilot, lambda: frames(pilot)["shelf_1"].region == before)
            assert frames(pilot)["shelf_1"].has_focus

    asyncio.run(go())


def test_letters_of_an_input_method_are_taken_as_they_are_meant(tmp_path: Path) -> None:
    async def go() -> None:
        desk = desk_with(tmp_path, "note", "shelf")
        async with running(desk) as pilot:
            await enter(pilot, "shelf_1")
            await pilot.press("ｍ")
            await until(pilot, lambda: numbers(frames(pilot)) == ["shelf_1", "note_1"])
            pilot.app.post_message(Key("fullwidth_full_stop", "．"))
            await until(pilot, lambda: numbers(frames(pilot)) == ["note_1", "shelf_1"])

    asyncio.run(go())


def test_a_click_leads_to_a_window_and_to_a_line(tmp_path: Path) -> None:
    async def go() -> None:
        desk = desk_with(tmp_path, *["note"] * 16)
        async with running(desk) as pilot:
            frame = await frame_of(pilot, "note_16")
            await pilot.click(frame, offset=(9, 2))
            await until(pilot, lambda: frame.has_focus_within)
            (listed,) = desktop(pilot).query(WindowLines)
            before = list(frames(pilot))
            number, name = region_text(pilot, listed)[1].split()[:2]
            assert name == f"note_{number}"
            assert name not in before
            await pilot.click(listed, offset=(4, 1))
            await until(pilot, lambda: name in frames(pilot))
            await until(pilot, lambda: frames(pilot)[name].has_focus)
            least_recent = min(before, key=lambda one: int(one.removeprefix("note_")))
            assert set(before) - set(frames(pilot)) == {least_recent}

    asyncio.run(go())


@pytest.mark.parametrize(
    "size",
    [
        (120, 40),
        pytest.param((80, 24), marks=pytest.mark.long),
        pytest.param((200, 60), marks=pytest.mark.long),
    ],
)
def test_two_hundred_windows_are_a_few_widgets(tmp_path: Path, size: tuple[int, int]) -> None:
    async def go() -> None:
        desk = desk_with(tmp_path, *["note"] * 200, max_windows=200)
        async with running(desk, size) as pilot:
            pilot.app.screen.add_class("-pane-windows")
            await until(pilot, lambda: shown(pilot, "more windows"))
            assert len(list(desktop(pilot).walk_children())) < 200
            desktop(pilot)._go("note_150")
            await until(pilot, lambda: "note_150" in frames(pilot))
            await until(pilot, lambda: frames(pilot)["note_150"].has_focus)
            await pilot.press("right", "right", "right")
            await until(pilot, lambda: "note_153" in frames(pilot))
            assert len(list(desktop(pilot).walk_children())) < 200

    asyncio.run(go())


def test_the_line_of_more_windows_lists_them_all(tmp_path: Path) -> None:
    async def go() -> None:
        desk = desk_with(tmp_path, *["note"] * 30)
        async with running(desk) as pilot:
            await until(pilot, lambda: shown(pilot, "more windows"))
            (listed,) = desktop(pilot).query(WindowLines)
            await pilot.click(listed, offset=(4, listed.size.height - 1))
            await until(pilot, lambda: isinstance(pilot.app.screen, MenuScreen))
            await pilot.press("end", "enter")
            await until(pilot, lambda: "note_30" in frames(pilot))
            await until(pilot, lambda: frames(pilot)["note_30"].has_focus)

    asyncio.run(go())


@pytest.mark.long
def test_a_storm_of_resizes_leaves_everything_in_its_place(tmp_path: Path) -> None:
    async def go() -> None:
        desk = desk_with(tmp_path, "note", "shelf", "form", "todo", "monitor")
        async with running(desk) as pilot:
            await frame_of(pilot, "note_1")
            for step in range(
                40
            ):  # as a terminal reports them while it is dragged: without a pause
                size = Size(20 + (step * 37) % 200, 5 + (step * 13) % 60)
                pilot.app.post_message(Resize(size, size))
                if step % 8 == 0:
                    await pilot.pause()
            await pilot.resize_terminal(120, 40)
            await until(pilot, lambda: frames(pilot)["note_1"].region.width == 26)
            assert shown(pilot, "╭─ 1 note  some words")

    asyncio.run(go())


def test_a_window_that_the_model_closes_leaves_the_person_in_the_next(tmp_path: Path) -> None:
    async def go() -> None:
        steps = (call("action", window_id="shelf_1", action_id="close"), "Closed.")
        desk = desk_with(tmp_path, "note", "shelf", "form", steps=steps)
        async with running(desk) as pilot:
            await enter(pilot, "shelf_1")
            await say(pilot, "close it")
            await until(pilot, lambda: set(frames(pilot)) == {"note_1", "form_1"})
            await until(pilot, lambda: frames(pilot)["form_1"].has_focus)

    asyncio.run(go())


def test_windows_of_an_earlier_run_are_there_at_once(tmp_path: Path) -> None:
    desk = desk_with(tmp_path, "note", "todo")
    session_id = desk.session.id
    desk.close()

    async def go() -> None:
        again = desk_with(tmp_path, session_id=session_id)
        async with running(again) as pilot:
            await frame_of(pilot, "todo_1")
            assert numbers(frames(pilot)) == ["note_1", "todo_1"]

    asyncio.run(go())


@pytest.mark.parametrize("size", [(120, 40), (80, 24)])
def test_after_the_last_window_closes_one_can_type_at_once(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    async def go() -> None:
        async with running(desk_with(tmp_path, "note"), size) as pilot:
            await pilot.press("ctrl+g", "1")
            await until(pilot, lambda: "note_1" in frames(pilot))
            await until(pilot, lambda: frames(pilot)["note_1"].has_focus)
            await pilot.press("x", "enter")
            await until(pilot, lambda: not frames(pilot))
            await until(pilot, lambda: isinstance(pilot.app.focused, Prompt))
            await pilot.press(*"hello")
            await until(pilot, lambda: shown(pilot, "hello"))

    asyncio.run(go())
