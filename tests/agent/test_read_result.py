"""A result that became a gist can be read again, by the number that the gist names."""

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest

from contextui import ContextItem, ItemType, SessionOptions, SessionStore
from contextui.agent.controller import InteractionController
from contextui.agent.models.scripted import ScriptedModel, call
from contextui.agent.tools import TOOLS, ToolCall
from contextui.context.gists.result import result_gist
from contextui.context.manager import ContextManager
from contextui.session.session import Session
from contextui.windowing.action import action
from contextui.windowing.manager import WindowManager
from contextui.windowing.snapshot import Body, Lod
from contextui.windowing.window import Window
from tests.agent.talking import controller, run

OUTPUT = "\n".join(f"line {number} of the output" for number in range(1, 301))


class Terminal(Window):
    """Runs commands."""

    def content(self, lod: Lod) -> Body:
        return "ready"

    @action("Run a command", effect="read")
    def run(self, command: str) -> str:
        return OUTPUT if command == "long" else command


def run_command(command: str = "long") -> Any:
    params = {"command": command}
    return call("action", window_id="terminal_1", action_id="run", params=params)


def read(path: str, **given: Any) -> Any:
    return call("read_file", path=path, **given)


def results(context: ContextManager) -> list[ContextItem]:
    return [item for item in context.get_all() if item.type is ItemType.TOOL]


def gist_in(context: ContextManager, number: int = 0) -> str:
    item = results(context)[number]
    blocks = context.calls.asker(item).blocks or ()
    asked = next(block for block in blocks if block.get("id") == item.tool_call_id)
    return result_gist(item, call=asked)


def path_in(gist: str) -> str:
    """The path that a gist says to read."""
    found = re.search(r'read_file\(path="(.*)"\)$', gist)
    assert found
    return found[1]


def talk_of(*steps: Any, **given: Any) -> InteractionController:
    windows = WindowManager([Terminal])
    windows.open("terminal")
    return controller(*steps, context=ContextManager(windows), **given)


def do(talk: InteractionController, path: str, **given: Any) -> str:
    asked = ToolCall("1", "read_file", {"path": path, **given})
    return asyncio.run(talk.tools.run(asked)).text


def test_a_gist_leads_back_to_the_result() -> None:
    talk = talk_of(run_command(), "It ran.")
    run(talk, "Run it.")
    gist = gist_in(talk.context)
    assert gist.startswith("[result 4] action terminal_1.run (300 lines, ")
    talk.model = ScriptedModel(read(path_in(gist)), "Read again.")
    run(talk, "Read it again.")
    first, again = results(talk.context)
    assert first.gist is again.gist is None, "placement by turn sends it as before"
    assert again.content.startswith("1 line 1 of the output\n")
    assert again.content.endswith("300 line 300 of the output")
    assert path_in(gist_in(talk.context, 1)) == path_in(gist)


def test_the_declared_tools_are_unchanged() -> None:
    assert "result" not in json.dumps(TOOLS["en"][2].input_schema)


def test_a_long_result_is_read_page_by_page() -> None:
    text = "\n".join(f"{number} {'x' * 90}" for number in range(1, 1_001))
    context = ContextManager(WindowManager())
    seq = context.add(ContextItem(ItemType.TOOL, text, tool_name="run")).seq
    talk = controller("ok", context=context)
    lines, start = list[str](), 1
    for _ in range(10):
        page = do(talk, f"result:{seq}", start=start)
        assert len(page) < 25_000
        *found, last = page.split("\n")
        more = re.fullmatch(r"… more from line (\d+) on", last)
        lines += [one.strip().split(" ", 1)[1] for one in (found if more else [*found, last])]
        if not more:
            break
        start = int(more[1])
    assert "\n".join(lines) == text


def test_all_of_one_long_line_can_be_read() -> None:
    context = ContextManager(WindowManager())
    text = "".join(map(str, range(9_000)))
    context.add(ContextItem(ItemType.TOOL, text, tool_name="run"))
    talk = controller("ok", context=context)
    first, second = do(talk, "result:1"), do(talk, "result:1", start=10)
    pages = [*first.split("\n")[:-1], *second.split("\n")]
    assert first.endswith("… more from line 10 on")
    assert "".join(line.strip().split(" ", 1)[1] for line in pages) == text


def test_only_results_of_the_conversation_are_read() -> None:
    for path, value, expected in (
        ("result:1", {}, "There is no result 1 in this conversation."),  # the person's words
        ("result:99", {}, "There is no result 99 in this conversation."),
        ("result:4", {"start": 400}, "result:4 has no line 400."),
        ("result:4", {"start": -1}, "1 line 1 of the output"),
        ("result:004", {"start": 300}, "300 line 300 of the output"),
        ("result:0", {}, "There is no folder to read files from."),  # a path like any other
        ("result:4/../x", {}, "There is no folder to read files from."),
    ):
        talk = talk_of(run_command(), "It ran.")
        run(talk, "Run it.")
        assert do(talk, path, **value).startswith(expected), path


def test_a_result_that_the_person_dropped_is_not_read() -> None:
    talk = talk_of(run_command(), "It ran.")
    run(talk, "Run it.")
    (item,) = results(talk.context)
    talk.context.drop(talk.context.calls.asker(item).id)
    assert do(talk, f"result:{item.seq}") == "There is no result 4 in this conversation."
    talk.context.restore(item.id)
    assert do(talk, f"result:{item.seq}").startswith("1 line 1")


def test_a_result_that_the_person_edited_is_read_as_edited() -> None:
    talk = talk_of(run_command(), "It ran.")
    run(talk, "Run it.")
    (item,) = results(talk.context)
    talk.context.edit(item.id, "nothing")
    assert do(talk, f"result:{item.seq}") == "1 nothing"


def test_a_file_is_read_by_its_path_so_that_secrets_are_asked_about() -> None:
    context = ContextManager(WindowManager())
    context.add(ContextItem(ItemType.TOOL, "KEY=1", tool_name="read_file", gist="[file read] .env"))
    talk = controller("ok", context=context)
    assert do(talk, "result:1") == "Result 1 is a file. Read it by its path."


def store_in(tmp_path: Path) -> SessionStore:
    return SessionStore(tmp_path / "home", SessionOptions(classes=[Terminal]))


def ask(session: Session, *steps: Any) -> InteractionController:
    talk = controller(*steps, context=session.context)
    run(talk, "Go on.")
    return talk


def test_a_resumed_session_reads_it_from_its_log(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    with store.create(tmp_path) as session:
        session.windows.open("terminal")
        ask(session, run_command(), "It ran.")
        gist, path = gist_in(session.context), path_in(gist_in(session.context))
        session._recorder.checkpoint()
    logged = session.path.read_text("utf-8")
    assert "line 300 of the output" in logged
    assert "[result 4]" not in logged
    with store.open(session.id) as again:
        assert gist_in(again.context) == gist
        talk = ask(again, read(path, start=299), "Read.")
        last = results(talk.context)[-1].content
        assert last == "299 line 299 of the output\n300 line 300 of the output"


def test_another_session_has_its_own_results(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    with store.create(tmp_path) as session:
        session.windows.open("terminal")
        ask(session, run_command(), "It ran.")
    with store.create(tmp_path) as other:
        talk = ask(other, read("result:4"), "No.")
        (item,) = results(talk.context)
        assert item.is_error
        assert "There is no result 4" in item.content


@pytest.mark.long
def test_an_old_result_whose_text_is_no_longer_in_memory_is_read(tmp_path: Path) -> None:
    with store_in(tmp_path).create(tmp_path) as session:
        session.windows.open("terminal")
        ask(session, run_command(), "It ran.")
        for number in range(600):
            session.context.add(ContextItem(ItemType.USER, f"question {number}"))
            session.context.add(ContextItem(ItemType.ASSISTANT, f"answer {number}"))
            session.context.end_turn()
        assert not results(session.context)[0].is_loaded
        talk = ask(session, read("result:4", start=300), "Read.")
        assert results(talk.context)[-1].content == "300 line 300 of the output"
