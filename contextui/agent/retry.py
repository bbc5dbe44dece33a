"""Asking again, a few times and with a countdown, where the next time may go better."""

import asyncio
import math
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass

from contextui.agent import phrases
from contextui.agent.events import AnswerDiscarded, RetryScheduled, UsageSpent
from contextui.agent.phrases import Phrases
from contextui.config.settings import Lang
from contextui.events import Event
from contextui.model import Answer, Model, ModelError, ModelRequest, Usage, UsageTold

Sleep = Callable[[float], Awaitable[object]]


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often and after how long a request is sent again.

    Attributes:
        attempts: How often a request is sent at most.
        unreached: The same where nobody is there to take it, and the pauses are short.
        silent: The same where a server takes it and is silent: each attempt takes minutes.
        first: Seconds before the second attempt; each further pause is twice as long.
        longest: Seconds that are waited at most. A provider that wants more is not waited for:
            the turn ends and says so.
        sleep: Waits; tests give their own.
    """

    attempts: int = 5
    unreached: int = 3
    silent: int = 2
    first: float = 1.0
    longest: float = 60.0
    sleep: Sleep = asyncio.sleep

    def pause(self, attempt: int, error: ModelError) -> int | None:
        """The seconds to wait after this attempt; None if there is to be no other."""
        if not error.is_passing or attempt >= self.attempts_at(error):
            return None
        wanted = error.retry_after
        if wanted is not None and wanted > self.longest:
            return None
        own = self.first * float(2 ** (attempt - 1))
        if error.kind == "unreached":
            own = self.first
        return math.ceil(min(max(own, wanted or 0.0), self.longest))

    def attempts_at(self, error: ModelError) -> int:
        """How often a request that fails like this is sent at most."""
        fewer = {"unreached": self.unreached, "silent": self.silent}
        return min(self.attempts, fewer.get(error.kind, self.attempts))


async def answer_to(
    model: Model,
    request: ModelRequest,
    policy: RetryPolicy,
    tell: Callable[[Event], None],
    lang: Lang = "en",
) -> Answer:
    """The whole answer to a request; what happens on the way is told.

    What an attempt cost, as far as that is known, is told once as `UsageTold`, also where no
    whole answer came of it.

    Raises:
        ModelError: There is none. Nothing of a broken answer counts.
    """
    attempt, words = 0, phrases.of(lang)
    while True:
        attempt += 1
        try:
            return await _stream(model, request, tell, words)
        except ModelError as error:
            seconds = policy.pause(attempt, error)
            if seconds is None:
                raise _last(error, attempt, policy, words) from error
            reason, attempts = str(error), policy.attempts_at(error)
        for left in range(seconds, 0, -1):
            tell(RetryScheduled(reason, left, attempt + 1, attempts))
            await policy.sleep(1)


async def _stream(
    model: Model, request: ModelRequest, tell: Callable[[Event], None], words: Phrases
) -> Answer:
    shown = False
    spent: UsageTold | None = None
    stream = model.stream(request)
    try:
        async for event in stream:
            _check(event)
            if isinstance(event, Answer):
                spent = UsageTold(event.usage)
                return event
            if isinstance(event, UsageTold):
                spent = event
                continue
            tell(event)
            shown = True
        raise ModelError("cut", words.broke_off)
    except ModelError as error:
        if shown:
            tell(AnswerDiscarded(str(error)))
        raise
    finally:
        if spent is not None:
            tell(spent)
        close = getattr(stream, "aclose", None)  # an async generator has it, an iterator may not
        if close is not None:
            await close()


def _check(event: object) -> None:
    """See that an event is one, as anyone may write a model."""
    blocks: object = event.blocks if isinstance(event, Answer) else ()
    if not isinstance(event, Event):
        kind = type(event).__name__
        raise TypeError(f"A model's stream gives TextDeltas and then an Answer, not {kind}.")
    if isinstance(blocks, str):
        raise TypeError('An Answer has blocks, such as ({"type": "text", "text": "Hi."},).')


def _last(error: ModelError, attempt: int, policy: RetryPolicy, words: Phrases) -> ModelError:
    told = str(error)
    if not told.endswith((".", "!", "?", "。")):  # the words of a server may end without
        told += words.full_stop
    if error.retry_after is not None and error.retry_after > policy.longest:
        told = words.leave_alone.format(reason=told, seconds=error.retry_after)
    elif attempt > 1:
        told = words.tried.format(reason=told, count=attempt)
    return ModelError(error.kind, told, error.retry_after)


Tell = Callable[[Event], object]


class PatientModel:
    """The model of a conversation, whichever it is just now, asked again where that may help.

    Args:
        model: Gives the model.
        retry: How often and after how long it is asked again.
        lang: The language of the person.

    Attributes:
        name: The model's name, as it was when it was asked last.
        tell: Told of countdowns and costs. What the model says is not told: it is for the context.
        usage: What its answers cost.
    """

    def __init__(self, model: Callable[[], Model], retry: RetryPolicy, lang: Lang = "en") -> None:
        self._model, self._retry, self._lang = model, retry, lang
        self.name = model().name
        self.tell: Tell = lambda _: None
        self.usage = Usage()

    async def stream(self, request: ModelRequest) -> AsyncIterator[Answer]:
        """The whole answer, at once.

        Raises:
            ModelError: There is none.
        """
        model = self._model()
        self.name = model.name
        yield await answer_to(model, request, self._retry, self._hear, self._lang)

    def _hear(self, event: Event) -> None:
        match event:
            case RetryScheduled():
                self.tell(event)
            case UsageTold(usage) if usage:
                self.usage += usage
                self.tell(UsageSpent(usage, 0))
