"""The files that a summary is made with: which, in which order, how much of each."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from contextui.context.compaction.plan import LINES, MOST, FileText, mentioned_files, paths_in
from contextui.context.item import ContextItem, ItemType
from contextui.files.workspace import Workspace
from contextui.windowing.manager import WindowManager
from contextui.windows.editor.window import EditorWindow


@pytest.fixture
def windows(tmp_path: Path) -> Iterator[WindowManager]:
    folder = tmp_path / "work"
    folder.mkdir()
    with Workspace(folder) as workspace:
        yield WindowManager([EditorWindow], workspace=workspace)


def write(windows: WindowManager, path: str, text: str = "text") -> Path:
    assert windows.workspace is not None
    file = windows.workspace.root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def user_item(words: str) -> ContextItem:
    return ContextItem(ItemType.USER, words)


def called(name: str, number: int = 1, /, **given: Any) -> ContextItem:
    block = {"type": "tool_use", "id": f"call_{number}", "name": name, "input": given}
    return ContextItem(ItemType.ASSISTANT, blocks=[block])


def result(text: str, number: int = 1) -> ContextItem:
    return ContextItem(ItemType.TOOL, text, tool_call_id=f"call_{number}")


def names(found: list[FileText]) -> list[str]:
    return [one.path for one in found]


def test_paths_are_found_in_words() -> None:
    for text, paths in (
        ("Refactor utils.ts, please.", ["utils.ts"]),
        ("帮我重构 utils.ts 文件", ["utils.ts"]),
        ("请看src/utils.ts文件", ["请看src/utils.ts", "src/utils.ts"]),
        (
            'src/a.py:12, (b.py) `c.test.tsx` "d-e.md".',
            ["src/a.py", "b.py", "c.test.tsx", "d-e.md"],
        ),
        ("./x.py ../y.py /abs/z.py", ["./x.py", "../y.py", "/abs/z.py"]),
        ("报告.md", ["报告.md"]),
        ("https://example.org/a.py and joe@example.org/b", []),
        ("version 3.11, 2.0 and .env", []),
        ("", []),
    ):
        assert [
            one for one in paths_in(text) if "@" not in one and one != "example.org"
        ] == paths, text


def test_changed_files_come_first_then_often_then_lately_mentioned(windows: WindowManager) -> None:
    for name in ("often.py", "early.py", "late.py", "saved.py", "gone.py"):
        write(windows, name)
    items = [
        user_item("often.py early.py"),
        called("action", window_id="editor_1", action_id="save", params={}),
        result("Saved saved.py, 3 lines."),
        user_item("often.py late.py missing.py"),
    ]
    assert names(mentioned_files(items, windows)) == ["saved.py", "often.py", "late.py", "early.py"]


def test_a_file_that_is_named_in_several_ways_is_one_file(windows: WindowManager) -> None:
    here = write(windows, "src/a.py")
    write(windows, "b.py")
    items = [
        user_item("b.py b.py"),
        user_item("./src/a.py"),
        user_item(str(here)),
        user_item("src/../src/a.py"),
    ]
    assert names(mentioned_files(items, windows)) == ["src/a.py", "b.py"]


def test_paths_are_found_in_what_tools_were_given(windows: WindowManager) -> None:
    for name in ("Makefile", "other", "nested", "mine"):
        write(windows, name)
    items = [
        called("read_file", 1, path="Makefile"),
        called("Read", 2, file_path="other"),
        called("create", 3, name="editor", args={"path": "nested"}),
        called("Write", 4, file_path="mine"),
        called("action", 5, window_id=7, params=[1]),
    ]
    assert names(mentioned_files(items, windows)) == ["mine", "nested", "other", "Makefile"]


def test_the_file_of_an_open_window_is_meant_by_acting_on_it(windows: WindowManager) -> None:
    write(windows, "a.py")
    write(windows, "b.py")
    window = windows.open("editor", path="a.py")
    items = [user_item("b.py"), called("action", window_id=window.id, action_id="save", params={})]
    assert names(mentioned_files(items, windows)) == ["a.py", "b.py"]


def test_five_files_at_most_with_a_thousand_lines_each(windows: WindowManager) -> None:
    for number in range(MOST + 3):
        write(windows, f"f{number}.txt", "line\n" * (LINES + 5))
    items = [user_item(" ".join(f"f{number}.txt" for number in range(MOST + 3)))]
    found = mentioned_files(items, windows)
    assert len(found) == MOST
    assert {one.text.count("line") for one in found} == {LINES}
    assert all(one.text.endswith("\n…") for one in found)


def test_nothing_outside_of_the_folder_is_read(windows: WindowManager, tmp_path: Path) -> None:
    outside = tmp_path / "secret.txt"
    outside.write_text("nobody may see this")
    assert windows.workspace is not None
    os.symlink(outside, windows.workspace.root / "link.txt")
    os.symlink(tmp_path, windows.workspace.root / "up")
    items = [
        user_item(f"../secret.txt {outside} link.txt up/secret.txt"),
        called("read_file", path="../secret.txt"),
        called("read_file", path="/etc/passwd"),
    ]
    assert mentioned_files(items, windows) == []


def test_what_cannot_be_read_is_left_out(windows: WindowManager) -> None:
    write(windows, "text.txt")
    binary = write(windows, "image.png")
    binary.write_bytes(b"\x89PNG\0\0\0")
    folder = write(windows, "folder.d/x.txt").parent
    os.mkfifo(folder / "pipe.txt")
    items = [
        user_item("image.png folder.d folder.d/pipe.txt a\0b.txt text.txt"),
        called("x", path="\0"),
    ]
    assert names(mentioned_files(items, windows)) == ["text.txt"]


def test_no_password_goes_along(windows: WindowManager) -> None:
    write(windows, "settings.toml", 'password = "hunter2-and-more"\nport = 80\n')
    (found,) = mentioned_files([user_item("settings.toml")], windows)
    assert "hunter2" not in found.text
    assert "port = 80" in found.text


def test_without_a_folder_there_are_no_files() -> None:
    assert mentioned_files([user_item("a.py")], WindowManager([])) == []


def test_many_words_that_look_like_paths_do_no_harm(windows: WindowManager) -> None:
    write(windows, "first.txt")
    words = "first.txt " + " ".join(f"w{number}.x" for number in range(3_000))
    assert names(mentioned_files([user_item(words)], windows)) == ["first.txt"]
