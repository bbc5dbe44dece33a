"""The model behind the chat-completions API, over real sockets to a server on loopback."""

import asyncio
import json
from functools import partial
from typing import Any

import pytest

from contextui.agent.controller import InteractionController
from contextui.agent.models.limits import AnswerLimits
from contextui.agent.models.openai import DEFAULT_URL, OpenAIModel, complete_url, is_local
from contextui.config.schema import ToolProtocol
from contextui.context.manager import ContextManager
from contextui.model import (
    LOCAL_PRICES,
    Answer,
    CallBegun,
    LlmMessage,
    ModelError,
    ModelRequest,
    TextDelta,
    ThinkingDelta,
    Tool,
)
from contextui.tokens import Usage
from contextui.windowing.manager import WindowManager
from tests.agent.chat_server import (
    DONE,
    call,
    chat,
    chat_error,
    chunk,
    data,
    pieces,
    stream,
    usage,
)
from tests.agent.models import client
from tests.agent.models.client import HI, KEY, asking, events_of
from tests.agent.models.client import chat_model_of as model_of
from tests.agent.server import HEADERS, Hangup, Raw, Reply, Server, Step, Stream
from tests.agent.server import chunk as http_chunk

TOOLS = (Tool("create", "Open a window.", {"type": "object", "properties": {}}),)


answers = partial(client.answers, make=model_of)
the_answer = partial(client.the_answer, make=model_of)
the_failure = partial(client.the_failure, make=model_of)


def test_a_request_is_sent_as_the_api_takes_it() -> None:
    with Server(chat("Hi.")) as server:
        answers(server, asking("Hello. 你好", tools=TOOLS, max_tokens=123))
        [received] = server.requests
    assert received.path == "/v1/chat/completions"
    assert received.headers["authorization"] == f"Bearer {KEY}"
    assert received.json == {
        "model": "gpt-x",
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_tokens": 123,
        "tools": [
            {
                "type": "function",
                "function": {
                    "name": "create",
                    "description": "Open a window.",
                    "parameters": {"type": "object", "properties": {}},
                },
            }
        ],
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Hello. 你好"},
        ],
    }


def test_calls_results_and_images_are_written_in_the_chat_form() -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA"}}
    one, two = call("create", name="todo"), call("action", text="ä")
    request = ModelRequest(
        "",
        (
            LlmMessage("user", ({"type": "text", "text": "Look."}, image)),
            LlmMessage(
                "assistant",
                (
                    {"type": "thinking", "thinking": "Hm.", "signature": "by someone else"},
                    {"type": "text", "text": "I open it."},
                    one,
                    two,
                ),
            ),
            LlmMessage(
                "user",
                (
                    {"type": "tool_result", "tool_use_id": one["id"], "content": "Opened."},
                    {
                        "type": "tool_result",
                        "tool_use_id": two["id"],
                        "content": [{"type": "text", "text": "Seen."}, image],
                    },
                    {"type": "text", "text": "And now?"},
                ),
            ),
        ),
    )
    with Server(chat("Hi.")) as server:
        answers(server, request)
        messages = server.requests[0].json["messages"]
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}}
    assert messages[0]["content"] == [{"type": "text", "text": "Look."}, picture]
    assert messages[1]["content"] == "I open it."
    assert [one["function"] for one in messages[1]["tool_calls"]] == [
        {"name": "create", "arguments": '{"name": "todo"}'},
        {"name": "action", "arguments": '{"text": "ä"}'},
    ]
    assert "Hm." not in json.dumps(messages)
    assert [one["role"] for one in messages] == ["user", "assistant", "tool", "tool", "user"]
    assert messages[2] == {"role": "tool", "tool_call_id": one["id"], "content": "Opened."}
    assert messages[3]["content"].startswith("Seen.")
    assert messages[4]["content"] == [picture, {"type": "text", "text": "And now?"}]


def test_reasoning_goes_back_in_the_field_that_it_came_in() -> None:
    given = the_answer(chat("Hi.", reasoning="Let me think."))
    assert [block["type"] for block in given.blocks] == ["thinking", "text"]
    request = ModelRequest("", (*HI.messages, LlmMessage("assistant", given.blocks), *HI.messages))
    with Server(chat("Hi.")) as server:
        answers(server, request)
        message = server.requests[0].json["messages"][1]
    assert message == {
        "role": "assistant",
        "content": "Hi.",
        "reasoning_content": "Let me think.",
    }


def test_the_bytes_of_a_request_are_the_beginning_of_the_next() -> None:
    first = asking("One.")
    more = (LlmMessage("assistant", "Yes."), LlmMessage("user", "Two."))
    second = ModelRequest("Be brief.", (*first.messages, *more))
    with Server(chat("Yes."), chat("No.")) as server:
        answers(server, first, second)
        one, two = (received.json["messages"] for received in server.requests)
    assert one == two[: len(one)]


def test_reasoning_text_calls_usage_and_events() -> None:
    step = chat(
        *("I open it.", call("create", name="todo")),
        reasoning="Hm, hm, hm.",
        counted=usage(100, 20, 60),
    )
    with Server(step) as server:
        events = asyncio.run(events_of(model_of(server), asking("Hi.", tools=TOOLS)))
    answer = events[-1]
    assert isinstance(answer, Answer)
    assert "".join(one.text for one in events if isinstance(one, ThinkingDelta)) == "Hm, hm, hm."
    assert "".join(one.text for one in events if isinstance(one, TextDelta)) == "I open it."
    assert [one.name for one in events if isinstance(one, CallBegun)] == ["create"]
    assert [block["type"] for block in answer.blocks] == ["thinking", "text", "tool_use"]
    assert answer.blocks[2]["input"] == {"name": "todo"}
    assert answer.stop_reason == "tool_use"
    assert answer.usage == Usage(40, 20, 60, 0)
    assert answer.model == "gpt-test"


def test_a_server_that_wants_the_newer_name_of_the_limit_gets_it() -> None:
    refusal = chat_error(
        "Unsupported parameter: 'max_tokens' is not supported with this model."
        " Use 'max_completion_tokens' instead."
    )
    with Server(Reply(400, refusal), chat("Hi."), chat("Ho.")) as server:
        assert len(answers(server, HI, HI)) == 2
        sent = [received.json for received in server.requests]
    assert ["max_tokens" in one for one in sent] == [True, False, False]
    assert sent[1]["max_completion_tokens"] == HI.max_tokens


def test_a_server_without_stream_options_gets_none() -> None:
    with Server(Reply(400, chat_error("unknown field: stream_options")), chat("Hi.")) as server:
        answers(server)
        assert "stream_options" not in server.requests[1].json


def test_the_same_complaint_twice_is_an_error() -> None:
    refusal = Reply(400, chat_error("use max_completion_tokens"))
    assert the_failure(refusal, refusal).kind == "bad_request"


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (500, "image input is not supported - hint: you may need to provide the mmproj"),
        (400, "Invalid content type. image_url is only supported by certain models."),
        (404, "No endpoints found that support image input"),
    ],
)
def test_a_model_that_sees_no_images_gets_one_line_instead(status: int, message: str) -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA"}}
    look = ModelRequest("", (LlmMessage("user", ({"type": "text", "text": "Look."}, image)),))
    with Server(Reply(status, chat_error(message)), chat("Hi."), chat("Ho.")) as server:
        model = model_of(server)
        seen = [model.sees]
        asyncio.run(events_of(model, look, look))
        seen.append(model.sees)
        contents = [received.json["messages"][0]["content"] for received in server.requests]
    assert seen == [True, False]
    assert contents[0][1]["type"] == "image_url"
    assert contents[1] == contents[2] == "Look.\n\n(An image, which this model does not see.)"


def test_a_model_without_tools_says_what_helps() -> None:
    refusal = Reply(400, chat_error("registry.ollama.ai/library/gemma does not support tools"))
    caught = the_failure(refusal, request=asking("Hi.", tools=TOOLS))
    assert "--tool-protocol text" in str(caught)
    model, context = OpenAIModel("gemma"), ContextManager(WindowManager())
    declared: dict[ToolProtocol, int] = {"native": 3, "text": 0}
    for protocol, count in declared.items():
        talk = InteractionController(model=model, context=context, tool_protocol=protocol)
        assert len(talk.declared) == count


@pytest.mark.parametrize(
    ("given", "complete"),
    [
        ("http://localhost:11434", "http://localhost:11434/v1"),
        ("http://localhost:11434/", "http://localhost:11434/v1"),
        ("http://localhost:11434/v1/", "http://localhost:11434/v1"),
        ("https://openrouter.ai/api/v1", "https://openrouter.ai/api/v1"),
        ("https://x.example/v1/chat/completions", "https://x.example/v1"),
        ("https://g.example/v1beta/openai", "https://g.example/v1beta/openai"),
        ("http://[broken", "http://[broken"),
    ],
)
def test_addresses_are_completed(given: str, complete: str) -> None:
    assert complete_url(given) == complete


def test_local_servers_have_local_prices() -> None:
    assert OpenAIModel("q", base_url="http://127.0.0.1:8080").prices == LOCAL_PRICES
    assert OpenAIModel("q", base_url="http://localhost:11434").prices == LOCAL_PRICES
    assert OpenAIModel("q", base_url="https://api.openai.com").prices.read == 0.5
    assert not is_local("http://localhost.example.com")
    assert not is_local("http://[broken")


def test_the_key_of_the_environment_goes_to_its_own_server_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with Server(chat("Hi."), chat("Hi.")) as server:
        answers(server, api_key=None)
        assert "authorization" not in server.requests[0].headers
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        answers(server, api_key=None, base_url=None)
        assert server.requests[1].headers["authorization"] == f"Bearer {KEY}"


def test_openai_itself_needs_a_key_before_anything_is_sent() -> None:
    with pytest.raises(ModelError, match="OPENAI_API_KEY") as caught:
        OpenAIModel("gpt-x", base_url=DEFAULT_URL).check()
    assert caught.value.kind == "auth"


_BEGUN = [chunk({"role": "assistant", "content": "I "}), chunk({"content": "open"})]
_TODO = call("create", name="todo")
_SPLIT = 'data: {"choices": [{"index": 0, "delta": {"content": "你好"}}]}'.encode()
_AT = _SPLIT.index("你".encode()) + 1  # within a character
_WHOLE = (chunk(finish="stop"), usage(), DONE)


def _sized(*events: bytes) -> Raw:
    """A stream whose pieces are cut without regard to characters and lines."""
    whole = b"".join(events)
    cut = [whole[at : at + 5] for at in range(0, len(whole), 5)]
    return Raw(lambda: [HEADERS, *map(http_chunk, cut), b"0\r\n\r\n"])


FAILURES: dict[str, tuple[Step, str]] = {
    # the stream ends too early
    "cut/no events": (stream(), "cut"),
    "cut/within text": (stream(*_BEGUN), "cut"),
    "cut/done without a reason": (stream(*_BEGUN, DONE), "cut"),
    "cut/within a call": (stream(*pieces(0, _TODO)[:3]), "cut"),
    "cut/call, done without a reason": (stream(*pieces(0, _TODO), DONE), "cut"),
    "cut/half an event": (stream(*_BEGUN, b'data: {"choices": [{"del'), "cut"),
    "cut/within a character": (stream(*_BEGUN, _SPLIT[:_AT], end="close"), "cut"),
    "cut/only a role": (stream(chunk({"role": "assistant"})), "cut"),
    "cut/only usage": (stream(usage(), DONE), "cut"),
    "cut/only done": (stream(DONE), "cut"),
    # the stream is garbled
    "bytes/a list": (stream(data([1, 2]), *_WHOLE), "cut"),
    "bytes/a number": (stream(data(17), *_WHOLE), "cut"),
    "bytes/choices is text": (stream(data({"choices": "no"}), *_WHOLE), "cut"),
    "bytes/a choice is text": (stream(data({"choices": ["no"]}), *_WHOLE), "cut"),
    "bytes/delta is text": (stream(data({"choices": [{"delta": "no"}]}), *_WHOLE), "cut"),
    "bytes/tool_calls is text": (stream(chunk({"tool_calls": "no"}), *_WHOLE), "cut"),
    "bytes/an index is a list": (stream(chunk({"tool_calls": [{"index": []}]}), *_WHOLE), "cut"),
    "bytes/a call is text": (stream(chunk({"tool_calls": ["no"]}), *_WHOLE), "cut"),
    "bytes/a piece without a call": (
        stream(chunk({"tool_calls": [{"index": 3, "function": {"arguments": "{"}}]}), *_WHOLE),
        "cut",
    ),
    # errors of the server
    "status/400 context": (
        Reply(400, chat_error("Too many tokens.", code="context_length_exceeded")),
        "too_large",
    ),
    "status/400 vLLM context": (
        Reply(400, {"object": "error", "message": "This model's maximum context length is 4096"
                    " tokens.", "type": "BadRequestError", "code": 400}),
        "too_large",
    ),
    "status/400 reasoning": (
        Reply(400, chat_error("messages[1]: unexpected reasoning_content")), "thinking"
    ),
    "status/401 key": (Reply(401, chat_error(f"Wrong key: {KEY}")), "auth"),
    "status/404 model": (Reply(404, chat_error("The model `gpt-x` does not exist")), "not_found"),
    "status/404 Ollama": (Reply(404, {"error": "model 'gpt-x' not found"}), "not_found"),
    "status/429 out of credit": (
        Reply(429, chat_error("You exceeded your quota.", code="insufficient_quota")), "auth"
    ),
    "status/500 with a list": (Reply(500, '[{"error": {"message": "no"}}]'), "server"),
    "status/400 with a list": (Reply(400, '[{"error": {"message": "no"}}]'), "bad_request"),
    "status/short body": (Reply(500, "half", is_short=True), "server"),
    # errors within a stream
    "within/error": (stream(*_BEGUN, data(chat_error("It broke.", "server_error"))), "server"),
    "within/overloaded": (
        stream(*_BEGUN, data({"error": {"code": 529, "message": "Overloaded"}})), "overloaded"
    ),
    "within/rate limit": (stream(data({"error": {"code": 429, "message": "no"}})), "rate_limit"),
    "within/text": (stream(*_BEGUN, data({"error": "out of memory"})), "server"),
    "within/finish": (stream(*_BEGUN, chunk(finish="error"), DONE), "server"),
    "within/anthropic's form": (
        stream(data({"type": "error", "error": {"type": "overloaded_error", "message": "no"}})),
        "overloaded",
    ),
    # something else than a stream
    "kind/JSON error": (Reply(200, chat_error("It broke.", "server_error")), "server"),
    # connections
    "connection/hangup": (Hangup(), "connection"),
    "connection/hang": (Hangup(held=True), "silent"),
}  # fmt: skip


@pytest.mark.parametrize("group", dict.fromkeys(name.partition("/")[0] for name in FAILURES))
def test_a_fault_is_an_error_of_its_kind_in_one_line(group: str) -> None:
    for name, (step, kind) in FAILURES.items():
        if name.startswith(f"{group}/"):
            caught = the_failure(
                step, limits=AnswerLimits(silence=0.4 if kind == "silent" else 120)
            )
            assert caught.kind == kind, f"{name}: {caught}"
            assert "\n" not in str(caught), name
            assert len(str(caught)) < 600, name
            assert KEY not in str(caught), name
            assert "<html" not in str(caught), name
            assert "ANTHROPIC" not in str(caught), name


_CALLS = [call("create", name=name) for name in ("a", "b")]


def _called(arguments: Any, index: int | None = 0, id_: str | None = "x") -> bytes:
    """A chunk with a call of `create`."""
    made = {"index": index, "id": id_, "function": {"name": "create", "arguments": arguments}}
    return chunk({"tool_calls": [{key: made[key] for key in made if made[key] is not None}]})


_HI, _CALLED = chunk({"content": "Hi."}), chunk(finish="tool_calls")

GREETINGS: dict[str, Step] = {  # each says "Hi." and ends
    "plain": chat("Hi."),
    "no usage": stream(_HI, chunk(finish="stop"), DONE),
    "no done": stream(_HI, chunk(finish="stop")),
    "no content type": Stream([_HI, *_WHOLE], content_type=""),
    "text in one chunk with the reason": stream(chunk({"content": "Hi."}, "stop"), DONE),
    "carriage returns": stream(_HI.replace(b"\n", b"\r\n"), *_WHOLE),
    "comments between": stream(b": OPENROUTER PROCESSING\n\n", _HI, b": x\n", *_WHOLE),
    "empty choices first": stream(data({"choices": [], "prompt_filter_results": []}), _HI, *_WHOLE),
    "null delta": stream(data({"choices": [{"index": 0, "delta": None}]}), _HI, *_WHOLE),
    "null content": stream(chunk({"content": None, "tool_calls": None}), _HI, *_WHOLE),
    "another choice": stream(
        data({"choices": [{"index": 1, "delta": {"content": "No."}}]}), _HI, *_WHOLE
    ),
    "unknown events": stream(data({"object": "ping"}), _HI, *_WHOLE),
    "arguments that are no JSON": stream(_HI, _called("{name: a}"), _CALLED),
    "arguments that are a list": stream(_HI, _called("[1]"), _CALLED),
    "odd usage": stream(
        _HI, chunk(finish="stop"),
        data({"choices": [], "usage": {"prompt_tokens": -1, "completion_tokens": "7"}}), DONE,
    ),
}  # fmt: skip
_A, _A_AND_B = [{"name": "a"}], [{"name": "a"}, {"name": "b"}]
WHOLE: dict[str, tuple[Step, list[Any], str]] = {
    **{name: (step, ["Hi."], "end_turn") for name, step in GREETINGS.items()},
    "a split character": (_sized(_SPLIT + b"\n\n", *_WHOLE), ["你好"], "end_turn"),
    "a call": (chat(_TODO), [{"name": "todo"}], "tool_use"),
    "a call that stops as text does": (chat(_TODO, finish="stop"), [{"name": "todo"}], "tool_use"),
    "two calls": (chat(*_CALLS), _A_AND_B, "tool_use"),
    "two calls, one index": (
        stream(*(_called(json.dumps(one["input"]), id_=one["id"]) for one in _CALLS), _CALLED),
        _A_AND_B, "tool_use"),
    "two calls, mixed": (
        stream(*[one for pair in zip(pieces(0, _CALLS[0]), pieces(1, _CALLS[1]), strict=True)
                 for one in pair], _CALLED, DONE), _A_AND_B, "tool_use"),
    "a call without an index": (
        stream(chunk({"tool_calls": [{"id": "x", "function": {"name": "create"}}]}),
               chunk({"tool_calls": [{"function": {"arguments": '{"name":"a"}'}}]}), _CALLED),
        _A, "tool_use"),
    "a call without an id": (stream(_called('{"name":"a"}', id_=None), _CALLED), _A, "tool_use"),
    "arguments as an object": (
        stream(_called({"name": "a"}), chunk(finish="stop"), DONE), _A, "tool_use"),
    "a call without arguments": (stream(_called(""), _CALLED), [{}], "tool_use"),
    "the name again in each piece": (
        stream(_called('{"name"'), _called(':"a"}'), _CALLED), _A, "tool_use"),
    "text after a call": (
        stream(*pieces(0, _TODO), chunk({"content": "Done."}), _CALLED, DONE),
        ["Done.", {"name": "todo"}], "tool_use"),
    "cut off": (chat("Hi.", finish="length"), ["Hi."], "max_tokens"),
    "cut off within a call": (
        stream(_HI, *pieces(0, _TODO)[:2], chunk(finish="length"), DONE), ["Hi."], "max_tokens"),
    "filtered": (chat("Hi.", finish="content_filter"), ["Hi."], "refusal"),
    "refused in words": (
        stream(chunk({"refusal": "I cannot."}), *_WHOLE), ["I cannot."], "end_turn"),
    "an unknown reason": (chat("Hi.", finish="tired"), ["Hi."], "tired"),
    "nothing": (stream(chunk(finish="stop"), DONE), [], "end_turn"),
}  # fmt: skip


def test_an_odd_but_whole_answer_is_read() -> None:
    for name, (step, content, reason) in WHOLE.items():
        answer = the_answer(step)
        assert [one.get("text", one.get("input")) for one in answer.blocks] == content, name
        assert answer.stop_reason == reason, name
        assert all(one["id"] for one in answer.blocks if one["type"] == "tool_use"), name


def test_a_call_that_was_cut_off_is_named_and_not_made() -> None:
    step = stream(*pieces(0, _TODO)[:2], chunk(finish="length"), DONE)
    answer = the_answer(step)
    assert (answer.blocks, answer.cut_calls) == ((), ("create",))


def test_cached_tokens_never_exceed_what_was_sent() -> None:
    assert the_answer(chat("Hi.", counted=usage(10, 5, 99))).usage == Usage(0, 5, 10)
