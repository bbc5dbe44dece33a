"""Putting answers together: verbatim, and only of what is whole."""

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contextui.agent.models.stream import AnswerReader
from contextui.model import (
    Answer,
    CallBegun,
    ModelError,
    ModelEvent,
    TextDelta,
    ThinkingDelta,
    UsageUpdated,
)
from contextui.tokens import Usage
from tests.agent.server import Event, answer, block_events, call, delta, start, thinking
from tests.thorough import times

STOP: Event = {"type": "message_stop"}


def read(events: Sequence[Event]) -> tuple[list[ModelEvent], Answer]:
    """The events of a reader without usage, and the answer."""
    reader = AnswerReader("claude-x")
    emitted = [one for event in events for one in reader.read(event)]
    return [one for one in emitted if not isinstance(one, UsageUpdated)], reader.answer()


def answered(*events: Event, stop_reason: str | None = "end_turn") -> Answer:
    return read([start(), *events, delta(stop_reason), STOP])[1]


def piece(index: int, **change: Any) -> Event:
    return {"type": "content_block_delta", "index": index, "delta": change}


def begun(index: int, **block: Any) -> Event:
    return {"type": "content_block_start", "index": index, "content_block": block}


def test_blocks_are_unchanged() -> None:
    blocks: list[dict[str, Any]] = [
        thinking("I should open a window.", "RXJyb3I="),
        {"type": "redacted_thinking", "data": "c2VjcmV0"},
        {"type": "text", "text": "Here is your list. 你好"},
        call("create", name="todo", args={"items": ["milk", "a\nb"], "n": 1.5, "x": None}),
        {"type": "something_new", "what": {"ever": [1]}},
    ]
    emitted, whole = read(answer(*blocks))
    assert list(whole.blocks) == blocks
    assert [list(block) for block in whole.blocks] == [list(block) for block in blocks]
    assert whole.stop_reason == "tool_use"
    assert whole.cut_calls == ()
    assert "".join(e.text for e in emitted if isinstance(e, TextDelta)) == blocks[2]["text"]
    assert "".join(e.text for e in emitted if isinstance(e, ThinkingDelta)) == blocks[0]["thinking"]
    assert [e.name for e in emitted if isinstance(e, CallBegun)] == ["create"]


def test_the_model_that_answered_is_named() -> None:
    assert read(answer("Hi.", model="claude-x-20270101"))[1].model == "claude-x-20270101"
    assert read(answer("Hi.")[1:])[1].model == "claude-x"


def test_calls_without_arguments_and_thinking_that_is_not_shown_are_kept() -> None:
    for block in (call("close"), thinking("", "c2ln")):
        assert read(answer(block, "Hi."))[1].blocks == (block, {"type": "text", "text": "Hi."})


def test_a_call_may_come_in_one_piece() -> None:
    block = call("create", name="todo")
    events = (begun(0, **block), {"type": "content_block_stop", "index": 0})
    assert answered(*events).blocks == (block,)


def test_text_may_come_in_one_piece() -> None:
    events = [start(), begun(0, type="text", text="Hi."), delta("end_turn"), STOP]
    emitted, whole = read(events)
    assert emitted == [TextDelta("Hi.")]
    assert whole.blocks == ({"type": "text", "text": "Hi."},)


def test_a_text_block_accepts_only_text() -> None:
    whole = answered(
        begun(0, type="text", text=""),
        piece(0, type="text_delta", text="Hi.", name="create", input={"name": "todo"}),
        piece(0, type="input_json_delta", partial_json='{"name": "todo"}'),
    )
    assert whole.blocks == ({"type": "text", "text": "Hi."},)


def test_citations_are_kept_with_their_text() -> None:
    first, second = {"type": "char_location", "cited_text": "a"}, {"type": "page_location"}
    whole = answered(
        begun(0, type="text", text="", citations=None),
        piece(0, type="text_delta", text="See."),
        piece(0, type="citations_delta", citation=first),
        piece(0, type="citations_delta", citation=second),
    )
    assert whole.blocks == ({"type": "text", "text": "See.", "citations": [first, second]},)


def test_deltas_of_unknown_types_are_kept() -> None:
    whole = answered(
        begun(0, type="drawing", path="M", points=[1], done=False),
        piece(0, type="drawing_delta", path="0 0"),
        piece(0, type="drawing_delta", path=" L", points=[2], done=True),
        piece(0, type="colour_delta", colour="red"),
    )
    assert whole.blocks == (
        {"type": "drawing", "path": "M0 0 L", "points": [1, 2], "done": True, "colour": "red"},
    )


def test_the_last_signature_counts() -> None:
    whole = answered(
        begun(0, type="thinking", thinking="", signature=""),
        piece(0, type="thinking_delta", thinking="Hm."),
        piece(0, type="signature_delta", signature="b25l"),
        piece(0, type="signature_delta", signature="dHdv"),
    )
    assert whole.blocks[0]["signature"] == "dHdv"


def test_events_of_unknown_types_are_passed_over() -> None:
    events = answer("Hi.")
    events[3:3] = [{"type": "weather", "index": 0}, {"type": None}, {}]
    assert read(events)[1].blocks == ({"type": "text", "text": "Hi."},)


def test_a_server_may_leave_out_what_is_not_needed() -> None:
    events = [begun(0, type="text", text="Hi."), {"type": "content_block_stop", "index": 3}, STOP]
    whole = read(events)[1]
    assert (whole.stop_reason, whole.usage) == ("end_turn", Usage())
    calling = [*block_events(0, call("close")), delta(None), STOP]
    assert read(calling)[1].stop_reason == "tool_use"


def test_later_figures_replace_earlier_ones() -> None:
    first = {"input_tokens": 100, "output_tokens": 1, "cache_creation_input_tokens": 30,
             "cache_read_input_tokens": 2_000}  # fmt: skip
    later = {"input_tokens": None, "output_tokens": 50, "cache_creation_input_tokens": 40}
    events = [start(usage=first), delta("end_turn", usage=later), STOP]
    assert read(events)[1].usage == Usage(100, 50, 2_000, 40)


def test_figures_that_are_none_count_nothing() -> None:
    cases: list[Any] = [None, 5, [], {"input_tokens": "many", "output_tokens": True}]
    cases += [{"input_tokens": count} for count in (-5, 10**30, 1.5)]
    for usage in cases:
        closing = {**delta("end_turn"), "usage": usage}
        opening = {"type": "message_start", "message": {"usage": usage}}
        assert read([opening, closing, STOP])[1].usage == Usage(), usage


def writing(text: str, stops: bool = True, **block: Any) -> list[Event]:
    """A call whose input is written like this."""
    made = {"type": "tool_use", "id": "toolu_1", "name": "action", "input": {}} | block
    end: list[Event] = [{"type": "content_block_stop", "index": 0}] if stops else []
    return [begun(0, **made), piece(0, type="input_json_delta", partial_json=text), *end]


def test_an_incomplete_call_is_dropped() -> None:
    for events, stop_reason in (
        (writing('{"window_id": "to'), "max_tokens"),
        (writing('{"window_id": "to'), "tool_use"),
        (writing('{"window_id": "todo_1"}'), "max_tokens"),
        (writing('{"window_id": "todo_1"}'), "model_context_window_exceeded"),
        (writing('{"window_id": "todo_1"}'), "refusal"),
        (writing('{"window_id": "todo_1"}', stops=False), "tool_use"),
        (writing(""), "max_tokens"),
        (writing("", stops=False), "tool_use"),
        (writing("[1]"), "tool_use"),
        (writing("5"), "tool_use"),
        (writing("null"), "tool_use"),
        (writing('{"n": NaN}'), "tool_use"),
        (writing('{"n": -Infinity}'), "tool_use"),
        (writing('{"n": 1e999}'), "tool_use"),
        (writing('{"n": 1} {"n": 2}'), "tool_use"),
        (writing('{"n": ' + "[" * 200 + "]" * 200 + "}"), "tool_use"),
        (writing('{"n": ' + "[" * 100_000), "tool_use"),
        (writing('{"n": ' + "9" * 10_000 + "}"), "tool_use"),
        (writing("{}", id=None), "tool_use"),
        (writing("{}", id=""), "tool_use"),
        (writing("", input=[1]), "tool_use"),
        (writing("", input="{}"), "tool_use"),
    ):
        whole = answered(*events, stop_reason=stop_reason)
        assert whole.blocks == (), events
        assert whole.cut_calls == ("action",), events


def test_a_call_without_a_name_is_none() -> None:
    assert answered(*writing("{}", name=7)).cut_calls == ("7",)
    assert answered(*writing("{}", name=None)).cut_calls == ("",)


def test_complete_calls_before_a_truncated_one_are_kept() -> None:
    first, second = call("create", name="todo"), call("action", window_id="todo_1")
    cut = block_events(2, second)[:4]
    whole = answered(
        *block_events(0, {"type": "text", "text": "Yes."}), *block_events(1, first), *cut,
        stop_reason="max_tokens",
    )  # fmt: skip
    assert whole.blocks == ({"type": "text", "text": "Yes."}, first)
    assert whole.cut_calls == ("action",)


def test_a_call_without_input_before_the_limit_is_dropped() -> None:
    events = (*block_events(0, call("close")), *block_events(1, {"type": "text", "text": "So"}))
    whole = answered(*events, stop_reason="max_tokens")
    assert whole.cut_calls == ("close",)
    assert [block["type"] for block in whole.blocks] == ["text"]


def test_thinking_that_was_cut_before_it_was_signed_is_left_out() -> None:
    cut = thinking("Let me", signature="")
    assert read(answer("Hi.", cut, stop_reason="max_tokens"))[1].blocks == (
        {"type": "text", "text": "Hi."},
    )
    assert read(answer(cut, "Hi."))[1].blocks[0] == cut  # not every server signs


def test_without_an_end_there_is_no_answer() -> None:
    for length in range(len(answer("Hi.", call("close")))):
        with pytest.raises(ModelError) as caught:
            read(answer("Hi.", call("close"))[:length])
        assert caught.value.kind == "cut"


GARBLED: list[list[Any]] = [
    [start(), start()],
    [begun(0, type="text", text=""), start()],
    [piece(0, type="text_delta", text="x")],
    [begun(0, type="text", text=""), piece(1, type="text_delta", text="x")],
    [begun(0, type="text", text=""), begun(0, type="text", text="")],
    [*block_events(0, {"type": "text", "text": "x"}), piece(0, type="text_delta", text="y")],
    [begun(0)],
    [begun(0, type=5)],
    [{"type": "content_block_start", "content_block": {"type": "text", "text": ""}}],
    [{"type": "content_block_start", "index": [], "content_block": {"type": "text"}}],
    [{"type": "content_block_start", "index": 0}],
    [begun(0, type="text", text=""), {"type": "content_block_delta", "index": 0, "delta": "x"}],
    [{"type": "content_block_delta", "index": "0", "delta": {}}],
    [{"type": "message_start"}],
    [{"type": "message_delta"}],
]


def test_events_that_do_not_fit_together_are_no_answer() -> None:
    for events in GARBLED:
        with pytest.raises(ModelError, match="garbled") as caught:
            read([*events, delta("end_turn"), STOP])
        assert caught.value.kind == "cut", events


scalars = st.none() | st.booleans() | st.integers(0, 3) | st.text(max_size=5)
words = st.sampled_from(
    ["text", "tool_use", "thinking", "text_delta", "thinking_delta", "input_json_delta",
     "signature_delta", "citations_delta", "max_tokens", "{", '{"a": 1}', "toolu_1"]
)  # fmt: skip
names = st.sampled_from(
    ["type", "text", "thinking", "signature", "partial_json", "citation", "citations", "id",
     "name", "input", "stop_reason", "usage", "model", "input_tokens"]
)  # fmt: skip
values = st.recursive(
    scalars | words,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(names, inner, max_size=3),
    max_leaves=4,
)
kinds = st.sampled_from(
    ["message_start", "content_block_start", "content_block_delta", "content_block_stop",
     "message_delta", "message_stop", "odd"]
)  # fmt: skip
fields = st.dictionaries(names, values, max_size=3)
any_event = st.fixed_dictionaries(
    {"type": kinds},
    optional={
        "index": st.integers(0, 2) | scalars,
        "message": fields | values,
        "content_block": fields | values,
        "delta": fields | values,
        "usage": values,
    },
)


good_event = st.sampled_from(
    answer(thinking("Hm."), "Yes.", call("create", name="todo"), stop_reason="max_tokens")
)


@settings(max_examples=times(20, 200))
@given(st.lists(good_event | any_event, max_size=12), st.booleans())
def test_no_events_whatever_break_the_reader(events: list[Event], ends: bool) -> None:
    try:
        events += [STOP] if ends else []
        _, whole = read(events)
    except ModelError as error:
        assert error.kind == "cut"
        return
    json.dumps(whole.blocks)
    for block in whole.blocks:
        if block["type"] == "tool_use":
            assert isinstance(block["input"], dict)
            assert isinstance(block["id"], str)
            assert isinstance(block["name"], str)


@settings(max_examples=times(20, 200))
@given(
    st.lists(
        st.builds(lambda t: {"type": "text", "text": t}, st.text())
        | st.builds(thinking, st.text(), st.text(min_size=1))
        | st.builds(
            lambda value: {**call("action"), "input": value},
            st.dictionaries(
                st.text(), st.none() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
            ),
        )
    ),
    st.integers(1, 9),
)
def test_any_chunks_are_joined_into_the_same_answer(blocks: list[Any], size: int) -> None:
    assert list(read(answer(*blocks, pieces=size))[1].blocks) == blocks
