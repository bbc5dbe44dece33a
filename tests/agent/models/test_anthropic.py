"""The model behind the Messages API: the real SDK, over real sockets, to a server on loopback."""

import asyncio
import copy
import gzip
import json
import logging
import subprocess
import sys
import threading
import traceback
import zlib
from collections.abc import Callable
from contextlib import aclosing
from itertools import pairwise
from typing import Any

import pytest

from contextui.agent.models.anthropic import AnthropicModel
from contextui.agent.models.openai import OpenAIModel
from contextui.agent.models.remote import RemoteModel
from contextui.model import (
    Answer,
    Block,
    CallBegun,
    LlmMessage,
    ModelError,
    ModelRequest,
    TextDelta,
    ThinkingDelta,
    Tool,
    UsageUpdated,
)
from contextui.tokens import Usage
from tests.agent.chat_server import stream
from tests.agent.models.client import (
    HI,
    KEY,
    answers,
    asking,
    chat_model_of,
    events_of,
    failure,
    model_of,
    the_answer,
)
from tests.agent.server import (
    Hangup,
    Reply,
    Server,
    Step,
    Stream,
    answer,
    block_events,
    call,
    error,
    start,
    thinking,
)

TOOLS = (Tool("create", "Open a window.", {"type": "object", "properties": {}}),)


def test_a_request_is_sent_as_the_api_takes_it() -> None:
    with Server(answer("Hi.")) as server:
        answers(server, asking("Hello. 你好", tools=TOOLS, max_tokens=123))
        [received] = server.requests
    assert received.path == "/v1/messages"
    assert received.headers["authorization"] == f"Bearer {KEY}"
    assert received.json == {
        "model": "claude-x",
        "max_tokens": 123,
        "stream": True,
        "system": [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}],
        "tools": [
            {
                "name": "create",
                "description": "Open a window.",
                "input_schema": {"type": "object", "properties": {}},
            }
        ],
        "messages": [
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "Hello. 你好", "cache_control": {"type": "ephemeral"}}
                ],
            }
        ],
    }
    assert "你好".encode() in received.body


async def test_an_answer_is_streamed_and_then_complete() -> None:
    blocks = (thinking("Let me see."), {"type": "text", "text": "Here."}, call("create", name="x"))
    usage = {"input_tokens": 7, "cache_read_input_tokens": 900}
    with Server(answer(*blocks, usage=usage, pieces=4)) as server:
        events = await events_of(model_of(server))
    assert events == [
        UsageUpdated(Usage(7, 1, 900, 0)),
        ThinkingDelta("Let "),
        ThinkingDelta("me s"),
        ThinkingDelta("ee."),
        TextDelta("Here"),
        TextDelta("."),
        CallBegun("create"),
        UsageUpdated(Usage(7, 25, 900, 0)),
        Answer(blocks, "tool_use", Usage(7, 25, 900, 0), "claude-test-5-5"),
    ]


async def test_text_is_emitted_as_it_arrives() -> None:
    whole = answer("Hi.")
    with Server(Stream(whole[:4], held=True, then=whole[4:])) as server:
        async with aclosing(model_of(server)) as model:
            events = aiter(model.stream(HI))
            kinds = [type(await anext(events)) for _ in range(2)]  # the server holds the rest back
            server.release()
            kinds += [type(event) async for event in events]
    assert kinds == [UsageUpdated, TextDelta, UsageUpdated, Answer]


def test_what_is_sent_back_is_what_came() -> None:
    blocks: tuple[Block, ...] = (
        thinking("Hm.", "c2lnbmF0dXJl"),
        {"type": "redacted_thinking", "data": "eHg="},
        {"type": "text", "text": "Yes. \u2028 </Window>"},
        call("create", name="todo", args={"b": 1.0, "a": [None, True, "\t"]}),
    )
    with Server(answer(*blocks), answer("Done.")) as server:
        [first] = answers(server)
        result: Block = {
            "type": "tool_result",
            "tool_use_id": first.blocks[3]["id"],
            "content": "x",
        }
        later = (LlmMessage("assistant", first.blocks), LlmMessage("user", (result,)))
        answers(server, ModelRequest(HI.system, (*HI.messages, *later)))
        before, now = server.requests
    assert [block for role, block in now.blocks() if role == "assistant"] == list(blocks)
    assert before.begins(now)
    assert not now.begins(before)


def test_thinking_is_spoken_of_only_if_it_is_wanted() -> None:
    for tokens, sent, max_tokens in (
        (None, None, 1_000),
        (0, {"type": "disabled"}, 1_000),
        (2_048, {"type": "enabled", "budget_tokens": 2_048}, 3_048),
    ):
        with Server(answer("Hi.")) as server:
            answers(server, asking("Hi.", max_tokens=1_000), thinking=tokens)
            body = server.requests[0].json
        assert body.get("thinking") == sent, tokens
        assert ("thinking" in body) == (sent is not None), tokens
        assert body["max_tokens"] == max_tokens, tokens
        assert "temperature" not in body, tokens


def steps_of(count: int) -> list[ModelRequest]:
    """The requests of one turn, each step of which makes 15 calls."""
    messages = [*HI.messages]
    requests = [HI]
    for step in range(count):
        calls = [call("action", n=n, step=step) for n in range(15)]
        results: list[Block] = [
            {"type": "tool_result", "tool_use_id": one["id"], "content": "Done."} for one in calls
        ]
        messages += [LlmMessage("assistant", tuple(calls)), LlmMessage("user", tuple(results))]
        requests.append(ModelRequest(HI.system, tuple(messages)))
    return requests


def test_each_request_has_a_mark_where_the_previous_one_ended() -> None:
    requests = steps_of(3)
    kept = copy.deepcopy(requests)
    with Server(*(answer("Hi.") for _ in requests)) as server:
        answers(server, *requests)
        received = server.requests
    assert [one.marks() for one in received] == [[0, 1], [0, 1, 31], [0, 31, 61], [0, 61, 91]]
    for before, now in pairwise(received):
        assert before.begins(now)
    for one in received:
        assert one.body.count(b'"cache_control":{"type":"ephemeral"}') == len(one.marks())
        assert one.body.count(b"cache_control") == len(one.marks()) <= 4
    assert requests == kept


@pytest.mark.parametrize(
    ("step", "read"),
    [(Reply(529, error("overloaded_error")), 1), (Stream([start()], end="close"), 31)],
    ids=["refused", "broke off"],
)
async def test_a_request_that_was_not_read_left_no_mark(step: Step, read: int) -> None:
    first, second, third = steps_of(2)
    with Server(answer("Hi."), step, answer("Hi.")) as server:
        async with aclosing(model_of(server)) as model:
            await one_answer(model, first)
            with pytest.raises(ModelError):
                await one_answer(model, second)
            await one_answer(model, third)
        assert [one.marks() for one in server.requests] == [[0, 1], [0, 1, 31], [0, read, 61]]


async def one_answer(model: RemoteModel, request: ModelRequest = HI) -> Answer:
    *_, last = [event async for event in model.stream(request)]
    assert isinstance(last, Answer)
    return last


def nested(depth: int) -> Any:
    value: Any = "x"
    for _ in range(depth):
        value = [value]
    return value


def test_what_cannot_be_written_is_not_sent() -> None:
    for value in ("\ud83d", float("nan"), float("inf"), object(), nested(5_000)):
        with Server(answer("Hi.")) as server:
            caught = failure(server, asking({**call("action"), "input": {"value": value}}))
            assert server.requests == [], value
        assert caught.kind == "bad_request", value


async def test_what_cannot_be_written_breaks_no_later_request() -> None:
    deep = asking({**call("action"), "input": {"value": nested(5_000)}})
    with Server(answer("Hi.")) as server:
        async with aclosing(model_of(server)) as model:
            for request in (deep, copy.copy(deep)):
                with pytest.raises(ModelError):
                    await one_answer(model, request)
            assert (await one_answer(model)).blocks == ({"type": "text", "text": "Hi."},)


async def test_without_a_key_nothing_is_sent_to_anthropic() -> None:
    with pytest.raises(ModelError, match=r"^ANTHROPIC_API_KEY is not set") as caught:
        await one_answer(AnthropicModel("claude-x"))
    assert caught.value.kind == "auth"
    with pytest.raises(ModelError, match="ANTHROPIC_BASE_URL"):
        await one_answer(AnthropicModel("x", base_url="https://api.anthropic.com/v1/"))


def test_other_servers_may_need_no_key() -> None:
    with Server(answer("Hi."), Reply(401, error("authentication_error"))) as server:
        answers(server, api_key=None)
        assert server.requests[0].headers["authorization"] == "Bearer none"
        caught = failure(server, api_key=None)
    assert "set ANTHROPIC_API_KEY" in str(caught)


def test_key_and_address_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    with Server(answer("Hi."), answer("Hi.")) as server:
        monkeypatch.setenv("ANTHROPIC_API_KEY", "from-the-environment\n")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        asyncio.run(events_of(AnthropicModel("claude-x")))
        asyncio.run(events_of(AnthropicModel("claude-x", api_key="given")))
        keys = [one.headers["authorization"] for one in server.requests]
    assert keys == ["Bearer from-the-environment", "Bearer given"]


def test_an_address_may_end_as_it_likes() -> None:
    for end in ("/", "/v1", "/v1/"):
        with Server(answer("Hi.")) as server:
            answers(server, base_url=f" {server.url}{end}")
            assert server.requests[0].path == "/v1/messages", end


def test_the_key_is_nowhere_to_be_seen(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    echo = f"The key {KEY} is wrong"
    with Server(
        answer("Hi."), Reply(401, error("authentication_error", echo)),
        Reply(500, echo), [start(), error("api_error", echo)], Hangup(),
    ) as server:  # fmt: skip
        model = model_of(server)
        asyncio.run(events_of(model))
        caught = [failure(server) for _ in range(4)]
    assert KEY not in repr(model)
    assert KEY not in repr(vars(model))
    chat = repr(OpenAIModel("gpt-x", api_key=KEY, base_url="http://name:password@127.0.0.1:9/v1"))
    assert not any(secret in chat for secret in (KEY, "password"))
    for one in caught:
        assert KEY not in "".join(traceback.format_exception(one))
    assert "*** is wrong" in str(caught[0])
    assert "HTTP Request" in caplog.text  # the SDK logs a good deal
    assert KEY not in caplog.text


def test_a_key_that_is_none_is_not_sent() -> None:
    for key in ("schlüssel-4711", "two\nlines-4711", "nul\0-4711"):
        with Server(answer("Hi.")) as server:
            caught = failure(server, api_key=key)
            assert server.requests == [], key
        assert caught.kind == "auth", key
        assert "4711" not in "".join(traceback.format_exception(caught)), key


def test_who_asks_is_not_shown_with_the_address() -> None:
    with Server(Reply(500)) as server:
        url = server.url.replace("://", "://me:pa%23ss@") + "?token=abc"
        assert "pa" not in repr(AnthropicModel("claude-x", base_url=url)).partition("http://")[2]
        caught = failure(server, base_url=url)
        assert server.url in str(caught)
    assert "pa%23ss" not in str(caught)
    assert "abc" not in str(caught)


HELD = Stream([start(), *block_events(0, {"type": "text", "text": "Hi."})], held=True)


async def test_who_stops_reading_ends_the_connection() -> None:
    with Server(HELD) as server:
        async with aclosing(model_of(server)) as model:
            async with aclosing(model.stream(HI)) as events:
                assert [await anext(events), await anext(events)][1] == TextDelta("Hi.")
            assert await asyncio.to_thread(server.wait_until_gone)


@pytest.mark.parametrize(
    ("make", "step"),
    [(model_of, HELD), (model_of, Hangup(held=True)), (chat_model_of, stream(held=True))],
    ids=["within", "before", "chat"],
)
async def test_who_is_cancelled_ends_the_connection(
    make: Callable[..., RemoteModel], step: Step
) -> None:
    with Server(step) as server:
        async with aclosing(make(server)) as model:
            asked = asyncio.create_task(one_answer(model))
            while not server.requests:
                await asyncio.sleep(0.01)
            asked.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asked
            assert await asyncio.to_thread(server.wait_until_gone)


def test_a_complete_answer_does_not_wait_for_the_connection_to_close() -> None:
    """The server said that this is all, and keeps the line open."""
    with Server(Stream(answer("Hi."), held=True)) as server:
        assert answers(server)[0].blocks == ({"type": "text", "text": "Hi."},)
        assert server.wait_until_gone()


def test_a_complete_answer_counts_whatever_follows_it() -> None:
    for end in ("close", "reset"):
        assert the_answer(Stream(answer("Hi."), end=end)).stop_reason == "end_turn"
    assert the_answer(Stream([*answer("Hi."), b"\xff\n\n"])).stop_reason == "end_turn"
    assert the_answer([*answer("Hi."), error("api_error")]).stop_reason == "end_turn"


def test_a_compressed_answer_is_read() -> None:
    events = b"".join(f"data: {json.dumps(event)}\n\n".encode() for event in answer("Hi."))
    for encoding, packed in (("gzip", gzip.compress(events)), ("deflate", zlib.compress(events))):
        headers = {"content-encoding": encoding, "content-type": "text/event-stream"}
        assert the_answer(Reply(200, packed, headers)).blocks == ({"type": "text", "text": "Hi."},)
        with pytest.raises(ModelError, match="broke off"):
            the_answer(Reply(200, packed[:-40], headers))


def test_one_connection_serves_many_requests() -> None:
    with Server(answer("1"), answer("2"), answer("3")) as server:
        answers(server, HI, HI, HI)
        assert server.connections == 1


async def test_requests_may_run_side_by_side() -> None:
    with Server(*(answer(str(n)) for n in range(5))) as server:
        async with aclosing(model_of(server)) as model:
            found = await asyncio.gather(*(one_answer(model) for _ in range(5)))
    assert sorted(one.blocks[0]["text"] for one in found) == ["0", "1", "2", "3", "4"]


def test_a_model_outlives_its_event_loop() -> None:
    with Server(answer("1"), answer("2")) as server:
        model = model_of(server)
        for text in ("1", "2"):
            assert TextDelta(text) in asyncio.run(events_of(model))


async def test_closing_twice_or_before_anything_is_fine() -> None:
    model = AnthropicModel("claude-x")
    assert model.name == "claude-x"
    await model.aclose()
    await model.aclose()


FIRST_USE = """
import sys
from contextui import OpenAIModel
from contextui.agent.models.anthropic import AnthropicModel

for model in (AnthropicModel, OpenAIModel):
    repr(model("x", base_url="http://127.0.0.1:9"))
print(sys.modules.keys() & {"anthropic", "httpx2", "textual", "tiktoken"})
"""


def test_the_sdk_is_loaded_on_first_use_and_beside_the_event_loop(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    done = subprocess.run([sys.executable, "-c", FIRST_USE], capture_output=True, check=True)
    assert done.stdout == b"set()\n"
    threads = list[threading.Thread]()
    make = AnthropicModel._make_client

    def noted(model: AnthropicModel) -> Any:
        threads.append(threading.current_thread())
        return make(model)

    monkeypatch.setattr(AnthropicModel, "_make_client", noted)
    with Server(answer("Hi.")) as server:
        answers(server)
    assert len(threads) == 1
    assert threads[0] is not threading.main_thread()
