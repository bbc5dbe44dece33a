"""What a person does to a window: by its row of actions, its menu, its anchors; and closing it."""

import asyncio

import pytest
from textual import events
from textual.pilot import Pilot
from textual.widgets import OptionList

from contextui.context.item import ItemType
from contextui.tui.conversation.prompt import Prompt
from contextui.tui.desktop.actions import ResultScreen
from contextui.tui.desktop.body import ContentBody
from contextui.tui.desktop.form import Field, FormScreen
from contextui.tui.desktop.frame import Closing, WindowFrame
from contextui.tui.desktop.menu import MenuScreen
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


async def open_menu(pilot: "Pilot[int]") -> OptionList:
    await pilot.press("a")
    await until(pilot, lambda: isinstance(pilot.app.screen, MenuScreen))
    return pilot.app.screen.query_one(OptionList)


def listed(pilot: "Pilot[int]") -> list[str]:
    """The ids of what the menu offers."""
    return [one.id or "" for one in pilot.app.screen.query_one(OptionList).options]


async def choose(pilot: "Pilot[int]", frame: WindowFrame, wanted: str) -> None:
    """Choose an action in the menu that a click on the number of a window opens."""
    await pilot.click(frame, offset=(3, 0))
    await until(pilot, lambda: isinstance(pilot.app.screen, MenuScreen))
    entries = pilot.app.screen.query_one(OptionList)
    entries.highlighted = entries.get_option_index(wanted)
    await pilot.press("enter")
    await until(pilot, lambda: not isinstance(pilot.app.screen, MenuScreen))


@pytest.mark.parametrize("way", ["number", "sign", "key"])
def test_number_sign_and_key_list_all_actions(chat: SharedChat, way: str) -> None:
    async def go(pilot: "Pilot[int]") -> None:
        desk = opened(chat, "todo")
        frame = await frame_of(pilot, "todo_1")
        width, height = frame.outer_size
        assert "⋯" not in region_text(pilot, frame)[-1]
        if way == "key":
            await enter(pilot, "todo_1")
            await pilot.press("a")
        elif way == "number":
            await pilot.click(frame, offset=(3, 0))
        else:
            await pilot.hover(frame, offset=(width // 2, 2))
            await until(pilot, lambda: region_text(pilot, frame)[-1].endswith("⋯ ─╯"))
            await pilot.click(frame, offset=(width - 4, height - 1))
        await until(pilot, lambda: isinstance(pilot.app.screen, MenuScreen))
        assert listed(pilot)[:2] == ["add", "clear_done"]
        assert shown(pilot, "close with a summary…")
        assert set(desk.session.windows.get("todo_1").actions) <= set(listed(pilot))  # type: ignore[union-attr]

    chat.talk(go)


def test_a_result_is_in_the_border_and_moves_nothing(chat: SharedChat) -> None:
    async def go(pilot: "Pilot[int]") -> None:
        opened(chat, "note")
        frame = await frame_of(pilot, "note_1")
        before = (frame.region, frame.body.region)
        await choose(pilot, frame, "undo")
        await until(pilot, lambda: "Taken back." in region_text(pilot, frame)[-1])
        await until(pilot, lambda: shown(pilot, "◇ you"))
        assert (frame.region, frame.body.region) == before
        frame.clear_note()
        await until(pilot, lambda: "Taken back." not in region_text(pilot, frame)[-1])

    chat.talk(go)


def test_a_click_on_a_word_with_dots_asks_first(chat: SharedChat) -> None:
    async def go(pilot: "Pilot[int]") -> None:
        opened(chat, "note")
        frame = await frame_of(pilot, "note_1")
        await choose(pilot, frame, "write")
        await until(pilot, lambda: isinstance(pilot.app.screen, FormScreen))
        await pilot.press(*"new", "enter")
        await until(pilot, lambda: frame.note == "Wrote 3.")
        await until(pilot, lambda: shown(pilot, "│ new"))

    chat.talk(go)


def test_the_menu_runs_what_needs_nothing_and_space_fills_in_more(chat: SharedChat) -> None:
    async def go(pilot: "Pilot[int]") -> None:
        opened(chat, "note")
        frame = await enter(pilot, "note_1")
        menu = await open_menu(pilot)
        menu.highlighted = menu.get_option_index("undo")
        await pilot.press("enter")
        await until(pilot, lambda: frame.note == "Taken back.")
        menu = await open_menu(pilot)
        menu.highlighted = menu.get_option_index("refuse")
        await pilot.press("space")
        await until(pilot, lambda: isinstance(pilot.app.screen, FormScreen))
        await pilot.press("escape")
        await until(pilot, lambda: frame.has_focus)

    chat.talk(go)


def test_the_menu_offers_every_key_to_mouse_users(chat: SharedChat) -> None:
    async def go(pilot: "Pilot[int]") -> None:
        opened(chat, "note", "shelf")
        frame = await enter(pilot, "shelf_1")
        for entry, condition in (
            ("key:minus", lambda: frame.window.lod is Lod.SUMMARY),
            ("key:plus", lambda: frame.window.lod is Lod.FULL),
            ("key:m", lambda: frame.region.y == 1),
            ("key:full_stop", lambda: frame.region.y > 1),
            ("key:comma", lambda: frame.region.y == 1),
            ("key:x", lambda: frame.query_one(Closing).display),
        ):
            menu = await open_menu(pilot)
            menu.highlighted = menu.get_option_index(entry)
            await pilot.press("enter")
            await until(pilot, condition)

    chat.talk(go)


def test_closing_says_what_is_given_up(chat: SharedChat, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(NoteWindow, "unsaved", lambda _: "a draft")

    async def go(pilot: "Pilot[int]") -> None:
        opened(chat, "note")
        await enter(pilot, "note_1")
        await pilot.press("x")
        await until(pilot, lambda: shown(pilot, "a draft"))

    chat.talk(go)


def test_going_elsewhere_withdraws_the_question_to_close(chat: SharedChat) -> None:
    async def go(pilot: "Pilot[int]") -> None:
        opened(chat, "note")
        frame = await enter(pilot, "note_1")
        closing = frame.query_one(Closing)
        await pilot.press("x")
        await until(pilot, lambda: closing.display)
        pilot.app.post_message(events.AppBlur())  # another program, and back
        await until(pilot, lambda: pilot.app.focused is None)
        pilot.app.post_message(events.AppFocus())
        await until(pilot, lambda: closing.has_focus_within)
        assert closing.display
        await pilot.press("ctrl+g", "p")
        await until(pilot, lambda: not closing.display)
        assert await enter(pilot, "note_1") is frame

    chat.talk(go)


def test_a_result_of_many_lines_is_shown_in_full_on_request(chat: SharedChat) -> None:
    async def go(pilot: "Pilot[int]") -> None:
        desk = chat.desk
        desk.session.windows.open("note", text="one\ntwo\nthree")
        frame = await enter(pilot, "note_1")
        frame.runner.run("say", {})  # it only reads: what it read is what one wants
        await until(pilot, lambda: isinstance(pilot.app.screen, ResultScreen))
        await until(pilot, lambda: shown(pilot, "three"))
        await pilot.press("escape")
        await until(pilot, lambda: frame.has_focus)
        assert frame.note == "one  d for all"
        await pilot.press("d")
        await until(pilot, lambda: isinstance(pilot.app.screen, ResultScreen))
        await pilot.press("down", "pagedown", "up", "escape")
        await until(pilot, lambda: frame.has_focus)

    chat.talk(go)


def test_a_late_result_takes_no_key_from_where_the_person_is_now(chat: SharedChat) -> None:
    """H01: nothing opens by itself over a field or a shell."""

    async def go(pilot: "Pilot[int]") -> None:
        SlowWindow.going_on.clear()
        opened(chat, "slow", "todo")
        frame = await enter(pilot, "slow_1")
        frame.runner.run("read", {})
        await pilot.press("ctrl+g", "p", *"half")
        SlowWindow.going_on.set()
        await until(pilot, lambda: frame.note == "one  d for all")
        await pilot.press("d")
        assert pilot.app.screen.query_one(Prompt).text == "halfd"

    chat.talk(go)


def test_a_refusal_is_shown_in_the_row(chat: SharedChat) -> None:
    async def go(pilot: "Pilot[int]") -> None:
        opened(chat, "note")
        frame = await frame_of(pilot, "note_1")
        await choose(pilot, frame, "refuse")
        await until(pilot, lambda: frame.note == "no reason")

    chat.talk(go)


def test_anchors_are_pressed_by_key_and_by_mouse(chat: SharedChat) -> None:
    async def go(pilot: "Pilot[int]") -> None:
        opened(chat, "shelf")
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
        await pilot.press("down", "down", "enter")
        await until(pilot, lambda: frame.note == "Book 2: 300.")
        row = region_text(pilot, body)[0]
        await pilot.click(body, offset=(row.index("Page…") + 1, 0))
        await until(pilot, lambda: isinstance(pilot.app.screen, FormScreen))
        await pilot.press(*"7", "enter")
        await until(pilot, lambda: frame.note == "Book 1: 7.")
        text = region_text(pilot, body)
        await pilot.click(body, offset=(text[3].index("All") + 1, 3))
        await until(pilot, lambda: frame.note == "All again.")

    chat.talk(go)


def test_the_cursor_stays_at_its_anchor_while_the_window_changes(chat: SharedChat) -> None:
    async def go(pilot: "Pilot[int]") -> None:
        desk = opened(chat, "shelf")
        frame = await enter(pilot, "shelf_1")
        await pilot.press("enter", "down", "down")  # the first anchor of the second book
        await desk.session.windows.act("shelf_1", "read", {"book": "1", "page": 5})
        await until(pilot, lambda: shown(pilot, "page 5"))
        await pilot.press("enter")
        await until(pilot, lambda: frame.note == "Book 2: 300.")

    chat.talk(go)


def test_closing_asks_for_a_summary_in_the_row(chat: SharedChat) -> None:
    async def go(pilot: "Pilot[int]") -> None:
        desk = opened(chat, "note", "shelf")
        await frame_of(pilot, "shelf_1")
        frame = await enter(pilot, "note_1")
        await pilot.pause()
        place = frame.region
        await pilot.press("x")
        await until(pilot, lambda: shown(pilot, "Close note_1? Enter closes"))
        assert frame.region == place
        await pilot.press(*"done it", "enter")
        await until(pilot, lambda: desk.session.windows.get("note_1") is None)
        await until(pilot, lambda: set(frames(pilot)) == {"shelf_1"})
        await until(pilot, lambda: frames(pilot)["shelf_1"].has_focus)
        words = [one.content for one in chat.said if one.type is ItemType.USER]
        assert words == ["note_1 closed: done it"]

    chat.talk(go)


def test_closing_without_a_summary_leaves_no_words(chat: SharedChat) -> None:
    async def go(pilot: "Pilot[int]") -> None:
        desk = opened(chat, "note")
        await enter(pilot, "note_1")
        await pilot.press("x", "enter")
        await until(pilot, lambda: desk.session.windows.get("note_1") is None)
        assert not any(one.type is ItemType.USER for one in chat.said)
        await until(pilot, lambda: pilot.app.screen.has_class("-no-windows"))

    chat.talk(go)


def test_escape_lets_the_window_stay(chat: SharedChat) -> None:
    async def go(pilot: "Pilot[int]") -> None:
        desk = opened(chat, "note")
        frame = await enter(pilot, "note_1")
        await pilot.press("x", *"words", "escape")
        await until(pilot, lambda: frame.has_focus)
        assert desk.session.windows.get("note_1") is not None
        await pilot.press("x")
        await until(pilot, lambda: isinstance(pilot.app.focused, Field))
        assert frame.query_one(Field).text == ""

    chat.talk(go)


def test_a_window_that_is_gone_when_its_action_comes_is_reported(chat: SharedChat) -> None:
    async def go(pilot: "Pilot[int]") -> None:
        desk = opened(chat, "note", "shelf")
        frame = await frame_of(pilot, "note_1")
        desk.session.windows.close("note_1")
        frame.runner.run("undo", {})
        await until(pilot, lambda: shown(pilot, "note_1 is closed."))

    chat.talk(go)


def test_person_and_model_act_at_once_and_both_are_done(chat: SharedChat) -> None:
    async def go(pilot: "Pilot[int]") -> None:
        desk = opened(chat, "todo")
        windows = desk.session.windows
        frame = await frame_of(pilot, "todo_1")
        models = [windows.act("todo_1", "add", {"text": f"model {number}"}) for number in range(10)]
        for number in range(10):
            frame.runner.run("add", {"text": f"person {number}"})
        results = await asyncio.gather(*models)
        assert all(one.ok for one in results)
        await until(pilot, lambda: shown(pilot, "20 open"))

    chat.talk(go)
