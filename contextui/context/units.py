"""Items that belong together: an answer with the results of its calls, and whole rounds.

A unit is never split, neither by trimming nor by placing something in the middle of it: no
result without its call, no call without its result.
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
