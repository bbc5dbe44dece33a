"""The gate lets only requests through that the provider takes, whatever it is given."""

from collections.abc import Iterable, Sequence
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from contextui.agent.cache_marks import payload
from contextui.agent.request import Form, MalformedRequestError, RequestBuilder, faults
from contextui.model import Block, LlmMessage, ModelRequest
from tests.agent.shapes import violations
from tests.thorough import times


def user(*content: Any) -> LlmMessage:
    return LlmMessage("user", blocks_of(content))


def assistant(*content: Any) -> LlmMessage:
    return LlmMessage("assistant", blocks_of(content))


def system(text: str) -> LlmMessage:
    return LlmMessage("system", text)


def blocks_of(content: Iterable[Any]) -> tuple[Block, ...]:
    return tuple({"type": "text", "text": one} if isinstance(one, str) else one for one in content)


def call(call_id: Any = "a", given: Any = None, name: Any = "action") -> Block:
    return {
        "type": "tool_use",
        "id": call_id,
        "name": name,
        "input": {} if given is None else given,
    }


def result(call_id: Any = "a", content: Any = "done", **more: Any) -> Block:
    return {"type": "tool_result", "tool_use_id": call_id, "content": content, **more}


def thinking(text: str = "hm", signature: Any = "s") -> Block:
    return {"type": "thinking", "thinking": text, "signature": signature}


IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}
VIDEO = {"type": "video", "source": {"type": "file", "file_id": "f"}}  # no type that is known
_PLAIN = [user("Hello."), assistant("Hello to you."), user("Add milk.")]


def admit(
    messages: Sequence[LlmMessage], without_thinking: bool = False, plain: bool = False, **rest: Any
) -> ModelRequest:
    return RequestBuilder().build(messages, Form(without_thinking, plain), **rest)


def admitted(*messages: LlmMessage, **options: Any) -> ModelRequest:
    """The request, after the provider's own rules found nothing wrong with it."""
    request = admit(messages, **options)
    assert violations(payload(request, "m").body, continues=True) == []
    return request


def outline(request: ModelRequest) -> list[tuple[str, list[Any]]]:
    """Who says what: of text the words, of calls and results the ids, of anything else the type."""
    return [(one.role, [_short(block) for block in one.content]) for one in request.messages]


def _short(block: Any) -> Any:
    match block:
        case {"type": "text", "text": words}:
            return words
        case {"type": "tool_use", "id": call_id}:
            return f"?{call_id}"
        case {"type": "tool_result", "tool_use_id": call_id}:
            return f"!{call_id}"
    return block["type"]


texts = st.sampled_from(["", " ", "\n\t", "hi", "hi ", "\ud800", "a\0b", "\ud83d\ude00", "你好"])
ids = st.sampled_from(["a", "b", "c", "a.b:0", "", "é", "\0", "\udc00", 7, None])
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts | st.binary(max_size=2),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(texts | ids, inner, max_size=2),
    max_leaves=4,
)
text_blocks = texts.map(lambda words: {"type": "text", "text": words})
odd_blocks = st.sampled_from(
    [
        {},
        {"type": None},
        {"type": "text"},
        {"type": "text", "text": None},
        {"type": "tool_use"},
        {"type": "tool_result"},
        {"type": "thinking"},
        {"type": "redacted_thinking", "data": None},
        {"type": "redacted_thinking", "data": "x"},
        {"type": "text", "text": "kept", "cache_control": {"type": "ephemeral"}},
        MappingProxyType({"type": "text", "text": "a view"}),
        IMAGE,
        "words",
        None,
    ]
)
nested = st.lists(text_blocks | odd_blocks | st.just(result("b")), max_size=3)
contents = texts | st.none() | anything | nested | nested.map(tuple)
results = st.builds(result, ids, contents, is_error=st.booleans() | st.sampled_from([None, "yes"]))
calls = st.builds(call, ids, st.just({}) | anything, texts | st.just("action") | st.none())
thoughts = st.builds(thinking, texts, st.sampled_from(["s", None, 1]))
hostile_blocks = st.one_of(text_blocks, calls, results, thoughts, odd_blocks)
hostile = st.lists(
    st.builds(
        LlmMessage,
        st.sampled_from(["user", "assistant", "user", "assistant", "system", "tool"]),
        st.none() | texts | st.lists(hostile_blocks, max_size=4).map(tuple),
    ),
    max_size=8,
)
orderly = st.lists(
    st.builds(
        LlmMessage,
        st.sampled_from(["user", "assistant"]),
        st.lists(text_blocks | st.builds(call, ids) | st.builds(result, ids) | thoughts, max_size=3)
        .map(tuple)
        .filter(bool),
    ),
    max_size=8,
)


def try_admit(messages: Sequence[LlmMessage], **options: Any) -> ModelRequest:
    """Only what there is nothing to say in may be refused."""
    try:
        return admit(messages, **options)
    except MalformedRequestError as error:
        assert "nothing to send" in str(error)
        assume(False)
        raise


@pytest.mark.long
@given(hostile, st.integers(0, 8), st.booleans())
@settings(max_examples=times(200, 2_000))
def test_repaired_requests_are_never_rejected(
    messages: list[LlmMessage], stable: int, without_thinking: bool
) -> None:
    request = try_admit(messages, stable=stable, without_thinking=without_thinking)
    assert violations(payload(request, "m").body, continues=True) == []
    assert 0 <= request.stable <= len(request.blocks())


@given(hostile)
@settings(max_examples=times(70, 1_000))
def test_what_came_out_passes_as_it_is(messages: list[LlmMessage]) -> None:
    once = try_admit(messages)
    again = admit([*([system(once.system)] if once.system else []), *once.messages])
    assert again == once
    assert all(new is old for new, old in zip(again.blocks(), once.blocks(), strict=True))


@given(hostile, st.integers(0, 8))
@settings(max_examples=times(70, 1_000))
def test_stable_blocks_are_those_of_stable_messages(
    messages: list[LlmMessage], stable: int
) -> None:
    request = try_admit(messages, stable=stable)
    try:
        alone = admit(messages[:stable]).blocks()
    except MalformedRequestError:
        alone = []
    assert request.blocks()[: request.stable] == alone[: request.stable]


@given(orderly, st.lists(texts, max_size=2), orderly)
@settings(max_examples=times(80, 1_000))
def test_a_request_goes_on_where_the_one_before_ended(
    before: list[LlmMessage], words: list[str], more: list[LlmMessage]
) -> None:
    """Unless a result comes late: nobody can know that it will."""
    before = [*before, user("Well?")]
    more = [*map(user, words), assistant("So."), *more]
    first, second = admit(before), admit([*before, *more])
    assert second.blocks()[: len(first.blocks())] == first.blocks()
    assert second.system == first.system


def test_clean_blocks_pass_as_the_very_same_objects() -> None:
    searched = {"type": "server_tool_use", "id": "srv", "name": "web_search", "input": {}}
    found = {"type": "web_search_tool_result", "tool_use_id": "srv", "content": []}
    messages = [
        user("Hello. \n"),
        assistant("Hello.", searched, found),
        user("Look:", IMAGE, VIDEO),
        assistant("Well.", searched),
        user("Go on."),
        assistant(thinking(), "I will.", searched, call("a", {"text": ["milk", 1, None, 0.5]})),
        user(result("a", [{"type": "text", "text": "done"}, IMAGE]), "And now?"),
    ]
    request = admit(messages)
    given = [block for message in messages for block in message.content]
    assert all(new is old for new, old in zip(request.blocks(), given, strict=True))
    assert [len(one.content) for one in request.messages] == [1, 3, 3, 2, 1, 4, 2]


def test_the_system_prompt_comes_first() -> None:
    request = admitted(system("Be brief."), system("Be kind."), *_PLAIN, system("By the way."))
    assert request.system == "Be brief.\n\nBe kind."
    assert outline(request)[-1] == ("user", ["Add milk.", "By the way."])


def test_only_the_text_of_a_system_prompt_counts() -> None:
    request = admitted(LlmMessage("system", blocks_of([IMAGE, VIDEO, "Be brief."])), *_PLAIN)
    assert request.system == "Be brief."


@pytest.mark.parametrize("odd", [None, 5, ["text"], {}, {"type": None}, {"text": "no type"}])
def test_what_is_no_block_is_left_out(odd: Any) -> None:
    strange = LlmMessage("user", ({"type": "text", "text": "Hello."}, odd))
    assert outline(admitted(strange)) == [("user", ["Hello."])]


def test_neighbours_of_one_side_are_joined() -> None:
    request = admitted(user("a"), user("b"), assistant("c"), assistant("d"), user("e"))
    assert outline(request) == [("user", ["a", "b"]), ("assistant", ["c", "d"]), ("user", ["e"])]


def test_nothing_is_not_sent() -> None:
    for messages in ([], [system("Be brief.")], [user(" ")], [assistant()]):
        with pytest.raises(MalformedRequestError, match="nothing to send"):
            admit(messages)


def test_a_call_without_a_result_gets_one_that_says_so() -> None:
    request = admitted(user("Go."), assistant(call("a"), call("b")), user(result("b"), "Well?"))
    assert outline(request)[-1] == ("user", ["!a", "!b", "Well?"])
    assert request.messages[-1].content[0] == result(
        "a", "There is no result of this call.", is_error=True
    )


def test_a_last_call_is_answered_too() -> None:
    request = admitted(user("Go."), assistant("I will.", call("a")))
    assert outline(request)[-1] == ("user", ["!a"])
    assert admitted(user("Go."), assistant("I will.", call("a")), stable=2).stable == 3


def test_a_result_without_a_call_becomes_text() -> None:
    content = [{"type": "text", "text": "one"}, IMAGE, {"type": "text", "text": "two"}]
    request = admitted(user(result("a", "lost")), assistant("Oh."), user(result("a", content)))
    assert outline(request) == [("user", ["lost"]), ("assistant", ["Oh."]), ("user", ["one\ntwo"])]


def test_a_result_without_call_and_text_becomes_a_placeholder() -> None:
    request = admitted(user("Go."), assistant("Yes."), user(result("a", [IMAGE])), assistant("!"))
    assert outline(request)[2] == ("user", ["(no output)"])


def test_results_come_first_and_in_the_order_of_the_calls_and_a_second_one_becomes_text() -> None:
    answers = user("Wait.", result("b"), result("a"), result("a", "again"))
    request = admitted(user("Go."), assistant(call("a"), call("b")), answers)
    assert outline(request)[-1] == ("user", ["!a", "!b", "Wait.", "again"])


def test_a_second_call_under_one_id_is_left_out() -> None:
    request = admitted(
        *(user("Go."), assistant(thinking(), call("a")), user(result("a"))),
        *(assistant(thinking(), call("a")), user(result("a", "twice"), "Well?")),
        *(assistant(call("a"), call("b")), user(result("b"))),
    )
    assert outline(request)[1:] == [
        ("assistant", ["thinking", "?a"]),
        ("user", ["!a", "twice", "Well?"]),
        ("assistant", ["?b"]),
        ("user", ["!b"]),
    ]


def test_ids_and_names_lose_their_odd_characters_on_both_sides() -> None:
    odd = "functions.action:0"
    request = admitted(user("Go."), assistant(call(odd, name="todo.add")), user(result(odd)))
    assert outline(request)[1:] == [
        ("assistant", ["?functions_action_0"]),
        ("user", ["!functions_action_0"]),
    ]
    assert request.messages[1].content[0]["name"] == "todo_add"  # type: ignore[index]


def test_an_input_becomes_an_object() -> None:
    for value, sent in (
        (None, {}),
        ("x", {"input": "x"}),
        ([1], {"input": [1]}),
        ({"n": 1}, {"n": 1}),
    ):
        block = {"type": "tool_use", "id": "a", "name": "action", "input": value}
        request = admitted(user("Go."), assistant(block), user(result()))
        assert request.messages[1].content[0]["input"] == sent, value  # type: ignore[index]


def test_a_result_is_never_empty() -> None:
    for content, sent in (
        ("", "(no output)"),
        (" \n", "(no output)"),
        (None, "(no output)"),
        ([], "(no output)"),
        ([{"type": "text", "text": " "}], "(no output)"),
        ([{"type": "text", "text": ""}, IMAGE], [IMAGE]),
        (12, "12"),
    ):
        request = admitted(user("Go."), assistant(call()), user(result("a", content)))
        assert request.messages[-1].content == (result("a", sent),), content


def test_an_error_result_has_text_alone() -> None:
    shown = [{"type": "text", "text": "It broke."}, IMAGE]
    request = admitted(user("Go."), assistant(call()), user(result("a", shown, is_error=True)))
    assert request.messages[-1].content == (result("a", shown[:1], is_error=True),)


def test_empty_texts_are_left_out_and_their_neighbours_joined() -> None:
    request = admitted(user("Go."), assistant(" "), user("", "On."), assistant(), user("Now."))
    assert outline(request) == [("user", ["Go.", "On.", "Now."])]


def test_what_begins_with_the_assistant_is_given_a_beginning() -> None:
    request = admitted(assistant("So."), user("Go on."), stable=1)
    assert outline(request)[0] == ("user", ["(The conversation before this was left out.)"])
    assert request.stable == 2
    assert admitted(assistant("So."), user("Go on.")).stable == 0
    assert admitted(assistant("So."), assistant("And."), user("Go on."), stable=1).stable == 2


def test_an_answer_neither_is_nor_ends_in_thinking_and_has_none_unsigned() -> None:
    request = admitted(user("Go."), assistant(thinking()), user("Well?"))
    assert outline(request) == [("user", ["Go.", "Well?"])]
    unsigned = {"type": "thinking", "thinking": "hm"}
    for blocks in (["Yes.", thinking()], [unsigned, "Yes."]):
        request = admitted(user("Go."), assistant(*blocks), user("Well?"))
        assert outline(request)[1] == ("assistant", ["Yes."]), blocks


def test_without_thinking_there_is_none() -> None:
    messages = [user("Go."), assistant(thinking(), call()), user(result())]
    assert outline(admitted(*messages))[1] == ("assistant", ["thinking", "?a"])
    assert outline(admitted(*messages, without_thinking=True))[1] == ("assistant", ["?a"])


def test_plain_text_and_blocks_stay_if_only_some_providers_support_the_rest() -> None:
    messages = [LlmMessage("user", "Go."), assistant(thinking(), call()), user(result(), IMAGE)]
    request = admitted(*messages, plain=True)
    assert outline(request) == [("user", ["Go."]), ("assistant", ["?a"]), ("user", ["!a"])]


def test_an_answer_to_go_on_with_does_not_end_in_white_space() -> None:
    request = admitted(user("Go."), assistant("One, two, \n"))
    assert outline(request)[-1] == ("assistant", ["One, two,"])
    later = admitted(user("Go."), assistant("One, two, \n"), user("Well?"))
    assert later.messages[:2] == request.messages


def test_values_that_json_cannot_represent_are_replaced_everywhere() -> None:
    kept = [None, True, 7, 0.5]
    given = {"a\0": ["\ud800", {"\udc00": float("nan")}], "b": b"x", "c": kept}
    request = admitted(user("a\0b \ud800"), assistant(call("a", given)), user(result("a", "\0")))
    assert outline(request)[0] == ("user", ["a␀b �"])
    sent = {"a␀": ["�", {"�": "nan"}], "b": "b'x'", "c": kept}
    assert request.messages[1].content[0]["input"] == sent  # type: ignore[index]
    assert request.messages[2].content == (result("a", "␀"),)


def test_too_deep_nesting_is_rejected_with_a_message() -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(MalformedRequestError, match="too deeply"):
        admit([user("Go."), assistant(call("a", {"x": deep})), user(result())])


def test_a_foreign_cache_mark_is_taken_off() -> None:
    marked = {"type": "text", "text": "Go.", "cache_control": {"type": "ephemeral"}}
    request = admitted(user(*[marked] * 6), assistant(call()), user(result("a", [marked])))
    assert "cache_control" not in str(request.messages)


def test_what_is_stable_is_counted_in_blocks() -> None:
    messages = [
        *(system("Be brief."), user("a", "b"), assistant(call("x")), user(result("x"))),
        *(assistant("c"), user("d")),
    ]
    assert [admitted(*messages, stable=count).stable for count in range(7)] == [0, 0, 2, 3, 4, 5, 6]


def test_a_result_that_moves_before_stable_text_is_not_stable() -> None:
    messages = [user("Go."), assistant(call()), user("Wait."), user(result())]
    request = admitted(*messages, stable=3)
    assert outline(request)[-1] == ("user", ["!a", "Wait."])
    assert request.stable == 2


def test_a_call_that_is_left_out_makes_nothing_else_stable() -> None:
    before = [user("Go."), assistant(call()), user(result())]
    request = admitted(*before, assistant("One.", call()), assistant("Two."), stable=4)
    assert outline(request)[-1] == ("assistant", ["One.", "Two."])
    assert request.stable == 4


EMPTY_TEXT: Block = {"type": "text", "text": " "}
UNANSWERED = ["message 2 does not answer the calls before it"]


def test_every_fault_of_a_request_is_found() -> None:
    for messages, found in (
        (_PLAIN, []),
        ([user("Go."), assistant(thinking(), call()), user(result(), "Well?")], []),
        ([], ["there is nothing to send"]),
        ([assistant("So.")], ["message 0 is of the assistant"]),
        ([user("Go."), user("On.")], ["message 1 is of the user"]),
        ([*_PLAIN, user("On.")], ["message 3 is of the user"]),
        ([user()], ["message 0 is not made of blocks"]),
        ([LlmMessage("user", "Go.")], ["message 0 is not made of blocks"]),
        ([user(result())], ["message 0 does not answer the calls before it"]),
        ([user("Go."), assistant(call()), user("Wait.", result())], UNANSWERED),
        ([user("Go."), assistant(call()), user(VIDEO, result())], UNANSWERED),
        (
            [user("Go."), assistant(call("a"), call("b")), user(result("b"), result("a"))],
            UNANSWERED,
        ),
        ([user("Go."), assistant(call()), user("Well?")], UNANSWERED),
        ([user("Go."), assistant(call())], ["the last call has no result"]),
        ([user(EMPTY_TEXT)], ["message 0 has an empty text"]),
        ([user("Go.", EMPTY_TEXT, "On.")], ["message 0 has an empty text"]),
        ([user("Go."), assistant(thinking())], ["message 1 has thinking only"]),
    ):
        assert faults(messages) == found, messages
