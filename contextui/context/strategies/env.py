"""What surrounds a strategy: how much room there is, what things cost, a model to ask."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from contextui.config.choices import Lang
from contextui.context.compaction.asking import Asker, words_of
from contextui.context.compaction.plan import SUMMARY_SHARE
from contextui.context.compaction.summary import Summarizer
from contextui.context.item import ContextItem, is_conversation
from contextui.context.manager import ContextManager
from contextui.context.units import rounds, units
from contextui.errors import ContextUIError
from contextui.model import LlmMessage, Model

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
