"""Fault scripts: what a server can do wrong, each as a step, and a client that goes through them.

A script is named by its part and its way, such as ``cut/07`` or ``bomb/500 gzip``. The server
chooses by the words of the request (`step_for`), so retries meet the same fault again. The client
runs in a process of its own, where its memory can be measured:

    python -m tests.agent.fault_scripts URL FOLDER NAME…

For each script it opens a list, takes the turn with the fault, takes a good turn, closes the
session, resumes it and takes another good turn; it prints what came of that as one line of JSON.
"""

import asyncio
import gzip
import json
import resource
import sys
import time
import zlib
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import aclosing, asynccontextmanager, closing
from functools import partial
from itertools import chain, count, repeat
from pathlib import Path
from typing import Any

from contextui.agent.controller import InteractionController
from contextui.agent.models.anthropic import AnthropicModel
from contextui.agent.models.limits import AnswerLimits
from contextui.events import TurnFinished
from contextui.session.session import Session, SessionOptions
from contextui.session.store import SessionStore
from tests import certificates
from tests.agent.server import (
    HEADERS,
    Event,
    Hangup,
    Raw,
    Received,
    Reply,
    Server,
    Step,
    Stream,
    answer,
    block_events,
    bomb,
    call,
    chunk,
    delta,
    drip,
    error,
    repeated,
    start,
    thinking,
)
from tests.agent.talking import options
from tests.windowing.samples import Todo

TIGHT, TOKENS = AnswerLimits(silence=0.5, total=3.0), 200
"""The limits of the turn with the fault. Good turns have time: the machine may be busy."""

FAULTY = "fault "
GOOD = "good"
STOP: Event = {"type": "message_stop"}
SSE = {"content-type": "text/event-stream"}


def adding(text: str, **more: Any) -> dict[str, Any]:
    """A call that puts this on the first list."""
    made = call("action", window_id="todo_1", action_id="add", params={"text": text})
    return {**made, **more}


# What is sent whole or in pieces: words, thinking, two calls. The calls are what must not be done
# by halves: both or none.
WHOLE = answer("I add two.", thinking("Hm."), adding("first"), adding("second"), pieces=9)
LINES = b"".join(
    f"event: {one['type']}\ndata: {json.dumps(one, ensure_ascii=False)}\n\n".encode()
    for one in WHOLE
)
NAMES = "é漢😀"
IN_UTF8 = b"".join(
    f"data: {json.dumps(one, ensure_ascii=False)}\n\n".encode()
    for one in answer(NAMES, adding(NAMES))
)
OPEN = answer("Hello.")[:-3]  # its block is still open
TEXT: Event = {"type": "content_block_delta", "index": 0,
               "delta": {"type": "text_delta", "text": "and so on "}}  # fmt: skip


def changed(event: Event, **fields: Any) -> Event:
    return {**event, **fields}


def _cut() -> Iterator[tuple[str, Step]]:
    """The reply ends, closes or is reset at each boundary of an event."""
    for number in range(len(WHOLE)):
        yield f"{number:02} ends", Stream(WHOLE[:number])
        yield f"{number:02} closes", Stream(WHOLE[:number], end="close")
        if number % 4 == 0:
            yield f"{number:02} resets", Stream(WHOLE[:number], end="reset")
            yield f"{number:02} is silent", Stream(WHOLE[:number], held=True)


def _bytes() -> Iterator[tuple[str, Step]]:
    """The same is cut within events and within characters."""
    for place in range(100, len(LINES), len(LINES) // 9):
        yield f"cut at {place}", Stream([LINES[:place]], end="close")
    yield "utf-8 split", Stream([IN_UTF8[n : n + 1] for n in range(len(IN_UTF8))])
    yield "utf-8 cut", Stream([IN_UTF8[: IN_UTF8.index("漢".encode()) + 1]])
    yield "not utf-8", Stream([LINES.replace(b"I a", b"\xff\xfe\x80")])
    yield "crlf", Stream([LINES.replace(b"\n", b"\r\n")])
    yield "cr", Stream([LINES.replace(b"\n", b"\r")])
    yield "nul bytes", Stream([b"\0" * 1_000_000])
    yield "random", Stream([bytes((n * n * 31 + n) % 251 for n in range(300_000))])
    yield "bom", Stream([b"\xef\xbb\xbf" + LINES])
    yield "html", Stream([b"<html><body>Please log in.</body></html>\n\n"])
    yield "done", Stream([b"data: [DONE]\n\n"])
    yield "a number", Stream([b"data: 5\n\n"])
    yield "deep", Stream([b"data: " + b"[" * 100_000 + b"\n\n"])
    yield (
        "deep objects",
        Stream([b'data: {"a":' * 1 + b'{"a":' * 900 + b"1" + b"}" * 901 + b"\n\n"]),
    )
    yield "huge number", Stream([b'data: {"index": ' + b"9" * 10_000 + b"}\n\n"])
    yield "many objects", Stream([b"data: [" + b"{}," * 600_000 + b"{}]\n\n"])
    yield (
        "long line",
        Raw(lambda: chain([HEADERS], [chunk(b"data: ")], repeat(chunk(b"x" * 65_000)))),
    )
    yield "long event", Raw(lambda: chain([HEADERS], repeat(chunk(b"data: x\n" * 8_000))))


def _order() -> Iterator[tuple[str, Step]]:
    """Events in the wrong order, twice, missing, or of the wrong kind."""
    for number, event in enumerate(WHOLE):
        name = f"{number:02} {event['type']}"
        if number % 2 == 0:
            yield f"without {name}", Stream([*WHOLE[:number], *WHOLE[number + 1 :]])
            yield f"twice {name}", Stream([*WHOLE[:number], event, *WHOLE[number:]])
        if number % 3 == 0:
            yield f"null {name}", Stream([*WHOLE[:number], dict.fromkeys(event, None), STOP])
            broken = {key: [value] for key, value in event.items() if key != "type"}
            odd = changed(event, **broken)
            yield f"lists in {name}", Stream([*WHOLE[:number], odd, *WHOLE[number + 1 :]])
    yield "backwards", Stream(WHOLE[::-1])
    yield "only the end", Stream([STOP])
    yield "two answers", Stream([*WHOLE, *WHOLE])
    yield "indexes", Stream([changed(one, index=-1) if "index" in one else one for one in WHOLE])
    yield "huge index", Stream([changed(one, index=10**30) if "index" in one else one
                                for one in WHOLE])  # fmt: skip
    yield "same ids", answer(adding("first", id="a"), adding("second", id="a"))
    yield "no ids", answer(adding("first", id=""), adding("second", id=""))
    yield "error event", Stream([*WHOLE[:6], error("overloaded_error")])
    yield "error first", Stream([error("api_error")])
    yield "error without words", Stream([{"type": "error"}])
    yield "error of another type", Stream([*WHOLE[:3], {"type": "error", "error": [1, 2]}])
    yield "huge error event", Stream([error("api_error", "x" * 3_000_000)])


def _endless() -> Iterator[tuple[str, Step]]:
    """Something that never ends: without progress, or with too much of it."""
    noises: dict[str, Event | bytes] = {
        "pings": {"type": "ping"},
        "unknown events": {"type": "never_heard_of", "data": "x"},
        "empty deltas": changed(TEXT, delta={"type": "text_delta", "text": ""}),
        "totals": delta(None),
        "stops": {"type": "content_block_stop", "index": 7},
        "comments": b": still here\n",
        "blank lines": b"\n\n",
        "single bytes": b"x",
        "retry fields": b"retry: 1\n\n",
    }
    for name, noise in noises.items():
        yield f"{name}, slow", Raw(partial(repeated, OPEN, noise, pause=0.05))
        yield f"{name}, fast", Raw(partial(repeated, OPEN, noise))
        yield f"{name} from the start", Raw(partial(repeated, [], noise, pause=0.05))
    growth: dict[str, Event] = {
        "text": TEXT,
        "one letter": changed(TEXT, delta={"type": "text_delta", "text": "a"}),
        "thinking": changed(TEXT, delta={"type": "thinking_delta", "thinking": "hm "}),
        "signatures": changed(TEXT, delta={"type": "signature_delta", "signature": "c2ln"}),
        "citations": changed(TEXT, delta={"type": "citations_delta", "citation": {"a": "b"}}),
        "unknown deltas": changed(TEXT, delta={"type": "new_delta", "items": ["a"], "b": "c"}),
        "large pieces": changed(TEXT, delta={"type": "text_delta", "text": "x" * 500_000}),
        "junk": changed(TEXT, junk="x" * 500_000),
    }
    for name, event in growth.items():
        yield f"{name}, fast", Raw(partial(repeated, OPEN, event))
    yield "text, slow", Raw(partial(repeated, OPEN, TEXT, pause=0.2))
    yield "input", Raw(partial(repeated, [start(), block_events(0, adding("x"))[0]],
                               changed(TEXT, delta={"type": "input_json_delta",
                                                    "partial_json": "[" * 50})))  # fmt: skip
    yield "calls", Raw(partial(_blocks, lambda: adding("x")))
    yield "empty blocks", Raw(partial(_blocks, lambda: {"type": "text", "text": ""}))
    yield "unknown blocks", Raw(partial(_blocks, lambda: {"type": "new", "a": ["b"]}))


def _blocks(make: Callable[[], Mapping[str, Any]]) -> Iterator[bytes]:
    yield HEADERS + chunk(start())
    for index in count():
        yield b"".join(map(chunk, block_events(index, make())))


def _statuses() -> Iterator[tuple[str, Step]]:
    """Every kind of status with every kind of body."""
    bodies: dict[str, Mapping[str, Any] | str | bytes] = {
        "error": error("api_error", "Something failed."),
        "nothing": "",
        "html": "<html>" + "<p>no</p>" * 10_000 + "</html>",
        "text": "no " * 200_000,
        "bytes": b"\xff\x00\xfe" * 1_000,
        "deep": b"[" * 60_000,
        "list": "[1, 2, 3]",
        "odd error": {"error": {"type": 5, "message": {"a": 1}}},
    }
    for number, status in enumerate((300, 301, 304, 307, 400, 401, 403, 404, 405, 408, 409, 413,
                                     418, 422, 429, 451, 500, 501, 502, 503, 504, 529, 599, 999,
                                     )):  # fmt: skip
        for place, (name, body) in enumerate(bodies.items()):
            if (number + place) % 4 == 0:
                yield f"{status} {name}", Reply(status, body)
    for status in (301, 302, 303, 307, 308):
        yield (
            f"{status} elsewhere",
            Reply(status, "", {"location": "http://127.0.0.1:1/v1/messages"}),
        )
    yield "307 to itself", Reply(307, "", {"location": "/v1/messages"})
    yield "302 to a bomb of words", Reply(302, "", {"location": "x" * 60_000})
    for after in (
        "0",
        "5",
        "-1",
        "nan",
        "1e999",
        "99999999999",
        "Wed, 21 Oct 2999 07:28:00 GMT",
        "ü",
    ):
        yield f"429 after {after}", Reply(429, error("rate_limit_error"), {"retry-after": after})
    for name, step in {"204": 204, "205": 205, "206": 206}.items():
        yield f"{name} empty", Reply(step, "")


def _bombs() -> Iterator[tuple[str, Step]]:
    """Few bytes that become many, and bodies without an end."""
    for status in (200, 307, 400, 429, 500, 529):
        for encoding in ("gzip", "deflate", "gzip, gzip", "br", "zstd"):
            if status in (200, 500) or encoding == "gzip":
                headers = {"content-encoding": encoding, **SSE}
                yield f"{status} {encoding}", Reply(status, bomb(encoding), headers)
        head = f"HTTP/1.1 {status} X\r\ncontent-type: text/plain\r\n\r\n".encode()
        yield f"{status} endless", Raw(partial(chain, [head], repeat(b"no " * 10_000)))
        yield f"{status} drips", Raw(partial(_then_drip, head, b"n"))
    packer = zlib.compressobj(1, wbits=31)
    blank = packer.compress(b": hi\n" * 8_000_000) + packer.flush()
    yield "200 gzip of comments", Reply(200, blank, {"content-encoding": "gzip", **SSE})
    end = gzip.compress(b"")
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-encoding: gzip\r\n\r\n"
    more = partial(chain, [head + end], repeat(b"x" * 65_000))
    yield "200 gzip with more behind it", Raw(more)
    yield "200 gzip that is none", Reply(200, b"\x1f\x8bno", {"content-encoding": "gzip", **SSE})
    yield (
        "200 gzip cut",
        Reply(200, gzip.compress(LINES)[:-20], {"content-encoding": "gzip", **SSE}),
    )
    yield "200 gzip whole", Reply(200, gzip.compress(LINES), {"content-encoding": "gzip", **SSE})


def _then_drip(head: bytes, piece: bytes) -> Iterator[bytes | float]:
    yield head
    yield from drip(piece, 0.05)


def _connection() -> Iterator[tuple[str, Step]]:
    """What goes wrong below and before the events."""
    yield "hangs up", Hangup()
    yield "hangs", Hangup(held=True)
    yield "resets", Raw(list, reset=True)
    ok = b"HTTP/1.1 200 OK\r\n"
    raws: dict[str, Iterable[bytes | float]] = {
        "no http": [b"SSH-2.0-OpenSSH_9.6\r\n"],
        "http 0.9": [b"hello\n"],
        "half a status": [b"HTTP/1.1 2"],
        "odd status": [b"HTTP/1.1 abc OK\r\n\r\n"],
        "huge status": [b"HTTP/1.1 99999 OK\r\n\r\n"],
        "long reason": [b"HTTP/1.1 500 " + b"x" * 200_000 + b"\r\n\r\n"],
        "huge header": [ok + b"x: " + b"y" * 1_000_000 + b"\r\n\r\n"],
        "many headers": [ok + b"x: y\r\n" * 100_000 + b"\r\n"],
        "odd headers": [ok + b"\x00\xff: y\r\n\r\n"],
        "two lengths": [ok + b"content-length: 5\r\ncontent-length: 9\r\n\r\nhello"],
        "negative length": [ok + b"content-length: -5\r\n\r\nhello"],
        "length too long": [
            ok + b"content-type: text/event-stream\r\ncontent-length: 99999\r\n\r\n",
            LINES,
        ],
        "bad chunk": [HEADERS + b"zz\r\nhello\r\n"],
        "huge chunk": [HEADERS + b"fffffffffffffff\r\nhello"],
        "no headers, silence": [ok, 30.0],
        "switches protocols": [b"HTTP/1.1 101 Switching\r\nupgrade: x\r\n\r\n"],
        "only spaces": [b" " * 100_000],
    }  # fmt: skip
    for name, pieces in raws.items():
        yield name, Raw(partial(list, pieces))
    yield "headers drip", Raw(partial(_then_drip, ok, b"x: y\r\n"))
    yield "status drips", Raw(partial(_then_drip, b"", b"H"))
    yield "early hints for ever", Raw(partial(_then_drip, b"", b"HTTP/1.1 103 Hints\r\n\r\n"))
    yield "early hints, fast", Raw(partial(repeat, b"HTTP/1.1 100 Continue\r\n\r\n"))
    for kind in ("text/html", "application/json", "video/mp4", "", "text/plain; charset=utf-16"):
        yield f"content type {kind or 'none'}", Stream(WHOLE[:7], content_type=kind)


def _content() -> Iterator[tuple[str, Step]]:
    """Answers that are whole, and say what cannot be done."""
    inputs = {
        "no json": "{no", "half": '{"window_id": "todo_1", "act', "a list": "[1]", "text": '"x"',
        "null": "null", "nan": '{"a": NaN}', "infinite": '{"a": 1e999}', "twice": "{}{}",
        "deep": '{"a":' * 200 + "1" + "}" * 200, "surrogate": '{"window_id": "\\ud800"}',
    }  # fmt: skip
    for name, written in inputs.items():
        piece = {"type": "input_json_delta", "partial_json": written}
        begin, *_, end = block_events(1, adding("first"))
        wrong = [begin, {"type": "content_block_delta", "index": 1, "delta": piece}, end]
        yield f"input {name}", Stream([start(), *wrong, delta("tool_use"), STOP])
    for reason in ("max_tokens", "refusal", "model_context_window_exceeded"):
        half = [*WHOLE[:-2], delta(reason), STOP]
        yield f"stops for {reason}", Stream(half)
    for figure in (-1, 10**30, 1.5, "many", None, [1], True):
        lie: Any = {"input_tokens": figure, "output_tokens": figure,
                    "cache_read_input_tokens": figure}  # fmt: skip
        yield f"usage {figure}", answer("Hi.", usage=lie)
    yield "usage is a list", Stream([{**start(), "message": {"usage": [1]}}, *WHOLE[1:]])
    yield "many calls", answer(*[adding(f"{n}") for n in range(90)], pieces=200)
    yield "unknown tools", answer(*[call(f"tool_{n}") for n in range(20)])
    yield "unknown window", answer(call("action", window_id="no_1", action_id="add"))
    yield "close all", answer(*[call("action", window_id=f"x_{n}", action_id="close")
                                for n in range(20)])  # fmt: skip
    yield "nothing", Stream([start(), delta("end_turn"), STOP])
    yield "blanks", answer("   \n ")
    yield "control characters", answer("\x1b[2J\x00\u202e")
    yield "window tags", answer("</Window><Window id='todo_1'>")


PARTS: Mapping[str, Callable[[], Iterator[tuple[str, Step]]]] = {
    "cut": _cut, "bytes": _bytes, "order": _order, "endless": _endless, "status": _statuses,
    "bomb": _bombs, "connection": _connection, "content": _content,
}  # fmt: skip


def scripts() -> dict[str, Step]:
    """All scripts by name."""
    return {f"{part}/{name}": step for part, make in PARTS.items() for name, step in make()}


SAMPLE = (
    "cut/09 closes", "bytes/utf-8 split", "order/two answers", "endless/text, fast",
    "status/502 html", "bomb/200 gzip", "connection/huge header", "content/many calls",
)  # fmt: skip
"""A few of each part, for the quick run."""

IS_WHOLE = (
    "bytes/utf-8 split", "bytes/crlf", "bytes/cr", "bytes/bom", "bomb/200 gzip whole",
    "connection/length too long",
)  # fmt: skip
"""Those that are no faults after all: odd, and whole."""


# --- the server ----------------------------------------------------------------------------


class FaultServer(Server):
    """Answers by the words of a request; see the module."""

    def __init__(self, table: Mapping[str, Step]) -> None:
        super().__init__()
        self._table = table

    def next_step(self) -> Step:
        """What to do with the request that came last."""
        received = self.requests[-1]
        try:
            return self.step_for(received)
        except ValueError:  # the client gave up before all of it was sent
            self.requests.remove(received)
            return Hangup()

    def step_for(self, received: Received) -> Step:
        """What to do with this request."""
        words = [
            block["text"] for role, block in received.blocks()
            if role == "user" and block["type"] == "text"
            and block["text"].startswith((FAULTY, GOOD, "begin"))
        ]  # fmt: skip
        last = received.blocks()[-1][1]
        if last["type"] == "tool_result" or not words:
            return answer("Done.")
        if words[-1].startswith(FAULTY):
            return self._table[words[-1].removeprefix(FAULTY)]
        if words[-1].startswith("begin"):
            return answer(call("create", name="todo", args={"items": ["x"]}))
        return answer(adding(words[-1]))


# --- the client ----------------------------------------------------------------------------


def play(url: str, folder: Path, names: Iterable[str]) -> Iterator[dict[str, Any]]:
    """Play scripts, and yield the outcome of each."""
    with asyncio.Runner() as runner:
        for number, name in enumerate(names):
            yield {"name": name, **runner.run(_play(url, folder / str(number), name))}


async def _play(url: str, home: Path, name: str) -> dict[str, Any]:
    store = SessionStore(home, SessionOptions(classes=(Todo,)))
    begun = time.monotonic()
    with closing(store.create(home.parent)) as session:
        async with _talk(url, session) as talk, aclosing(_model(url, TIGHT)) as faulty:
            await _say(talk, "begin")
            patient, talk.model = talk.model, faulty
            finished = await _say(talk, FAULTY + name)
            talk.model = patient
            after = _items(session)
            good = await _say(talk, f"{GOOD} 1")
            items = _items(session)
    with closing(store.open(session.id)) as resumed:
        came_back = _items(resumed)
        async with _talk(url, resumed) as talk:
            last = await _say(talk, f"{GOOD} 2")
        return {
            "seconds": round(time.monotonic() - begun, 2),
            "reason": finished.reason,
            "explanation": finished.explanation,
            "after": after,
            "good": [good.text, last.text],
            "items": items,
            "resumed": came_back,
            "end": _items(resumed),
            "notices": resumed.notices,
            "unanswered": list(resumed.context.ledger.calls.unanswered),
        }


def _model(url: str, limits: AnswerLimits) -> AnthropicModel:
    return AnthropicModel("claude-x", base_url=url, api_key="k", limits=limits)


@asynccontextmanager
async def _talk(url: str, session: Session) -> AsyncIterator[InteractionController]:
    model, turn = _model(url, AnswerLimits()), options(max_tokens=TOKENS)
    talk = InteractionController(model=model, context=session.context, options=turn, prompt=False)
    talk.install_prompt()
    try:
        yield talk
    finally:
        await talk.aclose()


async def _say(talk: InteractionController, words: str) -> TurnFinished:
    """Take a turn; one that hangs is ended after three minutes."""
    finished = TurnFinished("failed", explanation="HANGS")
    try:
        async with asyncio.timeout(180):
            async for event in talk.run_turn(words):
                if isinstance(event, TurnFinished):
                    finished = event
    except TimeoutError:
        pass
    return finished


def _items(session: Session) -> list[str]:
    todo = session.windows.get("todo_1")
    return [item.text for item in todo.state.items] if isinstance(todo, Todo) else []


def _main(url: str, folder: str, *names: str) -> None:
    for outcome in play(url, Path(folder), names):
        print(json.dumps(outcome), flush=True)
    print(json.dumps({"peak": peak_memory()}))


def peak_memory() -> int:
    """The most bytes of memory that this process has had.

    Linux counts what the parent had into `getrusage`, so its own count is taken where there is one.
    """
    status = Path("/proc/self/status")
    if status.exists():
        line = next(one for one in status.read_text().splitlines() if one.startswith("VmHWM:"))
        return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


if __name__ == "__main__":
    certificates.skip_system()
    _main(*sys.argv[1:])
