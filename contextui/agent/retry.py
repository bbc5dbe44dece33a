"""Retry transient model errors with exponential backoff and a countdown."""

import asyncio
import math
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, replace

from contextui.events import AnswerDiscarded, Event, RetryScheduled, UsageSpent
from contextui.model import Answer, Model, ModelError, ModelRequest, UsageUpdated
from contextui.tokens import Usage
from contextui.words import Lang, Words

Sleep = Callable[[float], Awaitable[object]]

Emit = Callable[[Event], object]
"""Callback that receives the events of a turn."""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Number of attempts and backoff between them.

    Attributes:
        attempts: Maximum number of attempts.
        unreached: The same if no connection can be made; these pauses stay short.
        silent: The same if the server accepts the request and sends nothing: each attempt takes
            minutes.
        first: Seconds before the second attempt; each further pause is twice as long.
        longest_wait: Maximum pause in seconds. If the provider asks for a longer one, the turn ends
            with an error instead.
        sleep: Waits; tests pass their own.
    """

    attempts: int = 5
    unreached: int = 3
    silent: int = 2
    first: float = 1.0
    longest_wait: float = 60.0
    sleep: Sleep = asyncio.sleep

    def delay(self, attempt: int, error: ModelError) -> int | None:
        """Return the seconds to wait after this attempt; None to give up."""
        if not error.is_transient or attempt >= self.attempts_at(error):
            return None
        wanted = error.retry_after
        if wanted is not None and wanted > self.longest_wait:
            return None
        own = self.first * float(2 ** (attempt - 1))
        if error.kind == "unreached":
            own = self.first
        return math.ceil(min(max(own, wanted or 0.0), self.longest_wait))

    def attempts_at(self, error: ModelError) -> int:
        """Return the maximum number of attempts for this kind of error."""
        fewer = {"unreached": self.unreached, "silent": self.silent}
        return min(self.attempts, fewer.get(error.kind, self.attempts))


async def answer_to(
    model: Model,
    request: ModelRequest,
    policy: RetryPolicy,
    emit: Emit,
    lang: Lang = "en",
) -> Answer:
    """Return the whole answer to a request, with retries; emit events along the way.

    The usage of each attempt, if known, is emitted once as `UsageUpdated`, even if it failed.
    """
    attempt, words = 0, Words(lang)
    while True:
        attempt += 1
        try:
            return await _stream(model, request, emit, words)
        except ModelError as error:
            seconds = policy.delay(attempt, error)
            if seconds is None:
                raise _final_error(error, attempt, policy, words) from error
            reason, attempts = words(error), policy.attempts_at(error)
        for left in range(seconds, 0, -1):
            emit(RetryScheduled(reason, left, attempt + 1, attempts))
            await policy.sleep(1)


async def _stream(model: Model, request: ModelRequest, emit: Emit, words: Words) -> Answer:
    shown = False
    spent: UsageUpdated | None = None
    stream = model.stream(request)
    try:
        async for event in stream:
            _check(event)
            if isinstance(event, Answer):
                spent = UsageUpdated(priced(model, event.usage))
                return replace(event, usage=spent.usage)
            if isinstance(event, UsageUpdated):
                spent = UsageUpdated(priced(model, event.usage))
                continue
            emit(event)
            shown = True
        raise ModelError("cut", words("The answer broke off."))
    except ModelError as error:
        if shown:
            emit(AnswerDiscarded(words(error)))
        raise
    finally:
        if spent is not None:
            emit(spent)
        close = getattr(stream, "aclose", None)  # async generators have it, other iterators may not
        if close is not None:
            await close()


def priced(model: Model, usage: Usage) -> Usage:
    """Return a usage with its cost, if the model knows its prices."""
    cost = getattr(model, "cost", None)
    try:
        dollars = cost(usage) if callable(cost) and usage else None
        return replace(usage, cost=None if dollars is None else float(dollars))
    except Exception:  # models may be third-party code
        return usage


def _check(event: object) -> None:
    """Validate an event of a stream: models may be third-party code."""
    blocks: object = event.blocks if isinstance(event, Answer) else ()
    if not isinstance(event, Event):
        kind = type(event).__name__
        raise TypeError(f"A model's stream gives TextDeltas and then an Answer, not {kind}.")
    if isinstance(blocks, str):
        raise TypeError('An Answer has blocks, such as ({"type": "text", "text": "Hi."},).')


def _final_error(error: ModelError, attempt: int, policy: RetryPolicy, words: Words) -> ModelError:
    text = words(error)
    if not text.endswith((".", "!", "?", "。")):  # a server's message may end without punctuation
        text += words(".")
    if error.retry_after is not None and error.retry_after > policy.longest_wait:
        text = words(
            "{reason} Try again in {seconds:.0f} s.",
            reason=text,
            seconds=error.retry_after,
        )
    elif attempt > 1:
        text = words("{reason} Tried {count} times.", reason=text, count=attempt)
    return ModelError(error.kind, text, error.retry_after)


class RetryingModel:
    """Wraps the conversation's current model and retries transient errors."""

    def __init__(self, model: Callable[[], Model], retry: RetryPolicy, lang: Lang = "en") -> None:
        self._model, self._retry, self._lang = model, retry, lang
        self.name = model().name
        self.emit: Emit = lambda _: None
        self.usage = Usage()

    async def stream(self, request: ModelRequest) -> AsyncIterator[Answer]:
        """Yield the whole answer as one event."""
        model = self._model()
        self.name = model.name
        yield await answer_to(model, request, self._retry, self._on_event, self._lang)

    def _on_event(self, event: Event) -> None:
        match event:
            case RetryScheduled():
                self.emit(event)
            case UsageUpdated(usage) if usage:
                self.usage += usage
                self.emit(UsageSpent(usage, 0))
