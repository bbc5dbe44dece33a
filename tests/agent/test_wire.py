"""Requests in the provider's form: what is sent, and where cache marks stand."""

import copy
import json
from collections.abc import Sequence
from hashlib import sha256
from itertools import accumulate
from types import MappingProxyType
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from contextui.agent.wire import Payload, payload
from contextui.model import Block, LlmMessage, ModelRequest, Role, Tool
from contextui.words import Words

MARK = {"type": "ephemeral"}
TOOLS = (Tool("create", "Open a window.", {"type": "object"}), Tool("action", "Act.", {}))
LOOKS_BACK = 20  # blocks, from a mark


def text(words: str) -> Block:
    return {"type": "text", "text": words}


def use(number: int) -> Block:
    return {"type": "tool_use", "id": f"toolu_{number}", "name": "action", "input": {"n": number}}


def result(number: int, *parts: str) -> Block:
    content: Any = [text(part) for part in parts] if parts else "Done."
    return {"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": content}


def thinking(words: str) -> Block:
    return {"type": "thinking", "thinking": words, "signature": "c2ln"}


def message(role: Role, *blocks: Block) -> LlmMessage:
    return LlmMessage(role, blocks)


def request(*messages: LlmMessage, stable: int = 0, system: str = "Be brief.") -> ModelRequest:
    return ModelRequest(system, messages, TOOLS, stable, 1_000)


def sent_blocks(sent: Payload) -> list[Block]:
    return [block for message in sent.body["messages"] for block in message["content"]]


def marked(sent: Payload) -> list[int]:
    """After how many blocks marks stand in what is sent."""
    return [n for n, block in enumerate(sent_blocks(sent), 1) if "cache_control" in block]


def prefixes(of: ModelRequest) -> list[bytes]:
    """What stands for the bytes up to each block, as the provider reads them."""
    head = [of.system, [(tool.name, tool.description) for tool in of.tools]]
    parts = [head, *((message.role, one) for message in of.messages for one in message.content)]
    return list(accumulate(map(json.dumps, parts), _chained, initial=b""))[1:]


def _chained(before: bytes, part: str) -> bytes:
    return sha256(before + part.encode()).digest()


# --- the form ------------------------------------------------------------------------------


def test_a_request_takes_the_provider_s_form() -> None:
    body = payload(request(message("user", text("Hi."))), "claude-x").body
    assert body == {
        "model": "claude-x",
        "max_tokens": 1_000,
        "tools": [
            {"name": "create", "description": "Open a window.", "input_schema": {"type": "object"}},
            {"name": "action", "description": "Act.", "input_schema": {}},
        ],
        "system": [{"type": "text", "text": "Be brief.", "cache_control": MARK}],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "Hi.", "cache_control": MARK}]}
        ],
    }


def test_plain_text_becomes_one_block() -> None:
    sent = payload(ModelRequest("", (LlmMessage("user", "Hi."),)), "claude-x")
    assert sent.body["messages"][0]["content"] == [{**text("Hi."), "cache_control": MARK}]


def test_without_a_system_prompt_the_last_tool_has_its_mark() -> None:
    body = payload(request(message("user", text("Hi.")), system=" \n"), "claude-x").body
    assert "system" not in body
    assert ["cache_control" in tool for tool in body["tools"]] == [False, True]


def test_without_both_neither_is_sent() -> None:
    body = payload(ModelRequest("", (message("user", text("Hi.")),)), "claude-x").body
    assert sorted(body) == ["max_tokens", "messages", "model"]


def test_the_request_itself_is_never_changed() -> None:
    asked = request(message("user", text("a"), text("b"), text("c")), stable=1)
    before = copy.deepcopy(asked)
    sent = payload(asked, "claude-x")
    assert asked == before
    assert sent_blocks(sent)[1] is asked.blocks()[1]  # what has no mark is not copied either
    assert marked(sent) == [1, 3]


def test_blocks_of_any_mapping_can_be_marked() -> None:
    frozen = MappingProxyType({"type": "text", "text": "Hi."})
    assert marked(payload(request(message("user", frozen)), "claude-x")) == [1]


# --- where marks stand ---------------------------------------------------------------------


def test_marks_are_set_after_what_is_final_and_at_the_end() -> None:
    history = (message("user", text("1")), message("assistant", text("2")))
    asked = request(*history, message("user", text("3"), text("4")), stable=2)
    sent = payload(asked, "claude-x")
    assert marked(sent) == [2, 4]
    assert sent.marks == {2, 4}


def test_one_block_has_one_mark() -> None:
    asked = request(message("user", text("1")), stable=1)
    first = payload(asked, "claude-x")
    again = payload(asked, "claude-x", [first])
    assert marked(again) == [1]


def test_more_can_be_final_than_there_is() -> None:
    assert marked(payload(request(message("user", text("1")), stable=9), "claude-x")) == [1]


def test_a_mark_moves_back_from_what_cannot_have_one() -> None:
    for last in (
        thinking("Hm."),
        {"type": "redacted_thinking", "data": "eHg="},
        text(""),
        text(" \n"),
        {"type": "container_upload", "file_id": "f"},
    ):
        asked = request(message("user", text("1")), message("assistant", text("2"), last), stable=3)
        assert marked(payload(asked, "claude-x")) == [2], last


def test_where_nothing_can_be_marked_nothing_is() -> None:
    asked = request(message("user", text("")), message("assistant", thinking("Hm.")), stable=2)
    assert marked(payload(asked, "claude-x")) == []


def test_a_result_of_several_parts_is_marked_as_a_whole() -> None:
    asked = request(message("user", result(1, "Done.", "<Window/>")))
    assert sent_blocks(payload(asked, "claude-x")) == [
        {**result(1, "Done.", "<Window/>"), "cache_control": MARK}
    ]


# --- what the provider still holds ---------------------------------------------------------


def long_step(first: int, length: int = 25) -> tuple[LlmMessage, LlmMessage]:
    numbers = range(first, first + length)
    return message("assistant", *map(use, numbers)), message("user", *map(result, numbers))


def test_after_a_long_step_the_previous_mark_stays() -> None:
    first = request(message("user", text("Go.")))
    second = request(*first.messages, *long_step(1))
    sent = payload(second, "claude-x", [payload(first, "claude-x")])
    assert marked(sent) == [1, 51]


def test_after_a_long_turn_the_mark_behind_the_older_history_stays() -> None:
    old = (message("user", text("1")), message("assistant", text("2")))
    live = request(*old, message("user", text("<Window/>"), text("3")), *long_step(1), stable=2)
    final = (*old, message("user", text("3")), *long_step(1), message("assistant", text("Done.")))
    next_turn = request(*final, message("user", text("<Window/>"), text("4")), stable=54)
    sent = payload(next_turn, "claude-x", [payload(live, "claude-x")])
    assert marked(sent) == [2, 54, 56]


def test_there_are_four_marks_at_most() -> None:
    first = request(message("user", text("1"), text("2")), stable=1)
    second = request(*first.messages, *long_step(1), message("assistant", text("x")), stable=40)
    sent = payload(second, "claude-x", [payload(first, "claude-x")])
    assert marked(sent) == [2, 40, 53]
    assert json.dumps(sent.body).count("cache_control") == 4


def test_another_request_in_between_costs_nothing() -> None:
    first = request(message("user", text("Go.")))
    other = request(message("user", text("Sum this up.")), system="You sum up.")
    previous = [payload(first, "claude-x"), payload(other, "claude-x")]
    sent = payload(request(*first.messages, *long_step(1)), "claude-x", previous)
    assert marked(sent) == [1, 51]


def test_with_another_head_it_is_as_if_nothing_was_sent() -> None:
    first = request(message("user", text("Go.")))
    second = request(*first.messages, *long_step(1))
    for changed in (
        ModelRequest("Be long.", second.messages, TOOLS),
        ModelRequest(second.system, second.messages, TOOLS[:1]),
    ):
        sent = payload(changed, "claude-x", [payload(first, "claude-x")])
        assert sent.marks == payload(changed, "claude-x").marks


def test_what_is_written_differently_is_not_held() -> None:
    for before, now in (
        ({"n": 1}, {"n": True}),
        ({"n": 1}, {"n": 1.0}),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        ({"list": [1, 2]}, {"list": [1, 2, 3]}),
        ({"list": [{"a": "x"}]}, {"list": [{"a": "y"}]}),
        ({}, {"a": None}),
    ):

        def asked(value: dict[str, Any]) -> ModelRequest:
            call = {**use(1), "input": value}
            return request(message("user", text("Go.")), message("assistant", call))

        first = payload(asked(before), "claude-x")
        later = request(*asked(now).messages, *long_step(2))
        assert marked(payload(later, "claude-x", [first])) == [1, 52], before
        equal = request(*asked(copy.deepcopy(before)).messages, *long_step(2))
        assert marked(payload(equal, "claude-x", [first])) == [2, 52], before


def test_who_speaks_and_where_a_message_ends_counts() -> None:
    first = payload(
        request(message("user", text("1"), text("2")), message("assistant", text("3"))), "x"
    )
    shorter = request(message("user", text("1")), message("assistant", text("3")), *long_step(1))
    other = request(
        message("assistant", text("1"), text("2")), message("user", text("3")), *long_step(1)
    )
    assert marked(payload(shorter, "x", [first])) == [52]
    assert marked(payload(other, "x", [first])) == [53]


# --- together: what a provider would find in its cache --------------------------------------


class Cache:
    """A provider's cache: what it keeps, and how far it looks back for it."""

    def __init__(self) -> None:
        self.kept: set[bytes] = set()

    def read(self, sent: Payload, there: list[bytes]) -> int:
        """How many blocks were found; all is kept up to each mark."""
        marks = [0, *marked(sent)]
        tried = {n for mark in marks for n in range(max(0, mark - LOOKS_BACK), mark + 1)}
        found = max((n for n in tried if there[n] in self.kept), default=0)
        self.kept |= {there[mark] for mark in marks}
        return found


Turn = tuple[Sequence[int], bool]  # the calls of each of its steps, whether it is nudged at the end
turns = st.tuples(st.lists(st.integers(1, 30), max_size=4), st.booleans())


@settings(max_examples=15)
@given(st.lists(turns, min_size=1, max_size=4), st.booleans(), st.sampled_from(["native", "text"]))
def test_a_conversation_finds_all_that_was_kept_of_it(
    turns: list[Turn], restarts: bool, protocol: str
) -> None:
    """Also if the program is restarted between turns, and remembers nothing."""
    cache, previous, at_marks = Cache(), list[Payload](), set[bytes]()
    numbers = iter(range(10_000))
    history: tuple[LlmMessage, ...] = ()
    for number, (steps, nudged) in enumerate(turns):
        words = text(f"Words {number}.")
        live, final = (
            [message("user", text(f"<Window {number}/>"), words)],
            [message("user", words)],
        )
        stable = sum(len(one.content) for one in history)
        for calls in (0, *steps, *([-1] if nudged else [])):
            uses = [next(numbers) for _ in range(calls)]
            for form, thought in ((live, [thinking("Hm.")]), (final, [])):
                form.extend(_step(protocol, uses, thought) if calls > 0 else [])
                form.extend(_nudge() if calls < 0 else [])
            asked = request(*history, *live, stable=stable)
            there = prefixes(asked)
            sent = payload(asked, "claude-x", previous)
            held = max((n for n in range(len(there)) if there[n] in at_marks), default=0)
            assert len(marked(sent)) <= 3
            assert cache.read(sent, there) == held
            previous, at_marks = [sent], {there[n] for n in sent.marks}
        history = (*history, *final, message("assistant", text("Done.")))
        if restarts:
            previous = []


def _step(protocol: str, uses: list[int], thought: list[Block]) -> list[LlmMessage]:
    if protocol == "native":
        return [
            message("assistant", *thought, *map(use, uses)),
            message("user", *map(result, uses)),
        ]
    results = [text(f"[action] Done {one}.") for one in uses]
    return [message("assistant", *thought, text(f"Calls {uses}.")), message("user", *results)]


def _nudge() -> list[LlmMessage]:
    return [
        message("assistant", text("Half of")),
        message(
            "user",
            text(
                Words("en")(
                    "(Your answer was cut off within a call, so that call was not carried out. "
                    "Make shorter calls.)"
                )
            ),
        ),
    ]
