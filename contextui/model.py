"""Model interface: requests, streamed events, usage and errors.

Implement `Model` to add a model; `contextui.agent.models` has those that ship.
"""

import math
import sys
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from contextui.errors import ContextUIError
from contextui.events import Event
from contextui.tokens import Usage
from contextui.words import Translatable

Role = Literal["system", "user", "assistant"]

Block = Mapping[str, Any]
"""One part of a message in the provider's JSON form (text, tool_use, tool_result, thinking …). It
is stored and sent back verbatim, so it stays the provider's mapping."""


@dataclass(frozen=True, slots=True)
class LlmMessage:
    """One message: a role, and plain text or blocks.

    Example:
        >>> LlmMessage("user", "Add milk.")
        LlmMessage(role='user', content='Add milk.')
    """

    role: Role
    content: str | tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class CachePrices:
    """What a provider charges for cached input, beside 1 for an input token.

    Attributes:
        read: The price of a token that is read from the cache.
        write: The price of a token that is written to it.
        ttl: The seconds that an entry lives after its last use.
        minimum: The tokens from which on a prefix is cached.
        marks: How many cache marks a request may have; 0 if the provider caches every prefix.
    """

    read: float = 0.1
    write: float = 1.25
    ttl: float = 300.0
    minimum: int = 1_024
    marks: int = 4

    @property
    def has_cache(self) -> bool:
        """Whether reading from the cache costs less than writing to it."""
        return self.read < self.write


def has_cache(model: object) -> bool:
    """Whether a model has a prompt cache, so that its state and savings mean something."""
    prices = getattr(model, "prices", None)
    if getattr(model, "has_cache", None) is False:
        return False
    return not isinstance(prices, CachePrices) or prices.has_cache


NO_CACHE = CachePrices(read=1.0, write=1.0, ttl=0.0, minimum=sys.maxsize, marks=0)
"""A model without a cache: every request is read as a whole, and nothing outdated is kept."""
LOCAL_PRICES = CachePrices(read=0.0, write=1.0, ttl=math.inf, minimum=0, marks=0)
"""A model on this machine: it keeps the last prompt, and reading that again costs nothing."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool as it is declared to the model."""

    name: str
    description: str
    input_schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One request to a model, validated and ready to send.

    Attributes:
        messages: User and assistant messages in alternation, with non-empty blocks.
        tools: The tools the model may call; changing them invalidates the provider's cache.
        stable: How many of the first blocks, counted over all messages, are final.
        max_tokens: The maximum length of the answer.
        says: Phrasings of the open windows' actions by ``class.action``, for models that match
            text. Providers must not send it; it is not part of equality.
        tokens: The tokens by our own count, where they are known; not part of equality either.
        marks: After how many blocks there are cache marks, 0 is after the system prompt; None
            if the provider's adapter is to choose.
    """

    system: str
    messages: tuple[LlmMessage, ...]
    tools: tuple[Tool, ...] = ()
    stable: int = 0
    max_tokens: int = 8_192
    says: Mapping[str, tuple[str, ...]] = field(default_factory=dict, compare=False)
    tokens: int = field(default=0, compare=False)
    marks: tuple[int, ...] | None = None

    def blocks(self) -> list[Block]:
        """Return all blocks of all messages, in order."""
        return [
            block for message in self.messages for block in message.content
            if not isinstance(block, str)
        ]  # fmt: skip


# --- streamed events ---------------------------------------------------------------------


class TextDelta(Event):
    """A piece of the answer's text."""

    text: str


class ThinkingDelta(Event):
    """A piece of the model's thinking."""

    text: str


class CallBegun(Event):
    """The model started a tool call; it runs only when the answer is complete."""

    name: str


class UsageUpdated(Event):
    """The usage so far; it is billed even if the answer is never completed."""

    usage: Usage


class Answer(Event):
    """The complete answer; always the last event of a stream.

    Attributes:
        blocks: The provider's blocks, verbatim, without incomplete tool calls.
        stop_reason: Why the model stopped, as the provider names it.
        cut_calls: The names of tool calls that were started and not completed.
    """

    blocks: tuple[Block, ...]
    stop_reason: str = "end_turn"
    usage: Usage = field(default_factory=Usage)
    model: str = ""
    cut_calls: tuple[str, ...] = ()


ModelEvent = TextDelta | ThinkingDelta | CallBegun | UsageUpdated | Answer


@dataclass(frozen=True, slots=True)
class ContextSize:
    """What a server says about the context of a model.

    Attributes:
        tokens: The tokens that request and answer may have together.
        possible: What the model itself could take, if the server said so.
        calls_tools: Whether the model can call tools; None if unknown.
        sees: Whether the model sees images; None if unknown.
    """

    tokens: int | None = None
    possible: int | None = None
    calls_tools: bool | None = None
    sees: bool | None = None


class Model(Protocol):
    """Protocol of a model that answers requests.

    Attributes:
        name: The model's display name.

    It may also have `prices`, a `CachePrices`, by default those of Anthropic; `has_cache`, False if
    nothing about a cache should be shown; and `cost(usage)`, which returns dollars, or None if no
    price is known. It may have ``async def context_size() -> ContextSize | None``, which is asked
    before the first request: the budget stays below what the server accepts. With ``body(request)``
    it returns the request in its own form, which the inspector shows.

    Example:
        >>> async for event in model.stream(request):
        ...     match event:
        ...         case TextDelta(text): print(text, end="")
        ...         case Answer(blocks): ...
    """

    name: str

    def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """Stream the answer to a request; the last event is an `Answer`.

        Raises:
            ModelError: The request failed; `kind` says whether a retry can help.
        """
        ...


# --- errors ------------------------------------------------------------------------------

ErrorKind = Literal[
    "auth",  # no API key, or a rejected one
    "bad_request",  # the request is invalid, and a retry would fail too
    "thinking",  # rejected because of its thinking blocks
    "too_large",  # the request exceeds the model's context window
    "not_found",  # no such model or endpoint
    "rate_limit",  # too many requests
    "overloaded",  # the provider is overloaded
    "server",  # the provider failed
    "settings",  # the environment's settings are invalid
    "connection",  # the connection failed
    "unreached",  # the host was not reached, and may not exist
    "cut",  # the stream broke off
    "silent",  # the server accepted the request, but sent nothing useful before the timeout
    "endless",  # the answer is far too long, or takes too long in total
]
_TRANSIENT: frozenset[ErrorKind] = frozenset(
    ("rate_limit", "overloaded", "server", "connection", "unreached", "cut", "silent")
)


class ModelError(ContextUIError):
    """A request to the model failed.

    Attributes:
        retry_after: The seconds to wait before a retry, if the provider gave them.
    """

    def __init__(
        self,
        kind: ErrorKind,
        message: str | Translatable = "",
        retry_after: float | None = None,
        *,
        zh: str = "",
        **values: object,
    ) -> None:
        super().__init__(message, zh=zh, **values)
        self.kind, self.retry_after = kind, retry_after

    @property
    def is_transient(self) -> bool:
        """Whether a retry of the same request may succeed."""
        return self.kind in _TRANSIENT
