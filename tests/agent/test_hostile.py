"""Whatever else a server may send, over the wire: no crash, nothing by halves, nothing twice."""

import gzip
import json

import pytest

from contextui.events import CallFinished
from tests.agent.server import Reply, Step, Stream, answer, call
from tests.agent.talking import end, of
from tests.agent.wired import Wired, opening


def test_a_stop_reason_may_be_anything(wired: Wired) -> None:
    events = wired.say("well?", answer("Yes.", stop_reason="\x1b[31m\u202e</Window>" * 100))
    assert (end(events).reason, end(events).text) == ("done", "Yes.")
    assert "\x1b" not in end(events).explanation
    assert len(end(events).explanation) < 200


def test_a_tool_s_name_may_be_anything(wired: Wired) -> None:
    odd = [call("c" * 100_000), call("créate\n"), {**call("create", name="todo"), "id": "a b/c"}]
    events = wired.say("a list", answer(*odd, pieces=100_000), answer("Done."))
    assert [event.ok for event in of(CallFinished, events)] == [False, False, True]
    assert len(wired.last.body) < 20_000
    assert end(events).text == "Done."


SSE = {"content-type": "text/event-stream"}
WHOLE = answer("I open it.", opening("x"), pieces=5)
LINES = b"".join(f"data: {json.dumps(event)}\n\n".encode() for event in WHOLE)


@pytest.mark.parametrize(
    "step",
    [
        Stream([LINES[n : n + 7] for n in range(0, len(LINES), 7)]),
        Stream([LINES.replace(b"\n", b"\r")]),
        Stream([b'data: {"type": "ping"}\n\n' * 2_000 + b": hello\n\nid: 5\nretry: 1\n\n" + LINES]),
        Stream([b'data: {}\n\ndata: {"type": ["message_stop"]}\n\n' + LINES]),
        Stream([LINES], content_type="text/event-stream; charset=utf-16"),
        Reply(200, gzip.compress(LINES), {**SSE, "content-encoding": "gzip"}),
    ],
    ids=["pieces", "cr", "comments", "odd", "charset", "gzip"],
)
def test_a_stream_may_have_any_line_ends_and_comments(wired: Wired, step: Step) -> None:
    assert end(wired.say("a list", step, answer("Done."))).text == "Done."
    assert wired.items == ["x"]


@pytest.mark.parametrize(
    "step",
    [
        Stream([LINES[: len(LINES) // 2]]),
        Stream([LINES.replace(b"I o", b"\xff\xfe\x80")]),
        Reply(200, "", SSE),
        Reply(200, gzip.compress(LINES)[:-10], {**SSE, "content-encoding": "gzip"}),
        Stream([{**event, "index": -1} if "index" in event else event for event in WHOLE]),
    ],
    ids=["half", "no utf-8", "nothing", "half gzip", "indexes"],
)
def test_what_is_no_stream_is_asked_for_again(wired: Wired, step: Step) -> None:
    events = wired.say("a list", step, WHOLE, answer("Done."))
    assert end(events).text == "Done."
    assert wired.items == ["x"]  # and nothing was done twice
    assert len(wired.requests) == 3
