"""Group items that belong together: an answer with its tool results, and rounds.

A unit is never split, neither by trimming nor by inserting something in the middle of it: no result
without its call, no call without its result.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from contextui.context.item import ContextItem, ItemType, Stage


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
