"""Client for Anthropic's Messages API: Anthropic's models, and compatible servers."""

import asyncio
import json
import os
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import AsyncExitStack, aclosing, asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

from pydantic import SecretStr

from contextui.agent.models import connection, failures
from contextui.agent.models.connection import Endpoint, no_reply, unreachable
from contextui.agent.models.limits import (
    EVENT,
    AnswerLimits,
    LimitReached,
    Stopwatch,
    body_of,
    first_page,
    make_client,
)
from contextui.agent.models.stream import AnswerReader, data_of
from contextui.agent.wire import Payload, payload
from contextui.config.sources import key_variable
from contextui.model import CachePrices, ModelError, ModelEvent, ModelRequest
from contextui.words import Lang

if TYPE_CHECKING:
    import anthropic
    import httpx2

_DEFAULT_URL = "https://api.anthropic.com"
_CONNECT_SECONDS = 10.0  # seconds
_DRAIN_SECONDS = 0.5  # seconds that a server has to close its reply after the last event
_REMEMBERED = 4  # requests; those for a summary may come between two of one conversation


class AnthropicModel:
    """A model of Anthropic, or of a server with a compatible API.

    It never retries by itself: the caller decides by the kind of the `ModelError`.

    Args:
        name: The model's name, as the server knows it.
        api_key: The API key; else ANTHROPIC_API_KEY, else ANTHROPIC_AUTH_TOKEN. Servers other
            than Anthropic's may need none.
        base_url: The server's address; else ANTHROPIC_BASE_URL, else Anthropic's own.
        thinking: Token budget for thinking, in addition to the answer's; 0 disables it. By default
            the model decides.
        lang: The language of error messages.
        limits: Time limits for an answer, in total and without progress.
        prices: What the server's cache costs; `LOCAL_PRICES` for a server such as llama.cpp's,
            which keeps what it read by itself. By default Anthropic's.

    Example:
        >>> model = AnthropicModel("claude-opus-5-5")
        >>> async for event in model.stream(request): ...
        >>> await model.aclose()
    """

    def __init__(
        self,
        name: str,
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        thinking: int | None = None,
        lang: Lang = "en",
        limits: AnswerLimits | None = None,
        prices: CachePrices | None = None,
    ) -> None:
        self.name = name
        self.prices = prices or CachePrices()
        variable = key_variable(os.environ)
        key = (api_key or os.environ.get(variable) or "").strip()
        url = (base_url or os.environ.get("ANTHROPIC_BASE_URL") or _DEFAULT_URL).strip()
        url = url.rstrip("/").removesuffix("/v1")  # the SDK adds it
        self._endpoint = Endpoint(url, name, SecretStr(key) if key else None, lang, variable)
        self._words = self._endpoint.words
        self._thinking = thinking
        self._limits = limits or AnswerLimits()
        self._sent: deque[Payload] = deque(maxlen=_REMEMBERED)
        self._client: anthropic.AsyncAnthropic | None = None
        self._was_reached = False
        self._loop: asyncio.AbstractEventLoop | None = None  # connections belong to one event loop

    def __repr__(self) -> str:
        return f"AnthropicModel({self.name!r}, base_url={str(self._endpoint)!r})"

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent]:
        """Stream the answer to a request; the last event is an `Answer`.

        Closing the iterator, or cancelling its consumer, closes the connection at once.

        Raises:
            ModelError: There is no answer; its kind decides whether to retry.
        """
        reader = AnswerReader(self.name, self._words)
        client = await self._connected()
        sent = self._payload(request)
        watch = Stopwatch(self._limits)
        tokens: int = sent.body["max_tokens"]
        longest, largest = self._limits.characters(tokens), self._limits.bytes(tokens)
        async with (
            self._reply(client, sent, watch) as reply,
            aclosing(self._events(reply, largest)) as events,
        ):
            while (event := await self._next(events, watch, tokens)) is not None:
                self._remember(sent)
                before = reader.progress
                for one in reader.read(event):
                    yield one
                if reader.is_whole:
                    break
                if reader.progress > before:
                    watch.progress()
                if reader.size > longest:
                    raise self._too_long(tokens)
            await _drain(events)
        yield reader.answer()

    def check(self) -> None:
        """Check the settings that a request needs, before one is sent.

        Raises:
            ModelError: The key or the address is missing or invalid, or the environment names a
                proxy or certificates that cannot be used.
        """
        endpoint, words = self._endpoint, self._words
        if not endpoint.url.startswith(("http://", "https://")):
            raise failures.invalid_address(endpoint)
        if endpoint.key is None and endpoint.url == _DEFAULT_URL:
            raise ModelError(
                "auth",
                words(
                    "ANTHROPIC_API_KEY is not set: set it to your key, or use a server that"
                    " needs none with ANTHROPIC_BASE_URL."
                ),
            )
        if endpoint.key is not None and not _is_header(endpoint.key.get_secret_value()):
            raise ModelError(
                "auth",
                words(
                    "{variable} has characters that are not valid in a key: copy the key again.",
                    variable=endpoint.variable,
                ),
            )
        if problem := connection.problem(words):
            raise ModelError("settings", problem)

    def preload(self) -> None:
        """Import the SDK, so that the first request does not wait for it. Blocks for seconds."""
        with suppress(ImportError):  # the first request reports it
            import anthropic  # noqa: F401, PLC0415

    async def aclose(self) -> None:
        """Close the connections; the next request opens new ones."""
        client, self._client = self._client, None
        if client is not None and self._loop is asyncio.get_running_loop():
            await client.close()

    # --- sending -----------------------------------------------------------------------

    async def _connected(self) -> "anthropic.AsyncAnthropic":
        """Return the client, created on first use and in a thread: importing it takes seconds."""
        loop = asyncio.get_running_loop()
        if self._client is None or self._loop is not loop:
            client = await asyncio.to_thread(self._make_client)
            if self._client is None or self._loop is not loop:  # no other task was faster
                self._client, self._loop = client, loop
        return self._client

    def _remember(self, sent: Payload) -> None:
        """Remember a request: the server started to answer, so it cached it up to its marks."""
        if sent not in self._sent:
            self._sent.append(sent)

    def _make_client(self) -> "anthropic.AsyncAnthropic":
        self.check()
        import anthropic  # noqa: PLC0415  (heavy: 2 seconds)
        import httpx2  # noqa: PLC0415  (comes with it)

        key = self._endpoint.key
        try:  # if the SDK's own client fails here, it leaves a half-initialized one that complains
            http = make_client(follow_redirects=False)
        except (httpx2.InvalidURL, ImportError, OSError, ValueError) as error:
            raise failures.no_client(error, self._endpoint) from None
        try:
            return anthropic.AsyncAnthropic(
                api_key=key.get_secret_value() if key else "none",  # the SDK always requires one
                base_url=self._endpoint.url,
                max_retries=0,  # the caller retries, and informs the person
                timeout=anthropic.Timeout(self._limits.silence, connect=_CONNECT_SECONDS),
                default_headers={"Accept-Encoding": "identity"},  # no decompression bombs
                open_telemetry=False,
                http_client=http,
            )
        except httpx2.InvalidURL:
            raise failures.invalid_address(self._endpoint) from None

    def _payload(self, request: ModelRequest) -> Payload:
        try:
            sent = payload(request, self.name, self._sent)
        except RecursionError as error:
            raise failures.unsendable(error, self._endpoint) from None
        match self._thinking:
            case None:
                pass
            case 0:
                sent.body["thinking"] = {"type": "disabled"}
            case budget:
                sent.body["thinking"] = {"type": "enabled", "budget_tokens": budget}
                sent.body["max_tokens"] += budget
        return sent

    @asynccontextmanager
    async def _reply(
        self, client: "anthropic.AsyncAnthropic", sent: Payload, watch: Stopwatch
    ) -> AsyncGenerator["httpx2.Response"]:
        import anthropic  # noqa: PLC0415  (heavy, and loaded by now)
        import httpx2  # noqa: PLC0415  (comes with it)

        opening = client.messages.with_streaming_response.create(**sent.body, stream=True)
        async with AsyncExitStack() as stack:
            try:
                reply = await watch.wait(stack.enter_async_context(opening))
            except LimitReached:  # also for headers that trickle in one by one
                raise no_reply(self._endpoint) from None
            except anthropic.APIStatusError as error:
                self._was_reached = True
                raise failures.refused(error, self._endpoint) from None
            except (anthropic.APIConnectionError, httpx2.HTTPError) as error:
                raise unreachable(error, self._endpoint, was_reached=self._was_reached) from None
            except (TypeError, ValueError, RecursionError) as error:
                raise failures.unsendable(error, self._endpoint) from None
            self._was_reached = True
            yield reply.http_response

    # --- reading -----------------------------------------------------------------------

    async def _next(
        self,
        events: AsyncGenerator[Mapping[str, Any]],
        watch: Stopwatch,
        tokens: int,
    ) -> Mapping[str, Any] | None:
        """Return the next event; None at the end of the reply."""
        try:
            return await watch.wait(anext(events, None))
        except LimitReached as reached:
            match reached.limit:
                case "bytes":
                    raise self._too_long(tokens) from None
                case "total":
                    words = self._words(
                        "The answer was not complete after {seconds:g} s (max_answer_time) and was "
                        "discarded.",
                        seconds=self._limits.total,
                    )
                    raise ModelError("endless", words) from None
            words = self._words(
                "The answer stopped: the server sent nothing new for {seconds:g} s (max_silence).",
                seconds=self._limits.silence,
            )
            raise ModelError("silent", words) from None

    def _too_long(self, tokens: int) -> ModelError:
        words = self._words(
            "{server} sent far more than max_tokens ({tokens:,}) allows. The answer was discarded.",
            server=self._endpoint.server,
            tokens=tokens,
        )
        return ModelError("endless", words)

    async def _events(
        self, reply: "httpx2.Response", largest: int
    ) -> AsyncGenerator[Mapping[str, Any]]:
        """Yield the events of a reply, as the server sent them.

        The SDK's event objects are not used: they know fewer types, and accept a truncated answer
        as a whole one.
        """
        import httpx2  # noqa: PLC0415  (comes with it)

        kind = reply.headers.get("content-type", "")
        try:
            if kind and not kind.lower().startswith("text/event-stream"):
                raise await self._not_a_stream(reply, kind)
            async with (
                aclosing(body_of(reply, largest)) as chunks,
                aclosing(data_of(chunks, EVENT)) as found,
            ):
                async for event in self._checked(found):
                    yield event
        except httpx2.TimeoutException:
            words = self._words(
                "The answer stopped: the server sent nothing new for {seconds:g} s (max_silence).",
                seconds=self._limits.silence,
            )
            raise ModelError("silent", words) from None
        except httpx2.HTTPError:
            raise ModelError(
                "cut", self._words("The answer broke off: the connection was lost.")
            ) from None
        except (ValueError, RecursionError):
            raise ModelError(
                "cut", self._words("The answer was garbled: the stream is invalid.")
            ) from None

    async def _checked(self, found: AsyncIterator[str]) -> AsyncIterator[Mapping[str, Any]]:
        """Parse the events, and raise those that report an error."""
        async for data in found:
            event = json.loads(data) if data else {}
            if not isinstance(event, Mapping):
                raise ValueError("no event")
            if event.get("type") == "error":
                raise failures.reported(event, self._endpoint)
            yield event

    async def _not_a_stream(self, reply: "httpx2.Response", kind: str) -> ModelError:
        """Return the error for a reply that is no stream; its body may contain one."""
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


def _is_header(key: str) -> bool:
    return key.isascii() and key.isprintable()
