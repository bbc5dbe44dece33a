"""Slash commands say what they did, or what they need, in the person's language."""

import asyncio
import re
from pathlib import Path

import pytest
from textual.app import App
from textual.pilot import Pilot

from contextui.tui.app import ContextUIApp
from contextui.tui.commands import Choice, arguments, takes
from contextui.tui.conversation.entries import AsideLine
from contextui.tui.conversation.input import Completions, InputArea, Sender
from contextui.tui.conversation.pane import Conversation
from contextui.tui.conversation.popup import Popup
from contextui.tui.conversation.prompt import Prompt
from contextui.tui.desktop.frame import WindowFrame
from contextui.tui.menu import Menu
from contextui.windowing.finding.registry import discover
from contextui.words import Lang, Words
from tests.tui.running import desk_in, running, shown, until

STEPS: list[tuple[str, str]] = [
    ("/close", "No window is open."),
    ("/undo", "Nothing to undo."),
    ("/open", "Which one? code | editor | files"),
    ("/open todo", "Opened todo_1. ctrl+g 1 goes there."),
    ("/open todo", "Opened todo_2. ctrl+g 2 goes there."),
    ("/close", "Which one? todo_1 | todo_2"),
    ("/open editor", "editor needs path. Type: /open editor path=… [line=…] [new=false|true]"),
    ("/open editor a line=x", 'editor: line: expected int, got "x". Expected: path'),
    ("/open code x", "code takes no arguments. Type: /open code"),
    ("/open fly", 'There is no window called "fly". There is: code, editor'),
    ("/close todo_1", "Closed todo_1."),
    ("/close", "Closed todo_2."),
    ("/approval", "Which one? ask, auto, read-only"),
    ("/approval x[/]", '"x[/]" is not one of ask, auto, read-only.'),
    ("/approval auto", "Approval: writes without asking."),
    ("/theme", "Which one? contextui-dark"),
    ("/model", "The model is scripted. /model NAME to switch."),
    ("/fly", 'Unknown command "/fly". Try: /approval, /close'),
    ("/files", 'Unknown command "/files". Try: /open files.'),
]


def last_note(pilot: "Pilot[int]") -> str:
    notes = list(pilot.app.screen.query(AsideLine))
    return str(notes[-1].content) if notes else ""


def test_a_window_is_announced_with_the_number_that_leads_to_it(tmp_path: Path) -> None:
    async def go() -> None:
        async with running(desk_in(tmp_path)) as pilot:
            app = pilot.app
            assert isinstance(app, ContextUIApp)
            for command, frames in (("open todo", 1), ("open todo", 2), ("close todo_1", 1)):
                app.main.run_command(f"/{command}")
                await until(pilot, lambda frames=frames: len(app.query(WindowFrame)) == frames)  # type: ignore[misc]
            app.main.run_command("/open notebook")
            assert last_note(pilot) == "Opened notebook_1. ctrl+g 1 goes there."
            await until(pilot, lambda: len(app.query(WindowFrame)) == 2)
            assert app.main.desktop is not None
            assert app.main.desktop.number_of("notebook_1") == 1
            app.main.run_command("/open editor notes.md new=true")
            assert last_note(pilot) == "Opened notes.md in editor_1. ctrl+g 3 goes there."

    asyncio.run(go())


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
def test_a_window_without_a_number_key_is_reached_by_a_command(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    async def go() -> None:
        desk = desk_in(tmp_path)
        async with running(desk, size) as pilot:
            app = pilot.app
            assert isinstance(app, ContextUIApp)
            for _ in range(9):
                desk.session.windows.open("todo")
            app.main.run_command("/open todo")
            await until(pilot, lambda: "/goto todo_10 goes there." in last_note(pilot))
            desktop = app.main.desktop
            assert desktop is not None
            await until(pilot, lambda: "todo_10" in desktop._order.ids)
            app.main.run_command("/goto todo_1")
            await until(pilot, lambda: at(app) == "todo_1")
            app.main.run_command("/goto todo_10")
            await until(pilot, lambda: at(app) == "todo_10")
            app.main.run_command("/goto fly")
            await until(pilot, lambda: "Which one? todo_1 | todo_2" in last_note(pilot))

    def at(app: ContextUIApp) -> str:
        frames = [one for one in app.query(WindowFrame) if one.has_focus_within]
        return frames[0].window.id if frames else ""

    asyncio.run(go())


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_every_command_shows_what_came_of_it(tmp_path: Path, lang: Lang) -> None:
    async def go() -> None:
        async with running(desk_in(tmp_path, lang=lang), lang=lang) as pilot:
            app = pilot.app
            assert isinstance(app, ContextUIApp)
            for number, (command, summary_text) in enumerate(STEPS, 1):
                app.main.run_command(command)
                await until(pilot, lambda number=number: len(app.screen.query(AsideLine)) == number)  # type: ignore[misc]
                if lang == "en":
                    assert last_note(pilot).startswith(summary_text)
                else:
                    assert re.search("[\u4e00-\u9fff]", last_note(pilot)), last_note(pilot)

    asyncio.run(go())


def test_open_takes_a_file_and_names_those_that_are_meant(tmp_path: Path) -> None:
    async def go() -> None:
        desk = desk_in(tmp_path)
        (tmp_path / "work/screen").mkdir()
        for name in ("screen/render.py", "screen/renderer.py", "other.py"):
            (tmp_path / "work" / name).write_text("text\n" * 20)
        async with running(desk) as pilot:
            app, windows = pilot.app, desk.session.windows
            assert isinstance(app, ContextUIApp)
            prompt = app.screen.query_one(Prompt)
            app.main.run_command("/open rend")
            await until(pilot, lambda: "called" in last_note(pilot))
            assert last_note(pilot) == (
                'No window or file is called "rend". Files with that in their name: '
                "screen/render.py, screen/renderer.py. ctrl+p opens files."
            )
            assert prompt.text == "/open rend"
            app.main.run_command("/open screen/render.py line=7")
            await until(pilot, lambda: windows.get("editor_1"))
            assert windows.get("editor_1").state.line == 7  # type: ignore[union-attr]
            app.main.run_command("/open nothing")
            await until(pilot, lambda: "no window" in last_note(pilot))

    asyncio.run(go())


def test_closing_shows_what_was_given_up(tmp_path: Path) -> None:
    async def go() -> None:
        desk = desk_in(tmp_path)
        async with running(desk) as pilot:
            app, windows = pilot.app, desk.session.windows
            assert isinstance(app, ContextUIApp)
            windows.open("editor", path="new.txt", new=True)
            await windows.act("editor_1", "insert", {"before_line": 1, "text": "x"})
            app.main.run_command("/close")
            summary_text = "Unsaved: 1 edit of new.txt. Enter again to close."
            await until(pilot, lambda: last_note(pilot) == summary_text)
            assert windows.get("editor_1") is not None
            await pilot.press("enter")
            await until(pilot, lambda: last_note(pilot) == "Closed editor_1. /undo reopens it.")

    asyncio.run(go())


def test_what_can_be_tried_again_stays_in_the_prompt(tmp_path: Path) -> None:
    async def go() -> None:
        async with running(desk_in(tmp_path)) as pilot:
            app = pilot.app
            assert isinstance(app, ContextUIApp)
            prompt = app.screen.query_one(Prompt)
            for command, stays in (("/undo", ""), ("/fly x", "/fly x"), ("/theme x", "/theme x")):
                prompt.clear()
                app.main.run_command(command)
                assert prompt.text == stays
            app.main.run_command("/openfiles")
            await until(pilot, lambda: last_note(pilot).endswith("Try: /open files."))

    asyncio.run(go())


def test_a_theme_of_our_own_is_found_by_its_short_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))

    async def go() -> None:
        async with running(desk_in(tmp_path)) as pilot:
            app = pilot.app
            assert isinstance(app, ContextUIApp)
            for name in ("light", "dark", "contrast"):
                app.main.run_command(f"/theme {name}")
                assert app.theme == f"contextui-{name}"

    asyncio.run(go())


def test_what_can_be_chosen_is_explained(tmp_path: Path) -> None:
    async def go() -> None:
        async with running(desk_in(tmp_path)) as pilot:
            app = pilot.app
            assert isinstance(app, ContextUIApp)
            found = {one.text: one.choice for one in app.main.commands.completions("/approval ")}
            assert found["/approval auto"] == Choice("auto", "writes without asking")
            (opening,) = [one for one in app.main.commands.all if one.name == "open"]
            todo = Choice("todo", "A to-do list.", "[items=…]")
            assert todo in list(opening.choices())

    asyncio.run(go())


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_window_that_needs_something_is_opened_by_typing_it(tmp_path: Path, lang: Lang) -> None:
    async def go() -> None:
        desk = desk_in(tmp_path, lang=lang)
        (tmp_path / "work" / "READ ME.md").write_text("one\ntwo\nthree\n")
        async with running(desk, lang=lang) as pilot:
            prompt = pilot.app.screen.query_one(Prompt)
            how = "/open editor path=… [line=…] [new=false|true]"
            await pilot.press(*"/open ed")
            await until(pilot, lambda: shown(pilot, "/open editor path=… "))
            await pilot.press("enter")  # what is chosen is not whole yet
            await until(pilot, lambda: prompt.text == "/open editor " and shown(pilot, how))
            await pilot.press(*"REA")  # a path is completed from the files of the folder
            await until(pilot, lambda: pilot.app.screen.query_one(Popup).chosen is not None)
            await pilot.press("tab")
            await until(pilot, lambda: prompt.text == "/open editor READ ME.md")
            assert not prompt.is_completing
            await pilot.press(*" line=2", "enter")
            await until(pilot, lambda: desk.session.windows.get("editor_1"))
            await until(pilot, lambda: shown(pilot, "three"))
            assert not shown(pilot, how)

    asyncio.run(go())


def test_the_files_go_away_when_the_path_is_typed_to_its_end(tmp_path: Path) -> None:
    async def go() -> None:
        desk = desk_in(tmp_path)
        (tmp_path / "work" / "notes.txt").write_text("one\n")
        async with running(desk) as pilot:
            popup = pilot.app.screen.query_one(Popup)
            await pilot.press(*"/open editor notes.tx")
            await until(pilot, lambda: popup.display and popup.chosen is not None)
            await pilot.press("t")
            await until(pilot, lambda: not popup.display)
            await pilot.press("enter")
            await until(pilot, lambda: shown(pilot, "Opened notes.txt in editor_1."))
            assert not popup.display

    asyncio.run(go())


def test_every_window_that_comes_along_is_explained_in_chinese(tmp_path: Path) -> None:
    desk = desk_in(tmp_path, lang="zh")
    words = Words("zh")
    note = Conversation(words, tmp_path).note
    sender = Sender(InputArea(words), note, words, lambda turn: turn.close(), print)
    choices = Menu(App[int](), desk, words, sender, lambda _: None)._openable()
    assert len(choices) == 8
    assert [one.about for one in choices if not re.search("[\u4e00-\u9fff]", one.about)] == []
    desk.close()


def test_one_enter_takes_the_marked_row_of_a_list(tmp_path: Path) -> None:
    async def go() -> None:
        async with running(desk_in(tmp_path)) as pilot:
            prompt = pilot.app.screen.query_one(Prompt)
            listed = pilot.app.screen.query_one(Completions)
            await pilot.press(*"/approval", "enter")  # lists what there is: alone it does nothing
            await until(pilot, lambda: prompt.text == "/approval " and listed.highlighted == 0)
            await pilot.press("enter")
            await until(pilot, lambda: last_note(pilot).startswith("Approval: asks"))
            await pilot.press(*"/approval ", "down", "enter")
            await until(pilot, lambda: last_note(pilot).startswith("Approval: writes"))
            await pilot.press(*"/export", "enter")
            await until(pilot, lambda: prompt.text == "/export " and listed.highlighted == 0)
            await pilot.press("ctrl+u", *"/model ")  # it does something alone: no row is marked
            await until(pilot, lambda: prompt.text == "/model ")
            assert listed.highlighted is None

    asyncio.run(go())


@pytest.mark.parametrize(
    ("lang", "about"),
    [("en", "Code snippets saved in conversations."), ("zh", "代码片段：对话中保存的代码。")],
)
def test_the_code_window_does_not_look_like_an_editor_of_the_project(
    tmp_path: Path, lang: Lang, about: str
) -> None:
    async def go() -> None:
        async with running(desk_in(tmp_path, lang=lang), lang=lang) as pilot:
            await pilot.press(*"/open co")
            await until(pilot, lambda: shown(pilot, f"/open code  {about}"))

    asyncio.run(go())


def test_what_is_completed_by_enter_is_done(tmp_path: Path) -> None:
    async def go() -> None:
        async with running(desk_in(tmp_path)) as pilot:
            await pilot.press(*"/und", "enter")
            await until(pilot, lambda: last_note(pilot) == "Nothing to undo.")
            await pilot.press(*"/open to", "tab")
            await until(pilot, lambda: last_note(pilot).startswith("Opened todo_1."))
            assert pilot.app.screen.query_one(Prompt).text == ""

    asyncio.run(go())


def test_a_list_is_typed_with_commas() -> None:
    classes = {cls.name: cls for cls in discover().classes()}
    todo = classes["todo"].opening
    assert arguments("milk, eggs、面包", todo) == {"items": ["milk", "eggs", "面包"]}
    assert arguments('items=["a, b"]', todo) == {"items": ["a, b"]}
    monitor = classes["monitor"].opening
    assert takes(monitor) == "[seconds=…] [processes=…] [by=cpu|memory]"
    assert arguments("2.5 by='memory'", monitor) == {"seconds": 2.5, "by": "memory"}
