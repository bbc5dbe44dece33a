"""Requests in the provider's form: what is sent, and where cache marks stand."""

import copy
import json
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from contextui.agent.cache_marks import Payload, payload
from contextui.model import Block, LlmMessage, ModelRequest, Role, Tool

MARK = {"type": "ephemeral"}
TOOLS = (Tool("create", "Open a window.", {"type": "object"}), Tool("action", "Act.", {}))


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


def test_plain_text_becomes_one_block() -> None:
    sent = payload(ModelRequest("", (LlmMessage("user", "Hi."),)), "claude-x")
    assert sent.body["messages"][0]["content"] == [{**text("Hi."), "cache_control": MARK}]


def test_without_a_system_prompt_the_last_tool_has_its_mark() -> None:
    body = payload(request(message("user", text("Hi.")), system=" \n"), "claude-x").body
    assert "system" not in body
    assert ["cache_control" in tool for tool in body["tools"]] == [False, True]
    # Without tools, none of both is sent.
    body = payload(ModelRequest("", (message("user", text("Hi.")),)), "claude-x").body
    assert sorted(body) == ["max_tokens", "messages", "model"]


def test_the_request_itself_is_never_changed() -> None:
    asked = request(message("user", text("a"), text("b"), text("c")), stable=1)
    before = copy.deepcopy(asked)
    sent = payload(asked, "claude-x")
    assert asked == before
    assert sent_blocks(sent)[1] is asked.blocks()[1]  # what has no mark is not copied either
    assert marked(sent) == [1, 3]


def test_marks_are_set_after_what_is_final_and_at_the_end() -> None:
    one, two = message("user", text("1")), message("assistant", text("2"))
    mapping = MappingProxyType({"type": "text", "text": "Hi."})
    for messages, stable, marks in (
        ((one, two, message("user", text("3"), text("4"))), 2, [2, 4]),
        ((one,), 1, [1]),
        ((one,), 9, [1]),  # more can be final than there is
        ((message("user", mapping),), 0, [1]),
        ((message("user", text("")), message("assistant", thinking("Hm."))), 2, []),
    ):
        assert marked(payload(request(*messages, stable=stable), "claude-x")) == marks, messages


def test_marks_stand_where_the_request_says() -> None:
    history = (message("user", text("1")), message("assistant", text("2"), thinking("Hm.")))
    asked = replace(request(*history, message("user", text("3"))), marks=(3, 4))
    body = payload(asked, "claude-x").body
    assert marked(payload(asked, "claude-x")) == [2, 4]
    assert "cache_control" not in json.dumps([body["system"], body["tools"]])


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


def test_a_result_of_several_parts_is_marked_as_a_whole() -> None:
    asked = request(message("user", result(1, "Done.", "<Window/>")))
    assert sent_blocks(payload(asked, "claude-x")) == [
        {**result(1, "Done.", "<Window/>"), "cache_control": MARK}
    ]


def test_a_mark_stays_where_the_request_before_ended() -> None:
    """Its cache is read from there, however much comes after it."""
    asked = message("user", text("1"), text("2"))
    much = [text(str(number)) for number in range(30)]
    step = message("assistant", use(1)), message("user", result(1))
    first = payload(request(asked), "claude-x")
    for later, marks in (
        ((asked, message("assistant", *much)), [2, 32]),
        ((message("user", text("1"), text("2"), *much),), [2, 32]),  # more was said before it spoke
        ((asked, *step), [2, 4]),
        ((message("user", text("1"), text("other")), *step), [4]),
        ((message("user", text("1")),), [1]),
    ):
        second = payload(request(*later), "claude-x", first)
        assert marked(second) == marks, later
    grown = payload(request(asked, *step), "claude-x", first)
    other = payload(request(asked, step[0], message("user", *much)), "claude-x", grown)
    assert marked(other) == [2, 33], "the one before is not its start, but the first still is"


def test_what_is_written_differently_is_written_again() -> None:
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
        later = payload(asked(now), "claude-x", first)
        assert json.dumps(later.body) == json.dumps(payload(asked(now), "claude-x").body), before


def test_who_speaks_and_where_a_message_ends_counts() -> None:
    first = payload(
        request(message("user", text("1"), text("2")), message("assistant", text("3"))), "x"
    )
    for other in (
        request(message("user", text("1")), message("assistant", text("3"))),
        request(message("assistant", text("1"), text("2")), message("user", text("3"))),
    ):
        assert payload(other, "x", first).body == payload(other, "x").body
