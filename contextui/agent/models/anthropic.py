"""Client for Anthropic's Messages API: Anthropic's models, and compatible servers."""

import os
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import SecretStr

from contextui.agent.models import failures
from contextui.agent.models.connection import Endpoint, no_reply, unreachable
from contextui.agent.models.limits import AnswerLimits, LimitReached, Stopwatch, make_client
from contextui.agent.models.remote import CONNECT_SECONDS, RemoteModel
from contextui.agent.models.stream import AnswerReader
from contextui.agent.wire import Payload, payload
from contextui.config.sources import key_variable
from contextui.model import CachePrices, ContextSize, ModelError, ModelRequest
from contextui.words import Lang

if TYPE_CHECKING:
    import anthropic
    import httpx2

_DEFAULT_URL = "https://api.anthropic.com"
_REMEMBERED = 4  # requests; those for a summary may come between two of one conversation


@dataclass(frozen=True, slots=True, eq=False)
class _Sent:
    """A request, and the client that sends it."""

    payload: Payload
    client: "anthropic.AsyncAnthropic"

    @property
    def max_tokens(self) -> int:
        tokens: int = self.payload.body["max_tokens"]
        return tokens


class AnthropicModel(RemoteModel[_Sent]):
    """A model of Anthropic, or of a server with a compatible API.

    It never retries by itself: the caller decides by the kind of the `ModelError`.

    Args:
        name: The model's name, as the server knows it.
        api_key: The API key; else ANTHROPIC_API_KEY, else ANTHROPIC_AUTH_TOKEN. Servers other
            than Anthropic's may need none.
        base_url: The server's address; else ANTHROPIC_BASE_URL, else Anthropic's own.
        key_source: Where the key comes from, for error messages; by default the variable.
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

    sees = True

    def __init__(
        self,
        name: str,
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        key_source: str = "",
        thinking: int | None = None,
        lang: Lang = "en",
        limits: AnswerLimits | None = None,
        prices: CachePrices | None = None,
    ) -> None:
        variable = key_variable(os.environ)
        key = (api_key or os.environ.get(variable) or "").strip()
        url = (base_url or os.environ.get("ANTHROPIC_BASE_URL") or _DEFAULT_URL).strip()
        url = url.rstrip("/").removesuffix("/v1")  # the SDK adds it
        secret = SecretStr(key) if key else None
        endpoint = Endpoint(url, name, secret, lang, key_source or variable)
        super().__init__(name, endpoint, limits, prices or CachePrices())
        self._thinking = thinking
        self._sent: deque[Payload] = deque(maxlen=_REMEMBERED)

    async def context_size(self) -> ContextSize | None:
        """Ask a server of another provider for the size of its context; None if it is unknown."""
        if self._endpoint.url == _DEFAULT_URL:
            return None  # far larger than any budget
        from contextui.agent.models import servers  # noqa: PLC0415  (only before the first request)

        return await servers.context_size(self._endpoint, "messages")

    def preload(self) -> None:
        """Import the SDK, so that the first request does not wait for it. Blocks for seconds."""
        with suppress(ImportError):  # the first request reports it
            import anthropic  # noqa: F401, PLC0415

    # --- sending -----------------------------------------------------------------------

    def _check_keyless(self) -> None:
        if self._endpoint.url == _DEFAULT_URL:
            raise ModelError(
                "auth",
                self._words(
                    "ANTHROPIC_API_KEY is not set: set it to your key, or use a server that"
                    " needs none with ANTHROPIC_BASE_URL."
                ),
            )

    def _reader(self) -> AnswerReader:
        return AnswerReader(self.name, self._words)

    async def _prepare(self, request: ModelRequest) -> _Sent:
        client = await self._connected()
        return _Sent(self._payload(request), client)

    def _answer_began(self, sent: _Sent) -> None:
        """Remember a request: the server started to answer, so it cached it up to its marks."""
        if sent.payload not in self._sent:
            self._sent.append(sent.payload)

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
                timeout=anthropic.Timeout(self._limits.silence, connect=CONNECT_SECONDS),
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
    async def _reply(self, sent: _Sent, watch: Stopwatch) -> AsyncGenerator["httpx2.Response"]:
        import anthropic  # noqa: PLC0415  (heavy, and loaded by now)
        import httpx2  # noqa: PLC0415  (comes with it)

        messages = sent.client.messages.with_streaming_response
        opening = messages.create(**sent.payload.body, stream=True)
        async with AsyncExitStack() as stack:
            try:
                reply = await watch.wait(stack.enter_async_context(opening))
            except LimitReached:  # also for headers that trickle in one by one
                raise no_reply(self._endpoint) from None
            except anthropic.APIStatusError as error:
                self._was_reached = True
                raise failures.refused(
                    error.status_code, error.response.headers, error.body, self._endpoint
                ) from None
            except (anthropic.APIConnectionError, httpx2.HTTPError) as error:
                raise unreachable(error, self._endpoint, was_reached=self._was_reached) from None
            except (TypeError, ValueError, RecursionError) as error:
                raise failures.unsendable(error, self._endpoint) from None
            self._was_reached = True
            yield reply.http_response
