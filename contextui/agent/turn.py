"""One turn while it runs: how far it is, what it cost, what went wrong before."""

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

from contextui.agent.events import AnswerDiscarded, Reason, TurnFinished
from contextui.agent.preamble import Told
from contextui.agent.protocol import CallProtocol, TagFilter, declaring
from contextui.agent.request import THINKING
from contextui.agent.retry import RetryPolicy
from contextui.agent.tools import FilesRead, ToolCall
from contextui.config.settings import Lang
from contextui.context.manager import ContextManager
from contextui.errors import ContextUIError
from contextui.events import Event
from contextui.model import Model, ModelRequest, TextDelta, Usage
from contextui.session.cache import CacheStore
from contextui.windowing.action import ActionResult

FAILURES = 3
"""Times that one call may fail in one turn."""


class TurnUnderWayError(ContextUIError):
    """Words for a turn, or the wish for a compaction, while another one is running."""


@dataclass(frozen=True, slots=True)
class TurnOptions:
    """What a turn may take.

    Attributes:
        budget: The provider's tokens that a request may have, tools included.
        max_tokens: The provider's tokens that an answer may have.
        max_steps: Requests of one turn; then it pauses.
        max_calls: Calls of one answer that are carried out; the others are refused.
        auto_compact: Whether a turn that finds little room begins with a compaction. Otherwise
            what is worth least is left out once there is none.
        compact_at: The share of the budget from which on that is little room.
        retry: How often and after how long a request is sent again.
    """

    budget: int = 128_000
    max_tokens: int = 8_192
    max_steps: int = 50
    max_calls: int = 64
    auto_compact: bool = True
    compact_at: float = 0.8
    retry: RetryPolicy = field(default_factory=RetryPolicy)


@dataclass(slots=True)
class Turn:
    """What is known of the turn under way.

    Attributes:
        tell: Tells an event to whoever drives the turn.
        room: The tokens there are for messages; less once a provider found it too much.
        beforehand: What is told before the person's words.
        words_id: The item of the person's words.
        step: The number of the request under way.
        steps: How many requests were answered.
        usage: What they cost.
        answered: Whether an answer stands in the context.
        text: The words of the last answer.
        partial: What was streamed of the answer under way.
        tags: Keeps the calls of the text protocol from whoever watches; None with native tools.
        stop_reason: Why the model stopped last.
        nudged: Whether the model was told that its answer was none.
        request: What was sent last.
        shrunk: Why room was made, if the provider asked for it.
        without_thinking: Whether the provider refused the thinking.
        files: The files that were read.
        reads: What `read` actions gave, as long as nothing else was done since.
    """

    tell: Callable[[Event], None]
    room: int
    beforehand: tuple[Told, ...] = ()
    words_id: str = ""
    step: int = 0
    steps: int = 0
    usage: Usage = field(default_factory=Usage)
    answered: bool = False
    text: str = ""
    partial: list[str] = field(default_factory=list)
    tags: TagFilter | None = None
    stop_reason: str = ""
    nudged: bool = False
    request: ModelRequest | None = None
    shrunk: str = ""
    without_thinking: bool = False
    files: FilesRead = field(default_factory=FilesRead)
    reads: CacheStore[ActionResult] = field(default_factory=CacheStore)
    _failures: Counter[str] = field(default_factory=Counter)

    def hear(self, event: Event) -> None:
        """Tell an event, and keep what is streamed: the person saw it."""
        if isinstance(event, TextDelta) and self.tags is not None:
            event = TextDelta(self.tags.pass_on(event.text))
            if not event.text:
                return
        if isinstance(event, TextDelta):
            self.partial.append(event.text)
        elif isinstance(event, AnswerDiscarded):
            self.await_answer()
        self.tell(event)

    def await_answer(self) -> None:
        """Nothing of the next answer was streamed yet."""
        self.partial.clear()
        if self.tags is not None:
            self.tags = TagFilter()

    @property
    def thought(self) -> bool:
        """Whether thinking was sent, so that a request without it is another one."""
        blocks = self.request.blocks() if self.request else ()
        return any(block["type"] in THINKING for block in blocks)

    def note_failure(self, call: ToolCall) -> None:
        """Remember that this very call failed."""
        self._failures[_key(call)] += 1

    def gave_up(self, call: ToolCall) -> bool:
        """Whether this very call failed too often to be tried again."""
        return self._failures[_key(call)] >= FAILURES

    @property
    def is_stuck(self) -> bool:
        """Whether any call failed too often."""
        return any(count >= FAILURES for count in self._failures.values())

    def finished(self, reason: Reason, explanation: str = "") -> TurnFinished:
        """The turn's last event."""
        return TurnFinished(
            reason, self.text, self.steps, self.usage, explanation, self.stop_reason
        )


def _key(call: ToolCall) -> str:
    return json.dumps([call.name, call.input], sort_keys=True, default=str)


@dataclass(frozen=True)
class Setup:
    """What all turns of a conversation share.

    Attributes:
        context: The conversation.
        model: Gives who answers; that may change between turns.
        options: What a turn may take.
        calls: How the model calls tools, and which there are.
    """

    context: ContextManager
    model: Callable[[], Model]
    options: TurnOptions
    calls: CallProtocol

    @property
    def lang(self) -> Lang:
        """The language of the person."""
        return self.context.windows.lang if self.context.windows is not None else "en"

    @cached_property
    def reserved(self) -> int:
        """The tokens of the tools, which are part of every request."""
        return declaring(self.calls.tools, self.context.counter)
