"""Group items that belong together: an answer with its tool results, rounds, summaries.

A unit is never split, neither by trimming nor by inserting something in the middle of it: no result
without its call, no call without its result.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from contextui.context.item import ContextItem, ItemIndex, ItemType, Stage, is_conversation
from contextui.errors import InvalidItemError
from contextui.text import quote


@dataclass(slots=True)
class Unit:
    """One item, and the tool results that answer it."""

    head: ContextItem
    results: list[ContextItem] = field(default_factory=list)

    @property
    def items(self) -> list[ContextItem]:
        """All of its items, in the order in which they are sent."""
        return [self.head, *self.results]

    @property
    def stage(self) -> Stage:
        """The stage of its first item."""
        return self.head.stage

    @property
    def pinned(self) -> bool:
        """Whether any of its items is pinned, so that all of them stay."""
        return any(item.pinned for item in self.items)

    def takes(self, result: ContextItem) -> bool:
        """Whether a result without a call id belongs to this unit."""
        answers = self.head.type in (ItemType.ASSISTANT, ItemType.TOOL)
        return answers and self.stage is result.stage


class TurnItems:
    """The items of the turn under way, and the windows that are live."""

    def __init__(self) -> None:
        self.new: list[ContextItem] = []
        self.sent: list[ContextItem] = []
        self._references = ItemIndex()

    @property
    def under_way(self) -> bool:
        """Whether a part of this turn was sent."""
        return bool(self.sent)

    @property
    def newest(self) -> ContextItem | None:
        """The newest item of the conversation that is not final."""
        turn = self.new or self.sent
        return turn[-1] if turn else None

    @property
    def references(self) -> Sequence[ContextItem]:
        """The window items that are not hidden."""
        return self._references.view()

    def add(self, item: ContextItem) -> None:
        """Register a new item."""
        if item.type is ItemType.WINDOW:
            self._references.add(item)
        elif is_conversation(item) and item.stage is not Stage.FINAL:
            self.new.append(item)

    def changed(self, window: ContextItem) -> None:
        """Follow a change of a window's item."""
        (self._references.discard if window.is_obsolete else self._references.add)(window)

    def send(self) -> None:
        """Note that a request was sent."""
        self.sent += (item for item in self.new if item.stage is Stage.SENT)
        self.new = [item for item in self.new if item.stage is Stage.NEW]

    def finish(self) -> None:
        """End the turn; what is not final yet is new again."""
        rest = [item for item in (*self.sent, *self.new) if item.stage is Stage.NEW]
        self.new = sorted(rest, key=lambda item: item.seq)
        self.sent = []


def units(items: Iterable[ContextItem]) -> list[Unit]:
    """Group items, given by rising seq, into units; a result without its call is skipped.

    A result directly follows its answer, even if other messages came between the two.
    """
    gathered: list[Unit] = []
    asked: dict[str, Unit] = {}
    for item in items:
        if item.type is not ItemType.TOOL:
            unit = Unit(item)
            gathered.append(unit)
            asked.update((call, unit) for call in item.calls)
        elif item.tool_call_id is None:
            # The text protocol has no ids: such a result answers the unit before it.
            if gathered and gathered[-1].takes(item):
                gathered[-1].results.append(item)
            else:
                gathered.append(Unit(item))
        elif item.tool_call_id in asked:
            asked[item.tool_call_id].results.append(item)
    return gathered


def rounds(conversation: Iterable[Unit]) -> list[list[Unit]]:
    """Group units into rounds: a user message, and everything up to the next one."""
    gathered: list[list[Unit]] = []
    before: ItemType | None = None
    for unit in conversation:
        kind = unit.head.type
        if not gathered or (kind is ItemType.USER and before is not ItemType.USER):
            gathered.append([])
        gathered[-1].append(unit)
        before = kind
    return gathered


def unchanged(items: Iterable[ContextItem], seen: Mapping[str, int]) -> Iterator[ContextItem]:
    """Yield the items of units that were not pinned, hidden or edited in the meantime."""
    for unit in units(items):
        if all(
            not item.hidden and not item.pinned and item.revision == seen[item.id]
            for item in unit.items
        ):
            yield from unit.items


class Calls:
    """Maps each tool call to the answer that made it and to its result."""

    def __init__(self) -> None:
        self._askers: dict[str, ContextItem] = {}
        self._results: dict[str, ContextItem] = {}
        self._unanswered: dict[str, None] = {}

    @property
    def unanswered(self) -> tuple[str, ...]:
        """The ids of the calls without a result, in the order in which they were made."""
        return tuple(self._unanswered)

    @property
    def known(self) -> Iterable[str]:
        """The ids of all calls that were ever made."""
        return self._askers.keys()

    def end_turn(self) -> None:
        """Expect no more results: the turn is over."""
        self._unanswered.clear()

    def check(self, item: ContextItem) -> None:
        """Reject a duplicate call id or a second result for a call.

        Raises:
            InvalidItemError: The call id was used before, or the call already has a result.
        """
        calls = item.calls
        for call in calls:
            if call in self._askers or calls.count(call) > 1:
                raise InvalidItemError(f"The id of tool call {quote(call)} was used before.")
        if item.tool_call_id in self._results:
            raise InvalidItemError(f"Tool call {quote(item.tool_call_id)} has its result already.")

    def note(self, item: ContextItem) -> None:
        """Register the calls, or the result, in a new item. The calls of a final item expect no
        results."""
        for call in item.calls:
            self._askers[call] = item
        if item.stage is not Stage.FINAL:
            # In a log, a result may precede its call.
            open_calls = (call for call in item.calls if call not in self._results)
            self._unanswered.update(dict.fromkeys(open_calls))
        if item.tool_call_id is not None:
            self._results[item.tool_call_id] = item
            self._unanswered.pop(item.tool_call_id, None)

    def asker(self, item: ContextItem) -> ContextItem:
        """The answer whose call this item is the result of; otherwise the item itself."""
        return self._askers.get(item.tool_call_id or "", item)

    def together(self, item: ContextItem) -> list[ContextItem]:
        """An item, the answer that called for it, and the results of its own calls, by seq."""
        return sorted({self.asker(item), item, *self.results(item)}, key=lambda one: one.seq)

    def results(self, item: ContextItem) -> list[ContextItem]:
        """The results of the calls in this item."""
        return [self._results[call] for call in item.calls if call in self._results]


class Folds:
    """Maps summaries to the ids of the items they replace, so that these can be looked up.

    Example:
        >>> folds = Folds()
        >>> folds.note(["a", "b"], "summary-1")
        >>> folds.summary_of("b"), folds.items_of("summary-1")
        ('summary-1', ('a', 'b'))
    """

    def __init__(self) -> None:
        self._summaries: dict[str, str] = {}
        self._items: dict[str, list[str]] = {}

    def note(self, item_ids: Iterable[str], summary_id: str) -> None:
        """Record that a summary replaces these items."""
        for item_id in item_ids:
            self._summaries[item_id] = summary_id
            self._items.setdefault(summary_id, []).append(item_id)

    def summary_of(self, item_id: str) -> str | None:
        """The id of the summary that replaces an item, or did last."""
        return self._summaries.get(item_id)

    def items_of(self, summary_id: str) -> tuple[str, ...]:
        """The ids of the items that a summary replaces."""
        return tuple(self._items.get(summary_id, ()))

    def among(self, item_ids: Iterable[str]) -> dict[str, str]:
        """The summary ids of these items, by item id."""
        found = ((item_id, self._summaries.get(item_id)) for item_id in item_ids)
        return {item_id: summary_id for item_id, summary_id in found if summary_id is not None}

    def restore(self, summaries: Mapping[str, str]) -> None:
        """Restore what `among` returned."""
        for item_id, summary_id in summaries.items():
            self.note([item_id], summary_id)
