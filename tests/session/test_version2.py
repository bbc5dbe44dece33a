"""Sessions that version 2 wrote, with each placement of windows, resume to the same content.

``data/version2.tar.xz`` has ten of them with their project, and what version 2 resumed them to:
windows, edits, drops, undo, compactions, forks, a rewind, saved code, drafts and titles. Two of the
logs end in the middle of a line.
"""

import json
import tarfile
from collections.abc import Collection, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from contextui import ContextItem, ItemType, SessionOptions
from contextui.config.schema import Placement
from contextui.session.rewind import read_record
from contextui.session.session import Session
from contextui.windowing.runtime import runtime_of
from contextui.windowing.window import Window
from contextui.windows.code import CodeWindow
from contextui.windows.editor.window import EditorWindow
from contextui.windows.files import FilesWindow
from contextui.windows.notebook import NotebookWindow
from contextui.windows.todo.window import TodoWindow
from tests.context.conversation import NotesWindow, rough_counter, wire

CLASSES = (CodeWindow, EditorWindow, FilesWindow, NotebookWindow, TodoWindow, NotesWindow)
RECORDED = Path(__file__).parent / "data" / "version2.tar.xz"


@pytest.fixture
def expected(tmp_path: Path) -> dict[str, Any]:
    """What version 2 resumed each session to, by its id."""
    with tarfile.open(RECORDED) as archive:
        archive.extractall(tmp_path, filter="data")
    found: dict[str, Any] = json.loads((tmp_path / "expected.json").read_text("utf-8"))
    assert len(found) == 10
    return found


def resumed(root: Path, session_id: str, placement: Placement) -> Session:
    """Resume a session, with the folder to which its project was extracted: its log has another."""
    (path,) = root.glob(f"home/projects/*/{session_id}.jsonl")
    options = SessionOptions(CLASSES, counter=rough_counter, placement=placement)
    return Session(session_id, str(root / "project"), path, options)


@pytest.mark.parametrize("placement", ["price", "in-place"])
def test_sessions_of_version_2_resume(
    tmp_path: Path, expected: dict[str, Any], placement: Placement
) -> None:
    """A second time, too: then the log has a result for each call that was interrupted."""
    for session_id, facts in expected.items():
        known, undone = {item["id"] for item in facts["items"]}, facts.pop("undone")
        with resumed(tmp_path, session_id, placement) as session:
            assert json.loads(json.dumps(facts_of(session, known))) == facts
            check_request(session)
        with resumed(tmp_path, session_id, placement) as session:
            assert json.loads(json.dumps(facts_of(session, known))) == facts
            assert list(undo_all(session)) == undone


def check_request(session: Session) -> None:
    """The next request has the messages and the windows that the session shows."""
    request = wire(session.context.compose().messages).decode()
    for item in session.context.get_active():
        if item.type is ItemType.WINDOW:
            assert f'id=\\"{item.content}\\"' in request
        elif item.type is not ItemType.TOOL:  # a gist may replace it
            assert json.dumps(item.content, ensure_ascii=False)[1:-1] in request


def facts_of(session: Session, known: Collection[str]) -> dict[str, Any]:
    """What a session was resumed to; items that its log did not have are without an id."""
    context = session.context
    items = sorted([*session.older_items(), *context.get_all()], key=lambda item: item.seq)
    turns = read_record(session.path).turns
    return {
        "turn": session.turn,
        "title": session.title,
        "draft": session.draft,
        "cut": context.cut,
        "items": [{**item_facts(item), "id": item.id * (item.id in known)} for item in items],
        "windows": [window_facts(window, session) for window in session.windows.windows()],
        "turns": [[turn.number, turn.message, turn.files] for turn in turns],
    }


def item_facts(item: ContextItem) -> dict[str, Any]:
    long = 500  # characters: of a longer text, the fixture has the hash
    is_long = len(item.content) > long
    return {
        "seq": item.seq,
        "type": item.type,
        "content": sha256(item.content.encode()).hexdigest() if is_long else item.content,
        "blocks": item.blocks,
        "hidden": item.hidden,
        "pinned": item.pinned,
        "gist": item.gist,
        "whole": item.whole,
        "call": item.tool_call_id,
        "tool": item.tool_name,
        "error": item.is_error,
        "origin": item.origin,
    }


def window_facts(window: Window, session: Session) -> dict[str, Any]:
    saved = runtime_of(window).core.saved
    state: Any = saved.state
    for name in ("mtime_ns", "inode"):  # of a file that is open in the editor
        (state.get("read") or {}).pop(name, None)
    return {
        "id": window.id,
        "version": str(saved.version),
        "lod": window.lod,
        "state": state,
        "focus": runtime_of(window).focus_id,
        "used": session.windows.focused_at(window.id),
        "history": [
            entry.model_dump(mode="json", exclude={"actor"})  # which version 2 did not restore
            for entry in runtime_of(window).history.entries
        ],
        "xml": window.to_xml() if isinstance(window, NotesWindow) else None,
    }


def undo_all(session: Session) -> Iterator[list[str]]:
    while changed := session.context.undo():
        yield [item.id for item in changed]
