"""Read-only queries on a context: its items, tool calls, windows, summaries and tokens."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from contextui.context.composition import Composition
from contextui.context.item import ContextItem
from contextui.context.ledger import Ledger
from contextui.context.units import Calls, Folds
from contextui.model import Block


class Queries:
    """The queries of `ContextManager`. None of them waits."""

    ledger: Ledger

    @property
    def current_seq(self) -> int:
        """The seq of the newest item, 0 if there is none."""
        return self.ledger.seq

    @property
    def items(self) -> Mapping[str, ContextItem]:
        """The loaded items by id; a resumed session leaves old ones in the log."""
        return MappingProxyType(self.ledger.items)

    @property
    def open_items(self) -> Sequence[ContextItem]:
        """The items that are not final yet, because their turn has not ended."""
        return list(self.ledger.open)

    @property
    def is_turn_running(self) -> bool:
        """Whether a part of the current turn was sent, so that nothing before it may change."""
        return self.ledger.under_way

    @property
    def cut(self) -> int:
        """Conversation before this seq was trimmed; 0 if none was."""
        return self.ledger.cut

    @property
    def calls(self) -> Calls:
        """The tool calls, with the messages that made them and their results."""
        return self.ledger.calls

    @property
    def folds(self) -> Folds:
        """The summaries, with the items that they replace."""
        return self.ledger.folds

    @property
    def window_ids(self) -> list[str]:
        """The ids of all windows that an item refers to, including closed ones."""
        return list(self.ledger.references)

    def window_items(self, window_id: str) -> Sequence[ContextItem]:
        """The items that refer to a window, oldest first; empty if there is none."""
        return self.ledger.references.get(window_id, ())

    @property
    def live_window_items(self) -> Sequence[ContextItem]:
        """The window items that the next request includes."""
        return [item for item in self.ledger.live_references if item.hidden is None]

    @property
    def generation(self) -> int:
        """Counts all changes of items."""
        return self.ledger.generation

    def item_tokens(self, item: ContextItem) -> int:
        """The tokens of an item in our own count; for a window, those of its render."""
        return self.ledger.size(item)

    def render_tokens(self, xml: str) -> int:
        """The tokens of a window's render in a request, in our own count."""
        return self.ledger.meter.render(xml)

    def tokens_in(self, composition: Composition, item: ContextItem) -> int:
        """The tokens of an item in a request that are not outdated."""
        priced, plan = self.ledger.priced, composition.plan
        if priced is None or plan is None or item.id not in self.ledger.items:
            return self.ledger.size(item)
        return priced.figures.tokens_in(plan, item)

    def whole_tokens(self, item: ContextItem) -> int:
        """The tokens that an item would have as a whole, by price; 0 if that is not known."""
        priced = self.ledger.priced
        return priced.figures.whole_tokens(item) if priced is not None else 0

    def counts(self, composition: Composition, item: ContextItem) -> bool:
        """Whether a request written from scratch would contain anything of an item."""
        priced, plan = self.ledger.priced, composition.plan
        if priced is None or plan is None:
            return not item.hidden
        return priced.figures.counts(plan, item)

    def is_whole(self, item: ContextItem) -> bool:
        """Whether requests contain a tool result as a whole, and not its gist or nothing."""
        return not item.is_obsolete and self.ledger.is_whole(item)

    def shown_content(self, item: ContextItem) -> str | tuple[Block, ...] | None:
        """What requests contain of a final item of the conversation; None if unknown."""
        return self.ledger.shown_content(item)
