"""The frame of a window: its border, its keys, and what it says when something is wrong."""

from pathlib import Path

import pytest
from textual.events import MouseScrollDown
from textual.pilot import Pilot

from contextui.agent.models.scripted import call
from contextui.tui.desktop.body import ContentBody
from contextui.windowing.snapshot import Lod
from tests.tui.desktop.samples import (
    SlowWindow,
    desk_with,
    enter,
    frame_of,
    frames,
    opened,
    region_text,
)
from tests.tui.running import lines, running, say, shown, until
from tests.tui.sharing import SharedChat

pytestmark = pytest.mark.long


async def test_the_border_says_who_acted_how_much_is_shown_and_its_cost(tmp_path: Path) -> None:
    steps = (call("action", window_id="note_1", action_id="write", params={"text": "b"}), "ok")
    desk = desk_with(tmp_path, "note", "note", steps=steps)
    async with running(desk) as pilot:
        frame = await frame_of(pilot, "note_1")
        await desk.session.windows.act("note_1", "write", {"text": "a"}, actor="person")
        await until(pilot, lambda: shown(pilot, "◇ you 0s   "))
        await say(pilot, "write b")
        await until(pilot, lambda: "◆ model" in region_text(pilot, frame)[-1])

        def figures(window_id: str) -> set[str]:
            """What the border says, and the inspector."""
            border = region_text(pilot, frames(pilot)[window_id])[-1].split()[-2]
            rows = [one.split() for one in lines(pilot) if f"Window {window_id}" in one]
            return {border, *(row[-1] for row in rows)} if rows else set()

        both, context = ("note_1", "note_2"), desk.session.context
        await until(pilot, lambda: all(len(figures(one)) == 1 for one in both))
        # Both have the same actions, which are counted once.
        alone = sum(context.item_tokens(context.window_items(one)[-1]) for one in both)
        assert 0 < sum(int(figures(one).pop()) for one in both) < alone
        await desk.session.windows.act("note_1", "write", {"text": "a"}, actor="person")
        await until(pilot, lambda: "you" in region_text(pilot, frame)[-1])
        window = frame.window

        def change() -> None:
            window.state.text = "by itself"  # type: ignore[attr-defined]

        window.env.every(0.01, change)  # by nobody
        await until(pilot, lambda: shown(pilot, "│ by itself"))
        await until(pilot, lambda: "you" not in region_text(pilot, frame)[-1])
        assert "Full" not in region_text(pilot, frame)[-1]


async def test_keys_of_a_frame_change_the_detail_undo_and_go_in_and_out(
    chat: SharedChat, pilot: "Pilot[int]"
) -> None:
    desk = opened(chat, "note", "shelf")
    await desk.session.windows.act("note_1", "write", {"text": "0123456789 and more"})
    frame, other = await frame_of(pilot, "note_1"), await frame_of(pilot, "shelf_1")
    await until(pilot, lambda: frame.region.height == other.wanted_rows())  # side by side
    resting, place = frame.styles.border_top[1], frame.region
    await enter(pilot, "note_1")
    await until(pilot, lambda: frame.styles.border_top[1] != resting)
    assert frame.region == place  # the focus is seen in the border alone
    assert other.styles.border_top[1] == resting
    await until(pilot, lambda: shown(pilot, "│ 0123456789 and more"))
    await pilot.press("minus")
    await until(pilot, lambda: frame.window.lod is Lod.SUMMARY)
    await until(pilot, lambda: shown(pilot, "Summary"))
    await until(pilot, lambda: region_text(pilot, frame)[1].strip("│ ") == "0123456789")
    await pilot.press("minus", "minus")
    await until(pilot, lambda: frame.window.lod is Lod.GIST)
    await pilot.press("plus", "plus", "plus")
    await until(pilot, lambda: frame.window.lod is Lod.FULL)
    await until(pilot, lambda: shown(pilot, "│ 0123456789 and more"))
    await pilot.press("enter")
    await until(pilot, lambda: isinstance(pilot.app.focused, ContentBody))
    await until(pilot, lambda: shown(pilot, "esc back"))
    assert not shown(pilot, "enter focus")
    await pilot.press("escape")
    await until(pilot, lambda: frame.has_focus)
    await pilot.press("u")
    await until(pilot, lambda: shown(pilot, "Taken back."))
    await until(pilot, lambda: shown(pilot, "│ taken back"))
    await enter(pilot, "shelf_1")
    await pilot.press("u")
    await until(pilot, lambda: shown(pilot, "No undo here. Try /undo."))


async def test_keys_and_wheel_scroll_and_text_can_be_selected(
    chat: SharedChat, pilot: "Pilot[int]"
) -> None:
    text = "\n".join(f"line {number}" for number in range(200))
    windows = chat.desk.session.windows
    windows.open("note", text=text)
    frame = await enter(pilot, "note_1")
    for keys, top in (
        (["down", "down"], 2),
        (["up"], 1),
        (["end"], 200 - 20),
        (["pageup"], 200 - 20 - 19),
        (["home", "pagedown"], 19),
    ):
        await pilot.press(*keys)
        await until(pilot, lambda at=top: shown(pilot, f"│ line {at} "))  # type: ignore[misc]
    await windows.act("note_1", "write", {"text": text + "\nmore"})
    await until(pilot, lambda: frame.window.version.major == 2)
    await until(pilot, lambda: frame.body.virtual_size.height == 201)
    assert region_text(pilot, frame)[1].startswith("│ line 19 ")  # a redraw stays there
    frame.body.scroll_home(animate=False)
    await until(pilot, lambda: shown(pilot, "│ line 0 "))
    wheel = MouseScrollDown(None, *frame.body.region.offset, 0, 0, 0, False, False, False)
    pilot.app.post_message(wheel)
    await until(pilot, lambda: not shown(pilot, "│ line 0 "))
    frame.body.scroll_home(animate=False)
    await until(pilot, lambda: shown(pilot, "│ line 0 "))
    await pilot.mouse_down(frame.body, offset=(0, 1))
    await pilot.hover(frame.body, offset=(4, 2))
    await pilot.mouse_up(frame.body, offset=(4, 2))
    selected = pilot.app.screen.get_selected_text() or ""
    assert selected.startswith("line 1\nline")
    pilot.app.screen.clear_selection()


async def test_a_window_that_raises_says_so_in_its_frame_and_the_rest_works_on(
    chat: SharedChat, pilot: "Pilot[int]"
) -> None:
    windows = opened(chat, "broken", "note").session.windows
    frame = await frame_of(pilot, "broken_1")
    await windows.act("broken_1", "fail")
    await until(pilot, lambda: frame.has_class("-error"))

    def trouble() -> str:
        return " ".join(one.strip("│ ") for one in region_text(pilot, frame))

    await until(pilot, lambda: "Everything else still works." in trouble())
    assert (
        "broken could not be drawn: ValueError: [/]no way[@click=app.quit] (samples.py:"
        in trouble()
    )
    await windows.act("note_1", "write", {"text": "still here"})
    await until(pilot, lambda: shown(pilot, "│ still here"))
    await windows.act("broken_1", "mend")
    await until(pilot, lambda: shown(pilot, "│ It works."))
    assert not frame.has_class("-error")


async def test_a_window_that_hangs_keeps_what_it_showed_and_escape_stops_its_turn(
    chat: SharedChat, pilot: "Pilot[int]", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("contextui.windowing.worker.PATIENCE", 0.5)
    chat.answer(call("action", window_id="slow_1", action_id="wait"), "never said")
    SlowWindow.going_on.clear()
    desk = opened(chat, "note", "slow")
    frame = await frame_of(pilot, "slow_1")
    frame.runner.run("wait", {})
    await until(pilot, lambda: shown(pilot, "Running wait…"))
    await until(pilot, lambda: "busy" in region_text(pilot, frame)[-1])
    assert shown(pilot, "│ slow")
    SlowWindow.going_on.set()
    await until(pilot, lambda: shown(pilot, "Waited."))
    await until(pilot, lambda: "busy" not in region_text(pilot, frame)[-1])
    SlowWindow.going_on.clear()
    await enter(pilot, "note_1")
    pilot.app.main.send("wait")  # type: ignore[attr-defined]
    await until(pilot, lambda: desk.controller.is_running)
    await pilot.press("escape")  # there is nothing to come out of
    SlowWindow.going_on.set()
    await until(pilot, lambda: not desk.controller.is_running)
