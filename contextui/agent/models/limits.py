"""Limits on a server's reply: time without progress, total time, characters, bytes."""

import asyncio
import zlib
from collections.abc import AsyncGenerator, Awaitable, Iterator
from contextlib import aclosing, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeVar

if TYPE_CHECKING:
    import httpx2

T = TypeVar("T")

PAGE = 65_536
"""Bytes that are read of a reply that is not streamed, such as an error."""

PAGE_SECONDS = 5.0
"""Seconds that such a reply may take. What arrived by then is used."""

EVENT = 2_000_000
"""Maximum size of one event in bytes. Parsed, `{},{},…` takes twenty times as much memory."""

_CHARACTERS_PER_TOKEN = 64  # the average is about 4; runs of blanks come near this
_EXTRA_CHARACTERS = 64_000  # names, ids and signatures, which no token counts
_MOST_CHARACTERS = 8_000_000
_BYTES_PER_TOKEN = 4_096  # an event for each character of a token, each wrapped in JSON
_EXTRA_BYTES = 4_000_000
_MOST_BYTES = 512_000_000
_PIECE = 65_536  # bytes that are decompressed at a time
_ZLIB = ("gzip", "x-gzip", "deflate")


@dataclass(frozen=True, slots=True)
class AnswerLimits:
    """Time and size limits of one answer.

    Attributes:
        silence: Seconds without progress. Pings, comments, unknown events and empty deltas are
            no progress.
        total: Seconds from the request to the end of the answer.
    """

    silence: float = 120.0
    total: float = 3_600.0

    @staticmethod
    def characters(max_tokens: int) -> int:
        """Return the maximum number of characters for an answer of so many tokens."""
        return min(max_tokens * _CHARACTERS_PER_TOKEN + _EXTRA_CHARACTERS, _MOST_CHARACTERS)

    @staticmethod
    def bytes(max_tokens: int) -> int:
        """Return the maximum number of bytes for the events of such an answer."""
        return min(max_tokens * _BYTES_PER_TOKEN + _EXTRA_BYTES, _MOST_BYTES)


class LimitReached(Exception):  # noqa: N818  it names a fact, the caller makes an error of it
    """A server was silent for too long, took too long in all, or sent too many bytes."""

    def __init__(self, limit: Literal["silence", "total", "bytes"]) -> None:
        super().__init__(limit)
        self.limit = limit


class Stopwatch:
    """Times one request. Only time spent waiting for the server counts."""

    def __init__(self, limits: AnswerLimits) -> None:
        self._limits = limits
        self._silent = self._waited = 0.0

    def progress(self) -> None:
        """Reset the time without progress."""
        self._silent = 0.0

    async def wait(self, something: Awaitable[T]) -> T:
        """Wait for something from the server, at most until a limit is reached."""
        loop = asyncio.get_running_loop()
        begun = loop.time()
        try:
            async with asyncio.timeout(max(self._left(), 0.0)):
                result = await something
        except TimeoutError:
            self._count(loop.time() - begun)
            raise LimitReached(self._reached()) from None
        self._count(loop.time() - begun)
        if self._left() <= 0:  # small pieces that arrive in time never trigger the timeout
            raise LimitReached(self._reached())
        return result

    def _count(self, seconds: float) -> None:
        self._silent += seconds
        self._waited += seconds

    def _left(self) -> float:
        return min(self._limits.silence - self._silent, self._limits.total - self._waited)

    def _reached(self) -> Literal["silence", "total"]:
        return "total" if self._waited >= self._limits.total else "silence"


async def body_of(reply: "httpx2.Response", most: int) -> AsyncGenerator[bytes]:
    """Yield the body of a reply, decompressed piece by piece.

    Raises:
        LimitReached: It is longer than `most`, compressed or decompressed.
        ValueError: It cannot be decompressed, or not safely: with nested encodings a few bytes
            could take hours.
    """
    encoding = reply.headers.get("content-encoding", "").strip().lower()
    unpacker = None
    if encoding not in ("", "identity"):
        if encoding not in _ZLIB:
            raise ValueError(f"compressed as {encoding}")
        unpacker = zlib.decompressobj(zlib.MAX_WBITS | 32)  # detects the format
    came = size = 0
    async for raw in reply.aiter_raw():
        came += len(raw)
        for piece in [raw] if unpacker is None else _unpacked(unpacker, raw):
            size += len(piece)
            yield piece
            if size > most:
                raise LimitReached("bytes")
        if came > most:
            raise LimitReached("bytes")


def _unpacked(unpacker: "zlib._Decompress", raw: bytes) -> Iterator[bytes]:
    try:
        while raw and not unpacker.eof:  # data after the end would only fill the memory
            yield unpacker.decompress(raw, _PIECE)
            raw = unpacker.unconsumed_tail
    except zlib.error as error:
        raise ValueError("not what it says it is") from error


async def first_page(reply: "httpx2.Response") -> bytes:
    """Return the beginning of a reply that is not streamed, as much as arrives in time."""
    page = b""
    with suppress(TimeoutError, LimitReached, ValueError):
        async with asyncio.timeout(PAGE_SECONDS), aclosing(body_of(reply, PAGE)) as pieces:
            async for piece in pieces:
                page += piece
    return page[:PAGE]


def make_client(**options: Any) -> "httpx2.AsyncClient":
    """Create the SDK's HTTP client, which reads only the first page of an error.

    The SDK reads error bodies whole: a megabyte of gzip became gigabytes of text.
    """
    import anthropic  # noqa: PLC0415  (heavy: 2 seconds)
    import httpx2  # noqa: PLC0415  (comes with it)

    class Client(anthropic.DefaultAsyncHttpxClient):
        async def send(self, request: httpx2.Request, **given: Any) -> httpx2.Response:
            reply = await super().send(request, **{**given, "stream": True})
            if reply.is_success and given.get("stream"):
                return reply
            try:
                page = await first_page(reply)
            finally:
                await reply.aclose()
            of_body = ("content-encoding", "content-length", "transfer-encoding")
            headers = [(name, value) for name, value in reply.headers.multi_items()
                       if name.lower() not in of_body]  # fmt: skip
            return httpx2.Response(
                reply.status_code, headers=headers, content=page, request=request
            )

    return Client(**options)
