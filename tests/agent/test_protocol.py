"""Finding the calls in an answer, whatever a server makes of ids, names and inputs."""

from typing import Any

from contextui.agent.tools import NativeCalls, TextCalls, ToolCall
from contextui.model import Answer, Block
from tests.agent.talking import controller, end, run


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


def test_an_id_that_was_used_before_becomes_another_one() -> None:
    assert ids(asked("call_1"), taken=("call_1", "call_1-2")) == ["call_1-3"]


def test_a_second_call_under_one_id_is_left_out() -> None:
    assert ids(asked("call_1"), asked("call_1")) == ["call_1"]


def test_calls_without_ids_each_get_one() -> None:
    assert ids(asked(None), asked(""), asked(None)) == ["call", "call-2", "call-3"]


def test_ids_have_no_odd_characters_and_stay_apart() -> None:
    assert ids(asked("f.create:0"), asked("f:create.0"), asked("\0"), asked(7)) == [
        *("f_create_0", "f_create_0-2", "_", "7")
    ]


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
