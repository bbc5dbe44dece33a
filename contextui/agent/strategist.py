"""Has the strategy of a conversation decide, and sees to it that no turn suffers from it."""

import asyncio
from collections.abc import Callable

from contextui.agent.events import Notice, UsageSpent
from contextui.agent.patience import PatientModel
from contextui.agent.phrases import of
from contextui.agent.setup import Setup
from contextui.agent.turn import Turn
from contextui.context.item import ContextItem, ItemType
from contextui.context.strategies.applying import apply, decide
from contextui.context.strategies.env import StrategyEnv
from contextui.context.strategies.sliding import SlidingWindow
from contextui.context.strategies.strategy import ContextStrategy
from contextui.errors import ContextTooLargeError
from contextui.model import Model, Usage
from contextui.secrets import mask
from contextui.text import one_line
from contextui.windowing.trouble import reason_in

PATIENCE = 120.0
"""Seconds that a strategy may take before a turn; then the sliding window takes its place."""

_LONGEST = 300  # characters of what went wrong


class Strategist:
    """Runs a strategy before and after turns.

    Args:
        setup: What all turns share.
        is_idle: Whether no turn is under way.
    """

    def __init__(self, setup: Setup, *, is_idle: Callable[[], bool]) -> None:
        self._setup, self._context, self._options = setup, setup.context, setup.options
        self._is_idle = is_idle
        self._asked = PatientModel(setup.model, setup.options.retry)
        self._env: StrategyEnv | None = None
        self._background: asyncio.Task[None] | None = None
        self._refresh: asyncio.Task[None] | None = None
        self._troubles: list[str] = []
        self.strategy: ContextStrategy = SlidingWindow()

    def use(self, strategy: ContextStrategy, model: Model | None = None) -> None:
        """Have this strategy decide from now on.

        Args:
            strategy: Who decides.
            model: Whom it may ask; by default who answers the person.
        """
        self.cancel()
        self.strategy = strategy
        asked, spent = self._setup.model if model is None else lambda: model, self._asked.usage
        retrieved = self._env.retrieved if self._env is not None else ""
        self._asked, self._env = PatientModel(asked, self._options.retry), None
        self._asked.usage = spent
        if retrieved:
            self.env.retrieved = retrieved

    @property
    def env(self) -> StrategyEnv:
        """What surrounds the strategy."""
        if self._env is None:  # not before it is needed: it counts the tools
            self._env = StrategyEnv(
                self._context,
                self._asked,
                self._options.budget,
                reserved=self._setup.reserved,
                max_tokens=self._options.max_tokens,
            )
        return self._env

    def take_retrieved(self) -> str:
        """What was retrieved for the words of this turn; it is used up by that."""
        if self._env is None:
            return ""
        text, self._env.retrieved = self._env.retrieved, ""
        return text

    async def before(self, turn: Turn, words: str) -> None:
        """Have it decided what stays for a turn with these words.

        Whatever a strategy does wrong is told, and the sliding window takes its place. What it
        spent in the background since the last turn is told as part of this one.
        """
        if self._refresh is not None:
            self._refresh.cancel()  # a turn waits for nothing but what it needs
        if spent := self._asked.usage:
            turn.tell(UsageSpent(spent, 0))
        self._asked.tell = turn.tell
        coming = ContextItem(ItemType.USER, words)
        try:
            if self._has_room(coming):
                return
            troubles, self._troubles = self._troubles, []
            await self._follow(coming, troubles)
            for line in self._told(troubles):
                turn.tell(Notice(line))
        finally:
            turn.usage += self._asked.usage
            self._asked.tell, self._asked.usage = lambda _: None, Usage()

    def after(self) -> None:
        """Let the strategy work in the background; what it works on already goes on."""
        if type(self.strategy).on_turn_complete is ContextStrategy.on_turn_complete:
            return  # it has nothing to do then
        if self._background is None or self._background.done():
            self._background = asyncio.create_task(self._work())

    async def settle(self, seconds: float) -> list[str]:
        """Wait so long for what runs in the background, and no longer.

        Returns:
            What went wrong there, in words that the next turn would tell.
        """
        for _ in range(2):  # the second is what the first begins
            if running := [one for one in (self._background, self._refresh) if one is not None]:
                await asyncio.wait(running, timeout=seconds)
        self.cancel()
        return self._told(self._troubles)

    def cancel(self) -> None:
        """Stop what runs in the background. Nothing is lost: it was not applied yet."""
        for task in (self._background, self._refresh):
            if task is not None:
                task.cancel()
        self._background = self._refresh = None

    async def _work(self) -> None:
        strategy = self._with_env(self.strategy)
        try:
            await strategy.on_turn_complete(strategy.env.history)
        except Exception as problem:  # whatever it is: the next turn tells it
            self._troubles = [self._reason(problem)]
            return
        if self._is_idle():
            self._refresh = asyncio.create_task(self._follow(None, self._troubles))

    async def _follow(self, coming: ContextItem | None, troubles: list[str]) -> None:
        """Ask the strategy, and do what it says."""
        try:
            async with asyncio.timeout(PATIENCE):
                await self._decide(self.strategy, coming)
            return
        except TimeoutError:
            troubles.append(of(self._setup.lang).strategy_slow)
        except Exception as problem:  # whatever it is: there is another way
            troubles.append(self._reason(problem))
        await self._decide(SlidingWindow(), coming)

    async def _decide(self, strategy: ContextStrategy, coming: ContextItem | None) -> None:
        env = self._with_env(strategy).env
        await self._show_less(env, coming)
        history = (*env.history, *((coming,) if coming is not None else ()))
        seen = {item.id: item.revision for item in history}
        payload = await strategy.compose_payload(
            self._system_prompt(), history, self._setup.calls.tools, self._live()
        )
        plain = type(strategy) is SlidingWindow  # what it keeps is the least that can be kept
        apply(decide(payload, history, env, may_be_too_much=plain), seen, env)

    def _has_room(self, coming: ContextItem) -> bool:
        """Whether the plain sliding window would keep everything: no need to look at each item."""
        strategy = self.strategy
        if type(strategy) is not SlidingWindow or strategy.max_messages:
            return False
        return self._fits(self.env, self._needed(coming))

    def _needed(self, coming: ContextItem | None) -> int:
        """The tokens that a turn will add at once."""
        if coming is None:
            return 0
        return self.env.size(coming) + self.env.count(self.env.retrieved)

    def _fits(self, env: StrategyEnv, needed: int) -> bool:
        return self._context.outlook().tokens + needed <= env.whole_room

    async def _show_less(self, env: StrategyEnv, coming: ContextItem | None) -> None:
        """Where there is no room, windows show less before anything of the conversation goes."""
        needed = self._needed(coming)
        if self._fits(env, needed):
            return
        try:
            room = self._context.counter.calibrated(max(env.whole_room - needed, 1))
            await self._context.prepare(room)
        except ContextTooLargeError:
            return  # the turn will say so, with its words in it

    def _with_env(self, strategy: ContextStrategy) -> ContextStrategy:
        strategy.env = self.env
        return strategy

    def _system_prompt(self) -> str:
        system = (one for one in self._context.get_active() if one.type is ItemType.SYSTEM)
        return "\n\n".join(one.content for one in system if not one.is_summary)

    def _live(self) -> str | None:
        windows = self._context.windows
        shown = (
            (window.runtime.renders.latest().xml for window in windows.windows()) if windows else ()
        )
        return "\n".join(filter(None, [*shown, self.env.retrieved])) or None

    def _told(self, troubles: list[str]) -> list[str]:
        failed, name = of(self._setup.lang).strategy_failed, self.strategy.name
        return [failed.format(name=name, reason=reason) for reason in troubles]

    def _reason(self, problem: Exception) -> str:
        return one_line(mask(reason_in(type(self.strategy), problem)), _LONGEST)
