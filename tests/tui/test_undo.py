"""/undo and /reopen: closed windows come back as they were, in the order of what happened."""

import asyncio
import threading
from functools import partial
from pathlib import Path
from typing import cast

import pytest
from textual.pilot import Pilot

from contextui.tui.app import ContextUIApp
from contextui.tui.conversation.entries import AsideLine
from contextui.windowing.host import current_render, run_on_thread
from contextui.windows.editor import EditorWindow
from tests.tui.running import desk_in, running, say, shown, until


async def command(pilot: "Pilot[int]", text: str, expected: str) -> None:
    assert isinstance(pilot.app, ContextUIApp)
    pilot.app.main.run_command(text)
    await until(pilot, lambda: shown(pilot, expected))


def test_undo_reopens_what_was_closed(tmp_path: Path) -> None:
    async def go() -> None:
        desk = desk_in(tmp_path, "Hello.")
        windows, context = desk.session.windows, desk.session.context
        windows.open("todo", items=["milk"])
        windows.open("editor", path="new.txt", new=True)
        windows.open("todo", items=["eggs"])
        async with running(desk) as pilot:
            await say(pilot, "Hi")
            await windows.act("editor_1", "insert", {"before_line": 1, "text": "typed"})
            await windows.act("editor_1", "close", actor="model")
            item = next(one for one in context.get_all() if one.content == "Hi")
            context.drop(item.id)
            await pilot.press("ctrl+g", "1", "x")
            await until(pilot, lambda: shown(pilot, "Enter closes"))
            await pilot.press("enter")
            await until(pilot, lambda: shown(pilot, "Closed todo_1. /undo reopens it."))
            await command(pilot, "/undo", "Reopened todo_1 as todo_3. ctrl+g 1 goes there.")
            await until(pilot, lambda: shown(pilot, "1 todo_3"))  # its number, and what it shows
            assert shown(pilot, "milk")
            await command(pilot, "/undo", f"Undone: {item.seq:04}.")
            assert item.hidden is None
            await command(pilot, "/undo", "Reopened editor_1 as editor_2. ctrl+g 2 goes there.")
            editor = windows.get("editor_2")
            assert editor is not None
            assert "typed" in current_render(editor).snapshot.content
            assert current_render(editor).unsaved
            await until(pilot, lambda: shown(pilot, "2 editor"))
            await command(pilot, "/undo", "Nothing to undo.")
            await command(pilot, "/close todo_2", "Closed todo_2. /undo reopens it.")
            await command(pilot, "/reopen todo_9", "todo_2")  # which can be reopened
            await command(
                pilot, "/reopen todo_2", "Reopened todo_2 as todo_4. ctrl+g 3 goes there."
            )
        again = desk_in(tmp_path, session_id=desk.session.id)
        names = [one.id for one in again.session.windows.windows()]
        assert names == ["todo_3", "editor_2", "todo_4"]
        again.close()

    asyncio.run(go())


def test_undo_takes_back_an_edit_that_was_saved(tmp_path: Path) -> None:
    async def go() -> None:
        desk = desk_in(tmp_path, "Hello.")
        windows, file = desk.session.windows, tmp_path / "work" / "a.txt"
        file.write_text("one\n")
        windows.open("editor", path="a.txt")
        windows.open("todo", items=["milk"])
        async with running(desk) as pilot:
            await say(pilot, "Hi")
            context = desk.session.context
            context.drop(next(one.id for one in context.get_all() if one.content == "Hi"))
            for text in ("zero\n", "minus\n"):
                given = {"before_line": 1, "text": text}
                await windows.act("editor_1", "insert", given, actor="person")
                await windows.act("editor_1", "save", {}, actor="person")
            await windows.act("editor_1", "goto", {"line": 3}, actor="person")
            await command(pilot, "/close todo_1", "Closed todo_1.")
            await command(pilot, "/undo", "Reopened todo_1 as todo_2.")
            await command(pilot, "/undo", "editor_1: Undone in line 1; 1 more can be undone. The")
            notes = [str(one.content) for one in pilot.app.screen.query(AsideLine)]
            assert "The file changes when you save. ctrl+g 1 goes there." in notes[-1]
            assert file.read_text() == "minus\nzero\none\n"
            file.write_text("of others\n")
            await command(pilot, "/undo", "editor_1: Undone in line 1; 0 more can be undone.")
            assert not (await windows.act("editor_1", "save", {}, actor="person")).ok
            assert file.read_text() == "of others\n"
            await command(pilot, "/undo", "It was a change to the context")
            await command(pilot, "/undo", "Nothing to undo.")

    asyncio.run(go())


def test_what_can_be_closed_and_reopened_is_shown_with_its_title(tmp_path: Path) -> None:
    async def go() -> None:
        desk = desk_in(tmp_path)
        windows = desk.session.windows
        windows.open("editor", path="b.txt", new=True)
        async with running(desk) as pilot:
            app = pilot.app
            assert isinstance(app, ContextUIApp)

            def offered(typed: str, text: str) -> bool:
                found = app.main.commands.completions(typed)
                return [one.choice.about for one in found if one.choice] == [text]

            await until(pilot, lambda: offered("/close ", "b.txt, 0 lines, new"))
            await command(pilot, "/close editor_1", "Closed editor_1.")
            assert offered("/reopen ", "b.txt, 0 lines, new")

    asyncio.run(go())


def test_undo_takes_back_nothing_else_if_a_window_hangs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def go() -> None:
        desk = desk_in(tmp_path, "Hello.")
        windows, context, free = desk.session.windows, desk.session.context, threading.Event()
        editor = windows.open("editor", path="new.txt", new=True)
        async with running(desk) as pilot:
            await say(pilot, "Hi")
            item = next(one for one in context.get_all() if one.content == "Hi")
            context.drop(item.id)
            given = {"before_line": 1, "text": "typed"}
            await windows.act("editor_1", "insert", given, actor="person")
            patient = EditorWindow.action_seconds
            monkeypatch.setattr(EditorWindow, "action_seconds", 0.1)
            run_on_thread(editor, free.wait)
            try:
                await command(pilot, "/undo", "editor_1 did not answer within 0.1 s.")
                assert item.hidden is not None
            finally:
                free.set()
            monkeypatch.setattr(EditorWindow, "action_seconds", patient)
            await command(pilot, "/undo", "editor_1: Undone in line 1;")
            await command(pilot, "/undo", f"Undone: {item.seq:04}.")

    asyncio.run(go())


def test_undo_goes_back_in_the_order_of_edits_and_changes_to_the_context(tmp_path: Path) -> None:
    async def go() -> None:
        desk = desk_in(tmp_path, "Hello.")
        windows, context = desk.session.windows, desk.session.context
        for name in ("a.txt", "b.txt"):
            windows.open("editor", path=name, new=True)
        async with running(desk) as pilot:
            await say(pilot, "Hi")
            item = next(one for one in context.get_all() if one.content == "Hi")

            async def edit(window_id: str) -> None:
                given = {"before_line": 1, "text": "line\n"}
                await windows.act(window_id, "insert", given, actor="person")

            await edit("editor_1")
            await edit("editor_2")
            await edit("editor_1")
            context.drop(item.id)
            await edit("editor_1")

            def state() -> list[object]:
                files = cast(list[EditorWindow], windows.windows())
                edits = [len(one.state.buffer.past) for one in files if one.state.buffer]
                return [*edits, item.hidden is not None]

            for expected in ([2, 1, True], [2, 1, False], [1, 1, False], [1, 0, False]):
                assert isinstance(pilot.app, ContextUIApp)
                pilot.app.main.run_command("/undo")
                await until(pilot, partial(lambda one: state() == one, expected))
            await command(pilot, "/undo", "editor_1: Undone in line")
            await command(pilot, "/undo", "Nothing to undo.")

    asyncio.run(go())
