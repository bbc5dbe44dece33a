"""Widgets that windows bring along: used when they work, and harmless when they do not."""

from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Static

from contextui.tui.desktop.frame import WindowFrame
from tests.tui.desktop.own_widgets import window_with
from tests.tui.desktop.samples import NoteWindow, enter, frame_of, region_text
from tests.tui.running import desk_in, running, shown, until

HERE = "tests.tui.desktop.own_widgets"


def words_of(pilot: "Pilot[int]", frame: WindowFrame) -> str:
    return " ".join(one.strip("│ ") for one in region_text(pilot, frame))


async def test_a_window_is_drawn_by_its_own_widget_which_may_have_keys_for_its_frame(
    tmp_path: Path,
) -> None:
    kinds = ["Plain", "WithFrameKeys", "WithWrongFrameKeys", "WithChildren"]
    classes = [window_with(f"{HERE}:{kind}", f"own_{kind.lower()}") for kind in kinds]
    desk = desk_in(tmp_path, windows=classes)
    for cls in classes:
        desk.session.windows.open(cls.name)
    async with running(desk) as pilot:

        def seen(frame: WindowFrame, text: str) -> bool:
            return text in words_of(pilot, frame)

        children = await frame_of(pilot, "own_withchildren_1")
        await until(pilot, lambda: seen(children, "a child of its own"))
        assert children.body.query_one("#within").query_one(Static)
        frame = await enter(pilot, "own_plain_1")
        await until(pilot, lambda: seen(frame, "own widget: 0"))
        await desk.session.windows.act("own_plain_1", "up")
        await until(pilot, lambda: seen(frame, "own widget: 1"))
        await pilot.press("enter", "k")
        await until(pilot, lambda: frame.note == "Now 2.")
        frame.clear_note()
        await until(pilot, lambda: seen(frame, "own widget: 2") and seen(frame, "◇ you"))
        assert not frame.has_class("-error")
        await enter(pilot, "own_withwrongframekeys_1")
        await until(pilot, lambda: shown(pilot, "x close"))
        frame = await enter(pilot, "own_withframekeys_1")
        await until(pilot, lambda: shown(pilot, "k count up"))
        assert shown(pilot, "x close")  # the widget's own x is off
        await pilot.press("k")
        await until(pilot, lambda: seen(frame, "own widget: 1"))
        await pilot.press("enter")
        await until(pilot, lambda: not shown(pilot, "k count up"))  # a key of the widget now
        await pilot.press("escape", "f")
        await until(pilot, lambda: seen(frame, "not on this key"))
        assert frame.has_class("-error")
        await until(pilot, lambda: not shown(pilot, "k count up"))


@pytest.mark.long
@pytest.mark.usefixtures("frames")
@pytest.mark.parametrize(
    ("widget", "reason"),
    [
        (f"{HERE}:FailsToBeMade", "ValueError: [/]not made[@click=app.quit]"),
        (f"{HERE}:FailsToCompose", "ValueError: not composed"),
        (f"{HERE}:FailsToRender", "ValueError: not rendered"),
        (f"{HERE}:FailsInTitle", "ValueError: not titled"),
        (f"{HERE}:TakesNothing", "TypeError"),
        (f"{HERE}:Missing", f'widget = "{HERE}:Missing"'),
        ("no_such_module:Widget", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("contextui.text:one_line", 'widget = "contextui.text:one_line"'),
    ],
)
async def test_a_widget_that_fails_leaves_the_window_as_any_other(
    tmp_path: Path, widget: str, reason: str
) -> None:
    desk = desk_in(tmp_path, windows=[window_with(widget), NoteWindow])
    desk.session.windows.open("own")
    desk.session.windows.open("note")
    async with running(desk, (200, 60)) as pilot:
        frame = await frame_of(pilot, "own_1")
        await until(pilot, lambda: frame.has_class("-error"))
        await until(pilot, lambda: "Everything else still works." in words_of(pilot, frame))
        assert f"own could not be drawn: {reason}" in words_of(pilot, frame)
        await until(pilot, lambda: shown(pilot, "0 in words"))
        await desk.session.windows.act("own_1", "up")
        await until(pilot, lambda: shown(pilot, "1 in words"))
        assert shown(pilot, "some words")


async def test_a_widget_that_fails_with_a_change_is_replaced(tmp_path: Path) -> None:
    desk = desk_in(tmp_path, windows=[window_with(f"{HERE}:FailsOnChange")])
    desk.session.windows.open("own")
    async with running(desk) as pilot:
        frame = await enter(pilot, "own_1")
        await desk.session.windows.act("own_1", "up")
        await until(pilot, lambda: "1 in words" in words_of(pilot, frame))
        assert "own could not be drawn: ValueError: not changed" in words_of(pilot, frame)
        assert frame.has_class("-error")
