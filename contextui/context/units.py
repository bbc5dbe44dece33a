"""Items that belong together: an answer with the results of its calls, and whole rounds.

A unit is never split, neither by trimming nor by placing something in the middle of it: no
result without its call, no call without its result.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from contextui.context.item import ContextItem, ItemType, Stage
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
        """How far it has come."""
        return self.head.stage

    @property
    def pinned(self) -> bool:
        """Whether any of it must stay, and so all of it."""
        return any(item.pinned for item in self.items)

    def takes(self, result: ContextItem) -> bool:
        """Whether a result without an id answers this unit."""
        answers = self.head.type in (ItemType.ASSISTANT, ItemType.TOOL)
        return answers and self.stage is result.stage


def units(items: Iterable[ContextItem]) -> list[Unit]:
    """Gather items, given by rising seq, into units; a result without its call is left out.

    A result follows its answer directly, even where other words came between the two.
    """
    gathered: list[Unit] = []
    asked: dict[str, Unit] = {}
    for item in items:
        if item.type is not ItemType.TOOL:
            unit = Unit(item)
            gathered.append(unit)
            asked.update((call, unit) for call in item.calls)
        elif item.tool_call_id is None:
            # The text protocol has no ids: such a result answers what stands before it.
            if gathered and gathered[-1].takes(item):
                gathered[-1].results.append(item)
            else:
                gathered.append(Unit(item))
        elif item.tool_call_id in asked:
            asked[item.tool_call_id].results.append(item)
    return gathered


def rounds(conversation: Iterable[Unit]) -> list[list[Unit]]:
    """The conversation by rounds: a person's words, and everything up to their next ones."""
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
    """What may still go of these items: units of which nothing was pinned, hidden or edited since.

    Args:
        items: Items by rising seq.
        seen: The revision that each of them had.
    """
    for unit in units(items):
        if all(
            not item.hidden and not item.pinned and item.revision == seen[item.id]
            for item in unit.items
        ):
            yield from unit.items


class Calls:
    """Knows the answer that made each call, and the result that each call got."""

    def __init__(self) -> None:
        self._askers: dict[str, ContextItem] = {}
        self._results: dict[str, ContextItem] = {}
        self._unanswered: dict[str, None] = {}

    @property
    def unanswered(self) -> tuple[str, ...]:
        """The calls that still wait for their results, in the order in which they were made."""
        return tuple(self._unanswered)

    @property
    def known(self) -> Iterable[str]:
        """The ids of all calls that were ever made."""
        return self._askers.keys()

    def give_up(self) -> None:
        """Expect no results any more: the turn is over."""
        self._unanswered.clear()

    def check(self, item: ContextItem) -> None:
        """Refuse an item that would make two of what there must be one of.

        Raises:
            InvalidItemError: A call's id was used before, or the call has its result already.
        """
        calls = item.calls
        for call in calls:
            if call in self._askers or calls.count(call) > 1:
                raise InvalidItemError(f"The id of tool call {quote(call)} was used before.")
        if item.tool_call_id in self._results:
            raise InvalidItemError(f"Tool call {quote(item.tool_call_id)} has its result already.")

    def note(self, item: ContextItem) -> None:
        """Take note of the calls, or of the result, in a new item. One that is final already
        expects no results any more."""
        for call in item.calls:
            self._askers[call] = item
        if item.stage is not Stage.FINAL:
            # A log may have a result before its call.
            open_calls = (call for call in item.calls if call not in self._results)
            self._unanswered.update(dict.fromkeys(open_calls))
        if item.tool_call_id is not None:
            self._results[item.tool_call_id] = item
            self._unanswered.pop(item.tool_call_id, None)

    def asker(self, item: ContextItem) -> ContextItem:
        """The answer whose call this item is the result of; else the item itself."""
        return self._askers.get(item.tool_call_id or "", item)

    def together(self, item: ContextItem) -> list[ContextItem]:
        """An item, the answer that asked for it, and the results of its own calls, in order."""
        return sorted({self.asker(item), item, *self.results(item)}, key=lambda one: one.seq)

    def results(self, item: ContextItem) -> list[ContextItem]:
        """The results of the calls in this item."""
        return [self._results[call] for call in item.calls if call in self._results]


class Folds:
    """Remembers what each summary stands for, by ids, so that one can look behind it.

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
        """A summary stands for these items from now on."""
        for item_id in item_ids:
            self._summaries[item_id] = summary_id
            self._items.setdefault(summary_id, []).append(item_id)

    def summary_of(self, item_id: str) -> str | None:
        """The summary that stands for an item, or did last."""
        return self._summaries.get(item_id)

    def items_of(self, summary_id: str) -> tuple[str, ...]:
        """The items that a summary stands for."""
        return tuple(self._items.get(summary_id, ()))

    def among(self, item_ids: Iterable[str]) -> dict[str, str]:
        """The summaries of these items, by the items' ids."""
        found = ((item_id, self._summaries.get(item_id)) for item_id in item_ids)
        return {item_id: summary_id for item_id, summary_id in found if summary_id is not None}

    def restore(self, summaries: Mapping[str, str]) -> None:
        """Take in what `among` gave."""
        for item_id, summary_id in summaries.items():
            self.note([item_id], summary_id)
