"""Files that may hold secrets: their content reaches the model only when a person allows it."""

import asyncio
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from contextui import (
    Body,
    ContextManager,
    InteractionController,
    Lod,
    ScriptedModel,
    Window,
    WindowManager,
    Workspace,
    action,
    call,
)
from contextui.context.compaction.plan import mentioned_files
from contextui.context.item import ContextItem, ItemType
from contextui.windowing.action import ActionResult
from contextui.windowing.runtime import runtime_of
from contextui.windows.editor.window import EditorWindow
from contextui.windows.files import FilesWindow
from tests.agent import desk as base
from tests.agent.talking import run

SECRET = "hunter2-is-the-password"
PATHS = [".env", "link.txt", "SERVER.PEM", "deep/../.env", ".git/config", "config", "id_rsa"]


class Reader(Window):
    """Shows a file, and was written without secrets in mind."""

    class State(Window.State):
        text: str = ""

    state: State

    def opened(self, path: str = "") -> None:
        if path:
            self.show(path)

    def content(self, lod: Lod) -> Body:
        return self.state.text

    @action("Show a file")
    def show(self, path: str) -> str:
        self.state.text = self.env.workspace.open_text(path).file.text
        return self.state.text

    @action("Show a file in a window of its own")
    def show_there(self, path: str) -> str:
        return f"It is in {self.env.open('reader', path=path).id}."

    @action("Read a file, if that can be done", effect="read")
    def peek(self, path: str) -> str:
        try:
            return self.env.workspace.open_text(path).file.text
        except Exception as error:
            raise RuntimeError(f"could not peek: {error}") from error


class Desk(base.Desk):
    classes = (EditorWindow, FilesWindow, Reader)

    def seen(self) -> str:
        """All that the model sees of the windows, open and closed."""
        self.windows.settle_now()
        return "".join(
            window.to_xml(lod) for window in self.windows.windows() for lod in Lod
        ) + "".join(runtime_of(window).renders.latest().xml for window in self.windows.windows())


Make = Callable[..., Desk]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "deep").mkdir()
    (tmp_path / ".git").mkdir()
    for path in (".env", "SERVER.PEM", ".git/config", "id_rsa"):
        (tmp_path / path).write_text(f"KEY={SECRET}\n")
    (tmp_path / "link.txt").symlink_to(".env")
    (tmp_path / "config").symlink_to(".git/config")
    (tmp_path / "a.txt").write_text("KEY=public\n")
    return tmp_path


@pytest.fixture
def desk(folder: Path) -> Iterator[Make]:
    yield from base.desks(Desk, folder)


WAYS: dict[str, Callable[[Desk, str], ActionResult]] = {
    "read_file": lambda desk, path: desk.call("read_file", path=path),
    "create editor": lambda desk, path: desk.call("create", name="editor", args={"path": path}),
    "create reader": lambda desk, path: desk.call("create", name="reader", args={"path": path}),
    "editor.open": lambda desk, path: desk.act("editor_1.open", path=path),
    "files.open": lambda desk, path: desk.act("files_1.open", path=path),
    "reader.show": lambda desk, path: desk.act("reader_1.show", path=path),
    "reader.show_there": lambda desk, path: desk.act("reader_1.show_there", path=path),
    "reader.peek": lambda desk, path: desk.act("reader_1.peek", path=path),
}


def open_all(desk: Desk) -> Desk:
    for name, args in (("editor", {"path": "a.txt"}), ("files", {}), ("reader", {})):
        desk.windows.open(name, **args)
    return desk


@pytest.mark.parametrize("way", WAYS)
def test_no_way_gives_it_to_the_model_without_a_person(desk: Make, way: str) -> None:
    one = open_all(desk())
    one.gate.ask = None
    before = one.seen()
    for path in PATHS:
        result = WAYS[way](one, path)
        assert not result.ok, path
        assert SECRET not in result.text, path
        assert "which may hold secrets" in result.text, path
        assert "--approval auto" in result.text, path
        assert one.seen() == before, path


@pytest.mark.parametrize("way", WAYS)
def test_a_person_is_asked_and_their_no_counts(desk: Make, way: str) -> None:
    one = open_all(desk("no"))
    result = WAYS[way](one, "link.txt")
    assert not result.ok
    assert SECRET not in result.text + one.seen()
    question = one.questions[0]
    assert (question.verb, question.target, question.grant) == ("read", "link.txt", None)


@pytest.mark.parametrize("way", WAYS)
def test_a_yes_gives_it_this_time(desk: Make, way: str) -> None:
    one = open_all(desk("once", "no"))
    result = WAYS[way](one, ".env")
    assert result.ok
    assert SECRET in result.text + one.seen()
    assert len(one.questions) == 1
    assert SECRET not in one.call("read_file", path=".env").text
    assert len(one.questions) == 2


def test_what_was_read_once_is_not_given_from_a_cache(folder: Path, desk: Make) -> None:
    os.utime(folder / ".env", (1, 1))
    one = desk("once", "no", mode="ask")
    assert SECRET in one.call("read_file", path=".env").text
    assert SECRET not in one.call("read_file", path="link.txt").text
    one.gate.ask = None
    assert SECRET not in one.call("read_file", path=".env").text
    one.gate.mode = "auto"
    assert SECRET in one.call("read_file", path=".env").text
    one.gate.mode = "ask"
    assert SECRET not in one.call("read_file", path=".env").text


def test_a_grant_covers_the_file_and_the_way(folder: Path, desk: Make) -> None:
    (folder / "other.pem").write_text(SECRET)
    one = desk("always", "no", "no")
    assert SECRET in one.call("read_file", path="SERVER.PEM").text
    assert SECRET in one.call("read_file", path="./SERVER.PEM").text
    assert len(one.questions) == 1
    assert not one.call("read_file", path="other.pem").ok
    assert not one.call("create", name="editor", args={"path": "SERVER.PEM"}).ok


def test_auto_mode_does_not_ask(desk: Make) -> None:
    for way in WAYS.values():
        one = open_all(desk(mode="auto"))
        assert SECRET in way(one, ".env").text + one.seen()


def test_the_gate_itself_asks_in_every_mode_but_auto(desk: Make) -> None:
    one = desk("once", "once")
    for mode in ("ask", "read-only", "auto"):
        one.gate.mode = mode
        asyncio.run(one.gate.allow_read(None, ".env", "read_file", {}, "en"))
    assert [question.changed for question in one.questions] == [False, False]


@pytest.mark.parametrize("name", ["editor", "reader"])
def test_what_a_person_opens_is_withheld(desk: Make, name: str) -> None:
    one = desk()
    for path in PATHS:
        window = one.windows.open(name, path=path)
        assert SECRET in window.snapshot().content, path
        assert SECRET not in one.seen(), path
        assert "Content withheld" in one.seen(), path
        one.windows.close(window.id)
        assert SECRET not in (one.windows.last_render(window.id) or ""), path


def test_a_stale_render_is_withheld_too(desk: Make) -> None:
    one = desk()
    window = one.windows.open("reader", path=".env")
    runtime_of(window).core.version = window.version.after_data()  # nothing is drawn of it yet
    assert SECRET not in runtime_of(window).renders.latest().xml
    assert "stale" in runtime_of(window).renders.latest().xml


def test_acting_on_it_asks_first(desk: Make) -> None:
    one = desk("no", "once").opening("editor", path=".env")
    refused = one.act("editor_1.find", text="KEY")
    assert SECRET not in refused.text + one.seen()
    assert (one.questions[0].verb, one.questions[0].target) == ("read", ".env")
    assert SECRET in one.act("editor_1.find", text="KEY").text
    assert SECRET in one.seen()
    assert one.act("editor_1.goto", line=1).ok  # while it shows the file
    assert len(one.questions) == 2


def test_reading_and_writing_are_asked_about_once_each(folder: Path, desk: Make) -> None:
    one = desk("once", "once").opening("editor", path=".env")
    assert one.by_person("editor_1.splice", start=0, end=0, text="A=1\n").ok
    assert one.act("editor_1.save").ok
    assert [question.verb for question in one.questions] == ["read", "write"]
    assert (folder / ".env").read_text() == f"A=1\nKEY={SECRET}\n"


def test_what_was_allowed_ends_with_the_file(desk: Make) -> None:
    one = desk("once", "no").opening("editor", path="a.txt")
    assert one.act("editor_1.open", path=".env").ok
    assert SECRET in one.seen()
    assert one.act("editor_1.open", path="a.txt").ok
    assert "public" in one.seen()
    assert not one.act("editor_1.open", path=".env").ok
    assert SECRET not in one.seen()


def test_a_person_who_moves_on_is_not_withheld(desk: Make) -> None:
    one = desk().opening("editor", path=".env")
    assert one.by_person("editor_1.open", path="a.txt").ok
    assert "public" in one.seen()
    assert one.by_person("editor_1.open", path=".env").ok
    assert "public" not in one.seen()
    assert SECRET not in one.seen()


def test_unsaved_edits_of_it_are_withheld(desk: Make) -> None:
    one = desk("no").opening("editor", path=".env")
    assert one.by_person("editor_1.splice", start=0, end=0, text="TOKEN=xyzzy\n").ok
    assert "xyzzy" not in one.seen()
    assert "xyzzy" not in one.act("editor_1.diff").text


def test_a_search_of_the_model_passes_over_it(folder: Path, desk: Make) -> None:
    one = desk().opening("files")
    result = one.act("files_1.find_text", text="KEY=")
    assert result.ok
    assert "a.txt" in one.seen()
    assert SECRET not in result.text + one.seen()
    assert one.questions == []


def test_a_search_of_the_person_is_withheld_while_it_shows_it(desk: Make) -> None:
    one = desk()
    window = one.windows.open("files")
    assert one.by_person("files_1.find_text", text="KEY=").ok
    assert SECRET in window.snapshot().content
    assert SECRET not in one.seen()
    assert one.by_person("files_1.refresh").ok
    assert "a.txt" in one.seen()


def test_changing_the_mode_changes_what_is_shown(desk: Make) -> None:
    one = desk().opening("editor", path=".env")
    assert SECRET not in one.seen()
    one.gate.mode = "auto"
    assert SECRET in one.seen()
    one.gate.mode = "ask"
    assert SECRET not in one.seen()


def test_a_restored_window_is_withheld(desk: Make) -> None:
    first, second = desk(), desk()
    kept = runtime_of(first.windows.open("editor", path=".env")).core.saved
    assert kept.state is not None
    second.windows.restore(EditorWindow, "editor_1", kept.state)
    assert SECRET not in second.seen()
    assert "Content withheld" in second.seen()


def test_a_new_file_of_such_a_name_is_what_the_model_writes(desk: Make) -> None:
    one = desk()
    assert one.call("create", name="editor", args={"path": ".env.new", "new": True}).ok
    assert one.act("editor_1.insert", before_line=1, text="A=1").ok
    assert "A=1" in one.seen()


def test_a_file_that_a_summary_is_about_is_left_out(folder: Path, desk: Make) -> None:
    one = desk()
    item = ContextItem(ItemType.USER, "See server.pem, SERVER.PEM, link.txt and a.txt.")
    found = {file.path: file.text for file in mentioned_files([item], one.windows)}
    assert list(found) == ["a.txt"]


@pytest.mark.parametrize("protocol", ["native", "text"])
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_nothing_of_it_is_in_any_request(folder: Path, protocol: Any, lang: Any) -> None:
    """A whole turn, in both protocols: named with @, read, opened, searched, and in a window."""
    windows = WindowManager(
        [EditorWindow, FilesWindow, Reader], lang=lang, workspace=Workspace(folder)
    )
    windows.open("editor", path=".env")
    windows.open("files")
    calls: list[tuple[str, dict[str, Any]]] = [
        ("read_file", {"path": ".env"}),
        ("create", {"name": "editor", "args": {"path": "id_rsa"}}),
        ("action", {"window_id": "editor_1", "action_id": "find", "params": {"text": "K"}}),
        ("action", {"window_id": "files_1", "action_id": "find_text", "params": {"text": "KEY"}}),
        ("action", {"window_id": "files_1", "action_id": "open", "params": {"path": "config"}}),
    ]
    if protocol == "native":
        answers: list[Any] = [call(name, **given) for name, given in calls]
    else:
        answers = [
            f"<tool_call>{json.dumps({'name': name, 'arguments': given})}</tool_call>"
            for name, given in calls
        ]
    model = ScriptedModel(*answers, "Done.")
    talk = InteractionController(
        model=model, context=ContextManager(windows), tool_protocol=protocol
    )
    run(talk, "What is in @.env and @link.txt and @a.txt?")
    sent = repr([request.messages for request in model.requests])
    assert len(model.requests) == len(calls) + 1
    assert SECRET not in sent
    assert "a.txt" in sent
    windows.shut_down()
