"""What the built-in windows say to someone who reads Chinese: no English but names."""

import re
from pathlib import Path
from typing import Any

import pytest

from contextui import Lod, Window
from contextui.testing import WindowTester
from contextui.windows.code import CodeWindow
from contextui.windows.editor.window import EditorWindow
from contextui.windows.files import FilesWindow
from contextui.windows.git.window import GitWindow
from contextui.windows.notebook import NotebookWindow
from contextui.windows.todo.window import TodoWindow
from tests.windows.test_monitor import Machine

NAMES = {
    "CPU", "app", "contextui", "cpu", "discard", "disk", "git", "gist", "hi", "idle", "json",
    "keep", "load", "memory", "network", "new", "nope", "notebook", "open", "python", "revision",
    "summary", "text", "todo", "true", "txt",
    "GB", "KB", "dev", "file", "filter", "init", "master", "mode", "null", "processes", "project",
    "sampling",
}  # fmt: skip
"""Words that are the same in any language: of files, of formats, of actions and their params."""

TALKS: list[tuple[type[Window], dict[str, Any], list[tuple[str, dict[str, Any]]]]] = [
    (
        TodoWindow,
        {"items": ["牛奶", "鸡蛋"]},
        [
            ("add", {"text": "面包"}), ("add", {"text": []}), ("add", {"text": " "}),
            ("add", {"text": "长" * 600}), ("find", {"text": "牛"}), ("find", {"text": "没有"}),
            ("done", {"item": 1}), ("undone", {"item": "牛奶"}), ("done", {"item": 99}),
            ("edit", {"item": 1, "text": "豆浆"}), ("move", {"item": 1, "place": 2}),
            ("move", {"item": 1, "place": 9}), ("delete", {"item": 1}), ("clear_done", {}),
            ("close", {}),
        ],
    ),
    (
        EditorWindow,
        {"path": "a.txt"},
        [
            ("save", {}), ("diff", {}), ("find", {"text": "一"}), ("find", {"text": "九"}),
            ("replace", {"old": "一", "new": "壹"}), ("undo", {}), ("redo", {}),
            ("insert", {"before_line": 1, "text": "零"}),
            ("replace_lines", {"first": 1, "last": 1, "text": "〇"}),
            ("delete_lines", {"first": 1, "last": 1}), ("goto", {"line": 2}),
            ("goto", {"line": 99}), ("scroll", {}),
            ("splice", {"start": 0, "end": 0, "text": "x", "revision": 77}), ("reload", {}),
            ("open", {"path": "b.txt"}), ("save", {}), ("reload", {}),
            ("open", {"path": "a.txt", "new": True}), ("open", {"path": "b.txt"}),
            ("open", {"path": "nope.txt"}),
        ],
    ),
    (
        FilesWindow,
        {},
        [
            ("expand", {"path": "夹"}), ("collapse", {"path": "夹"}), ("collapse", {"path": "夹"}),
            ("enter", {"path": "夹"}), ("enter", {"path": "a.txt"}), ("up", {}), ("up", {}),
            ("page", {"number": 1}), ("page", {"number": 9}), ("find_name", {"text": "a"}),
            ("find_text", {"text": " "}), ("refresh", {}), ("open", {"path": "nope"}),
        ],
    ),
    (
        Machine,
        {},
        [
            ("every", {"seconds": 2}), ("every", {"seconds": 0}), ("show", {"metrics": []}),
            ("show", {"metrics": ["load"]}), ("processes", {"count": 1, "by": "memory"}),
            ("processes", {"count": 0}), ("processes", {"count": 999}),
            ("arguments", {"show": True}), ("pause", {}), ("every", {"seconds": 5}), ("resume", {}),
        ],
    ),
    (
        NotebookWindow,
        {},
        [
            ("write", {"text": "会议", "tags": ["事"]}), ("edit", {"entry": 1}),
            ("edit", {"entry": 1, "text": "开会"}), ("expand", {"entry": 1}),
            ("collapse", {"entry": 1}), ("expand_all", {}), ("collapse_all", {}),
            ("filter", {"tag": "事"}), ("filter", {"tag": "无此标签"}), ("search", {"text": "会"}),
            ("search", {"text": " "}), ("keep", {}), ("keep", {"on": False}),
            ("delete", {"entry": 1}),
        ],
    ),
    (
        CodeWindow,
        {},
        [
            ("hide", {}), ("save", {"code_id": "hi", "language": "python", "content": "1"}),
            ("show", {"code_id": "hi"}), ("page", {"number": 5}), ("page", {"number": 1}),
            ("hide", {}), ("delete", {"code_id": "hi"}),
        ],
    ),
    (
        GitWindow,
        {},
        [
            ("show", {"path": "a.txt"}), ("init", {}), ("init", {}), ("unstage", {}),
            ("show", {"path": "a.txt"}), ("show", {"path": "nope.txt"}),
            ("show", {"path": "a.txt", "line": 99}), ("stage", {"paths": "a.txt"}),
            ("unstage", {"paths": "a.txt"}), ("log", {}), ("log", {"count": -1}),
            ("page", {"number": 5}), ("page", {"number": 1}), ("commit", {"message": " "}),
            ("commit", {"message": "空"}), ("discard", {"path": "b.txt"}),
        ],
    ),
]  # fmt: skip


@pytest.mark.parametrize(("cls", "args", "calls"), TALKS, ids=[talk[0].name for talk in TALKS])
def test_results_refusals_and_content_are_in_chinese(
    tmp_path: Path, cls: type[Window], args: dict[str, Any], calls: list[tuple[str, dict[str, Any]]]
) -> None:
    (tmp_path / "a.txt").write_text("一\n二\n", "utf-8")
    (tmp_path / "b.txt").write_text("三\n", "utf-8")
    (tmp_path / "夹").mkdir()
    with WindowTester(cls, folder=tmp_path, lang="zh", **args) as window:
        for action_id, params in calls:
            reply = window.result(action_id, **params).text
            assert re.search("[一-鿿]", reply), (action_id, params, reply)
            is_open = window.windows.get(window.window.id) is not None
            for text in (reply, *(window.content(lod) for lod in Lod if is_open)):
                plain = re.sub(r"\w+=[\w.]+", "", text)  # attributes have English names
                foreign = set(re.findall(r"[A-Za-z]{2,}", plain)) - NAMES
                assert not foreign, (action_id, params, text)
