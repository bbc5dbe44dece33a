"""Limits and state of a turn: usage, streamed text, failed calls."""

import logging
from collections import Counter
from dataclasses import dataclass, field, replace

from contextui.agent.preamble import PreambleText
from contextui.agent.retry import Emit, RetryPolicy
from contextui.agent.tools import TagFilter
from contextui.context.item import ContextItem
from contextui.errors import ContextUIError
from contextui.events import AnswerDiscarded, Event, Notice, Reason, TurnFinished
from contextui.model import ContextSize, Model, ModelRequest, TextDelta
from contextui.tokens import Usage

_LEAST_BUDGET = 1_024  # tokens; a smaller context is of no use
_ANSWER_SHARE = 4  # an answer gets at least a quarter of a small context


class TurnRunningError(ContextUIError):
    """A turn or a compaction was requested while another one is running."""


@dataclass(frozen=True, slots=True)
class TurnOptions:
    """Limits of a turn.

    Attributes:
        budget: Tokens, as the provider counts them, that a request may have, tools included.
        max_tokens: Tokens, as the provider counts them, that an answer may have.
        max_steps: Requests per turn; then the turn pauses.
        max_calls: Calls per answer that are run; the others are refused.
        auto_compact: Whether a turn that starts with little room left compacts first. Otherwise the
            least valuable items are left out once the budget is used up.
        compact_at: The share of the budget above which little room is left.
        retry: How often and after how long a failed request is sent again.
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
    """State of the running turn."""

    emit: Emit
    limit: int
    preamble: tuple[PreambleText, ...] = ()
    beside: list[str] = field(default_factory=list)
    message_id: str = ""
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
    files: list[ContextItem] = field(default_factory=list)
    cancelled: str = ""
    failures: Counter[str] = field(default_factory=Counter)  # of calls with their arguments

    def notify(self, text: str) -> None:
        """Emit a message for the person."""
        self.emit(Notice(text))

    def on_event(self, event: Event) -> None:
        """Emit an event, and remember streamed text: the person has seen it."""
        if isinstance(event, TextDelta) and self.tags is not None:
            event = TextDelta(self.tags.feed(event.text))
            if not event.text:
                return
        if isinstance(event, TextDelta):
            self.partial.append(event.text)
        elif isinstance(event, AnswerDiscarded):
            self.reset_stream()
        self.emit(event)

    def reset_stream(self) -> None:
        """Reset what is remembered of the streamed answer."""
        self.partial.clear()
        if self.tags is not None:
            self.tags = TagFilter()

    def finished(self, reason: Reason, explanation: str = "") -> TurnFinished:
        """Return the turn's last event."""
        return TurnFinished(
            reason, self.text, self.steps, self.usage, explanation, self.stop_reason
        )


async def size_of(model: Model) -> ContextSize:
    """Ask a model for its context; empty if it does not know or its server does not answer."""
    ask = getattr(model, "context_size", None)
    try:
        found = await ask() if ask is not None else None
    except Exception:  # models may be third-party code
        logging.getLogger(__name__).debug("no context size of %s", model.name, exc_info=True)
        found = None
    return found if isinstance(found, ContextSize) else ContextSize()


def fit_options(options: TurnOptions, size: ContextSize) -> TurnOptions:
    """Lower the limits so that a request and its answer fit into a server's context."""
    tokens = size.tokens
    if tokens is None or tokens <= 0 or options.budget + options.max_tokens <= tokens:
        return options
    answer = min(options.max_tokens, max(tokens // _ANSWER_SHARE, 1))
    budget = min(options.budget, max(tokens - answer, _LEAST_BUDGET))
    return replace(options, budget=budget, max_tokens=answer)
