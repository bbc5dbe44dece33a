"""Transports to MCP servers: a process with pipes, or HTTP, both with limits.

Only `connection` imports this module, when a server is connected: the library takes a second to
import.
"""

import asyncio
import collections
import re
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

import anyio
import httpx2
import mcp_types
from mcp.shared.message import SessionMessage

from contextui.config.servers import Server
from contextui.processes import Process
from contextui.secrets import mask
from contextui.text import one_line

LARGEST_MESSAGE = 32_000_000  # maximum bytes of one message of a server; then the connection ends
_CHUNK = 65_536
_EVENT_END = re.compile(rb"\r\n\r\n|\n\n|\r\r")
_BURST, _PAUSE = 1_000, 0.002  # messages within a second, and the pause after each further one
_KEPT_LINES = 20  # of what the server writes to its error output
_GRACE = 0.5  # seconds for a server to end by itself after its input was closed


class MessageTooLargeError(Exception):
    """A server sent a message that is too large."""


class Log:
    """The last lines that a server wrote to its error output."""

    def __init__(self) -> None:
        self._lines: collections.deque[str] = collections.deque(maxlen=_KEPT_LINES)

    async def follow(self, stream: asyncio.StreamReader) -> None:
        async for line in lines_of(stream, 1_000_000, skip=True):
            if line.strip():
                self._lines.append(one_line(line[:2_000].decode("utf-8", "replace"), 300))

    @property
    def last(self) -> str:
        """The last line that looks like an error message, or the last one; secrets are masked."""
        for line in reversed(self._lines):
            if "error" in line.lower() and not line.startswith("  "):
                return mask(line)
        return mask(self._lines[-1]) if self._lines else ""


async def lines_of(
    stream: asyncio.StreamReader, limit: int, *, skip: bool = False
) -> AsyncIterator[bytes]:
    """Yield the lines of a stream."""
    parts: list[bytes] = []
    size = 0
    while chunk := await stream.read(_CHUNK):
        *whole, rest = chunk.split(b"\n")
        for line in whole:
            yield b"".join([*parts, line])
            parts, size = [], 0
        parts.append(rest)
        size += len(rest)
        if size > limit:
            if not skip:
                raise MessageTooLargeError
            parts, size = [], 0
    if size:
        yield b"".join(parts)


@asynccontextmanager
async def process_streams(
    process: Process, log: Log, ended: Callable[[BaseException | None], None]
) -> AsyncIterator[tuple[Any, Any]]:
    """Speak with a server that runs as a process: one JSON message per line."""
    to_session, from_server = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    to_server, from_session = anyio.create_memory_object_stream[SessionMessage](0)
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    stdin, stdout = process.stdin, process.stdout

    async def read() -> None:
        problem: BaseException | None = None
        pace = Pace()
        try:
            async with to_session:
                async for line in lines_of(stdout, LARGEST_MESSAGE):
                    if line.strip():
                        await pace.keep()
                        await to_session.send(_message(line))
        except (anyio.ClosedResourceError, anyio.BrokenResourceError):
            return  # this side has ended it
        except (MessageTooLargeError, OSError) as error:
            problem = error
        ended(problem)

    async def write() -> None:
        with suppress(OSError, anyio.ClosedResourceError, anyio.BrokenResourceError):
            async with from_session:
                async for one in from_session:
                    data = one.message.model_dump_json(by_alias=True, exclude_unset=True)
                    stdin.write(data.encode("utf-8", "replace") + b"\n")
                    await stdin.drain()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(read)
        tasks.start_soon(write)
        tasks.start_soon(log.follow, process.stderr)
        try:
            yield from_server, to_server
        finally:
            with suppress(OSError, RuntimeError):
                stdin.close()
            tasks.cancel_scope.cancel()
            for one in (to_session, from_server, to_server, from_session):
                one.close()


def _message(line: bytes) -> SessionMessage | Exception:
    try:
        found = mcp_types.jsonrpc_message_adapter.validate_json(line, by_name=False)
        return SessionMessage(found)
    except (ValueError, RecursionError):
        return ValueError("the server sent something that is not a message")


async def end_process(process: Process) -> None:
    """End a server whose input is closed; what is left of it is terminated.

    What it has written and nobody read is discarded: a full pipe would keep it from ending.
    """

    async def discard(stream: asyncio.StreamReader | None) -> None:
        with suppress(OSError, RuntimeError):
            while stream is not None and await stream.read(_CHUNK):
                pass

    if process.stdin is not None:
        process.stdin.close()
    left = [asyncio.ensure_future(discard(one)) for one in (process.stdout, process.stderr)]
    try:
        with suppress(TimeoutError):
            async with asyncio.timeout(_GRACE):
                await process.wait()
        await process.end()
        await asyncio.wait(left, timeout=_GRACE)
    finally:
        for one in left:
            one.cancel()


class Pace:
    """Slows a server down that sends too many messages, so that others get their turn."""

    def __init__(self) -> None:
        self._since, self._count = time.monotonic(), 0

    async def keep(self, count: int = 1) -> None:
        """Count messages; wait a moment if there are too many."""
        now = time.monotonic()
        if now - self._since > 1:
            self._since, self._count = now, 0
        self._count += count
        if (excess := min(self._count - _BURST, count)) > 0:
            await asyncio.sleep(_PAUSE * excess)


# --- HTTP -------------------------------------------------------------------------------------


class _Limited(httpx2.AsyncByteStream):
    """The body of a response with a limit: of its size, or of the size and rate of its events."""

    def __init__(self, stream: Any, *, has_events: bool) -> None:
        self._stream, self._has_events = stream, has_events

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size, before, pace = 0, b"", Pace()
        async for chunk in self._stream:
            size += len(chunk)
            if self._has_events:
                read = before + chunk
                ends = [one.end() for one in _EVENT_END.finditer(read) if one.end() > len(before)]
                size = len(read) - ends[-1] if ends else size
                before = read[-3:]
                await pace.keep(len(ends))
            if size > LARGEST_MESSAGE:
                raise httpx2.ReadError("it sent a message that is too large")
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()


async def _limit(response: httpx2.Response) -> None:
    if response.headers.get("content-encoding", "identity").strip().lower() != "identity":
        # Nobody asked for it, and a few kilobytes of it can fill the memory.
        await response.aclose()
        raise httpx2.ReadError("the response is compressed")
    kind = response.headers.get("content-type", "").lower()
    has_events = kind.startswith("text/event-stream")
    response.stream = _Limited(response.stream, has_events=has_events)


def http_client(
    server: Server, auth: httpx2.Auth | None, noted: Callable[[int], None]
) -> httpx2.AsyncClient:
    """Create the HTTP client for a server whose variables are filled in."""

    async def note(response: httpx2.Response) -> None:
        noted(response.status_code)

    return httpx2.AsyncClient(
        headers={"Accept-Encoding": "identity", **dict(server.headers)},
        timeout=httpx2.Timeout(30.0, read=max(server.timeout, 300.0)),
        auth=auth,
        event_hooks={"response": [_limit, note]},
    )


@asynccontextmanager
async def http_streams(
    server: Server, auth: httpx2.Auth | None, noted: Callable[[int], None]
) -> AsyncIterator[tuple[Any, Any]]:
    """Speak with a server over HTTP."""
    if server.kind == "sse":
        from mcp.client.sse import sse_client  # noqa: PLC0415  (few servers need it)

        def client_of(*_: Any, **__: Any) -> httpx2.AsyncClient:
            return http_client(server, auth, noted)

        async with sse_client(server.url, httpx_client_factory=client_of) as streams:
            yield streams
        return
    from mcp.client.streamable_http import streamable_http_client  # noqa: PLC0415

    async with (
        http_client(server, auth, noted) as client,
        streamable_http_client(
            server.url, http_client=client, max_sse_event_size=LARGEST_MESSAGE
        ) as streams,
    ):
        yield streams
