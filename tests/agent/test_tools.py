"""The three tools: what they do, what they refuse, and who is asked before."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextui.agent.approval import ApprovalGate, Decision, Question
from contextui.agent.tools import TOOLS, NativeCalls, TagFilter, TextCalls, ToolBox, ToolCall
from contextui.files.workspace import Workspace
from contextui.model import Answer, Block
from contextui.windowing.action import ActionResult, Button, action
from contextui.windowing.manager import WindowManager
from contextui.windowing.snapshot import Body, Lod
from contextui.windowing.window import Window
from tests.agent.desk import Person
from tests.agent.talking import controller, end, run
from tests.windowing.samples import Counter, Todo


class Printer(Window):
    """Prints."""

    class State(Window.State):
        printed: list[str] = []

    state: State

    def content(self, lod: Lod) -> Body:
        return f"{len(self.state.printed)} pages"

    def anchors(self, lod: Lod) -> list[Button]:
        return [Button("print-a", "print_page", {"text": "a"})]

    @action("Print a page", effect="write")
    def print_page(self, text: str) -> str:
        self.state.printed.append(text)
        return "Printed."

    @action("Count the pages", effect="read")
    def count(self) -> int:
        return len(self.state.printed)


def box(tmp_path: Path | None = None, gate: ApprovalGate | None = None) -> ToolBox:
    workspace = Workspace(tmp_path) if tmp_path else None
    return ToolBox(WindowManager([Todo, Counter, Printer], workspace=workspace), gate)


def do(tools: ToolBox, name: str, given: Any) -> ActionResult:
    return asyncio.run(tools.run(ToolCall("1", name, given)))


def printed(tools: ToolBox) -> list[str]:
    printer = tools.windows.get("printer_1")
    assert isinstance(printer, Printer)
    return printer.state.printed


def test_the_tools_are_three() -> None:
    for lang in ("en", "zh"):
        assert [tool.name for tool in TOOLS[lang]] == ["create", "action", "read_file"], lang


def test_the_tools_are_the_same_in_every_language_but_for_descriptions() -> None:
    for english, chinese in zip(TOOLS["en"], TOOLS["zh"], strict=True):
        assert not chinese.description.isascii()
        schemas = [
            {name: one["type"] for name, one in tool.input_schema["properties"].items()}
            for tool in (english, chinese)
        ]
        assert schemas[0] == schemas[1]
        assert english.input_schema["required"] == chinese.input_schema["required"]


def test_create_and_act() -> None:
    tools = box()
    assert do(tools, "create", {"name": "todo", "args": {"items": ["milk"]}}).text == (
        "Opened todo_1."
    )
    given = {"window_id": "todo_1", "action_id": "add", "params": {"text": "eggs"}}
    assert do(tools, "action", given) == ActionResult(True, "Added 2.")
    assert do(tools, "create", {"name": "todo", "args": None}).ok  # like none


def test_errors_name_the_problem_and_the_choices() -> None:
    for name, value, words in (
        ("fly", {}, 'There is no tool "fly". Use: create, action, read_file.'),
        ("create", {}, "create: name is missing. Expected: name:string,args:object?"),
        ("create", None, "create takes an object with: name:string,args:object?."),
        ("create", {"name": 7}, 'name: expected string, got "7"'),
        ("create", {"name": "todo", "args": []}, "args: expected object"),
        ("create", {"name": "todo", "size": 3}, 'there is no param "size"'),
        ("create", {"name": "nope"}, 'no window called "nope". Available: counter, printer, todo.'),
        ("create", {"name": "todo", "args": {"items": 3}}, "items"),
        ("action", {"window_id": "todo_1"}, "action_id is missing"),
        ("action", {"window_id": "todo_7", "action_id": "add"}, 'no window "todo_7"'),
        ("action", {"window_id": True, "action_id": "add"}, "window_id: expected string"),
        ("read_file", {"path": "a", "start": True}, "start: expected int"),
        ("read_file", {"path": "a"}, "There is no folder"),
    ):
        result = do(box(), name, value)
        assert not result.ok, name
        assert words in result.text, name


def test_files_are_read_by_the_page(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("".join(f"line {n}\n" for n in range(1, 4_001)))
    (tmp_path / "empty").touch()
    tools = box(tmp_path)
    first = do(tools, "read_file", {"path": "a.txt"}).text
    assert first.startswith("1 line 1\n")
    assert first.endswith("2000 line 2000\n… more from line 2001 on")
    last = do(tools, "read_file", {"path": "a.txt", "start": 3_999}).text
    assert last == "3999 line 3999\n4000 line 4000"
    assert do(tools, "read_file", {"path": "a.txt", "start": 9_999}).text == (
        "a.txt has no line 9999."
    )
    assert do(tools, "read_file", {"path": "empty"}).text == "(empty)"


PRINT = {"window_id": "printer_1", "action_id": "print_page", "params": {"text": "x"}}


def test_a_person_is_asked_about_exactly_what_will_be_done() -> None:
    person = Person("once", "no", "always")
    tools = box(gate=ApprovalGate("ask", person))
    do(tools, "create", {"name": "printer"})
    assert do(tools, "action", PRINT).ok
    assert "declined" in do(tools, "action", PRINT).text
    assert do(tools, "action", PRINT).ok
    assert do(tools, "action", PRINT).ok  # allowed for good, so not asked again
    assert len(person.questions) == 3
    question = person.questions[0]
    assert (question.window_id, question.action_id) == ("printer_1", "print_page")
    assert question.params == {"text": "x"}
    assert printed(tools) == ["x", "x", "x"]


def test_a_word_that_is_no_choice_and_no_mode_allows_nothing() -> None:
    cases: list[Any] = ["No", "never", "yes", ""]
    for word in cases:
        with pytest.raises(ValueError, match="is none of once, always, pattern, no"):
            Decision(word)
        with pytest.raises(ValueError, match="is none of ask, auto, read-only"):
            ApprovalGate(word)


def test_an_anchor_is_judged_by_its_action() -> None:
    person = Person("no")
    tools = box(gate=ApprovalGate("ask", person))
    do(tools, "create", {"name": "printer"})
    assert not do(tools, "action", {"window_id": "printer_1", "action_id": "print-a"}).ok
    assert person.questions[0].params == {"text": "a"}
    assert printed(tools) == []


def test_wrong_params_are_refused_before_anybody_is_asked() -> None:
    person = Person()
    tools = box(gate=ApprovalGate("ask", person))
    do(tools, "create", {"name": "printer"})
    wrong = {"window_id": "printer_1", "action_id": "print_page", "params": {"page": 1}}
    assert "there is no param" in do(tools, "action", wrong).text
    assert person.questions == []


def test_a_window_closed_while_the_person_thinks_is_a_clean_error() -> None:
    tools = box()

    async def closing(_: Question) -> Decision:
        tools.windows.close("printer_1")
        return Decision("once")

    tools.gate.ask = closing
    do(tools, "create", {"name": "printer"})
    assert do(tools, "action", PRINT).text == "printer_1 is closed."


def asked(call_id: Any, name: Any = "create", given: Any = None) -> Block:
    return {"type": "tool_use", "id": call_id, "name": name, "input": given or {}}


def ids(*blocks: Block, taken: tuple[str, ...] = ()) -> list[str | None]:
    kept, calls = NativeCalls().read(Answer(blocks), taken)
    assert [one["id"] for one in kept] == [one.id for one in calls]
    return [one.id for one in calls]


def test_a_proper_answer_is_kept_as_it_is() -> None:
    blocks = ({"type": "text", "text": "Yes."}, asked("toolu_1"), asked("toolu_2"))
    kept, calls = NativeCalls().read(Answer(blocks), ())
    assert all(new is old for new, old in zip(kept, blocks, strict=True))
    assert calls == [ToolCall("toolu_1", "create", {}), ToolCall("toolu_2", "create", {})]


def test_ids_have_no_odd_characters_and_stay_apart() -> None:
    assert ids(asked("call_1"), taken=("call_1", "call_1-2")) == ["call_1-3"]
    assert ids(asked("call_1"), asked("call_1")) == ["call_1"]  # the second call is left out
    assert ids(asked(None), asked(""), asked(None)) == ["call", "call-2", "call-3"]
    odd = [asked(one) for one in ("f.create:0", "f:create.0", "\0", 7)]
    assert ids(*odd) == ["f_create_0", "f_create_0-2", "_", "7"]


def test_a_turn_survives_any_id_and_any_name() -> None:
    for name in ("create", "no.such", None, 3):
        for call_id in ("f.create:0", "a\0b", "\ud800", None, 7):
            block = {"type": "tool_use", "id": call_id, "name": name, "input": {"name": "todo"}}
            talk = controller([block, block], "Done.")
            assert end(run(talk, "Go.")).reason == "done", (call_id, name)


def test_a_native_call_in_the_text_protocol_is_left_out() -> None:
    words = {"type": "text", "text": '<tool_call>{"name": "create", "arguments": {}}</tool_call>'}
    kept, calls = TextCalls().read(Answer((words, asked("a"))), ())
    assert kept == (words,)
    assert calls == [ToolCall(None, "create", {})]


PARTS = st.lists(
    st.one_of(
        st.sampled_from(["I look. ", "a < b", "<tool", "<tool_callx>", "</tool_call>", ""]),
        st.just('<tool_call>{"name": "create"}</tool_call>'),
    ),
    max_size=6,
)


def shown_of(pieces: list[str]) -> str:
    tags = TagFilter()
    return "".join(tags.feed(piece) for piece in pieces)


@given(PARTS, st.lists(st.integers(1, 9), min_size=1, max_size=40))
def test_the_chunks_of_a_stream_do_not_matter(parts: list[str], lengths: list[int]) -> None:
    text = "".join(parts) + " end."
    pieces, rest = [], text
    for length in lengths * len(text):
        if not rest:
            break
        pieces.append(rest[:length])
        rest = rest[length:]
    assert shown_of([*pieces, rest]) == shown_of([text])
    assert '{"name": "create"}' not in shown_of([text])


def test_text_without_tags_passes() -> None:
    assert shown_of(["if a ", "< b", " and c"]) == "if a < b and c"


def test_a_long_call_takes_no_longer_than_it_must() -> None:
    tags = TagFilter()
    shown = [tags.feed("Look: <tool_call>{"), *(tags.feed("x" * 10) for _ in range(20_000))]
    assert ("".join(shown), tags._held) == ("Look: ", "")  # nothing is piled up
    assert tags.feed("}</tool_call> Done") == " Done"
