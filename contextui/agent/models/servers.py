"""Ask model servers what they serve: their models, and the size of each context.

Local servers cut longer requests without an error, so the size is asked before the first request.
Ollama, llama.cpp, LM Studio and vLLM each report it in their own way; everything that a server
says is untrusted.
"""

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from contextui.agent.models.connection import Endpoint, no_reply, plain, unreachable
from contextui.agent.models.failures import no_client, refused
from contextui.agent.models.limits import LimitReached, body_of
from contextui.model import ContextSize, ModelError
from contextui.text import one_line
from contextui.version import VERSION
from contextui.words import msg

if TYPE_CHECKING:
    import httpx2

Api = Literal["chat", "messages"]

ASK_SECONDS = 3.0
"""Seconds that a server has for each question."""

_LOAD_SECONDS = 120.0  # seconds that Ollama may take to load a model
_LARGEST = 16_000_000  # bytes of a list; OpenRouter's has about 1 MB
_MOST_MODELS = 2_000
_MOST_TOKENS = 100_000_000
_OLLAMA_DEFAULT = 4_096  # tokens, if it does not say how much it loads
_OLLAMA_TAG = ":latest"
_SIZED = re.compile(r"\d+k")  # the end of a name that `enlarge` gave


@dataclass(frozen=True, slots=True)
class Rates:
    """What a million tokens cost in dollars."""

    input: float
    output: float
    cached: float | None = None
    written: float | None = None


@dataclass(frozen=True, slots=True)
class ServedModel:
    """A model that a server offers."""

    name: str
    context: int | None = None
    possible: int | None = None
    is_loaded: bool = False
    calls_tools: bool | None = None
    rates: Rates | None = None

    @property
    def is_short(self) -> bool:
        """Whether the server accepts less than the model can take."""
        return bool(self.context and self.possible and self.context < self.possible)


class Inquiry:
    """Questions to one server, over one connection."""

    def __init__(self, client: "httpx2.AsyncClient", endpoint: Endpoint) -> None:
        self._client, self._endpoint = client, endpoint
        self.root = endpoint.url.rstrip("/").removesuffix("/v1")

    async def maybe(self, url: str) -> Mapping[str, Any]:
        """Return the answer to a GET; empty if the server has none."""
        with suppress(ModelError):
            return _mapping(await self.fetch(url))
        return {}

    async def fetch(
        self, url: str, body: Mapping[str, Any] | None = None, seconds: float = ASK_SECONDS
    ) -> Any:
        """Return the parsed answer to a GET, or to a POST if there is a body."""
        import httpx2  # noqa: PLC0415  (heavy, and loaded by now)

        method = "GET" if body is None else "POST"
        try:
            async with asyncio.timeout(seconds):
                request = self._client.build_request(method, url, json=body, timeout=seconds)
                reply = await self._client.send(request, stream=True)
                try:
                    pieces = [piece async for piece in body_of(reply, _LARGEST)]
                finally:
                    await reply.aclose()
            text = b"".join(pieces).decode("utf-8", "replace")
            parsed = _parsed(text)
        except TimeoutError:
            raise no_reply(self._endpoint) from None
        except httpx2.HTTPError as error:
            raise unreachable(error, self._endpoint) from None
        except (LimitReached, ValueError, httpx2.InvalidURL, RecursionError) as error:
            raise ModelError("server", plain(str(error)) or type(error).__name__) from None
        if not reply.is_success:
            raise refused(reply.status_code, reply.headers, parsed or text, self._endpoint)
        if parsed is None:
            raise self._endpoint.error("not_found", msg("{server} did not answer with JSON."))
        return parsed


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


@asynccontextmanager
async def inquiry(endpoint: Endpoint, api: Api = "chat") -> AsyncGenerator[Inquiry]:
    """Open a connection for questions; redirects are not followed."""
    try:
        client = await asyncio.to_thread(_client, endpoint, api)
    except (ImportError, OSError, ValueError) as error:  # the environment's proxy or certificates
        raise no_client(error, endpoint) from None
    async with client:
        yield Inquiry(client, endpoint)


def _client(endpoint: Endpoint, api: Api) -> "httpx2.AsyncClient":
    import httpx2  # noqa: PLC0415  (heavy: 0.2 seconds)

    headers = {"Accept-Encoding": "identity", "User-Agent": f"contextui/{VERSION}"}
    if endpoint.key:
        headers["Authorization"] = f"Bearer {endpoint.key}"
        headers |= {"anthropic-version": "2023-06-01"} if api == "messages" else {}
    return httpx2.AsyncClient(follow_redirects=False, headers=headers)


# --- lists ---------------------------------------------------------------------------------


async def served_models(endpoint: Endpoint, api: Api = "chat") -> list[ServedModel]:
    """List the models of a server."""
    async with inquiry(endpoint, api) as ask:
        if await _is_ollama(ask):
            return await _ollama_models(ask)
        listed = await ask.fetch(_models_url(endpoint, api))
        found = list(_listed(listed))
        if len(found) == 1 and (size := await _llama_cpp(ask)):
            return [replace(found[0], context=size.tokens, is_loaded=True)]
        if found and all(one.possible is None for one in found):
            sizes = await _lm_studio(ask)
            return [sizes.get(one.name, one) for one in found]
        return found


def _models_url(endpoint: Endpoint, api: Api) -> str:
    url = endpoint.url.rstrip("/")
    return f"{url.removesuffix('/v1')}/v1/models" if api == "messages" else f"{url}/models"


def _listed(answer: Any) -> Iterator[ServedModel]:
    for row in _rows(answer, "data"):
        if not (name := _name(row.get("id"))):
            continue
        meta = _mapping(row.get("meta"))
        served = _tokens(row.get("max_model_len"))  # vLLM
        possible = (
            _tokens(row.get("context_length"))  # OpenRouter
            or _tokens(row.get("max_input_tokens"))  # Anthropic
            or _tokens(row.get("context_window"))  # Groq
            or _tokens(meta.get("n_ctx_train"))  # llama.cpp
        )
        context = served or _tokens(meta.get("n_ctx"))
        yield ServedModel(name, context, possible, rates=_rates(row.get("pricing")))


def _rates(pricing: Any) -> Rates | None:
    """Read OpenRouter's prices, which are dollars for one token, as text."""
    if not isinstance(pricing, Mapping):
        return None
    numbers = {}
    for name in ("prompt", "completion", "input_cache_read", "input_cache_write"):
        try:
            number = float(pricing.get(name) or "")
        except (TypeError, ValueError, OverflowError):
            continue
        if 0 <= number < 1:
            numbers[name] = number * 1_000_000
    if not {"prompt", "completion"} <= numbers.keys():
        return None
    return Rates(
        numbers["prompt"],
        numbers["completion"],
        numbers.get("input_cache_read"),
        numbers.get("input_cache_write"),
    )


# --- the size of a context -----------------------------------------------------------------


async def context_size(endpoint: Endpoint, api: Api = "chat") -> ContextSize | None:
    """Ask a server how large the context of the endpoint's model is; None if it does not say.

    Ollama loads the model for that, as the first request would.
    """
    with suppress(ModelError):
        async with inquiry(endpoint, api) as ask:
            size: ContextSize | None
            is_ollama, size, listed, studio = await asyncio.gather(
                _is_ollama(ask),
                _llama_cpp(ask),
                ask.maybe(_models_url(endpoint, api)),
                _lm_studio(ask),
            )
            if is_ollama:
                return await _ollama_size(ask, endpoint.model)
            if size:
                return size
            named = [*_listed(listed), *studio.values()]
            for one in named:
                if one.name == endpoint.model and (one.context or one.possible):
                    return ContextSize(one.context or one.possible, one.possible)
    return None


async def _llama_cpp(ask: Inquiry) -> ContextSize | None:
    props = await ask.maybe(f"{ask.root}/props")
    settings = _mapping(props.get("default_generation_settings"))
    tokens = _tokens(settings.get("n_ctx")) or _tokens(props.get("n_ctx"))
    sees = _mapping(props.get("modalities")).get("vision")
    sees = sees if isinstance(sees, bool) else None
    return ContextSize(tokens, sees=sees) if tokens else None


async def _lm_studio(ask: Inquiry) -> dict[str, ServedModel]:
    found = {}
    for row in _rows(await ask.maybe(f"{ask.root}/api/v0/models"), "data"):
        if name := _name(row.get("id")):
            found[name] = ServedModel(
                name,
                _tokens(row.get("loaded_context_length")),
                _tokens(row.get("max_context_length")),
                is_loaded=row.get("state") == "loaded",
            )
    return found


# --- Ollama --------------------------------------------------------------------------------


async def _is_ollama(ask: Inquiry) -> bool:
    answer = await ask.maybe(f"{ask.root}/api/version")
    return isinstance(answer.get("version"), str)


async def _ollama_models(ask: Inquiry) -> list[ServedModel]:
    tags, loaded = await asyncio.gather(ask.fetch(f"{ask.root}/api/tags"), _ollama_loaded(ask))
    rows = _rows(tags, "models")
    names = [name for row in rows if (name := _name(row.get("name") or row.get("model")))]
    shown = await asyncio.gather(*(_ollama_show(ask, name) for name in names[:50]))
    known = dict(zip(names, shown, strict=False))
    models = []
    for name in names:
        size = known.get(name, ContextSize())
        context = loaded.get(name) or size.tokens
        models.append(
            ServedModel(
                name.removesuffix(_OLLAMA_TAG),
                context,
                size.possible,
                is_loaded=name in loaded,
                calls_tools=size.calls_tools,
            )
        )
    return models


async def _ollama_size(ask: Inquiry, model: str) -> ContextSize:
    size = await _ollama_show(ask, model)
    if size == ContextSize():
        return size  # it has no such model: the request will say so
    loaded = await _ollama_loaded(ask)
    is_full = size.tokens is not None and size.tokens == size.possible
    if _loaded(loaded, model) is None and not is_full:
        with suppress(ModelError):  # the request will fail likewise
            await ask.fetch(f"{ask.root}/api/generate", {"model": model}, _LOAD_SECONDS)
            loaded = await _ollama_loaded(ask)
    tokens = _loaded(loaded, model) or size.tokens or _OLLAMA_DEFAULT
    return ContextSize(tokens, size.possible, size.calls_tools, size.sees)


async def enlarge(endpoint: Endpoint, model: ServedModel) -> str:
    """Make Ollama serve a model with twice the context; return the name to ask for.

    Its chat completions accept no size, so that the size has to belong to a name: the new one
    shares the weights.
    """
    tokens = min(2 * (model.context or _OLLAMA_DEFAULT), model.possible or _MOST_TOKENS)
    base, _, tag = model.name.partition(":")
    kept = "-".join(part for part in tag.split("-") if not _SIZED.fullmatch(part))
    name = f"{base}:{kept or 'latest'}-{tokens // 1_024}k"
    async with inquiry(endpoint) as ask:
        if not await _is_ollama(ask):
            text = msg("{server} sets its context when it starts: start it with more.")
            raise endpoint.error("bad_request", text)
        wanted = {"model": name, "from": model.name, "parameters": {"num_ctx": tokens}}
        await ask.fetch(f"{ask.root}/api/create", wanted | {"stream": False}, _LOAD_SECONDS)
    return name


def _loaded(loaded: Mapping[str, int], model: str) -> int | None:
    return loaded.get(model) or loaded.get(model + _OLLAMA_TAG)


async def _ollama_loaded(ask: Inquiry) -> dict[str, int]:
    found = {}
    for row in _rows(await ask.maybe(f"{ask.root}/api/ps"), "models"):
        name = _name(row.get("name") or row.get("model"))
        if name and (tokens := _tokens(row.get("context_length"))):
            found[name] = tokens
    return found


async def _ollama_show(ask: Inquiry, model: str) -> ContextSize:
    try:
        answer = _mapping(await ask.fetch(f"{ask.root}/api/show", {"model": model}))
    except ModelError:
        return ContextSize()
    info = _mapping(answer.get("model_info"))
    lengths = {str(key): _tokens(value) for key, value in info.items()
               if str(key).endswith(".context_length")}  # fmt: skip
    own = f"{info.get('general.architecture')}.context_length"  # others are those of its parts
    possible = lengths.get(own) or next(iter(lengths.values()), None)
    # A model of Ollama's cloud is never loaded here, and takes all that it can.
    set_to = possible if answer.get("remote_host") or answer.get("remote_model") else None
    for line in str(answer.get("parameters") or "").splitlines()[:1_000]:
        name, _, value = line.strip().partition(" ")
        if name == "num_ctx" and value.strip().isascii() and value.strip().isdigit():
            set_to = _tokens(int(value.strip()[:12]))
    can = answer.get("capabilities")
    calls, sees = ("tools" in can, "vision" in can) if isinstance(can, list) else (None, None)
    return ContextSize(set_to, possible, calls, sees)


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _rows(answer: Any, field: str) -> list[Mapping[str, Any]]:
    rows = _mapping(answer).get(field)
    return list(map(_mapping, rows[:_MOST_MODELS] if isinstance(rows, list) else ()))


def _name(value: object) -> str:
    """Return the name of a model as it may be shown and sent; empty if it cannot."""
    text = value if isinstance(value, str) else ""
    is_plain = 0 < len(text) <= 200 and one_line(text, 200) == text and " " not in text
    return text if is_plain else ""


def _tokens(value: object) -> int | None:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if type(value) is int and 0 < value <= _MOST_TOKENS else None
