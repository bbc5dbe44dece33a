"""/undo and /reopen: closed windows come back as they were, in the order of what happened."""

import threading
from pathlib import Path
from typing import cast

import pytest
from textual.pilot import Pilot

from contextui.tui.conversation.entries import AsideLine
from contextui.windowing.manager import WindowManager
from contextui.windowing.runtime import runtime_of
from contextui.windows.editor.window import EditorWindow
from tests.tui.running import app_of, desk_in, running, say, shown, until


async def command(pilot: "Pilot[int]", text: str, expected: str) -> None:
    before = len(pilot.app.screen.query(AsideLine))
    app_of(pilot).main.run_command(text)

    def answers() -> list[str]:
        return [str(one.content) for one in pilot.app.screen.query(AsideLine)][before:]

    await until(pilot, lambda: any(expected in one for one in answers()))


async def test_undo_reopens_what_was_closed(tmp_path: Path) -> None:
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
        assert "typed" in runtime_of(editor).renders.at().snapshot.content
        assert runtime_of(editor).renders.at().unsaved
        await until(pilot, lambda: shown(pilot, "2 editor"))
        await command(pilot, "/undo", "Nothing to undo.")
        await command(pilot, "/close todo_2", "Closed todo_2. /undo reopens it.")
        await command(pilot, "/reopen todo_9", "todo_2")  # which can be reopened
        await command(pilot, "/reopen todo_2", "Reopened todo_2 as todo_4. ctrl+g 3 goes there.")
        context.pin(item.id)
        await command(pilot, "/close todo_4", "Closed todo_4. /undo reopens it.")
    again = desk_in(tmp_path, session_id=desk.session.id)
    names = [one.id for one in again.session.windows.windows()]
    assert names == ["todo_3", "editor_2"]
    async with running(again) as pilot:
        await command(pilot, "/reopen", "No window was closed since the session was opened.")
        await command(pilot, "/undo", "windows closed before stay closed. /undo again undoes")
        assert again.session.context.get(item.id).pinned
        await command(pilot, "/undo", f"Undone: {item.seq:04}.")
        await command(pilot, "/undo", "Nothing to undo.")


async def undo_leaves_files_alone(pilot: "Pilot[int]", windows: WindowManager, file: Path) -> None:
    """An edit that was saved is undone in the window; the file changes when that is saved."""
    for text in ("zero\n", "minus\n"):
        given = {"before_line": 1, "text": text}
        await windows.act("editor_3", "insert", given, actor="person")
        await windows.act("editor_3", "save", {}, actor="person")
    await windows.act("editor_3", "goto", {"line": 3}, actor="person")
    await command(pilot, "/undo", "editor_3: Undone in line 1; 1 more can be undone. The")
    notes = [str(one.content) for one in pilot.app.screen.query(AsideLine)]
    assert "The file changes when you save. ctrl+g 3 goes there." in notes[-1]
    assert file.read_text() == "minus\nzero\none\n"
    file.write_text("of others\n")
    await command(pilot, "/undo", "editor_3: Undone in line 1; 0 more can be undone.")
    assert not (await windows.act("editor_3", "save", {}, actor="person")).ok
    assert file.read_text() == "of others\n"


async def test_undo_goes_back_in_the_order_of_edits_and_changes_to_the_context(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If a window hangs, nothing else is undone. What can be reopened is shown with its title."""
    desk = desk_in(tmp_path, "Hello.")
    windows, context = desk.session.windows, desk.session.context
    file = tmp_path / "work" / "c.txt"
    file.write_text("one\n")
    for name in ("a.txt", "b.txt"):
        windows.open("editor", path=name, new=True)
    windows.open("editor", path="c.txt")
    async with running(desk) as pilot:
        await say(pilot, "Hi")
        item = next(one for one in context.get_all() if one.content == "Hi")

        async def edit(window_id: str) -> None:
            given = {"before_line": 1, "text": "line\n"}
            await windows.act(window_id, "insert", given, actor="person")

        await undo_leaves_files_alone(pilot, windows, file)
        for number in (1, 2, 1):
            await edit(f"editor_{number}")
        context.drop(item.id)
        await edit("editor_1")

        def state() -> list[object]:
            files = cast(list[EditorWindow], windows.windows()[:2])
            edits = [len(one.state.buffer.past) for one in files if one.state.buffer]
            return [*edits, item.hidden is not None]

        for expected in ([2, 1, True], [2, 1, False], [1, 1, False], [1, 0, False]):
            await command(pilot, "/undo", "Undone")
            assert state() == expected
        await command(pilot, "/undo", "editor_1: Undone in line")
        await command(pilot, "/undo", "Nothing to undo.")

        context.drop(item.id)
        await edit("editor_1")
        free, editor = threading.Event(), windows.get("editor_1")
        assert editor is not None
        with monkeypatch.context() as patch:
            patch.setattr(EditorWindow, "action_seconds", 0.1)
            runtime_of(editor).worker.submit(free.wait)
            try:
                await command(pilot, "/undo", "editor_1 did not answer within 0.1 s.")
                assert item.hidden is not None
            finally:
                free.set()
        await command(pilot, "/undo", "editor_1: Undone in line 1;")
        await command(pilot, "/undo", f"Undone: {item.seq:04}. It was a change to the context")

        def offered(typed: str) -> list[str]:
            found = app_of(pilot).main.writing.commands.completions(typed)
            return [one.choice.about for one in found if one.choice]

        titles = ["a.txt, 0 lines, new", "b.txt, 0 lines, new"]
        await until(pilot, lambda: offered("/close ")[:2] == titles)
        await command(pilot, "/close editor_2", "Closed editor_2.")
        assert offered("/reopen ") == titles[1:]
