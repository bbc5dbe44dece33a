"""Logs of other programs: a file that they read is shown as its gist in later turns (S4.2)."""

import json
from pathlib import Path
from typing import Any

import pytest

from contextui import ContextItem, ItemType, SessionOptions, SessionStore
from contextui.session.session import Session
from contextui.session.store import SessionView
from tests.context.conversation import wire

TEXT = "".join(f"def function_{number}(): ...\n" for number in range(100))
GIST = "[file read] src/app.py (python, 100 lines, functions: function_0, "


@pytest.fixture
def store(tmp_path: Path) -> SessionStore:
    return SessionStore(tmp_path / "home", SessionOptions(checkpoint_every=1))


def entry(number: int, kind: str, **fields: Any) -> str:
    head = {"uuid": f"m{number}", "sessionId": "abc", "timestamp": "2026-02-07T10:00:00Z"}
    return json.dumps({**head, "type": kind, **fields}) + "\n"


def words(number: int, role: str, text: str) -> str:
    return entry(number, role, message={"role": role, "content": text})


def log(store: SessionStore, tool: dict[str, Any], *, output: Any = TEXT, **result: Any) -> Path:
    """A log in which a file is read in the first of two turns."""
    path = store.home / "projects" / "-p" / "abc.jsonl"
    path.parent.mkdir(parents=True)
    given = {"id": tool["id"], "output": output, **result}
    path.write_text(
        words(1, "user", "Read it.")
        + entry(2, "tool_use", tool=tool)
        + entry(3, "tool_result", toolResult=given)
        + words(4, "assistant", "Read.")
        + words(5, "user", "And now?")
    )
    return path


def result_in(session: Session | SessionView) -> ContextItem:
    (item,) = (item for item in session.context.get_all() if item.type is ItemType.TOOL)
    return item


def sent(session: Session | SessionView) -> str:
    return wire(session.context.compose().messages).decode()


@pytest.mark.parametrize(
    "tool",
    [
        {"id": "t1", "name": "read_file", "input": {"path": "src/app.py"}},
        {"id": "t1", "name": "file_reader", "input": {"file_path": "src/app.py"}},
        {"id": "call_read_file_7", "name": "reader", "input": {"path": "src/app.py"}},
    ],
    ids=["read_file", "file_reader", "by its id"],
)
@pytest.mark.usefixtures("in_place")
def test_a_read_is_shown_as_its_gist(store: SessionStore, tool: dict[str, Any]) -> None:
    path = log(store, tool)
    before = path.read_bytes()
    view = store.view("abc", whole=True)
    assert GIST in sent(view)
    assert "def function_99" not in sent(view)
    assert result_in(view).content == TEXT
    assert path.read_bytes() == before


@pytest.mark.usefixtures("in_place")
def test_the_gist_stays_when_the_session_is_resumed(store: SessionStore) -> None:
    log(store, {"id": "t1", "name": "read_file", "input": {"path": "src/app.py"}})
    with store.open("abc") as session:
        session.context.add(ContextItem(ItemType.ASSISTANT, "Now this."))
        session.context.end_turn()  # a checkpoint follows
        before = sent(session)
    with store.open("abc") as again:
        assert sent(again) == before
        assert GIST in before
        assert result_in(again).content == TEXT


@pytest.mark.usefixtures("in_place")
def test_gists_are_in_the_language_of_the_session(tmp_path: Path) -> None:
    store = SessionStore(tmp_path / "home", SessionOptions(lang="zh"))
    log(store, {"id": "t1", "name": "read_file", "input": {"path": "src/app.py"}})
    assert "[文件已读取] src/app.py (python, 100行, 函数: " in sent(store.view("abc", whole=True))


@pytest.mark.parametrize(
    ("tool", "result"),
    [
        ({"id": "t1", "name": "search", "input": {"path": "src/app.py"}}, {}),
        ({"id": "t1", "name": "read_file", "input": {}}, {}),
        ({"id": "t1", "name": "read_file", "input": "src/app.py"}, {}),
        ({"id": "t1", "name": "read_file", "input": {"path": ["x"]}}, {}),
        ({"id": "t1", "name": "read_file", "input": {"path": "a.py"}}, {"error": "not there"}),
        ({"id": "t1", "name": "read_file", "input": {"path": "a.py"}}, {"output": [1, 2]}),
    ],
    ids=["another tool", "no path", "no object", "odd path", "failed", "no text"],
)
def test_other_results_are_unchanged(
    store: SessionStore, tool: dict[str, Any], result: dict[str, Any]
) -> None:
    log(store, tool, **result)
    assert result_in(store.view("abc", whole=True)).gist is None


def test_a_gist_in_the_log_is_kept(store: SessionStore) -> None:
    path = log(store, {"id": "t1", "name": "read_file", "input": {"path": "src/app.py"}})
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    lines[2]["data"] = {"gist": "their own words"}
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert result_in(store.view("abc", whole=True)).gist == "their own words"
