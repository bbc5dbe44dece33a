"""`ContextStrategy`: base class of strategies, which select the messages a model receives.

Also defines what a strategy works with (`StrategyEnv`) and how its result is checked and applied.
"""

import inspect
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from contextui.context.compaction.plan import SUMMARY_SHARE
from contextui.context.compaction.summary import Asker, Summarizer, words_of
from contextui.context.item import ContextItem, is_conversation
from contextui.context.manager import ContextManager
from contextui.context.trim import ROUNDS_KEPT
from contextui.context.units import rounds, unchanged, units
from contextui.errors import ContextUIError
from contextui.model import LlmMessage, Model, Tool
from contextui.text import for_model
from contextui.words import Lang

_LEAST_TOKENS = 256  # lower limit of an answer's length, however small the budget is
_WHOLE = ("end_turn", "stop_sequence", "stop")


@dataclass(slots=True)
class StrategyEnv:
    """What a strategy can use.

    Attributes:
        context: The conversation, read-only.
        model: The model behind `ask` and `summarize`.
        budget: The maximum tokens of a request, in the provider's count.
        reserved: Tokens of each request that are not messages: the tools.
        max_tokens: The maximum tokens of an answer, in the provider's count.
        retrieved: Text that the caller retrieved for the next user message. The strategy receives
            it in `rag_context`, the model before that message, as data; it is used once.
    """

    context: ContextManager
    model: Model
    budget: int
    reserved: int = 0
    max_tokens: int = 8_192
    retrieved: str = ""

    @property
    def history(self) -> tuple[ContextItem, ...]:
        """The visible items of the conversation, oldest first."""
        return tuple(item for item in self.context.get_active() if is_conversation(item))

    @property
    def room(self) -> int:
        """The tokens available for the history beside system prompt, tools, memory and windows."""
        history = sum(map(self.size, self.history))
        always = self.context.outlook().tokens - history
        return max(self.whole_room - always, 0)

    @property
    def whole_room(self) -> int:
        """The tokens available for all messages together, in our own count."""
        return max(self.context.counter.room_in(self.budget) - self.reserved, 1)

    @property
    def memory(self) -> str:
        """The text that replaces what was left out; empty if there is none."""
        return "\n\n".join(item.content for item in self.memory_items)

    @property
    def memory_items(self) -> list[ContextItem]:
        """The items that hold the memory."""
        return [item for item in self.context.get_active() if item.is_summary and not item.pinned]

    @property
    def lang(self) -> Lang:
        """The language to write in."""
        return self.context.windows.lang if self.context.windows is not None else "en"

    def size(self, item: ContextItem) -> int:
        """The tokens of an item."""
        return self.context.item_tokens(item)

    def count(self, text: str) -> int:
        """The tokens of a text."""
        return self.context.counter.count(text)

    def rounds(self, history: Iterable[ContextItem]) -> list[list[ContextItem]]:
        """Group the history into rounds: a user message, and everything up to the next one."""
        return [[item for unit in one for item in unit.items] for one in rounds(units(history))]

    async def summarize(self, items: Sequence[ContextItem]) -> str:
        """Summarize items; an earlier summary may be among them.

        Raises:
            ContextUIError: There is no summary.
        """
        asking = Summarizer(self._asker(), self.whole_room, self._longest, self.lang)
        return (await asking.summarize(items, ())).text

    async def ask(self, system: str, words: str) -> str:
        """Send a single request without history and return the answer's text.

        Raises:
            ContextUIError: There is no answer, or it is incomplete.
        """
        question = [LlmMessage("user", words)]
        answer = await self._asker().answer(system, question, self._longest)
        if answer is None or answer.stop_reason not in _WHOLE:
            raise ContextUIError("The model's answer is incomplete.")
        return words_of(answer)

    def _asker(self) -> Asker:
        return Asker(self.model, self.context.counter, self.context.report_usage)

    @property
    def _longest(self) -> int:
        return max(min(self.budget // SUMMARY_SHARE, self.max_tokens), _LEAST_TOKENS)


class StrategyError(ContextUIError):
    """A strategy is missing, misconfigured, or returned an invalid result."""


@dataclass(frozen=True, slots=True)
class Payload:
    """The part of a conversation that the model should receive.

    Attributes:
        history: The items that stay, a subset of those given. Pinned items and the new user message
            always stay; so does a call whose result stays, and its other results.
        memory: Text that replaces everything dropped, after the system prompt. None keeps the
            memory unchanged.
    """

    history: Sequence[ContextItem]
    memory: str | None = None


class ContextStrategy(ABC):
    """Selects before each turn what stays of the conversation, and may work after it.

    What it drops is hidden, not lost: it stays in the log, and a person can restore it. Everything
    it remembers should be in its memory, which is a part of the session; `self.env.memory` returns
    it after a restart. Settings are keyword arguments of `__init__`.

    Attributes:
        name: The name it is selected by.
        before_compaction: Whether it runs before an automatic compaction. A strategy that keeps
            nothing of what it drops should run after it.
        env: Its environment; set before the first call.

    Example:
        >>> class LastRound(ContextStrategy):
        ...     name = "last-round"
        ...     async def compose_payload(self, system_prompt, history, tools, rag_context=None):
        ...         return Payload(self.env.rounds(history)[-1])
    """

    name: str = ""
    before_compaction: ClassVar[bool] = True
    env: StrategyEnv

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for name in ("compose_payload", "on_turn_complete"):
            if not inspect.iscoroutinefunction(getattr(cls, name)):
                raise StrategyError(
                    "{method} must be an async def.", method=f"{cls.__name__}.{name}"
                )

    @abstractmethod
    async def compose_payload(
        self,
        system_prompt: str,
        history: Sequence[ContextItem],
        tools: Sequence[Tool],
        rag_context: str | None = None,
    ) -> Payload:
        """Select what stays. Called before each turn, and once more when `on_turn_complete` ends.

        Args:
            system_prompt: The system prompt, which always stays.
            history: The visible items of the conversation, oldest first. Before a turn the last
                item is the new user message; it has no seq yet.
            tools: The tools the model may call; always all of them.
            rag_context: What else the model receives: the open windows, and the text retrieved for
                the user message (`StrategyEnv.retrieved`).
        """

    async def on_turn_complete(self, history: Sequence[ContextItem]) -> None:  # noqa: B027
        """Work in the background after a turn. The next turn never waits for it.

        Args:
            history: The visible items of the conversation, oldest first.
        """


def apply(
    payload: object,
    history: Sequence[ContextItem],
    seen: Mapping[str, int],
    env: StrategyEnv,
    *,
    may_be_too_much: bool,
) -> None:
    """Validate a strategy's payload and hide what it leaves out; a call stays with its results.

    Items that changed since the strategy was asked stay: `seen` has their revisions. The payload
    may be too much if a later step makes room.
    """
    if not isinstance(payload, Payload):
        raise StrategyError(
            "It returned a {type} instead of a Payload.", type=type(payload).__name__
        )
    try:
        known, wanted = {item.id for item in history}, {item.id for item in payload.history}
    except (TypeError, AttributeError):
        raise StrategyError("The history of its payload is not a list of items.") from None
    if not wanted <= known:
        raise StrategyError("It returned items that are not in the history.")
    left_out: list[ContextItem] = []
    stays = 0
    for unit in units(history):
        if unit.pinned or not unit.head.seq or not wanted.isdisjoint(i.id for i in unit.items):
            stays += sum(map(env.size, unit.items))
        else:
            left_out += unit.items
    memory = _memory(payload, env)
    if not may_be_too_much:
        _check_size(stays, memory, history, env)
    goes, context = list(unchanged(left_out, seen)), env.context
    if memory is not None:
        context.compact([*env.memory_items, *goes], memory, trigger="strategy")
    elif goes:
        context.leave_out(goes, "compacted" if env.memory else "trimmed")


def _memory(payload: Payload, env: StrategyEnv) -> str | None:
    """The new memory; None if it is the same, to keep the provider's cache valid."""
    if payload.memory is None:
        return None
    if not isinstance(payload.memory, str) or not payload.memory.strip():
        raise StrategyError("The memory of its payload is not text.")
    memory = for_model(payload.memory)
    return None if memory == env.memory else memory


def _check_size(
    stays: int, memory: str | None, history: Sequence[ContextItem], env: StrategyEnv
) -> None:
    """Raise if the result exceeds the budget although dropping more would help: the last rounds
    and pinned items stay anyway."""
    grown = 0 if memory is None else env.count(memory) - env.count(env.memory)
    recent = {item.id for one in env.rounds(history)[-ROUNDS_KEPT:] for item in one}
    floor = sum(env.size(item) for item in history if item.pinned or item.id in recent)
    if stays + grown > max(env.room, floor):
        raise StrategyError("It returned more than there is room for.")
