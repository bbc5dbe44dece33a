"""How requests fail: the kind that the loop goes by, and the words that the person reads."""

import re
import tracemalloc
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from importlib import import_module
from itertools import chain, count, repeat
from typing import Any

import pytest

from contextui.agent.models import remote
from contextui.agent.models.connection import Endpoint
from contextui.agent.models.failures import reported
from contextui.agent.models.limits import AnswerLimits
from contextui.agent.models.remote import RemoteModel
from contextui.model import ErrorKind, ModelError
from tests.agent.models.client import asking, chat_model_of, failure, model_of, the_failure
from tests.agent.server import (
    HEADERS,
    Event,
    Hangup,
    Raw,
    Reply,
    Server,
    Step,
    Stream,
    answer,
    block_events,
    bomb,
    call,
    chunk,
    drip,
    error,
    repeated,
    start,
)

ENDPOINT = Endpoint("https://example.com", "claude-x")

STATUS: list[tuple[int, Any, ErrorKind, str]] = [
    (400, error("invalid_request_error", "tools.0: bad"), "bad_request", "400.*tools.0: bad"),
    (401, error("authentication_error", "invalid x-api-key"), "auth", "ANTHROPIC_API_KEY"),
    (402, error("billing_error", "Pay."), "auth", "Pay."),
    (403, error("permission_error", "Not for you."), "auth", "ANTHROPIC_API_KEY.*Not for you"),
    (403, "<html>Forbidden</html>", "auth", "ANTHROPIC_API_KEY.$"),
    (404, error("not_found_error", "model: claude-x"), "not_found", 'the model "claude-x"'),
    (404, {"error": "model 'claude-x' not found"}, "not_found", "/model or --model"),
    (404, {"detail": "Not Found"}, "not_found", "ANTHROPIC_BASE_URL.*It says: Not Found"),
    (404, "<html>404</html>", "not_found", "http://127.0.0.1:.*check ANTHROPIC_BASE_URL"),
    (405, "Method Not Allowed", "not_found", "no Messages API at this address.*Method Not Allowed"),
    (501, "Unsupported method", "not_found", "no Messages API at this address.*Unsupported method"),
    (408, error("timeout_error"), "server", "408"),
    (409, error("conflict_error"), "server", "409"),
    (413, error("request_too_large", "Over 32 MB."), "too_large", "too large.*Over 32 MB"),
    (413, "<html>nginx</html>", "too_large", "too large for the model.$"),
    (418, "", "bad_request", "418"),
    (422, {"detail": [{"loc": ["x"]}]}, "bad_request", "422"),
    (429, error("rate_limit_error", "Slowly."), "rate_limit", "Slowly"),
    (500, error("api_error", "Oh."), "server", "500.*Oh"),
    (500, error("overloaded_error"), "overloaded", "is overloaded"),
    (502, "<html>Bad gateway</html>", "server", r"failed \(status 502\).$"),
    (503, "", "server", "503"),
    (529, error("overloaded_error", "Overloaded"), "overloaded", "is overloaded.*Overloaded"),
    (529, b"\xff\xfe", "overloaded", "is overloaded"),
]


def test_a_status_is_mapped_to_a_kind_and_a_message() -> None:
    for status, body, kind, words in STATUS:
        with Server(Reply(status, body)) as server:
            caught = failure(server)
            assert caught.kind == kind, (status, body)
            assert len(server.requests) == 1  # who asks decides whether to try again
        assert re.search(words, str(caught)), (status, body)
        assert "<html>" not in str(caught)


TOO_LONG = [
    "prompt is too long: 213462 tokens > 200000 maximum",
    "input length and `max_tokens` exceed context limit: 195000 + 8192 > 200000",
    "the request exceeds the available context size (4096 tokens), try increasing it",
    "This model's maximum context length is 8192 tokens.",
    "Input is too long for requested model.",
]
THINKING = [
    "messages.1.content.0: Invalid `signature` in `thinking` block",
    "messages.1.content.12: `thinking` or `redacted_thinking` blocks in the latest assistant "
    "message cannot be modified. These blocks must remain as they were in the original response.",
    "messages.3.content.0.thinking.signature: Field required",
    "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `text`. When "
    "`thinking` is enabled, a final `assistant` message must start with a thinking block.",
    "messages.5.content.0: prefix_mismatch: the messages before this block have changed",
]
OTHER = [
    "max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens",
    "`max_tokens` must be greater than `thinking.budget_tokens`",
    "messages.2: `tool_use` ids were found without `tool_result` blocks immediately after",
    "Your credit balance is too low to access the API.",
]


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        *((one, "too_large") for one in TOO_LONG),
        *((one, "thinking") for one in THINKING),
        *((one, "bad_request") for one in OTHER),
    ],
)
def test_a_refused_request_says_what_can_be_done_about_it(words: str, kind: ErrorKind) -> None:
    caught = reported(error("invalid_request_error", words), ENDPOINT, 400)
    assert caught.kind == kind
    assert words[:60] in str(caught)
    assert not caught.is_transient
    passed_on = {"error": {"message": "Upstream: " + "x" * 500 + words}}
    assert reported(passed_on, ENDPOINT, 400).kind == kind
    nested = {"error": {"type": "request_fail", "upstream_error": {"message": words}}}
    assert reported(nested, ENDPOINT, 400).kind == kind


def test_what_a_server_says_is_shown_in_one_inert_line() -> None:
    message = "One\ntwo \x1b[31m sk-ant-api03-abcdefghijklmnop " + "x" * 1_000_000
    words = str(reported({"error": {"message": message}}, ENDPOINT, 500))
    assert "It says: One two ␛[31m sk-ant-***" in words
    assert len(words) < 500


@pytest.mark.parametrize(
    ("event", "kind"),
    [
        (error("overloaded_error", "Sorry."), "overloaded"),
        (error("rate_limit_error", "Sorry."), "rate_limit"),
        (error("timeout_error", "Sorry."), "server"),
        (error("invalid_request_error", "Sorry."), "bad_request"),
        (error("authentication_error", "Sorry."), "auth"),
        (error("something_new", "Sorry."), "server"),
        *(({"type": "error", **odd}, "server") for odd in ({}, {"error": None}, {"error": 5})),
    ],
)
def test_an_error_within_a_stream_is_judged_by_its_type(event: Event, kind: ErrorKind) -> None:
    caught = the_failure([start(), event])
    assert caught.kind == kind
    assert ("It says: Sorry." in str(caught)) == bool(event.get("error") not in (None, 5))
    assert "(status" not in str(caught)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "1500"}, 1.5),
        ({"retry-after-ms": "1500", "retry-after": "7"}, 1.5),
        ({"retry-after-ms": "soon", "retry-after": "7"}, 7.0),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "Fri, 01 Jan 2021 00:00:00 GMT"}, 0.0),
        ({}, None),
    ],
)
def test_the_retry_after_header_is_used(headers: dict[str, str], seconds: float | None) -> None:
    caught = the_failure(Reply(429, error("rate_limit_error"), headers))
    assert caught.retry_after == seconds


def test_the_retry_after_header_may_be_a_date() -> None:
    date = format_datetime(datetime.now(UTC) + timedelta(hours=2), usegmt=True)
    caught = the_failure(Reply(529, error("overloaded_error"), {"retry-after": date}))
    assert caught.retry_after is not None
    assert 7_000 < caught.retry_after <= 7_200


def test_a_refused_connection_names_the_address(closed: str) -> None:
    with Server() as server:
        caught = failure(server, base_url=closed)
    assert caught.kind == "unreached"
    assert f"Nothing listens at {closed}: " in str(caught)
    assert "--base-url" in str(caught)


def test_a_server_without_https_differs_from_one_that_is_away() -> None:
    with Server() as server:
        caught = failure(server, base_url=server.url.replace("http:", "https:"))
    assert caught.kind == "settings"
    assert "does not support https: use http://" in str(caught)


BEGUN, OK = answer("Hello.")[:-2], b"HTTP/1.1 200 OK\r\n"


@pytest.mark.parametrize(
    ("step", "silence", "kind", "words"),
    [
        (Hangup(), 60, "connection", "disconnected"),
        (Hangup(held=True), 0.2, "silent", "does not respond"),
        (Raw(lambda: chain([OK], drip(b"x: 1\r\n"))), 0.3, "silent", "does not respond"),
        (Stream(BEGUN, held=True), 2, "silent", "nothing new for 2 s"),
        (Reply(500, "Half of", is_short=True), 60, "connection", ""),
        (Raw(lambda: [b"SSH-2.0-OpenSSH_9.6\r\n"]), 60, "connection", ""),
        (Raw(lambda: [b"HTTP/1.1 abc OK\r\n\r\n"]), 60, "connection", ""),
        (Raw(lambda: [OK, b"x: ", b"y" * 1_000_000, b"\r\n\r\n"]), 60, "connection", ""),
        (Raw(lambda: [OK, b"content-length: 5\r\n", b"content-length: 9\r\n\r\nhello"]), 60,
         "connection", ""),
        (Raw(lambda: [HEADERS, b"zz\r\nhello\r\n"]), 60, "cut", ""),
        (Reply(200, error("overloaded_error", "Full.")), 60, "overloaded", "Full."),
    ],
    ids=["hangup", "silent", "headers drip", "stops coming", "breaks off", "no http", "odd status",
         "huge header", "two lengths", "bad chunk", "plain"],
)  # fmt: skip
def test_a_reply_that_does_not_come_as_it_should(
    step: Step, silence: float, kind: str, words: str
) -> None:
    caught = the_failure(step, limits=AnswerLimits(silence=silence))
    assert caught.kind == kind
    assert words in str(caught)


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (Reply(200, "<html>Please log in.</html>"), 'with "text/html"'),
        (Reply(200, {"type": "message", "content": []}), 'with "application/json"'),
        (Reply(200, "[]", {"content-type": "application/json"}), 'with "application/json"'),
        (Stream([b"hi" * 100_000], held=True, content_type="video/mp4"), 'with "video/mp4"'),
        (Reply(200, "{", {"content-type": "a/b\x1b"}), 'with "a/b␛"'),
    ],
)
def test_a_reply_that_is_no_stream_says_so(step: Step, words: str) -> None:
    caught = the_failure(step)
    assert caught.kind == "not_found"
    assert words in str(caught)
    assert "ANTHROPIC_BASE_URL" in str(caught)


@pytest.mark.parametrize("make", [model_of, chat_model_of])
@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_conversation_does_not_go_where_the_person_did_not_send_it(
    status: int, make: Callable[..., RemoteModel]
) -> None:
    with Server(answer("Tell me more.")) as stranger:
        there = f"{stranger.url}/v1/messages".replace("//", "//joe:hunter2@")
        caught = the_failure(Reply(status, "", {"location": there}), make=make)
        assert stranger.connections == 0
    assert caught.kind == "not_found"
    assert f'redirects to "{stranger.url}/v1/messages"' in str(caught)


@pytest.mark.parametrize(
    "url",
    [
        "localhost:8080",
        "ftp://example.com",
        "http://[::1",
        "http://127.0.0.1:99999",
        "http://",
        "x",
    ],
)
def test_an_invalid_address_is_reported(url: str) -> None:
    with Server() as server:
        caught = failure(server, base_url=url)
    assert caught.kind in ("not_found", "connection")
    assert "--base-url" in str(caught)


@pytest.mark.parametrize(
    "step",
    [
        Stream(BEGUN),
        Stream(answer("Hello.")[:-1]),
        Stream(BEGUN, end="close"),
        Stream(BEGUN, end="reset"),
        Stream([]),
        Stream([b"\xff\xfe\n\n"]),
        Stream([b"data: {\n\n"]),
        Stream([b"data: 5\n\n"]),
        Stream([b"data: [DONE]\n\n"]),
        Stream([b"data: " + b"[" * 100_000 + b"\n\n"]),
        Stream([*BEGUN, b"event: message_stop\n"]),
        Stream([b"Hello."]),
        Stream([b"Hello."], content_type=""),
    ],
)
def test_an_answer_that_breaks_off_is_none(step: Step) -> None:
    caught = the_failure(step)
    assert caught.kind == "cut"
    assert caught.is_transient
    assert str(caught).startswith("The answer ")


def test_an_event_without_an_end_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "EVENT", 100_000)
    caught = the_failure(Stream([*BEGUN, b"data: ", *[b"x\n" * 50_000] * 3], held=True))
    assert (caught.kind, str(caught)) == (
        "cut",
        "The answer was garbled: the stream is invalid.",
    )


def piece(kind: str, **content: object) -> Event:
    return {"type": "content_block_delta", "index": 0, "delta": {"type": kind, **content}}


NOISE: list[Event | bytes] = [
    {"type": "ping"},
    {"type": "never_heard_of"},
    piece("text_delta", text=""),
    {"type": "message_delta", "delta": {}, "usage": {"output_tokens": 5}},
    {"type": "content_block_stop", "index": 0},
    b": still here\n",
    b"x",
    b"\n",
]


def test_an_answer_without_progress_is_given_up() -> None:
    """The servers send something all the time, and nothing of it is a part of the answer."""

    def given_up(noise: Event | bytes) -> ModelError:
        for _ in range(10):
            with Server(Raw(lambda: repeated(OPEN, noise, pause=0.1))) as server:
                caught = failure(server, limits=AnswerLimits(silence=2))
                assert server.wait_until_gone()
            if "does not respond" not in str(caught):  # else a busy machine did not even begin
                break
        return caught

    import_module("anthropic")  # not by all threads at once
    with ThreadPoolExecutor(len(NOISE)) as threads:
        for noise, caught in zip(NOISE, threads.map(given_up, NOISE), strict=True):
            assert caught.kind == "silent", noise
            assert "nothing new for 2 s" in str(caught), noise


OPEN = answer("Hello.")[:-3]  # its block is still open


@pytest.mark.parametrize(
    "more",
    [
        piece("text_delta", text="and so on " * 100),
        piece("thinking_delta", thinking="hm " * 300),
        piece("never_heard_of", it=["a"] * 300),
    ],
    ids=["text", "thinking", "unknown"],
)
def test_an_answer_far_longer_than_asked_for_is_given_up(more: Event) -> None:
    script = Raw(lambda: repeated(OPEN, more))
    with Server(script) as server:
        caught = failure(server, asking("Hi.", max_tokens=100))
        assert server.wait_until_gone()
    assert (caught.kind, caught.is_transient) == ("endless", False)
    assert "far more than max_tokens (100) allows" in str(caught)


def test_blocks_without_end_are_given_up() -> None:
    def blocks() -> Iterator[bytes]:
        yield HEADERS
        for index in count():
            for event in block_events(index, call("create", name="todo")):
                yield chunk(event)

    with Server(Raw(blocks)) as server:
        caught = failure(server, asking("Hi.", max_tokens=100))
        assert server.wait_until_gone()
    assert caught.kind == "endless"


def test_bytes_without_end_are_given_up() -> None:
    """Each event is of use, and most of it is not."""
    bloated = {**piece("text_delta", text="a"), "junk": "x" * 500_000}
    with Server(Raw(lambda: repeated(OPEN, bloated))) as server:
        caught = failure(server, asking("Hi.", max_tokens=100))
        assert server.wait_until_gone()
    assert caught.kind == "endless"


def test_an_answer_may_take_only_so_long_in_all() -> None:
    with Server(Raw(lambda: repeated(OPEN, piece("text_delta", text="a"), pause=0.02))) as server:
        caught = failure(server, limits=AnswerLimits(total=2))
        assert server.wait_until_gone()
    assert (caught.kind, caught.is_transient) == ("endless", False)
    assert "not complete after 2 s" in str(caught)


@pytest.mark.parametrize("status", [500, 400, 200])
def test_a_page_without_end_is_read_only_so_far(status: int) -> None:
    head = f"HTTP/1.1 {status} X\r\ncontent-type: text/plain\r\n\r\n".encode()
    with Server(Raw(lambda: chain([head], repeat(b"no " * 10_000)))) as server:
        caught = failure(server)
        assert server.wait_until_gone()
    assert caught.kind == {500: "server", 400: "bad_request", 200: "not_found"}[status]


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "gzip, gzip", "br"])
@pytest.mark.parametrize("status", [500, pytest.param(400, marks=pytest.mark.long), 200])
def test_decompression_bombs_are_rejected(status: int, encoding: str) -> None:
    """What a megabyte of gzip unpacks to is never in the memory."""
    headers = {"content-encoding": encoding, "content-type": "text/event-stream"}
    import_module("anthropic")  # not while memory is traced, which takes many times as long
    with Server(Reply(status, bomb(encoding), headers)) as server:
        tracemalloc.start()
        try:
            caught = failure(server)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert caught.kind == {500: "server", 400: "bad_request", 200: "cut"}[status]
    assert peak < 80_000_000  # unpacked it is a gigabyte
    assert server.requests[0].headers["accept-encoding"] == "identity"
