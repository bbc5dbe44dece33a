"""One file has one editor, whichever way it is opened."""

import asyncio
import subprocess
import threading
from pathlib import Path

import pytest

from contextui import WindowManager, Workspace, call
from contextui.agent.approval import ApprovalGate
from contextui.agent.tools import ToolBox, ToolCall
from contextui.events import WindowOpenedAgain
from contextui.tui.desktop.rowlist import RowList
from contextui.tui.desktop.shared import FileRequested
from contextui.windowing.runtime import runtime_of
from contextui.windows.editor.widget import EditorBody
from contextui.windows.editor.window import EditorWindow
from contextui.windows.files import FilesWindow
from contextui.windows.git.window import GitWindow
from tests.tui.desktop.samples import focused_window
from tests.tui.running import desk_in, running, say, shown, until
from tests.windowing.samples import Heard

LINES = "".join(f"line {number}\n" for number in range(1, 301))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "sub").mkdir()
    (tmp_path / "a.py").write_text(LINES)
    (tmp_path / "b.py").write_text("two\n")
    (tmp_path / "link.py").symlink_to("a.py")
    return tmp_path


@pytest.fixture
def windows(folder: Path) -> WindowManager:
    return WindowManager([EditorWindow, FilesWindow], workspace=Workspace(folder))


def ids(windows: WindowManager) -> list[str]:
    return [one.id for one in windows.windows()]


def result(tools: ToolBox, name: str, /, **given: object) -> str:
    return asyncio.run(tools.run(ToolCall("1", name, given))).text


@pytest.mark.parametrize("path", ["sub/../a.py", "link.py"])
def test_create_returns_the_editor_that_has_the_file(windows: WindowManager, path: str) -> None:
    heard = Heard(windows)
    editor, _ = windows.open("editor", path="a.py"), windows.open("editor", path="b.py")
    tools = ToolBox(windows)
    text = result(tools, "create", name="editor", args={"path": path, "line": 200})
    assert text == "a.py is open in editor_1."
    assert ids(windows) == ["editor_1", "editor_2"]
    assert editor.state.line == 200  # type: ignore[attr-defined]
    assert "200 line 200" in editor.to_xml()
    assert windows.focused_at("editor_1") > windows.focused_at("editor_2")
    assert heard.of(WindowOpenedAgain) == [WindowOpenedAgain("editor_1")]
    result(tools, "create", name="editor", args={"path": path})
    assert editor.state.line == 200  # type: ignore[attr-defined]


def test_a_new_file_that_is_not_saved_is_open_too(windows: WindowManager) -> None:
    windows.open("editor", path="new.txt", new=True)
    assert windows.open("editor", path="sub/../new.txt", new=True).id == "editor_1"


def test_other_windows_open_it_there(windows: WindowManager) -> None:
    windows.open("editor", path="a.py")
    tools = ToolBox(windows)
    windows.open("files")
    given = {"window_id": "files_1", "action_id": "open", "params": {"path": "link.py"}}
    assert result(tools, "action", **given) == "a.py is open in editor_1."
    windows.open("editor", path="b.py")
    given = {"window_id": "editor_2", "action_id": "open", "params": {"path": "a.py", "line": 9}}
    assert result(tools, "action", **given) == "a.py is open in editor_1."
    assert windows.get("editor_2").state.path == "b.py"  # type: ignore[union-attr]
    assert windows.get("editor_1").state.line == 9  # type: ignore[union-attr]


def test_one_that_was_closed_is_opened(windows: WindowManager) -> None:
    windows.open("editor", path="a.py")
    windows.close("editor_1")
    text = result(ToolBox(windows), "create", name="editor", args={"path": "a.py"})
    assert text == "Opened a.py in editor_2."


def test_a_secret_file_that_the_person_opened_still_asks(
    windows: WindowManager, folder: Path
) -> None:
    (folder / ".env").write_text("KEY=hunter2\n")
    editor = windows.open("editor", path=".env")
    refused = result(ToolBox(windows), "create", name="editor", args={"path": ".env"})
    assert "editor_1" not in refused
    assert "hunter2" not in runtime_of(editor).renders.latest().xml
    tools = ToolBox(windows, ApprovalGate("auto"))
    assert "editor_1" in result(tools, "create", name="editor", args={"path": ".env"})
    assert ids(windows) == ["editor_1"]


async def test_on_the_screen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    free, begun, open_it = threading.Event(), list[str](), EditorWindow._open

    def open_slowly(self: EditorWindow, path: str, line: int, new: bool) -> None:
        begun.append(path)
        free.wait(30)
        open_it(self, path, line, new)

    opening = [call("create", name="editor", args={"path": "a.py"})]
    desk = desk_in(tmp_path, opening, "It is open.", windows=[EditorWindow])
    for name in ("a.py", "b.py", "c.py"):
        (tmp_path / "work" / name).write_text(LINES)
    windows = desk.session.windows
    windows.open("editor", path="a.py")
    windows.open("editor", path="b.py")
    async with running(desk, size=(80, 24)) as pilot:
        app = pilot.app
        main = app.main  # type: ignore[attr-defined]
        main.run_command("/open editor ./a.py line=150")
        await until(pilot, lambda: shown(pilot, "a.py is open in editor_1. ctrl+g 1"))
        assert ids(windows) == ["editor_1", "editor_2"]
        await pilot.press("ctrl+g", "2")
        await until(pilot, lambda: focused_window(pilot) == "editor_2")
        # It had only a line, and gets a frame now, with its keys.
        await until(pilot, lambda: shown(pilot, "  enter edit  a actions"))
        frame = app.screen.focused
        assert frame is not None
        frame.post_message(FileRequested("a.py", 42))
        await until(pilot, lambda: focused_window(pilot) == "editor_1")
        await until(pilot, lambda: windows.get("editor_1").state.line == 42)  # type: ignore[union-attr]
        await say(pilot, "open a.py")
        assert ids(windows) == ["editor_1", "editor_2"]
        # A file that is asked for twice, before it is open, is opened once.
        monkeypatch.setattr(EditorWindow, "_open", open_slowly)
        main.desktop.post_message(FileRequested("c.py", 7))
        await until(pilot, lambda: begun)
        main.desktop.post_message(FileRequested("c.py", 42))
        await pilot.pause()
        free.set()
        await until(pilot, lambda: focused_window(pilot) == "editor_3")
        await until(pilot, lambda: windows.get("editor_3").state.line == 42)  # type: ignore[union-attr]
        assert ids(windows) == ["editor_1", "editor_2", "editor_3"]


async def test_enter_in_a_list_puts_the_cursor_into_the_text(tmp_path: Path) -> None:
    desk = desk_in(tmp_path, windows=[GitWindow, EditorWindow])
    work = tmp_path / "work"
    (work / "a.py").write_text(LINES)
    subprocess.run(["git", "init", "-q"], cwd=work, check=True)
    windows = desk.session.windows
    windows.open("git")
    async with running(desk, size=(80, 24)) as pilot:
        await pilot.press("ctrl+g", "1", "enter")
        await until(pilot, lambda: isinstance(pilot.app.focused, RowList))
        await until(pilot, lambda: shown(pilot, "a.py"))
        await pilot.press("enter", *"x 1 ", "backspace")  # typed on without a look
        await until(pilot, lambda: isinstance(pilot.app.focused, EditorBody))
        await until(pilot, lambda: shown(pilot, " 1  x 1line 1 "))
        await until(
            pilot,
            lambda: shown(pilot, "^s save  ^f find  ^l line  tab indent  alt+z wrap  esc back"),
        )
        assert ids(windows) == ["git_1", "editor_1"]
        await pilot.press("escape")
        await until(pilot, lambda: shown(pilot, "  enter edit  a actions"))
        await pilot.press("enter", "y")
        await until(pilot, lambda: shown(pilot, " 1  x 1yline 1 "))
