"""Client for Anthropic's Messages API: Anthropic's models, and compatible servers."""

import os
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any

from contextui.agent.cache_marks import Payload, payload
from contextui.agent.models import failures
from contextui.agent.models.connection import Endpoint, unreachable
from contextui.agent.models.limits import AnswerLimits, Stopwatch, make_client
from contextui.agent.models.remote import CONNECT_SECONDS, RemoteModel
from contextui.agent.models.stream import AnswerReader
from contextui.config.providers import PROVIDERS
from contextui.model import CachePrices, ModelRequest
from contextui.words import msg

if TYPE_CHECKING:
    import anthropic
    import httpx2


class AnthropicModel(RemoteModel):
    """A model of Anthropic, or of a server with a compatible API.

    It never retries by itself: the caller decides by the kind of the `ModelError`.

    Args:
        name: The model's name, as the server knows it.
        api_key: The API key; else ANTHROPIC_API_KEY, else ANTHROPIC_AUTH_TOKEN. Servers other
            than Anthropic's may need none.
        base_url: The server's address; else ANTHROPIC_BASE_URL, else Anthropic's own.
        key_source: Where the key comes from, for error messages; by default the variable.
        url_source: The same for the address.
        thinking: Token budget for thinking, in addition to the answer's; 0 disables it. By default
            the model decides.
        limits: Time limits for an answer, in total and without progress.
        prices: What the server's cache costs; `LOCAL_PRICES` for a server such as llama.cpp's,
            which keeps what it read by itself. By default Anthropic's.

    Example:
        >>> model = AnthropicModel("claude-opus-5-5")
        >>> async for event in model.stream(request): ...
        >>> await model.aclose()
    """

    sees = True
    default_url = "https://api.anthropic.com"
    no_key = msg(
        "ANTHROPIC_API_KEY is not set: set it to your key, or use a server that"
        " needs none with ANTHROPIC_BASE_URL."
    )
    library = "anthropic"
    api = "messages"

    def __init__(
        self,
        name: str,
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        key_source: str = "",
        url_source: str = "ANTHROPIC_BASE_URL",
        thinking: int | None = None,
        limits: AnswerLimits | None = None,
        prices: CachePrices | None = None,
    ) -> None:
        variable = PROVIDERS["anthropic"].variable_in(os.environ)
        key = (api_key or os.environ.get(variable) or "").strip()
        url = (base_url or os.environ.get("ANTHROPIC_BASE_URL") or self.default_url).strip()
        url = url.rstrip("/").removesuffix("/v1")  # the SDK adds it
        endpoint = Endpoint(url, name, key, key_source or variable, url_source)
        super().__init__(name, endpoint, limits, prices or CachePrices())
        self._thinking, self._thinking_tokens = thinking, thinking or 0

    def _reader(self) -> AnswerReader:
        return AnswerReader(self.name)

    def _make_client(self) -> "anthropic.AsyncAnthropic":
        import anthropic  # noqa: PLC0415  (heavy: 2 seconds)
        import httpx2  # noqa: PLC0415  (comes with it)

        # If the SDK's own client fails here, it leaves a half-initialized one that complains.
        http = make_client(follow_redirects=False)
        try:
            return anthropic.AsyncAnthropic(
                api_key=self._endpoint.key or "none",  # the SDK always requires one
                base_url=self._endpoint.url,
                max_retries=0,  # the caller retries, and informs the person
                timeout=anthropic.Timeout(self._limits.silence, connect=CONNECT_SECONDS),
                default_headers={"Accept-Encoding": "identity"},  # no decompression bombs
                open_telemetry=False,
                http_client=http,
            )
        except httpx2.InvalidURL:
            raise failures.invalid_address(self._endpoint) from None

    def body(self, request: ModelRequest) -> dict[str, Any]:
        """Write a request with its cache marks."""
        return self._written(request).body

    def _written(self, request: ModelRequest) -> Payload:
        try:
            sent = payload(request, self.name, self._answered)
        except RecursionError as error:
            raise failures.unsendable(error, self._endpoint) from None
        sent.body["stream"] = True
        match self._thinking:
            case None:
                pass
            case 0:
                sent.body["thinking"] = {"type": "disabled"}
            case budget:
                sent.body["thinking"] = {"type": "enabled", "budget_tokens": budget}
                sent.body["max_tokens"] += budget
        return sent

    async def _send(
        self, sent: Payload, client: Any, watch: Stopwatch, stack: AsyncExitStack
    ) -> "httpx2.Response":
        import anthropic  # noqa: PLC0415  (heavy, and loaded by now)

        opening = client.messages.with_streaming_response.create(**sent.body)
        try:
            reply = await watch.wait(stack.enter_async_context(opening))
        except anthropic.APIStatusError as error:
            self._was_reached = True
            raise failures.refused(
                error.status_code, error.response.headers, error.body, self._endpoint
            ) from None
        except anthropic.APIConnectionError as error:
            reached = self._was_reached
            raise unreachable(error, self._endpoint, was_reached=reached) from None
        response: httpx2.Response = reply.http_response
        return response
