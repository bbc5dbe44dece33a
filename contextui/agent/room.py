"""Make room before a turn: apply the context strategy, and compact if due or requested."""

import asyncio
from collections.abc import Callable
from functools import cached_property

from contextui.agent.retry import Emit, RetryingModel
from contextui.agent.turn import Setup, Turn, TurnOptions
from contextui.context.compaction.service import CompactionService
from contextui.context.item import ContextItem, ItemType, is_conversation
from contextui.context.strategies.builtin import SlidingWindow
from contextui.context.strategies.strategy import ContextStrategy, StrategyEnv, apply, decide
from contextui.errors import ContextTooLargeError, ContextUIError
from contextui.events import (
    CompactionFinished,
    CompactionResult,
    CompactionStarted,
    Notice,
    Trigger,
    UsageSpent,
)
from contextui.model import Model
from contextui.secrets import mask
from contextui.text import one_line
from contextui.tokens import Usage
from contextui.windowing.error_text import reason_in, reason_of
from contextui.windowing.runtime import runtime_of
from contextui.words import Words

PATIENCE = 120.0
"""Seconds that a strategy may take before a turn; then the sliding window is used instead."""

_LONGEST = 300  # characters of an error message


class Strategist:
    """Runs the context strategy before each turn, and in the background after it.

    Args:
        setup: What all turns share.
        is_idle: Whether no turn is running.
    """

    def __init__(self, setup: Setup, *, is_idle: Callable[[], bool]) -> None:
        self._setup, self._context = setup, setup.context
        self._is_idle = is_idle
        self._model = RetryingModel(setup.model, setup.options.retry)
        self._env: StrategyEnv | None = None
        self._background: asyncio.Task[None] | None = None
        self._refresh: asyncio.Task[None] | None = None
        self._troubles: list[str] = []
        self.strategy: ContextStrategy = SlidingWindow()
        self.model: Model | None = None
        """The strategy's own model; None for the conversation's."""

    def use(self, strategy: ContextStrategy, model: Model | None = None) -> None:
        """Switch to another strategy.

        Args:
            strategy: The new strategy.
            model: The model that it may use; by default the conversation's own.
        """
        self.cancel()
        self.strategy = strategy
        self.model = model
        asked, spent = self._setup.model if model is None else lambda: model, self._model.usage
        self._model = RetryingModel(asked, self._options.retry)
        self._model.usage = spent
        self.reset_limits()

    @property
    def _options(self) -> TurnOptions:
        return self._setup.options

    def reset_limits(self) -> None:
        """Use the limits that the setup has now."""
        retrieved = self._env.retrieved if self._env is not None else ""
        self._env = None
        if retrieved:
            self.env.retrieved = retrieved

    @property
    def env(self) -> StrategyEnv:
        """The strategy's environment."""
        if self._env is None:  # created on first use: it counts the tools' tokens
            self._env = StrategyEnv(
                self._context,
                self._model,
                self._options.budget,
                reserved=self._setup.reserved,
                max_tokens=self._options.max_tokens,
            )
        return self._env

    def take_retrieved(self) -> str:
        """Return and clear the text that was retrieved for this turn's message."""
        if self._env is None:
            return ""
        text, self._env.retrieved = self._env.retrieved, ""
        return text

    async def before(self, turn: Turn, message: str) -> None:
        """Let the strategy decide what to keep for a turn with this message.

        If a strategy fails, the error is reported as a notice and the sliding window is used
        instead. What it spent in the background since the last turn is emitted as part of this one.
        """
        if self._refresh is not None:
            self._refresh.cancel()  # a turn does not wait for background work
        if spent := self._model.usage:
            turn.emit(UsageSpent(spent, 0))
        self._model.emit = turn.emit
        coming = ContextItem(ItemType.USER, message)
        try:
            if self._has_room(coming):
                return
            troubles, self._troubles = self._troubles, []
            await self._apply_strategy(coming, troubles)
            for line in self._notices(troubles):
                turn.emit(Notice(line))
        finally:
            turn.usage += self._model.usage
            self._model.emit, self._model.usage = lambda _: None, Usage()

    def after(self) -> None:
        """Start the strategy's background work, unless it is still running."""
        if type(self.strategy).on_turn_complete is ContextStrategy.on_turn_complete:
            return  # it has no background work
        if self._background is None or self._background.done():
            self._background = asyncio.create_task(self._run_background())

    async def settle(self, seconds: float) -> list[str]:
        """Wait at most this many seconds for each part of the background work, then cancel it.

        Returns:
            Errors of the background work, as the next turn would report them.
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

    async def _run_background(self) -> None:
        strategy = self._with_env(self.strategy)
        try:
            await strategy.on_turn_complete(strategy.env.history)
        except Exception as problem:  # of any kind: the next turn reports it
            self._troubles = [self._reason(problem)]
            return
        if self._is_idle():
            self._refresh = asyncio.create_task(self._apply_strategy(None, self._troubles))

    async def _apply_strategy(self, coming: ContextItem | None, troubles: list[str]) -> None:
        """Apply the strategy's decision; fall back to the sliding window on errors."""
        try:
            async with asyncio.timeout(PATIENCE):
                await self._decide(self.strategy, coming)
            return
        except TimeoutError:
            troubles.append(Words(self._setup.lang)("It took too long."))
        except Exception as problem:  # of any kind: there is a fallback
            troubles.append(self._reason(problem))
        await self._decide(SlidingWindow(), coming)

    async def _decide(self, strategy: ContextStrategy, coming: ContextItem | None) -> None:
        env = self._with_env(strategy).env
        await self._reduce_detail(env, coming)
        history = (*env.history, *((coming,) if coming is not None else ()))
        seen = {item.id: item.revision for item in history}
        payload = await strategy.compose_payload(
            self._system_prompt(), history, self._setup.calls.tools, self._live_windows()
        )
        plain = type(strategy) is SlidingWindow  # it keeps the minimum that can be kept
        apply(decide(payload, history, env, may_be_too_much=plain), seen, env)

    def _has_room(self, coming: ContextItem) -> bool:
        """Whether the plain sliding window would keep everything, without looking at each item."""
        strategy = self.strategy
        if type(strategy) is not SlidingWindow or strategy.max_messages:
            return False
        return self._fits(self.env, self._needed(coming))

    def _needed(self, coming: ContextItem | None) -> int:
        """Tokens that the message and its retrieved text will add."""
        if coming is None:
            return 0
        return self.env.size(coming) + self.env.count(self.env.retrieved)

    def _fits(self, env: StrategyEnv, needed: int) -> bool:
        return self._context.outlook().tokens + needed <= env.whole_room

    async def _reduce_detail(self, env: StrategyEnv, coming: ContextItem | None) -> None:
        """If there is too little room, reduce the windows' detail before any message is dropped."""
        needed = self._needed(coming)
        if self._fits(env, needed):
            return
        try:
            room = self._context.counter.calibrated(max(env.whole_room - needed, 1))
            await self._context.prepare(room)
        except ContextTooLargeError:
            return  # the turn reports it, with the message included

    def _with_env(self, strategy: ContextStrategy) -> ContextStrategy:
        strategy.env = self.env
        return strategy

    def _system_prompt(self) -> str:
        system = (one for one in self._context.get_active() if one.type is ItemType.SYSTEM)
        return "\n\n".join(one.content for one in system if not one.is_summary)

    def _live_windows(self) -> str | None:
        windows = self._context.windows
        shown = (
            (runtime_of(one).renders.latest().xml for one in windows.windows()) if windows else ()
        )
        return "\n".join(filter(None, [*shown, self.env.retrieved])) or None

    def _notices(self, troubles: list[str]) -> list[str]:
        words, name = Words(self._setup.lang), self.strategy.name
        return [
            words(
                "The strategy {name} failed; the sliding window is used instead: {reason}",
                name=name,
                reason=reason,
            )
            for reason in troubles
        ]

    def _reason(self, problem: Exception) -> str:
        return one_line(mask(reason_in(type(self.strategy), problem, self._setup.lang)), _LONGEST)


class CompactionStoppedError(ContextUIError):
    """A compaction was cancelled; nothing was changed."""


class RoomMaker:
    """Makes room for a turn: applies the strategy and compacts the context.

    Args:
        setup: What all turns share.
        is_idle: Whether no turn is running.

    Attributes:
        strategist: Runs the conversation's context strategy.
        auto_compact: Whether a turn that starts with little room left compacts first.
    """

    def __init__(self, setup: Setup, *, is_idle: Callable[[], bool]) -> None:
        self._setup, self._context = setup, setup.context
        self._model = RetryingModel(setup.model, setup.options.retry, setup.lang)
        self.strategist = Strategist(setup, is_idle=is_idle)
        self.auto_compact = setup.options.auto_compact

    @property
    def _options(self) -> TurnOptions:
        return self._setup.options

    def reset_limits(self) -> None:
        """Use the limits that the setup has now."""
        self.__dict__.pop("service", None)
        self.strategist.reset_limits()

    @cached_property
    def service(self) -> CompactionService:
        """The compaction service."""
        return CompactionService(
            self._context,
            self._model,
            self._options.budget,
            reserved=self._setup.reserved,
            max_tokens=self._options.max_tokens,
            threshold=self._options.compact_at,
        )

    def check(self) -> None:
        """Check that the budget leaves room for a conversation.

        Raises:
            ContextTooLargeError: The system prompt and the tools alone use up the budget.
        """
        system = [one for one in self._context.get_active() if one.type is ItemType.SYSTEM]
        needed = self._setup.reserved + sum(self._context.item_tokens(one) for one in system)
        if needed >= self._options.budget:
            what = [
                Words(self._setup.lang)("the system prompt and the tools, ~{tokens}", tokens=needed)
            ]
            raise ContextTooLargeError(needed, self._options.budget, what)

    async def before(self, turn: Turn, message: str) -> None:
        """Apply the strategy and compact if due, before a turn with this message.

        A failed compaction is reported as a notice and the turn continues: there are other ways to
        make room.
        """
        comes_first = self.strategist.strategy.before_compaction
        if comes_first:
            await self.strategist.before(turn, message)
        await self._compact_if_due(turn, message)
        if not comes_first:
            await self.strategist.before(turn, message)

    async def _compact_if_due(self, turn: Turn, message: str) -> None:
        if not self.auto_compact:
            return
        if not self.service.is_due(self._context.counter.count(message)):
            return
        try:
            await self.compact("auto", turn.emit)
        except Exception as error:
            reason = reason_of(error, self._setup.lang)
            words = Words(self._setup.lang)
            turn.emit(Notice(words("The conversation was not compacted: {reason}", reason=reason)))
        finally:
            turn.usage += self._model.usage

    async def compact(self, trigger: Trigger, emit: Emit) -> CompactionResult:
        """Compact the context; emit start, end, retries and usage.

        Raises:
            NothingToCompactError: Nothing can be compacted or, if manual, it would save too little.
        """
        plan = self.service.check() if trigger == "manual" else self.service.preview()
        goes = sum(map(is_conversation, plan.goes))
        emit(CompactionStarted(trigger, goes, len(plan.stays), plan.tokens))
        self._model.emit, self._model.usage = emit, Usage()
        result: CompactionResult | None = None
        try:
            result = await self.service.compact(trigger)
        finally:
            emit(CompactionFinished(result))
        return result


async def outcome(task: "asyncio.Task[CompactionResult]") -> CompactionResult:
    """Wait for a manual compaction; cancelling the wait cancels the compaction.

    Raises:
        CompactionStoppedError: The compaction was cancelled.
    """
    try:
        await asyncio.wait([task])
        if task.cancelled():
            raise CompactionStoppedError("The compaction was stopped. Nothing was changed.")
        return task.result()
    finally:
        task.cancel()
