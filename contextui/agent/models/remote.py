"""`RemoteModel`: what models behind an HTTP API share. Streams, limits, and how they fail."""

import asyncio
import json
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import AsyncExitStack, aclosing, asynccontextmanager, suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from contextui.agent.models import connection, failures
from contextui.agent.models.connection import Endpoint, unreachable
from contextui.agent.models.limits import (
    EVENT,
    AnswerLimits,
    LimitReached,
    Stopwatch,
    body_of,
    first_page,
)
from contextui.agent.models.stream import AnswerReader, data_of
from contextui.config.settings import is_address
from contextui.model import CachePrices, ContextSize, ModelError, ModelEvent, ModelRequest
from contextui.words import Message, msg

if TYPE_CHECKING:
    import httpx2

    from contextui.agent.models.servers import Rates
    from contextui.tokens import Usage

CONNECT_SECONDS = 10.0
"""Seconds that a connection may take to open."""

_INVALID_KEY = msg("{variable} has characters that are not valid in a key: copy the key again.")
_DRAIN_SECONDS = 0.5  # seconds that a server has to close its reply after the last event


class RemoteModel(ABC):
    """A model behind an HTTP API that streams server-sent events.

    It never retries by itself: the caller decides by the kind of the `ModelError`.
    """

    default_url: ClassVar[str]
    no_key: ClassVar[str]
    library: ClassVar[str]
    api: ClassVar[Literal["chat", "messages"]]

    def __init__(
        self,
        name: str,
        endpoint: Endpoint,
        limits: AnswerLimits | None,
        prices: CachePrices,
    ) -> None:
        self.name, self.prices, self._endpoint = name, prices, endpoint
        self._limits = limits or AnswerLimits()
        self._thinking_tokens = 0  # which an answer may have besides those of the request
        self._was_reached = False
        self._answered: Any = None  # the last request that the server began to answer
        self._client: Any = None
        self._loop: asyncio.AbstractEventLoop | None = None  # connections belong to one event loop
        self.rates: Rates | None = None

    async def context_size(self) -> ContextSize | None:
        """Ask the server for the size of its context; None if it is not known."""
        if self._endpoint.url == self.default_url:
            return None  # far larger than any budget
        from contextui.agent.models import servers  # noqa: PLC0415  (only before the first request)

        return await servers.context_size(self._endpoint, self.api)

    def preload(self) -> None:
        """Import the library, so that the first request does not wait for it. Blocks for long."""
        with suppress(ImportError):  # the first request reports it
            import_module(self.library)

    def cost(self, usage: "Usage") -> float | None:
        """Return the dollars of a usage; None if the prices are not known."""
        if self.rates is None:
            return None
        from contextui.agent.models.prices import cost_of  # noqa: PLC0415  (only with prices)

        return cost_of(self.rates, usage)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, base_url={str(self._endpoint)!r})"

    @property
    def url(self) -> str:
        """The server's address, without user name and password."""
        return str(self._endpoint)

    @property
    def warning(self) -> Message | None:
        """What the person should know before the first request, if anything."""
        return self._endpoint.warning

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent]:
        """Stream the answer to a request; the last event is an `Answer`.

        Closing the iterator, or cancelling its consumer, closes the connection at once.

        Raises:
            ModelError: There is no answer; its kind decides whether to retry.
        """
        reader, client = self._reader(), await self._connected()
        sent = self._written(request)
        watch, tokens = Stopwatch(self._limits), request.max_tokens + self._thinking_tokens
        longest, largest = self._limits.characters(tokens), self._limits.bytes(tokens)
        async with (
            self._reply(sent, client, watch) as reply,
            aclosing(self._events(reply, largest)) as events,
        ):
            while (event := await self._next(events, watch, tokens)) is not None:
                self._answered = sent
                before = reader.progress
                for shown in reader.read(event):
                    yield shown
                if reader.is_whole:
                    break
                if reader.progress > before:
                    watch.progress()
                if reader.size > longest:
                    raise self._too_long(tokens)
            await _drain(events)
        yield reader.answer()

    async def aclose(self) -> None:
        """Close the connections; the next request opens new ones."""
        client, self._client = self._client, None
        if client is not None and self._loop is asyncio.get_running_loop():
            await (client.aclose() if hasattr(client, "aclose") else client.close())

    async def _connected(self) -> Any:
        """Return the client, created on first use and in a thread: importing it takes seconds."""
        loop = asyncio.get_running_loop()
        if self._client is None or self._loop is not loop:
            client = await asyncio.to_thread(self._new_client)
            if self._client is None or self._loop is not loop:  # no other task was faster
                self._client, self._loop = client, loop
        return self._client

    def check(self) -> None:
        """Check the settings that a request needs, before one is sent."""
        endpoint = self._endpoint
        if not is_address(endpoint.url):
            raise failures.invalid_address(endpoint)
        if not endpoint.key:
            if endpoint.url == self.default_url:
                raise endpoint.error("auth", self.no_key)
        elif not (endpoint.key.isascii() and endpoint.key.isprintable()):
            raise endpoint.error("auth", _INVALID_KEY)
        if (problem := connection.problem()) is not None:
            raise problem

    def _new_client(self) -> Any:
        self.check()
        import httpx2  # noqa: PLC0415  (heavy: 0.2 seconds)

        try:
            return self._make_client()
        except (httpx2.InvalidURL, ImportError, OSError, ValueError) as error:
            raise failures.no_client(error, self._endpoint) from None

    @asynccontextmanager
    async def _reply(
        self, sent: Any, client: Any, watch: Stopwatch
    ) -> AsyncGenerator["httpx2.Response"]:
        import httpx2  # noqa: PLC0415  (heavy, and loaded by now)

        async with AsyncExitStack() as stack:
            try:
                reply = await self._send(sent, client, watch, stack)
            except LimitReached:  # also for headers that trickle in one by one
                raise connection.no_reply(self._endpoint) from None
            except httpx2.InvalidURL:
                raise failures.invalid_address(self._endpoint) from None
            except httpx2.HTTPError as error:
                reached = self._was_reached
                raise unreachable(error, self._endpoint, was_reached=reached) from None
            except (TypeError, ValueError, RecursionError) as error:
                raise failures.unsendable(error, self._endpoint) from None
            self._was_reached = True
            yield reply

    # --- the API -----------------------------------------------------------------------

    @abstractmethod
    def _make_client(self) -> Any:
        """Create the client that sends requests, with ``aclose`` or ``close``."""

    @abstractmethod
    def _reader(self) -> AnswerReader:
        """Create the reader of one stream."""

    @abstractmethod
    def body(self, request: ModelRequest) -> Mapping[str, Any]:
        """Write a request in the form of the API, as it would be sent now."""

    def _written(self, request: ModelRequest) -> Any:
        """Prepare a request; `_send` sends it, perhaps in several forms."""
        return request

    @abstractmethod
    async def _send(
        self, sent: Any, client: Any, watch: Stopwatch, stack: AsyncExitStack
    ) -> "httpx2.Response":
        """Send a request, and return the reply, which the stack closes."""

    def _parsed(self, data: str) -> Mapping[str, Any]:
        """Parse the data of an event."""
        event = json.loads(data) if data else {}
        if not isinstance(event, Mapping):
            raise ValueError("not an event")
        if event.get("type") == "error":
            raise failures.reported(event, self._endpoint)
        return event

    # --- reading -----------------------------------------------------------------------

    async def _next(
        self, events: AsyncGenerator[Mapping[str, Any]], watch: Stopwatch, tokens: int
    ) -> Mapping[str, Any] | None:
        try:
            return await watch.wait(anext(events, None))
        except LimitReached as reached:
            match reached.limit:
                case "bytes":
                    raise self._too_long(tokens) from None
                case "total":
                    text = msg(
                        "The answer was not complete after {seconds:g} s (max_answer_time) and was "
                        "discarded."
                    )
                    seconds = self._limits.total
                    raise self._endpoint.error("endless", text, seconds=seconds) from None
            raise self._silent() from None

    def _silent(self) -> ModelError:
        text = msg(
            "The answer stopped: the server sent nothing new for {seconds:g} s (max_silence)."
        )
        return self._endpoint.error("silent", text, seconds=self._limits.silence)

    def _too_long(self, tokens: int) -> ModelError:
        text = msg(
            "{server} sent far more than max_tokens ({tokens:,}) allows. The answer was discarded."
        )
        return self._endpoint.error("endless", text, tokens=tokens)

    async def _events(
        self, reply: "httpx2.Response", largest: int
    ) -> AsyncGenerator[Mapping[str, Any]]:
        """Yield the events of a reply, as the server sent them.

        An SDK's event objects are not used: they know fewer types, and accept a truncated answer
        as a whole one.
        """
        import httpx2  # noqa: PLC0415  (heavy, and loaded by now)

        kind = reply.headers.get("content-type", "")
        try:
            if kind and not kind.lower().startswith("text/event-stream"):
                raise await self._not_a_stream(reply, kind)
            async with (
                aclosing(body_of(reply, largest)) as chunks,
                aclosing(data_of(chunks, EVENT)) as found,
            ):
                async for data in found:
                    yield self._parsed(data)
        except httpx2.TimeoutException:
            raise self._silent() from None
        except httpx2.HTTPError:
            raise ModelError("cut", "The answer broke off: the connection was lost.") from None
        except (ValueError, RecursionError):
            raise ModelError("cut", "The answer was garbled: the stream is invalid.") from None

    async def _not_a_stream(self, reply: "httpx2.Response", kind: str) -> ModelError:
        page = await first_page(reply)
        with suppress(ValueError, RecursionError):
            body = json.loads(page)
            if isinstance(body, Mapping) and body.get("error"):
                return failures.reported(body, self._endpoint)
        return failures.not_a_stream(kind, self._endpoint)


async def _drain(events: AsyncIterator[object]) -> None:
    """Read the rest, so that the connection can be reused, but only for a moment."""
    with suppress(TimeoutError, ModelError):
        async with asyncio.timeout(_DRAIN_SECONDS):
            async for _ in events:
                pass
