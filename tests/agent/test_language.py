"""With Chinese as the language, all texts of the loop are in Chinese."""

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from contextui.agent.approval import ApprovalGate, Decision
from contextui.agent.models.scripted import ScriptedModel, call
from contextui.agent.tools import ToolBox, ToolCall, calls_of
from contextui.context.manager import ContextManager
from contextui.files.workspace import Workspace
from contextui.model import Answer, ModelError
from contextui.windowing.manager import WindowManager
from tests.agent.talking import controller, end, options, run
from tests.agent.test_tools import Printer
from tests.windowing.samples import Text, Todo

CHINESE = re.compile(r"[\u4e00-\u9fff]")


@pytest.fixture
def windows(tmp_path: Path) -> Iterator[WindowManager]:
    (tmp_path / "a.txt").write_text("one\n")
    (tmp_path / "empty").write_text("")
    (tmp_path / "binary").write_bytes(bytes(range(256)))
    (tmp_path / "long").write_text("x\n" * 3_000)
    manager = WindowManager((Todo, Text), lang="zh", workspace=Workspace(tmp_path))
    manager.open("todo")
    yield manager
    manager.shut_down()


NAMES = {
    *("create", "action", "todo", "text", "args", "name", "open", "items", "params", "object"),
    *("empty", "txt", "close", "string", "integer", "NUL", "Windows", *Todo.actions),
}
ACT = {"window_id": "todo_1", "action_id": "add"}
CALLS: list[tuple[str, Any]] = [
    ("burn", {}),
    ("create", {"name": "todo"}),
    ("create", {"name": "nothing"}),
    ("create", {}),
    ("create", {"name": 5, "more": 1}),
    ("create", [1]),
    ("create", {"name": "todo", "args": {"items": 5, "odd": 1}}),
    ("action", {**ACT, "window_id": "todo_9", "params": {"text": "x"}}),
    ("action", {**ACT, "action_id": "burn"}),
    ("action", {**ACT, "params": {}}),
    ("action", {**ACT, "params": {"text": 5}}),
    ("action", {"window_id": "todo_1", "action_id": "close"}),
    ("read_file", {"path": "empty"}),
    ("read_file", {"path": "long"}),
    ("read_file", {"path": "a.txt", "start": 9}),
    ("read_file", {"path": "nothing"}),
    ("read_file", {"path": "../nothing"}),
    ("read_file", {"path": "."}),
    ("read_file", {"path": "a.txt/b"}),
    ("read_file", {"path": "binary"}),
    ("read_file", {"path": "a\\b"}),
]


def test_results_are_in_chinese(windows: WindowManager) -> None:
    for name, value in CALLS:
        result = asyncio.run(ToolBox(windows).run(ToolCall("1", name, value)))
        assert CHINESE.search(result.text), result.text
        spoken = re.sub(r'"[^"]*"|\([^)]*\)|[\w.]*_\w+|\w+:\w[\w\[\]]*\??', "", result.text)
        words = set(re.findall(r"[A-Za-z]{3,}", spoken))
        assert words <= NAMES, words


def test_refusals_are_in_chinese(windows: WindowManager) -> None:
    for choice in ("no", "nobody", "read-only"):

        async def ask(_: object) -> Decision:
            return Decision("no", "不要")

        gate = ApprovalGate(
            "read-only" if choice == "read-only" else "ask", ask if choice == "no" else None
        )
        window = windows.open(Printer)
        act = {"window_id": window.id, "action_id": "print_page", "params": {"text": "a"}}
        result = asyncio.run(ToolBox(windows, gate).run(ToolCall("1", "action", act)))
        assert result.text.startswith(f"{window.id}.print_page 没有执行："), choice
        assert ("他们说：不要" in result.text) == (choice == "no"), choice


def test_the_text_protocol_is_in_chinese() -> None:
    calls = calls_of("text", "zh")
    words = {"type": "text", "text": "<tool_call>{</tool_call> <tool_call>{"}
    _, found = calls.read(Answer((words,)), ())
    assert [bool(CHINESE.search(one.problem)) for one in found] == [True, True]
    assert calls.result(found[0], "x", ok=False).content == "[tool_call 失败] x"


def test_failures_are_in_chinese() -> None:
    broken = [ModelError("overloaded", "满了。")] * 5
    talk = controller(
        model=ScriptedModel(*broken), context=ContextManager(WindowManager(lang="zh"))
    )
    assert end(run(talk, "你好")).explanation == "满了。已尝试 5 次。"
    small = controller(
        "x", context=ContextManager(WindowManager(lang="zh")), options=options(budget=10)
    )
    assert end(run(small, "你好")).explanation.startswith("上下文需要约 ")


def test_a_paused_turn_is_in_chinese() -> None:
    context = ContextManager(WindowManager((Todo,), lang="zh"))
    talk = controller(call("create", name="todo"), context=context, options=options(max_steps=1))
    assert end(run(talk, "打开")).explanation.startswith("本轮在 1 步后暂停")
    assert [item.content for item in context.get_all()][-2:] == ["todo_1 已打开。", "（到此停止）"]
