"""Room for the next turn: a compaction before it if one is due, or when the person wants one."""

import asyncio
from collections.abc import Callable
from functools import cached_property

from contextui.agent.events import (
    CompactionFinished,
    CompactionStarted,
    Notice,
)
from contextui.agent.patience import PatientModel, Tell
from contextui.agent.phrases import of
from contextui.agent.setup import Setup
from contextui.agent.strategist import Strategist
from contextui.agent.turn import Turn
from contextui.config.choices import Lang
from contextui.context.compaction.result import CompactionResult
from contextui.context.compaction.service import CompactionService
from contextui.context.item import ItemType, is_conversation
from contextui.errors import ContextTooLargeError, ContextUIError
from contextui.events import Trigger
from contextui.model import Usage
from contextui.windowing.trouble import reason_of


class CompactionStoppedError(ContextUIError):
    """A compaction that was stopped; nothing was changed."""


class RoomMaker:
    """Has the context of a conversation compacted, and tells of it.

    Args:
        setup: What all turns share.
        is_idle: Whether no turn is under way.

    Attributes:
        strategist: Has the strategy of the conversation decide what stays.
        auto_compact: Whether a turn that finds little room begins with a compaction.
    """

    def __init__(self, setup: Setup, *, is_idle: Callable[[], bool]) -> None:
        self._setup, self._context, self._options = setup, setup.context, setup.options
        self._model = PatientModel(setup.model, setup.options.retry, setup.lang)
        self.strategist = Strategist(setup, is_idle=is_idle)
        self.auto_compact = setup.options.auto_compact

    @cached_property
    def service(self) -> CompactionService:
        """What compacts."""
        return CompactionService(
            self._context,
            self._model,
            self._options.budget,
            reserved=self._setup.reserved,
            max_tokens=self._options.max_tokens,
            threshold=self._options.compact_at,
        )

    def check(self) -> None:
        """Make sure that there is room for a conversation at all.

        Raises:
            ContextTooLargeError: The system prompt and the tools alone take all of it.
        """
        system = [one for one in self._context.get_active() if one.type is ItemType.SYSTEM]
        needed = self._setup.reserved + sum(self._context.ledger.size(one) for one in system)
        if needed >= self._options.budget:
            what = [of(self._setup.lang).prompt_and_tools.format(tokens=needed)]
            raise ContextTooLargeError(needed, self._options.budget, what)

    async def before(self, turn: Turn, words: str) -> None:
        """Have the strategy decide what stays for a turn with these words, and make room for it.

        That it cannot be made is told, and the turn goes on: there are other ways to find room.
        """
        comes_first = self.strategist.strategy.before_compaction
        if comes_first:
            await self.strategist.before(turn, words)
        await self._compact_if_due(turn, words)
        if not comes_first:
            await self.strategist.before(turn, words)

    async def _compact_if_due(self, turn: Turn, words: str) -> None:
        if not self.auto_compact:
            return
        if not self.service.is_due(self._context.counter.count(words)):
            return
        try:
            await self.compact("auto", turn.tell)
        except Exception as error:
            reason = str(error) if isinstance(error, ContextUIError) else reason_of(error)
            turn.tell(Notice(of(self._setup.lang).not_compacted.format(reason=reason)))
        finally:
            turn.usage += self._model.usage

    async def compact(self, trigger: Trigger, tell: Tell) -> CompactionResult:
        """Compact the context.

        Raises:
            NothingToCompactError: Nothing can go, or by hand: too little would be saved.
        """
        plan = self.service.check() if trigger == "manual" else self.service.preview()
        goes = sum(map(is_conversation, plan.goes))
        tell(CompactionStarted(trigger, goes, len(plan.stays), plan.tokens))
        self._model.tell, self._model.usage = tell, Usage()
        result: CompactionResult | None = None
        try:
            result = await self.service.compact(trigger)
        finally:
            tell(CompactionFinished(result))
        return result


async def outcome(task: "asyncio.Task[CompactionResult]", lang: Lang = "en") -> CompactionResult:
    """What comes of a compaction by hand. Whoever waits no longer for it has stopped it.

    Args:
        task: The compaction.
        lang: The language of the person.

    Raises:
        CompactionStoppedError: Somebody stopped it.
    """
    try:
        await asyncio.wait([task])
        if task.cancelled():
            raise CompactionStoppedError(of(lang).compaction_stopped)
        return task.result()
    finally:
        task.cancel()
