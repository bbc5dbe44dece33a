"""Client for the chat-completions API: OpenAI, and every server that speaks it.

It needs no SDK: `httpx2` is installed with Anthropic's.
"""

import json
import os
import re
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from contextui.agent.models import failures
from contextui.agent.models.chat import DONE, ChatReader, Dialect, chat_body
from contextui.agent.models.connection import Endpoint
from contextui.agent.models.limits import AnswerLimits, Stopwatch, first_page
from contextui.agent.models.remote import CONNECT_SECONDS, RemoteModel
from contextui.model import LOCAL_PRICES, CachePrices, ContextSize, ModelRequest
from contextui.version import VERSION
from contextui.words import msg

if TYPE_CHECKING:
    import httpx2

KEY_VARIABLE = "OPENAI_API_KEY"
URL_VARIABLE = "OPENAI_BASE_URL"
DEFAULT_URL = "https://api.openai.com/v1"
PATH = "/chat/completions"

_NEWER_LIMIT = "max_completion_tokens"
_HOSTED_PRICES = CachePrices(read=0.5, write=1.0, ttl=300.0, minimum=1_024, marks=0)
_NO_IMAGE_STATUS = (400, 404, 415, 422, 500)  # of servers whose model takes no images
_NO_IMAGES = re.compile(r"image|vision|multimodal|mmproj|content must be a string", re.IGNORECASE)
_LOCAL = re.compile(r"localhost|127\.[\d.]+|::1|0\.0\.0\.0|host\.docker\.internal")


def is_local(url: str) -> bool:
    """Whether an address is one of this machine."""
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        return False
    return bool(_LOCAL.fullmatch(host))


def complete_url(url: str) -> str:
    """Complete the address of a server: the API is below ``/v1`` unless a path is given."""
    url = url.strip().rstrip("/").removesuffix(PATH)
    try:
        has_path = bool(urlsplit(url).path.strip("/"))
    except ValueError:  # the check reports it
        return url
    return url if has_path else f"{url}/v1"


class OpenAIModel(RemoteModel):
    """A model of OpenAI, or of any server that speaks its chat-completions API.

    Such are Ollama, llama.cpp, vLLM, LM Studio and OpenRouter. It never retries by itself: the
    caller decides by the kind of the `ModelError`.

    Args:
        name: The model's name, as the server knows it.
        api_key: The API key; else OPENAI_API_KEY, which is sent to no address but OpenAI's own and
            OPENAI_BASE_URL's.
        base_url: The server's address, such as ``http://localhost:11434``; else OPENAI_BASE_URL,
            else OpenAI's own.
        key_source: Where the key comes from, for error messages; by default the variable.
        url_source: The same for the address.
        limits: Time limits for an answer, in total and without progress.
        prices: What the server's cache costs; by default nothing on this machine, and half of the
            price elsewhere.

    Example:
        >>> model = OpenAIModel("qwen3", base_url="http://localhost:11434")
        >>> async for event in model.stream(request): ...
        >>> await model.aclose()
    """

    default_url = DEFAULT_URL
    no_key = msg("{server} requires an API key: enter it with /login, or set {variable}.")
    library = "httpx2"
    api = "chat"

    def __init__(
        self,
        name: str,
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        key_source: str = "",
        url_source: str = "",
        limits: AnswerLimits | None = None,
        prices: CachePrices | None = None,
    ) -> None:
        own = os.environ.get(URL_VARIABLE) or DEFAULT_URL
        url = complete_url(base_url or own)
        # A key in the environment belongs to the server in the environment, and to no other.
        found = os.environ.get(KEY_VARIABLE) if url == complete_url(own) else None
        key = (api_key or found or "").strip()
        endpoint = Endpoint(
            url,
            name,
            key,
            variable=key_source or KEY_VARIABLE,
            url_variable=url_source or URL_VARIABLE,
            api="chat completions API",
            path=PATH,
        )
        usual = LOCAL_PRICES if is_local(url) else _HOSTED_PRICES
        super().__init__(name, endpoint, limits, prices or usual)
        self._dialect = Dialect(_NEWER_LIMIT if url == DEFAULT_URL else "max_tokens")

    @property
    def sees(self) -> bool:
        """Whether the model sees images, as far as is known: yes until the server denies it."""
        return self._dialect.images

    async def context_size(self) -> ContextSize | None:
        """Ask the server for the size of its context; None if it does not say."""
        size = await super().context_size()
        if size is not None and size.sees is not None:
            self._dialect = replace(self._dialect, images=size.sees)
        return size

    def _reader(self) -> ChatReader:
        return ChatReader(self.name)

    def body(self, request: ModelRequest) -> dict[str, Any]:
        """Write a request in the dialect that the server is known to speak."""
        return chat_body(request, self.name, self._dialect)

    def _make_client(self) -> "httpx2.AsyncClient":
        import httpx2  # noqa: PLC0415  (heavy, and loaded by now)

        headers = {
            "Accept": "text/event-stream",
            "Accept-Encoding": "identity",  # no decompression bombs
            "Content-Type": "application/json",
            "User-Agent": f"contextui/{VERSION}",
        }
        if key := self._endpoint.key:
            headers["Authorization"] = f"Bearer {key}"
        return httpx2.AsyncClient(
            headers=headers,
            timeout=httpx2.Timeout(self._limits.silence, connect=CONNECT_SECONDS),
            follow_redirects=False,  # the key and the conversation would go to another server
        )

    async def _send(
        self, sent: ModelRequest, client: Any, watch: Stopwatch, stack: AsyncExitStack
    ) -> "httpx2.Response":
        while True:
            dialect = self._dialect
            content = json.dumps(self.body(sent), ensure_ascii=False, allow_nan=False).encode()
            request = client.build_request("POST", self._endpoint.url + PATH, content=content)
            reply: httpx2.Response = await watch.wait(client.send(request, stream=True))
            self._was_reached = True
            stack.push_async_callback(reply.aclose)
            if reply.is_success:
                return reply
            answer = _error_body(await _page(reply))
            await reply.aclose()
            self._learn(reply.status_code, answer, sent)
            if self._dialect == dialect:
                raise failures.refused(reply.status_code, reply.headers, answer, self._endpoint)

    def _learn(self, status: int, body: object, sent: ModelRequest) -> None:
        """Learn from a rejected request how the server wants it, if its message says so."""
        text = str(body)[:10_000]
        blocks = (json.dumps(block, default=str) for block in sent.blocks())
        has_image = self._dialect.images and any('"type": "image"' in text for text in blocks)
        if has_image and status in _NO_IMAGE_STATUS and _NO_IMAGES.search(text):
            self._dialect = replace(self._dialect, images=False)
        if status not in (400, 422):
            return
        if _NEWER_LIMIT in text and self._dialect.limit != _NEWER_LIMIT:
            self._dialect = replace(self._dialect, limit=_NEWER_LIMIT)
        elif "stream_options" in text and self._dialect.counts:
            self._dialect = replace(self._dialect, counts=False)
        elif sent.tools and re.search(r"not support\w* (tools|function)", text):
            text = msg(
                "{model} does not support tools: use --tool-protocol text, or another model."
            )
            raise self._endpoint.error("bad_request", text, model=self.name)

    def _parsed(self, data: str) -> Mapping[str, Any]:
        if data.strip() == "[DONE]":
            return DONE
        event = super()._parsed(data)
        if event.get("error"):
            raise failures.reported(event, self._endpoint, _status(event["error"]))
        return event


async def _page(reply: "httpx2.Response") -> bytes:
    import httpx2  # noqa: PLC0415  (heavy, and loaded by now)

    try:
        return await first_page(reply)
    except httpx2.HTTPError:  # the status says enough
        return b""


def _error_body(page: bytes) -> object:
    text = page.decode("utf-8", "replace")
    try:
        body: object = json.loads(text)
    except (ValueError, RecursionError):
        return text
    match body:
        case [Mapping() as first, *_]:  # Gemini's servers wrap it in a list
            return first
    return body


def _status(error: object) -> int:
    code = error.get("code") if isinstance(error, Mapping) else None
    return code if type(code) is int and 400 <= code < 600 else 200
