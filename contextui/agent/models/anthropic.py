"""Models behind Anthropic's Messages API: Anthropic's own, and any server that speaks it."""

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
from contextui.config.settings import Lang
from contextui.config.sources import key_variable
from contextui.model import ModelError, ModelEvent, ModelRequest

if TYPE_CHECKING:
    import anthropic
    import httpx2

_DEFAULT_URL = "https://api.anthropic.com"
_CONNECTING = 10.0  # seconds
_PARTING = 0.5  # seconds that a server has to end its reply when all was said
_REMEMBERED = 4  # requests; between two of one conversation may be others, for a summary


class AnthropicModel:
    """A model of Anthropic's, or of another server with the same API.

    It never tries again by itself: whoever asks decides that by the kind of the `ModelError`.

    Args:
        name: The model's name, as the server knows it.
        api_key: What lets in; else ANTHROPIC_API_KEY, else ANTHROPIC_AUTH_TOKEN. Servers other
            than Anthropic's may need none.
        base_url: The server's address; else ANTHROPIC_BASE_URL, else Anthropic's own.
        thinking: Tokens to think with before the answer, beyond its own; 0 for none. Left out,
            the model decides.
        lang: The language of the person, who reads what went wrong.
        limits: The time an answer may take, and the time it may make no progress.

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
    ) -> None:
        self.name = name
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
        self._loop: asyncio.AbstractEventLoop | None = None  # connections live in one loop only

    def __repr__(self) -> str:
        return f"AnthropicModel({self.name!r}, base_url={str(self._endpoint)!r})"

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent]:
        """Answer a request, piece by piece; the last piece is an `Answer`.

        Closing the iterator, or cancelling who waits for it, ends the connection at once.

        Raises:
            ModelError: There is no answer; its kind says whether to try again.
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
                for said in reader.read(event):
                    yield said
                if reader.is_whole:
                    break
                if reader.progress > before:
                    watch.progress()
                if reader.size > longest:
                    raise self._endless(tokens)
            await _part_from(events)
        yield reader.answer()

    def check(self) -> None:
        """See that there is what a request needs, before one is made.

        Raises:
            ModelError: There is no key, no address, or the environment names a proxy or
                certificates that cannot be used.
        """
        endpoint, words = self._endpoint, self._words
        if not endpoint.url.startswith(("http://", "https://")):
            raise failures.no_address(endpoint)
        if endpoint.key is None and endpoint.url == _DEFAULT_URL:
            raise ModelError("auth", words.key_missing)
        if endpoint.key is not None and not _is_header(endpoint.key.get_secret_value()):
            raise ModelError("auth", words.key_odd.format(variable=endpoint.variable))
        if problem := connection.problem(words):
            raise ModelError("settings", problem)

    async def aclose(self) -> None:
        """Close the connections; the next request opens new ones."""
        client, self._client = self._client, None
        if client is not None and self._loop is asyncio.get_running_loop():
            await client.close()

    # --- sending -----------------------------------------------------------------------

    async def _connected(self) -> "anthropic.AsyncAnthropic":
        """The client, made on first use and in a thread: to import it takes seconds."""
        loop = asyncio.get_running_loop()
        if self._client is None or self._loop is not loop:
            client = await asyncio.to_thread(self._make_client)
            if self._client is None or self._loop is not loop:  # nobody was faster
                self._client, self._loop = client, loop
        return self._client

    def _remember(self, sent: Payload) -> None:
        """The server began to answer, so it read the request and keeps it up to the marks."""
        if sent not in self._sent:
            self._sent.append(sent)

    def _make_client(self) -> "anthropic.AsyncAnthropic":
        self.check()
        import anthropic  # noqa: PLC0415  (heavy: 2 seconds)
        import httpx2  # noqa: PLC0415  (comes with it)

        key = self._endpoint.key
        try:  # the SDK's own would, where this fails, leave a half-made one that complains
            http = make_client(follow_redirects=False)
        except (httpx2.InvalidURL, ImportError, OSError, ValueError) as error:
            raise failures.no_client(error, self._endpoint) from None
        try:
            return anthropic.AsyncAnthropic(
                api_key=key.get_secret_value() if key else "none",  # the SDK wants one in any case
                base_url=self._endpoint.url,
                max_retries=0,  # who asks decides about that, and tells the person
                timeout=anthropic.Timeout(self._limits.silence, connect=_CONNECTING),
                default_headers={"Accept-Encoding": "identity"},  # nothing small becomes large
                open_telemetry=False,
                http_client=http,
            )
        except httpx2.InvalidURL:
            raise failures.no_address(self._endpoint) from None

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
            except LimitReached:  # headers that come one by one, too
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
        """The next event; None at the end of the reply."""
        try:
            return await watch.wait(anext(events, None))
        except LimitReached as reached:
            match reached.limit:
                case "bytes":
                    raise self._endless(tokens) from None
                case "total":
                    words = self._words.too_slow.format(seconds=self._limits.total)
                    raise ModelError("endless", words) from None
            words = self._words.silent.format(seconds=self._limits.silence)
            raise ModelError("silent", words) from None

    def _endless(self, tokens: int) -> ModelError:
        words = self._words.endless.format(server=self._endpoint.server, tokens=tokens)
        return ModelError("endless", words)

    async def _events(
        self, reply: "httpx2.Response", largest: int
    ) -> AsyncGenerator[Mapping[str, Any]]:
        """The events of a reply, as the server sent them.

        The SDK's own objects are not used: they know fewer types, and take an answer that broke
        off for a whole one.
        """
        import httpx2  # noqa: PLC0415  (comes with it)

        kind = reply.headers.get("content-type", "")
        try:
            if kind and not kind.lower().startswith("text/event-stream"):
                raise await self._odd(reply, kind)
            async with (
                aclosing(body_of(reply, largest)) as chunks,
                aclosing(data_of(chunks, EVENT)) as found,
            ):
                async for event in self._checked(found):
                    yield event
        except httpx2.TimeoutException:
            words = self._words.silent.format(seconds=self._limits.silence)
            raise ModelError("silent", words) from None
        except httpx2.HTTPError:
            raise ModelError("cut", self._words.lost) from None
        except (ValueError, RecursionError):
            raise ModelError("cut", self._words.garbled) from None

    async def _checked(self, found: AsyncIterator[str]) -> AsyncIterator[Mapping[str, Any]]:
        """The events that are some."""
        async for data in found:
            event = json.loads(data) if data else {}
            if not isinstance(event, Mapping):
                raise ValueError("no event")
            if event.get("type") == "error":
                raise failures.told(event, self._endpoint)
            yield event

    async def _odd(self, reply: "httpx2.Response", kind: str) -> ModelError:
        """What to say of a reply that is no stream: perhaps it tells of a failure."""
        page = await first_page(reply)
        with suppress(ValueError, RecursionError):
            body = json.loads(page)
            if isinstance(body, Mapping) and body.get("error"):
                return failures.told(body, self._endpoint)
        return failures.not_a_stream(kind, self._endpoint)


async def _part_from(events: AsyncIterator[object]) -> None:
    """Read to the end, so that the connection can be used again; but wait for nobody."""
    with suppress(TimeoutError, ModelError):
        async with asyncio.timeout(_PARTING):
            async for _ in events:
                pass


def _is_header(key: str) -> bool:
    return key.isascii() and key.isprintable()
