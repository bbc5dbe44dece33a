"""`ContextStrategy`: decides what of a conversation the model reads. Anybody can write one."""

import inspect
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from contextui.config.settings import Lang
from contextui.context.compaction.plan import SUMMARY_SHARE
from contextui.context.compaction.summary import Asker, Summarizer, words_of
from contextui.context.item import ContextItem, is_conversation
from contextui.context.manager import ContextManager
from contextui.context.trim import ROUNDS_KEPT
from contextui.context.units import rounds, unchanged, units
from contextui.errors import ContextUIError
from contextui.model import LlmMessage, Model, Tool
from contextui.text import for_model

_LEAST_TOKENS = 256  # that an answer may have, however small the budget is
_WHOLE = ("end_turn", "stop_sequence", "stop")


@dataclass(slots=True)
class StrategyEnv:
    """What a strategy may use.

    Attributes:
        context: The conversation, to be looked at.
        model: Who answers `ask` and `summarize`.
        budget: The provider's tokens that a request may have.
        reserved: Tokens of each request that are no messages: the tools.
        max_tokens: The provider's tokens that an answer may have.
        requests: How often the model was asked.
        retrieved: Text that was looked up for the person's next words, by whoever runs the
            conversation. The strategy is given it as a part of `rag_context`, the model before
            those words, as data; then it is used up.
    """

    context: ContextManager
    model: Model
    budget: int
    reserved: int = 0
    max_tokens: int = 8_192
    requests: int = 0
    retrieved: str = ""

    @property
    def history(self) -> tuple[ContextItem, ...]:
        """What is visible of the conversation, oldest first."""
        return tuple(item for item in self.context.get_active() if is_conversation(item))

    @property
    def room(self) -> int:
        """The tokens that the history may have beside system prompt, tools, memory and windows."""
        said = sum(map(self.size, self.history))
        always = self.context.outlook().tokens - said
        return max(self.whole_room - always, 0)

    @property
    def whole_room(self) -> int:
        """The tokens that all messages together may have, as they are counted here."""
        return max(self.context.counter.room_in(self.budget) - self.reserved, 1)

    @property
    def memory(self) -> str:
        """The words that stand for what was left out; empty if there are none."""
        return "\n\n".join(item.content for item in self.memory_items)

    @property
    def memory_items(self) -> list[ContextItem]:
        """The items that hold them."""
        return [item for item in self.context.get_active() if item.is_summary and not item.pinned]

    @property
    def lang(self) -> Lang:
        """The language to write in."""
        return self.context.windows.lang if self.context.windows is not None else "en"

    def size(self, item: ContextItem) -> int:
        """The tokens of an item."""
        return self.context.ledger.size(item)

    def count(self, text: str) -> int:
        """The tokens of a text."""
        return self.context.counter.count(text)

    def rounds(self, history: Iterable[ContextItem]) -> list[list[ContextItem]]:
        """The history by rounds: a person's words, and everything up to their next ones."""
        return [[item for unit in one for item in unit.items] for one in rounds(units(history))]

    async def summarize(self, items: Sequence[ContextItem]) -> str:
        """A summary of items; one that stands for others may be among them.

        Raises:
            ContextUIError: There is none.
        """
        asking = Summarizer(
            model=self.model,
            counter=self.context.counter,
            room=self.whole_room,
            max_tokens=self._longest,
            lang=self.lang,
            report=self.context.report_usage,
        )
        try:
            return (await asking.summarize(items, ())).text
        finally:
            self.requests += asking.requests

    async def ask(self, system: str, words: str) -> str:
        """What the model answers to these words, and to nothing else.

        Raises:
            ContextUIError: There is no answer, or not all of it.
        """
        asker = Asker(self.model, self.context.counter, self.context.report_usage)
        try:
            answer = await asker.answer(system, [LlmMessage("user", words)], self._longest)
        finally:
            self.requests += asker.requests
        if answer is None or answer.stop_reason not in _WHOLE:
            raise ContextUIError("The model gave no whole answer.")
        return words_of(answer)

    @property
    def _longest(self) -> int:
        return max(min(self.budget // SUMMARY_SHARE, self.max_tokens), _LEAST_TOKENS)


class StrategyError(ContextUIError):
    """A strategy that is not there, is set up wrongly, or gave what cannot be used."""


@dataclass(frozen=True, slots=True)
class Payload:
    """What the model is to read of a conversation.

    Attributes:
        history: The items that stay, of those that were given. What is pinned, and the words that
            are to be answered, stay anyway; so does a call whose result stays, and its other
            results.
        memory: Words that stand for all that went, after the system prompt. None leaves the
            memory as it is.
    """

    history: Sequence[ContextItem]
    memory: str | None = None


class ContextStrategy(ABC):
    """Decides before each turn what stays of the conversation, and may work after it.

    What it leaves out is hidden, not lost: it stands in the log, and a person can bring it back.
    All that it remembers should be in its memory, which is a part of the session; `self.env.memory`
    gives it back after a restart. Settings are keyword arguments of `__init__`.

    Attributes:
        name: What it is chosen by.
        before_compaction: Whether it comes before an automatic compaction. One that keeps nothing
            of what it leaves out should come behind it.
        env: What surrounds it; there before the first call.

    Example:
        >>> class LastRound(ContextStrategy):
        ...     name = "last-round"
        ...     async def compose_payload(self, system_prompt, history, tools, rag_context=None):
        ...         return Payload(self.env.rounds(history)[-1])
    """

    name: ClassVar[str] = ""
    before_compaction: ClassVar[bool] = True
    env: StrategyEnv

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for name in ("compose_payload", "on_turn_complete"):
            if not inspect.iscoroutinefunction(getattr(cls, name)):
                raise StrategyError(f"{cls.__name__}.{name} must be an async def.")

    @abstractmethod
    async def compose_payload(
        self,
        system_prompt: str,
        history: Sequence[ContextItem],
        tools: Sequence[Tool],
        rag_context: str | None = None,
    ) -> Payload:
        """Choose what stays. Called before each turn, and once more when `on_turn_complete` ends.

        Args:
            system_prompt: The system prompt, which always stays.
            history: What is visible of the conversation, oldest first. Before a turn the last item
                is what the person just said; it has no seq yet.
            tools: What the model may call; always all of them.
            rag_context: What else the model will see: the open windows, and what was retrieved
                for the person's words (`StrategyEnv.retrieved`).
        """

    async def on_turn_complete(self, history: Sequence[ContextItem]) -> None:  # noqa: B027
        """Work in the background, while the person reads. The next turn never waits for it.

        Args:
            history: What is visible of the conversation, oldest first.
        """


@dataclass(frozen=True, slots=True)
class Decision:
    """What goes, and the words that stand for it; None if they stay as they are."""

    goes: tuple[ContextItem, ...]
    memory: str | None


def decide(
    payload: object, history: Sequence[ContextItem], env: StrategyEnv, *, may_be_too_much: bool
) -> Decision:
    """Check what a strategy wants, and make it whole: a call stays with its results.

    Args:
        payload: What the strategy gave.
        history: What it was given.
        env: What surrounds it.
        may_be_too_much: Whether it need not fit: others will make room.

    Raises:
        StrategyError: It cannot be used.
    """
    if not isinstance(payload, Payload):
        raise StrategyError(f"It gave a {type(payload).__name__} and no Payload.")
    known, wanted = {item.id for item in history}, _ids(payload)
    if not wanted <= known:
        raise StrategyError("It gave items that are not in the history.")
    goes: list[ContextItem] = []
    stays = 0
    for unit in units(history):
        if unit.pinned or not unit.head.seq or not wanted.isdisjoint(i.id for i in unit.items):
            stays += sum(map(env.size, unit.items))
        else:
            goes += unit.items
    memory = _memory(payload, env)
    if not may_be_too_much:
        _check_size(stays, memory, history, env)
    return Decision(tuple(goes), memory)


def apply(decision: Decision, seen: dict[str, int], env: StrategyEnv) -> None:
    """Have a decision happen, but for items that were changed since it was made.

    Args:
        decision: What goes.
        seen: The revision of each item when it was decided.
        env: What surrounds the strategy.
    """
    goes, context = list(unchanged(decision.goes, seen)), env.context
    if decision.memory is not None:
        context.compact([*env.memory_items, *goes], decision.memory, trigger="strategy")
    elif goes:
        context.leave_out(goes, "compacted" if env.memory else "trimmed")


def _ids(payload: Payload) -> set[str]:
    try:
        return {item.id for item in payload.history}
    except (TypeError, AttributeError):
        raise StrategyError("The history of its payload is no list of items.") from None


def _memory(payload: Payload, env: StrategyEnv) -> str | None:
    """The new memory; None if it is the same, as the provider's cache would be lost for nothing."""
    if payload.memory is None:
        return None
    if not isinstance(payload.memory, str) or not payload.memory.strip():
        raise StrategyError("The memory of its payload is no text.")
    memory = for_model(payload.memory)
    return None if memory == env.memory else memory


def _check_size(
    stays: int, memory: str | None, history: Sequence[ContextItem], env: StrategyEnv
) -> None:
    """Too much is what is over the budget, if less would do: the last rounds and what is pinned
    stay anyway."""
    grown = 0 if memory is None else env.count(memory) - env.count(env.memory)
    recent = {item.id for one in env.rounds(history)[-ROUNDS_KEPT:] for item in one}
    floor = sum(env.size(item) for item in history if item.pinned or item.id in recent)
    if stays + grown > max(env.room, floor):
        raise StrategyError("It gave more than there is room for.")
