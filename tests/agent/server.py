"""A server on loopback that plays a script in the form of Anthropic's Messages API.

The real SDK talks to it over real sockets. Each POST takes the next step of the script:

    a list of events          a stream that ends as it should; `answer()` makes such lists
    Stream(events, …)         a stream that is held open, is cut, or holds bytes that are no events
    Reply(status, body, …)    a plain reply, such as an error
    Hangup()                  the connection is closed without a word
    Raw(pieces)               bytes and pauses as they are, be it without an end

When the script is at its end, every further POST is refused with a 400, which nobody tries again.
A CONNECT, by which a proxy is asked for the way to a server, takes a step too: a `Reply`.
A GET of /v1/models/NAME is answered from `models` and is no step of the script.

    with Server(answer("Hello."), Reply(529, error("overloaded_error"))) as server:
        model = AnthropicModel("claude-x", base_url=server.url, api_key="k")
        …
        assert server.requests[0].json["model"] == "claude-x"

What was received stands in `server.requests`, in order. `server.play(*steps)` adds to the script.
`server.release()` lets go of the streams that are held open; `server.wait_until_gone()` waits until
a client has left one that is. Leaving the `with` closes every connection and waits for all threads.
"""

import gzip
import json
import select
import socket
import struct
import threading
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, cached_property
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from typing import Any, Literal, Self

Event = Mapping[str, Any]
MODEL = "claude-test-5-5"
_numbers = count(1)
_RESET = struct.pack("ii", 1, 0)  # linger for no time
_PATIENCE = 120.0  # seconds; longer than any test lasts that goes well


@dataclass(frozen=True)
class Stream:
    """A reply of status 200 whose events come one by one.

    Attributes:
        events: What is sent; bytes are sent as they are.
        end: The reply ends as it should (``whole``), the connection is closed before the reply is
            at its end (``close``), or it is reset (``reset``).
        held: After the events nothing comes until `Server.release`, or until the client has left.
        then: What is sent after it was held.
        content_type: What the reply says that it is.
    """

    events: Sequence[Event | bytes]
    end: Literal["whole", "close", "reset"] = "whole"
    held: bool = False
    then: Sequence[Event | bytes] = ()
    content_type: str = "text/event-stream; charset=utf-8"


@dataclass(frozen=True)
class Reply:
    """A plain reply.

    Attributes:
        status: Its status.
        body: What it says; a mapping is sent as JSON.
        headers: Further headers. A content type is made out from the body unless it is given here.
        is_short: The connection is closed before the body is whole.
    """

    status: int
    body: Mapping[str, Any] | str | bytes = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    is_short: bool = False


@dataclass(frozen=True)
class Hangup:
    """No reply: the connection is closed, at once or when it is released."""

    held: bool = False


@dataclass(frozen=True)
class Raw:
    """What is written to the socket, from the status line on, until all was or the client left.

    Attributes:
        pieces: Gives the pieces: bytes, and numbers for pauses in seconds.
        reset: Whether the connection is reset at the end.
    """

    pieces: Callable[[], Iterable[bytes | float]]
    reset: bool = False


Step = Sequence[Event] | Stream | Reply | Hangup | Raw

HEADERS = (
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
)
"""How a stream begins."""


def chunk(event: Event | bytes) -> bytes:
    """A piece of a stream, as `HEADERS` announce it."""
    piece = _piece(event)
    return f"{len(piece):x}\r\n".encode() + piece + b"\r\n"


def repeated(
    begun: Sequence[Event | bytes], more: Event | bytes, *, pause: float = 0.0
) -> Iterator[bytes | float]:
    """A stream that begins well and then says the same for ever."""
    yield HEADERS + b"".join(map(chunk, begun))
    yield from drip(chunk(more), pause)


@cache
def bomb(encoding: str, megabytes: int = 100) -> bytes:
    """A few bytes that become many when they are unpacked."""
    data = b"a" * 1_000_000
    if encoding not in ("gzip", "deflate", "gzip, gzip"):
        return data  # nothing here packs these; a reply only says that it is so
    packer = zlib.compressobj(1, wbits=zlib.MAX_WBITS | (16 if "gzip" in encoding else 0))
    packed = b"".join(packer.compress(data) for _ in range(megabytes)) + packer.flush()
    return gzip.compress(packed) if "," in encoding else packed


def drip(piece: bytes, pause: float = 0.02) -> Iterator[bytes | float]:
    """The same bytes for ever, with pauses."""
    while True:
        yield piece
        yield pause


def answer(
    *blocks: str | Mapping[str, Any],
    stop_reason: str | None = None,
    usage: Mapping[str, int | None] | None = None,
    model: str = MODEL,
    pieces: int = 7,
) -> list[Event]:
    """The events of a whole answer, as Anthropic's servers send them.

    Args:
        blocks: Its blocks; a string stands for a text block.
        stop_reason: Why it stopped; made out from the blocks unless given.
        usage: Figures that differ from those that are sent otherwise.
        model: The model that answers.
        pieces: Characters of one delta.
    """
    whole = [{"type": "text", "text": one} if isinstance(one, str) else one for one in blocks]
    calls = any(block["type"] == "tool_use" for block in whole)
    reason = stop_reason or ("tool_use" if calls else "end_turn")
    counts = {"input_tokens": 10, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
    return [
        start(model=model, usage={**counts, "output_tokens": 1, **(usage or {})}),
        {"type": "ping"},
        *(event for i, block in enumerate(whole) for event in block_events(i, block, pieces)),
        delta(reason, usage={"output_tokens": 25, **(usage or {})}),
        {"type": "message_stop"},
    ]


def start(*, model: str = MODEL, usage: Mapping[str, int | None] | None = None) -> Event:
    message: Event = {"id": f"msg_{next(_numbers):06}", "type": "message", "role": "assistant",
               "model": model, "content": [], "stop_reason": None, "stop_sequence": None,
               "usage": dict(usage or {"input_tokens": 10, "output_tokens": 1})}  # fmt: skip
    return {"type": "message_start", "message": message}


def delta(stop_reason: str | None, *, usage: Mapping[str, int | None] | None = None) -> Event:
    """The last event but one of an answer."""
    return {"type": "message_delta", "delta": {"stop_reason": stop_reason, "stop_sequence": None},
            "usage": dict(usage or {"output_tokens": 25})}  # fmt: skip


def block_events(index: int, block: Mapping[str, Any], pieces: int = 7) -> list[Event]:
    """The events of one block: its start, its deltas, its stop."""
    empty, deltas = _in_deltas(block, pieces)
    return [
        {"type": "content_block_start", "index": index, "content_block": empty},
        *({"type": "content_block_delta", "index": index, "delta": one} for one in deltas),
        {"type": "content_block_stop", "index": index},
    ]


def _in_deltas(block: Mapping[str, Any], pieces: int) -> tuple[Event, list[Event]]:
    match block["type"]:
        case "text":
            parts = cut(block["text"], pieces)
            return {**block, "text": ""}, [{"type": "text_delta", "text": one} for one in parts]
        case "thinking":
            parts = cut(block["thinking"], pieces)
            return {**block, "thinking": "", "signature": ""}, [
                *({"type": "thinking_delta", "thinking": one} for one in parts),
                {"type": "signature_delta", "signature": block["signature"]},
            ]
        case "tool_use":
            written = json.dumps(block["input"], ensure_ascii=False) if block["input"] else ""
            parts = ["", *cut(written, pieces)]  # the first delta of a call is empty
            return {**block, "input": {}}, [
                {"type": "input_json_delta", "partial_json": one} for one in parts
            ]
    return block, []


def cut(text: str, size: int = 7) -> list[str]:
    return [text[i : i + size] for i in range(0, len(text), size)]


def call(name: str, /, **arguments: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": f"toolu_{next(_numbers):06}", "name": name,
            "input": arguments}  # fmt: skip


def thinking(text: str, signature: str = "c2lnbmVk") -> dict[str, Any]:
    """A block of thinking, signed."""
    return {"type": "thinking", "thinking": text, "signature": signature}


def error(kind: str, message: str = "No.") -> dict[str, Any]:
    """What Anthropic's servers say of a failure: the body of a `Reply`, or an event."""
    return {"type": "error", "error": {"type": kind, "message": message}}


@dataclass(frozen=True)
class Received:
    """A request as it came.

    Attributes:
        method: GET or POST.
        path: Its path.
        headers: Its headers, their names in small letters.
        body: The bytes of its body.
    """

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes

    @cached_property
    def json(self) -> Any:
        return json.loads(self.body)

    def blocks(self) -> list[tuple[str, dict[str, Any]]]:
        """All blocks of all messages without their cache marks, each with who speaks."""
        return [
            (message["role"], {key: block[key] for key in block if key != "cache_control"})
            for message in self.json["messages"]
            for block in message["content"]
        ]

    def marks(self) -> list[int]:
        """After how many blocks cache marks stand; one on tools or system counts as 0."""
        head = [*self.json.get("tools", ()), *self.json.get("system", ())]
        blocks = [block for message in self.json["messages"] for block in message["content"]]
        numbers = [0] * len(head) + list(range(1, len(blocks) + 1))
        marked = zip(numbers, [*head, *blocks], strict=True)
        return [number for number, block in marked if "cache_control" in block]

    def begins(self, later: "Received") -> bool:
        """Whether a later request begins with all of this one, byte by byte."""
        ours, theirs = self._written(), later._written()
        return ours == theirs[: len(ours)]

    def head(self) -> list[Any]:
        """The tools and the system prompt, without cache marks."""
        return [self.json.get("tools"), *(one["text"] for one in self.json.get("system", ()))]

    def _written(self) -> list[str]:
        return [json.dumps(one) for one in (*self.head(), *self.blocks())]


class Server:
    """Plays a script; see the module.

    Attributes:
        requests: What was received of POSTs, in order.
        lookups: What was received of GETs, in order.
        connections: How many connections were opened.
        pages: What is answered to requests of these paths, which take no step of the script.
    """

    def __init__(self, *steps: Step) -> None:
        self.requests: list[Received] = []
        self.lookups: list[Received] = []
        self.connections = 0
        self.pages: dict[str, Mapping[str, Any] | Reply] = {}
        self._steps: deque[Step] = deque(steps)
        self._released = threading.Event()
        self._gone = threading.Semaphore(0)
        self._sockets: set[socket.socket] = set()
        self._http = _Http(self)
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def play(self, *steps: Step) -> None:
        self._steps.extend(steps)

    def release(self) -> None:
        """Let go of what is held open, now and from now on."""
        self._released.set()

    def wait_until_gone(self) -> bool:
        """Wait until a client has left a stream that is held open; False if none does.

        It blocks: in an event loop, call it by `asyncio.to_thread`.
        """
        return self._gone.acquire(timeout=_PATIENCE)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.release()
        self._http.shutdown()
        self._thread.join()
        for one in list(self._sockets):  # threads wait there for a client's next request
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
        self._http.server_close()

    def next_step(self) -> Step:
        end = Reply(400, error("invalid_request_error", "The script is at its end."))
        return self._steps.popleft() if self._steps else end

    def hold(self, client: socket.socket) -> bool:
        """Wait for the release; False if the client left before it."""
        while not self._released.wait(0.01):
            if select.select([client], [], [], 0)[0] and _has_left(client):
                self.left()
                return False
        return True

    def pause(self, seconds: float) -> bool:
        return self._released.wait(seconds)

    def left(self) -> None:
        self._gone.release()

    def opened(self, client: socket.socket) -> None:
        self.connections += 1
        self._sockets.add(client)

    def closed(self, client: socket.socket) -> None:
        self._sockets.discard(client)


def _has_left(client: socket.socket) -> bool:
    try:
        return not client.recv(1, socket.MSG_PEEK)
    except OSError:
        return True


class _Http(ThreadingHTTPServer):
    daemon_threads = False  # so that closing waits for them
    request_queue_size = 64

    def __init__(self, server: Server) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.script = server

    def shutdown_request(self, request: Any) -> None:
        if request.getsockopt(socket.SOL_SOCKET, socket.SO_LINGER, len(_RESET)) == _RESET:
            self.close_request(request)  # a polite goodbye before it would be all that is seen
        else:
            super().shutdown_request(request)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def setup(self) -> None:
        super().setup()
        self.script.opened(self.connection)

    def handle(self) -> None:
        with suppress(OSError):  # clients leave as they like
            super().handle()

    def finish(self) -> None:
        self.script.closed(self.connection)
        with suppress(OSError):
            super().finish()

    @property
    def script(self) -> Server:
        assert isinstance(self.server, _Http)
        return self.server.script

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Say nothing on stderr."""

    def do_GET(self) -> None:
        self.script.lookups.append(self._received())
        if not self._page():
            self._reply(Reply(404, error("not_found_error", self.path)))

    def _page(self) -> bool:
        page = self.script.pages.get(self.path)
        if page is not None:
            self._reply(page if isinstance(page, Reply) else Reply(200, page))
        return page is not None

    def do_POST(self) -> None:
        received = self._received()
        if self.path in self.script.pages:
            self.script.lookups.append(received)
            self._page()
            return
        self.script.requests.append(received)
        match self.script.next_step():
            case Stream() as stream:
                self._stream(stream)
            case Reply() as reply:
                self._reply(reply)
            case Hangup(held):
                self.close_connection = True
                if held:
                    self.script.hold(self.connection)
            case Raw() as raw:
                self._raw(raw)
            case events:
                self._stream(Stream(events))

    def do_CONNECT(self) -> None:
        """What a proxy is asked for the way to a server; it never opens one."""
        step = self.script.next_step()
        assert isinstance(step, Reply)
        self._reply(step)
        self.close_connection = True

    def _received(self) -> Received:
        headers = {name.lower(): value for name, value in self.headers.items()}
        body = self.rfile.read(int(headers.get("content-length", 0)))
        return Received(self.command, self.path, headers, body)

    def _reply(self, reply: Reply) -> None:
        written, kind = _written(reply.body)
        headers = {"content-type": kind} | {k.lower(): v for k, v in reply.headers.items()}
        self.send_response(reply.status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(written) + reply.is_short))
        self.end_headers()
        self.wfile.write(written)
        self.close_connection = self.close_connection or reply.is_short

    def _stream(self, stream: Stream) -> None:
        try:
            self._begin(stream)
        except ConnectionError:
            if stream.held:  # it left even before it could be held
                self.script.left()
            raise
        is_there = self.script.hold(self.connection) if stream.held else True
        if is_there:
            self._send(stream.then)
        if stream.end == "whole" and is_there:
            self.wfile.write(b"0\r\n\r\n")
            return
        self.close_connection = True
        if stream.end == "reset":
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)

    def _raw(self, raw: Raw) -> None:
        self.close_connection = True
        try:
            for piece in raw.pieces():
                if isinstance(piece, bytes):
                    self.wfile.write(piece)
                elif self.script.pause(piece):
                    return
        except ConnectionError:
            self.script.left()
            raise
        if raw.reset:
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)

    def _begin(self, stream: Stream) -> None:
        self.send_response(200)
        if stream.content_type:
            self.send_header("content-type", stream.content_type)
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        self._send(stream.events)

    def _send(self, events: Sequence[Event | bytes]) -> None:
        for event in events:
            self.wfile.write(chunk(event))


def _written(body: Mapping[str, Any] | str | bytes) -> tuple[bytes, str]:
    match body:
        case bytes():
            return body, "application/octet-stream"
        case str():
            return body.encode(), "text/html" if body.startswith("<") else "text/plain"
    return json.dumps(body).encode(), "application/json"


def _piece(event: Event | bytes) -> bytes:
    if isinstance(event, bytes):
        return event
    return f"event: {event['type']}\ndata: {json.dumps(event, ensure_ascii=False)}\n\n".encode()
