"""What a person does to a window: by its row of actions, its menu, its anchors; and closing it."""

import pytest
from textual import events
from textual.pilot import Pilot
from textual.timer import Timer
from textual.widgets import OptionList

from contextui.context.item import ItemType
from contextui.tui.conversation.prompt import Prompt
from contextui.tui.desktop.body import ContentBody
from contextui.tui.desktop.field import Field
from contextui.tui.desktop.form import FormScreen
from contextui.tui.desktop.frame import Closing
from contextui.tui.desktop.menu import MenuScreen
from contextui.tui.dialogs.whole_text import WholeText
from contextui.windowing.snapshot import Lod
from tests.tui.desktop.samples import (
    NoteWindow,
    SlowWindow,
    enter,
    frame_of,
    frames,
    opened,
    region_text,
)
from tests.tui.running import shown, until
from tests.tui.sharing import SharedChat


async def test_number_sign_and_key_list_all_actions(chat: SharedChat, pilot: "Pilot[int]") -> None:
    desk = opened(chat, "todo")
    frame = await frame_of(pilot, "todo_1")
    width, height = frame.outer_size

    async def check() -> None:
        await until(pilot, lambda: isinstance(pilot.app.screen, MenuScreen))
        offered = [one.id or "" for one in pilot.app.screen.query_one(OptionList).options]
        assert offered[:2] == ["add", "clear_done"]
        assert set(desk.session.windows.get("todo_1").actions) <= set(offered)  # type: ignore[union-attr]
        await pilot.press("escape")
        await until(pilot, lambda: not isinstance(pilot.app.screen, MenuScreen))

    assert "⋯" not in region_text(pilot, frame)[-1]
    await pilot.hover(frame, offset=(width // 2, 2))
    await until(pilot, lambda: region_text(pilot, frame)[-1].endswith("⋯ ─╯"))
    await pilot.click(frame, offset=(width - 4, height - 1))
    await check()
    await pilot.click(frame, offset=(3, 0))
    await check()
    await enter(pilot, "todo_1")
    await pilot.press("a")
    await until(pilot, lambda: shown(pilot, "close with a summary…"))
    await check()


async def test_a_change_is_drawn_even_if_timers_are_skipped(
    chat: SharedChat, monkeypatch: pytest.MonkeyPatch, pilot: "Pilot[int]"
) -> None:
    """Textual skips a timer if the process is held up for long just when it starts."""
    run = Timer._run

    async def held_up(timer: Timer) -> None:
        if timer._repeat != 0 or not timer._skip:
            await run(timer)

    desk = opened(chat, "todo")
    await frame_of(pilot, "todo_1")
    monkeypatch.setattr(Timer, "_run", held_up)
    await desk.session.windows.act("todo_1", "add", {"text": "milk"})
    frame = frames(pilot)["todo_1"]
    await until(pilot, lambda: "milk" in "".join(region_text(pilot, frame)))


async def choose(pilot: "Pilot[int]", wanted: str, key: str = "enter") -> None:
    """Choose an entry of the menu of the window that has the focus."""
    await pilot.press("a")
    await until(pilot, lambda: isinstance(pilot.app.screen, MenuScreen))
    entries = pilot.app.screen.query_one(OptionList)
    entries.highlighted = entries.get_option_index(wanted)
    await pilot.press(key)
    await until(pilot, lambda: not isinstance(pilot.app.screen, MenuScreen))


async def test_results_refusals_and_forms_of_what_the_menu_runs(
    chat: SharedChat, pilot: "Pilot[int]"
) -> None:
    desk = opened(chat, "note", "shelf")
    other = await frame_of(pilot, "shelf_1")
    frame = await enter(pilot, "note_1")
    # Both are as high as the higher one needs.
    await until(pilot, lambda: frame.region.height == other.region.height == other.wanted_rows())
    before = (frame.region, frame.body.region)

    await choose(pilot, "undo")  # it needs nothing
    await until(pilot, lambda: "Taken back." in region_text(pilot, frame)[-1])
    await until(pilot, lambda: shown(pilot, "◇ you"))
    assert (frame.region, frame.body.region) == before
    frame.clear_note()
    await until(pilot, lambda: "Taken back." not in region_text(pilot, frame)[-1])
    await choose(pilot, "write")  # it asks first
    await until(pilot, lambda: isinstance(pilot.app.screen, FormScreen))
    await pilot.press(*"new", "enter")
    await until(pilot, lambda: frame.note == "Wrote 3.")
    await until(pilot, lambda: shown(pilot, "│ new"))
    await choose(pilot, "refuse")
    await until(pilot, lambda: frame.note == "no reason")
    await choose(pilot, "refuse", "space")  # fills in what may be left out, too
    await until(pilot, lambda: isinstance(pilot.app.screen, FormScreen))
    await pilot.press("escape")
    await until(pilot, lambda: frame.has_focus)
    await desk.session.windows.act("note_1", "write", {"text": "one\ntwo\nthree"})
    await choose(pilot, "say")  # it only reads: what it read is what one wants
    await until(pilot, lambda: isinstance(pilot.app.screen, WholeText))
    await until(pilot, lambda: shown(pilot, "three"))
    await pilot.press("escape")
    await until(pilot, lambda: frame.has_focus)
    assert frame.note == "one  d for all"
    await pilot.press("d")
    await until(pilot, lambda: isinstance(pilot.app.screen, WholeText))
    await pilot.press("down", "escape")
    await until(pilot, lambda: frame.has_focus)
    await choose(pilot, "key:minus")  # the menu offers every key to mouse users
    await until(pilot, lambda: frame.window.lod is Lod.SUMMARY)
    await choose(pilot, "key:full_stop")
    await until(pilot, lambda: frame.region.x > before[0].x)
    await choose(pilot, "key:x")
    await until(pilot, lambda: frame.query_one(Closing).display)
    await pilot.press("escape")
    desk.session.windows.close("note_1")
    frame.runner.run("undo", {})  # it was chosen just before the window closed
    closed = "note_1 is closed."  # on its frame, if that is still there
    await until(pilot, lambda: closed in str(frame.note) or shown(pilot, closed))


async def test_a_late_result_takes_no_key_from_where_the_person_is_now(
    chat: SharedChat, pilot: "Pilot[int]"
) -> None:
    """H01: nothing opens by itself over a field or a shell."""
    SlowWindow.going_on.clear()
    opened(chat, "slow", "todo")
    frame = await enter(pilot, "slow_1")
    frame.runner.run("read", {})
    await pilot.press("ctrl+g", "p", "h")
    SlowWindow.going_on.set()
    await until(pilot, lambda: frame.note == "one  d for all")
    await pilot.press("d")
    assert pilot.app.screen.query_one(Prompt).text == "hd"


async def test_anchors_are_pressed_by_key_and_by_mouse(
    chat: SharedChat, pilot: "Pilot[int]"
) -> None:
    desk = opened(chat, "shelf")
    frame = await enter(pilot, "shelf_1")
    body = frame.body
    assert isinstance(body, ContentBody)
    await until(pilot, lambda: len(region_text(pilot, body)) > 3)
    text = region_text(pilot, body)
    assert text[0] == "Book 1  id 1  page 0  Finish  Page…"
    assert "All again" in text[3]
    await pilot.press("enter", "enter")  # in, and the first anchor
    await until(pilot, lambda: frame.note == "Book 1: 300.")
    await until(pilot, lambda: shown(pilot, "Book 1  id 1  page 300"))
    await pilot.press("down", "down")  # the first anchor of the second book
    await desk.session.windows.act("shelf_1", "read", {"book": "1", "page": 5})
    await until(pilot, lambda: shown(pilot, "page 5"))
    await pilot.press("enter")  # the cursor is where it was
    await until(pilot, lambda: frame.note == "Book 2: 300.")
    row = region_text(pilot, body)[0]
    await pilot.click(body, offset=(row.index("Page…") + 1, 0))
    await until(pilot, lambda: isinstance(pilot.app.screen, FormScreen))
    await pilot.press(*"7", "enter")
    await until(pilot, lambda: frame.note == "Book 1: 7.")
    text = region_text(pilot, body)
    await pilot.click(body, offset=(text[3].index("All") + 1, 3))
    await until(pilot, lambda: frame.note == "All again.")


async def test_closing_asks_in_the_row_and_takes_a_summary(
    chat: SharedChat, monkeypatch: pytest.MonkeyPatch, pilot: "Pilot[int]"
) -> None:
    monkeypatch.setattr(NoteWindow, "unsaved", lambda _: "a draft")
    desk = opened(chat, "note", "shelf")
    frame, other = await frame_of(pilot, "note_1"), await frame_of(pilot, "shelf_1")
    closing = frame.query_one(Closing)
    await until(pilot, lambda: shown(pilot, "│ some words"))  # it is drawn: its draft is known
    # Both are as high as the higher one needs.
    await until(pilot, lambda: frame.region.height == other.region.height == other.wanted_rows())
    place = frame.region
    await enter(pilot, "note_1")
    await pilot.press("x")
    await until(pilot, lambda: shown(pilot, "a draft"))  # what is given up
    assert frame.region == place
    await pilot.press("w", "escape")
    await until(pilot, lambda: frame.has_focus)
    assert desk.session.windows.get("note_1") is not None
    await pilot.press("x")
    await until(pilot, lambda: isinstance(pilot.app.focused, Field))
    assert frame.query_one(Field).text == ""
    pilot.app.post_message(events.AppBlur())  # another program, and back
    await until(pilot, lambda: pilot.app.focused is None)
    pilot.app.post_message(events.AppFocus())
    await until(pilot, lambda: closing.has_focus_within)
    assert closing.display
    await pilot.press("ctrl+g", "p")  # going elsewhere withdraws the question
    await until(pilot, lambda: not closing.display)
    assert await enter(pilot, "note_1") is frame
    await pilot.press("x")
    await until(pilot, lambda: isinstance(pilot.app.focused, Field))
    await pilot.press(*"done", "enter")
    await until(pilot, lambda: desk.session.windows.get("note_1") is None)
    await until(pilot, lambda: set(frames(pilot)) == {"shelf_1"})
    await until(pilot, lambda: frames(pilot)["shelf_1"].has_focus)
    await pilot.press("x")
    await until(pilot, lambda: shown(pilot, "Close shelf_1? Enter closes"))
    await pilot.press("enter")  # without a summary
    await until(pilot, lambda: desk.session.windows.get("shelf_1") is None)
    words = [one.content for one in chat.said if one.type is ItemType.USER]
    assert words == ["note_1 closed: done (unsaved, discarded: a draft)"]
    await until(pilot, lambda: pilot.app.screen.has_class("-no-windows"))
