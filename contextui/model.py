"""What a model is asked, what it says, and how it can fail.

Whoever answers requests implements `Model`; those that ship live in `contextui.agent.models`.
"""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal, Protocol

from contextui.errors import ContextUIError
from contextui.events import Event

Role = Literal["system", "user", "assistant"]

Block = Mapping[str, Any]
"""One part of a message in the provider's own JSON form (text, tool_use, tool_result,
thinking …). It is kept and sent back verbatim, so it stays the provider's mapping."""


@dataclass(frozen=True, slots=True)
class LlmMessage:
    """One message: who speaks, and plain text or blocks.

    Example:
        >>> LlmMessage("user", "Add milk.")
        LlmMessage(role='user', content='Add milk.')
    """

    role: Role
    content: str | tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool as it is declared to the model.

    Attributes:
        name: What the model calls it.
        description: What it is for.
        input_schema: The JSON schema of what it takes.
    """

    name: str
    description: str
    input_schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One request, checked and ready to be sent.

    Attributes:
        system: The system prompt.
        messages: What was said: user and assistant in turns, each of blocks that are not empty.
        tools: What the model may call; always the same, or the provider's cache is lost.
        stable: How many of the first blocks, counted over all messages, are in their final form.
        max_tokens: How long the answer may be.
    """

    system: str
    messages: tuple[LlmMessage, ...]
    tools: tuple[Tool, ...] = ()
    stable: int = 0
    max_tokens: int = 8_192

    def blocks(self) -> list[Block]:
        """All blocks of all messages, in order."""
        return [
            block for message in self.messages for block in message.content
            if not isinstance(block, str)
        ]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Usage:
    """What requests cost, in the provider's tokens and under the provider's names."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_input_tokens: int = 0
    cache_creation_input_tokens: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        sums = {
            one.name: getattr(self, one.name) + getattr(other, one.name) for one in fields(self)
        }
        return Usage(**sums)

    def __bool__(self) -> bool:
        return any(self.as_dict().values())

    def as_dict(self) -> dict[str, int]:
        """The figures by name."""
        return {one.name: getattr(self, one.name) for one in fields(self)}


# --- what a model says -------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TextDelta(Event):
    """Some more words of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class ThinkingDelta(Event):
    """Some more of what the model thinks before it answers."""

    text: str


@dataclass(frozen=True, slots=True)
class CallBegun(Event):
    """The model began to write a tool call; it is carried out only when the answer is whole."""

    name: str


@dataclass(frozen=True, slots=True)
class UsageTold(Event):
    """What the answer cost so far; it is spent even if no whole answer comes of it."""

    usage: Usage


@dataclass(frozen=True, slots=True)
class Answer(Event):
    """The whole answer; always the last that a stream gives.

    Attributes:
        blocks: The provider's blocks, verbatim. A tool call that was not whole is not among them.
        stop_reason: Why the model stopped, in the provider's word.
        usage: What it cost.
        model: The model that answered.
        cut_calls: The names of tool calls that were begun and not finished.
    """

    blocks: tuple[Block, ...]
    stop_reason: str = "end_turn"
    usage: Usage = field(default_factory=Usage)
    model: str = ""
    cut_calls: tuple[str, ...] = ()


ModelEvent = TextDelta | ThinkingDelta | CallBegun | UsageTold | Answer


class Model(Protocol):
    """Answers requests.

    Attributes:
        name: The model's name, as the person is told it.

    Example:
        >>> async for event in model.stream(request):
        ...     match event:
        ...         case TextDelta(text): print(text, end="")
        ...         case Answer(blocks): ...
    """

    name: str

    def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """Answer a request, piece by piece; the last piece is an `Answer`.

        Raises:
            ModelError: There is no answer; its kind says whether to try again.
        """
        ...


# --- how it fails ------------------------------------------------------------------------

ErrorKind = Literal[
    "auth",  # no key, or one that is not accepted
    "bad_request",  # these bytes are refused, and would be again
    "thinking",  # refused because of the thinking in it
    "too_large",  # more than the model takes
    "not_found",  # no such model, or no such address
    "rate_limit",  # too much in too short a time
    "overloaded",  # the provider has no room just now
    "server",  # the provider failed
    "settings",  # what the environment says cannot be used
    "connection",  # nobody answers
    "unreached",  # nobody is there, and perhaps never was
    "cut",  # the answer broke off
    "silent",  # the server takes the request, and nothing useful comes for too long
    "endless",  # the answer is far longer than asked for, or takes too long in all
]
_WORTH_ANOTHER_TRY: frozenset[ErrorKind] = frozenset(
    ("rate_limit", "overloaded", "server", "connection", "unreached", "cut", "silent")
)


class ModelError(ContextUIError):
    """A request that got no answer.

    Attributes:
        kind: What went wrong.
        retry_after: The seconds after which the provider wants to be asked again, if it said so.
    """

    def __init__(self, kind: ErrorKind, words: str, retry_after: float | None = None) -> None:
        super().__init__(words)
        self.kind, self.retry_after = kind, retry_after

    @property
    def is_passing(self) -> bool:
        """Whether the same request may be answered the next time."""
        return self.kind in _WORTH_ANOTHER_TRY
