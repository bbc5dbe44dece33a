"""How large a request may be, and room for the next turn: context strategy and compaction."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property

from contextui.agent.retry import Emit, RetryingModel, RetryPolicy
from contextui.agent.tools import declaration_tokens
from contextui.context.compaction.service import CompactionService
from contextui.context.item import ContextItem, ItemType, is_conversation
from contextui.context.manager import ContextManager
from contextui.context.strategies.builtin import SlidingWindow
from contextui.context.strategies.strategy import ContextStrategy, StrategyEnv, apply
from contextui.errors import ContextTooLargeError
from contextui.events import (
    CompactionFinished,
    CompactionResult,
    CompactionStarted,
    Notice,
    Trigger,
    UsageSpent,
)
from contextui.model import ContextSize, Model, Tool
from contextui.secrets import mask
from contextui.text import one_line
from contextui.tokens import Usage
from contextui.windowing.error_text import reason_in, reason_of
from contextui.windowing.runtime import runtime_of
from contextui.words import Words

PATIENCE = 120.0
"""Seconds that a strategy may take before a turn; then the sliding window is used instead."""

_LONGEST = 300  # characters of an error message
_LEAST_BUDGET = 1_024  # tokens; a smaller context is of no use
_ANSWER_SHARE = 4  # an answer gets at least a quarter of a small context


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


class ContextSpace:
    """Runs the context strategy, before each turn and in the background, and compactions."""

    def __init__(
        self,
        context: ContextManager,
        model: Callable[[], Model],
        options: TurnOptions,
        tools: Sequence[Tool],
    ) -> None:
        self._context, self._current_model = context, model
        self._options, self._tools = options, tools
        self.is_idle: Callable[[], bool] = lambda: True
        self._words = Words(context.windows.lang if context.windows is not None else "en")
        self._summarizer = RetryingModel(model, options.retry, self._words.lang)
        self._asked = RetryingModel(model, options.retry, self._words.lang)  # by the strategy
        self._background: asyncio.Task[None] | None = None
        self._refresh: asyncio.Task[None] | None = None
        self._troubles: list[str] = []
        self.strategy: ContextStrategy = SlidingWindow()
        self.model: Model | None = None
        self.auto_compact = options.auto_compact
        self.env = StrategyEnv(context, self._asked, options.budget, max_tokens=options.max_tokens)

    def use(self, strategy: ContextStrategy, model: Model | None = None) -> None:
        """Switch to another strategy."""
        self.cancel()
        self.strategy, self.model = strategy, model
        asked, spent = self._current_model if model is None else lambda: model, self._asked.usage
        self._asked = RetryingModel(asked, self._options.retry, self._words.lang)
        self._asked.usage = spent
        self.env.model = self._asked

    def use_limits(self, options: TurnOptions, tools: Sequence[Tool]) -> None:
        """Use other limits and tools, between two turns."""
        self._options, self._tools = options, tools
        self.env.budget, self.env.max_tokens = options.budget, options.max_tokens
        for name in ("reserved", "compaction"):
            self.__dict__.pop(name, None)

    @cached_property
    def reserved(self) -> int:
        """Tokens of the tool declarations, which are part of every request."""
        return declaration_tokens(self._tools, self._context.counter)

    @cached_property
    def compaction(self) -> CompactionService:
        """The compaction service."""
        return CompactionService(
            self._context,
            self._summarizer,
            self._options.budget,
            reserved=self.reserved,
            max_tokens=self._options.max_tokens,
            threshold=self._options.compact_at,
        )

    def check_budget(self) -> None:
        """Check that the budget leaves room for a conversation."""
        system = [one for one in self._context.get_active() if one.type is ItemType.SYSTEM]
        needed = self.reserved + sum(self._context.item_tokens(one) for one in system)
        if needed >= self._options.budget:
            what = [self._words("the system prompt and the tools, ~{tokens}", tokens=needed)]
            raise ContextTooLargeError(needed, self._options.budget, what)

    def take_retrieved(self) -> str:
        """Return and clear the text that was retrieved for this turn's message."""
        text, self.env.retrieved = self.env.retrieved, ""
        return text

    # --- before a turn -----------------------------------------------------------------

    async def make_room(self, message: str, emit: Emit, spend: Callable[[Usage], object]) -> None:
        """Apply the strategy and compact if due, before a turn with this message.

        If either fails, that is reported as a notice and the turn continues: there are other ways
        to make room. `spend` is called with what was used for it.
        """
        comes_first = self.strategy.before_compaction
        if comes_first:
            await self._run_strategy(message, emit, spend)
        if self.auto_compact and self.compaction.is_due(self._context.counter.count(message)):
            try:
                await self.compact("auto", emit)
            except Exception as error:
                reason = reason_of(error, self._words.lang)
                text = self._words("The conversation was not compacted: {reason}", reason=reason)
                emit(Notice(text))
            finally:
                spend(self._summarizer.usage)
        if not comes_first:
            await self._run_strategy(message, emit, spend)

    async def compact(self, trigger: Trigger, emit: Emit) -> CompactionResult:
        """Compact the context; emit start, end, retries and usage."""
        service = self.compaction
        plan = service.check() if trigger == "manual" else service.preview()
        goes = sum(map(is_conversation, plan.goes))
        emit(CompactionStarted(trigger, goes, len(plan.stays), plan.tokens))
        self._summarizer.emit, self._summarizer.usage = emit, Usage()
        result: CompactionResult | None = None
        try:
            result = await service.compact(trigger)
        finally:
            emit(CompactionFinished(result))
        return result

    async def _run_strategy(
        self, message: str, emit: Emit, spend: Callable[[Usage], object]
    ) -> None:
        """Let the strategy decide what to keep for a turn with this message.

        If it fails, the sliding window is used instead. What it spent in the background since the
        last turn is emitted as part of this one.
        """
        if self._refresh is not None:
            self._refresh.cancel()  # a turn does not wait for background work
        if spent := self._asked.usage:
            emit(UsageSpent(spent, 0))
        self._asked.emit = emit
        self.env.reserved = self.reserved
        coming = ContextItem(ItemType.USER, message)
        try:
            # The plain sliding window keeps everything that fits; no need to look at each item.
            is_plain = type(self.strategy) is SlidingWindow and not self.strategy.max_messages
            if is_plain and self._fits(coming):
                return
            troubles, self._troubles = self._troubles, []
            await self._apply_strategy(coming, troubles)
            for line in self._notices(troubles):
                emit(Notice(line))
        finally:
            spend(self._asked.usage)
            self._asked.emit, self._asked.usage = lambda _: None, Usage()

    async def _apply_strategy(self, coming: ContextItem | None, troubles: list[str]) -> None:
        """Apply the strategy's decision; fall back to the sliding window on errors."""
        try:
            async with asyncio.timeout(PATIENCE):
                await self._decide(self.strategy, coming)
            return
        except TimeoutError:
            troubles.append(self._words("It took too long."))
        except Exception as problem:  # of any kind: there is a fallback
            troubles.append(self._reason(problem))
        await self._decide(SlidingWindow(), coming)

    async def _decide(self, strategy: ContextStrategy, coming: ContextItem | None) -> None:
        env = strategy.env = self.env
        if not self._fits(coming):  # reduce the windows' detail before any message is dropped
            left = max(self.compaction.room - self._needed(coming), 1)
            room = self._context.counter.calibrated(left)
            with suppress(ContextTooLargeError):  # the turn reports it, with the message included
                await self._context.prepare(room)
        history = (*env.history, *((coming,) if coming is not None else ()))
        seen = {item.id: item.revision for item in history}
        active, windows = self._context.get_active(), self._context.windows
        system = (one for one in active if one.type is ItemType.SYSTEM and not one.is_summary)
        opened = windows.windows() if windows is not None else ()
        shown = (runtime_of(window).renders.latest().xml for window in opened)
        payload = await strategy.compose_payload(
            "\n\n".join(one.content for one in system),
            history,
            self._tools,
            "\n".join(filter(None, [*shown, env.retrieved])) or None,
        )
        plain = type(strategy) is SlidingWindow  # it keeps the minimum that can be kept
        apply(payload, history, seen, env, may_be_too_much=plain)

    def _fits(self, coming: ContextItem | None) -> bool:
        return self._context.outlook().tokens + self._needed(coming) <= self.compaction.room

    def _needed(self, coming: ContextItem | None) -> int:
        if coming is None:
            return 0
        counted = self._context.counter.count(self.env.retrieved)
        return self._context.item_tokens(coming) + counted

    def _notices(self, troubles: list[str]) -> list[str]:
        return [
            self._words(
                "The strategy {name} failed; the sliding window is used instead: {reason}",
                name=self.strategy.name,
                reason=reason,
            )
            for reason in troubles
        ]

    def _reason(self, problem: Exception) -> str:
        reason = reason_in(type(self.strategy), problem, self._words.lang)
        return one_line(mask(reason), _LONGEST)

    # --- after a turn ------------------------------------------------------------------

    def start_background(self) -> None:
        """Start the strategy's background work, unless it has none or is still running."""
        if type(self.strategy).on_turn_complete is ContextStrategy.on_turn_complete:
            return
        if self._background is None or self._background.done():
            self._background = asyncio.create_task(self._run_background())

    async def _run_background(self) -> None:
        strategy = self.strategy
        strategy.env = self.env
        try:
            await strategy.on_turn_complete(strategy.env.history)
        except Exception as problem:  # of any kind: the next turn reports it
            self._troubles = [self._reason(problem)]
            return
        if self.is_idle():
            self._refresh = asyncio.create_task(self._apply_strategy(None, self._troubles))

    async def settle(self, seconds: float) -> list[str]:
        """Wait at most so long for each part of the background work, cancel it, and return its
        errors.
        """
        for _ in range(2):  # the first task starts the second
            if running := [one for one in (self._background, self._refresh) if one is not None]:
                await asyncio.wait(running, timeout=seconds)
        self.cancel()
        return self._notices(self._troubles)

    def cancel(self) -> None:
        """Cancel the background work. Nothing is lost: it was not applied yet."""
        for task in (self._background, self._refresh):
            if task is not None:
                task.cancel()
        self._background = self._refresh = None
