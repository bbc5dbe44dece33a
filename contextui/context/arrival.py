"""Placement of live windows in a request by turns, or where they were opened.

``turn``: live windows appear only in the running turn, so that everything before it
keeps its bytes and the provider's prompt cache stays valid. They are attached to the newest unsent
item: before the user message (the question comes last), or inside the last tool result (text beside
a result provokes empty answers). A window that was sent in this turn is sent again only when it has
a newer version. With no turn running, windows go at the end, where the next user message will
follow.

``in-place``: each live window appears at the seq of its item.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from contextui.context.item import Carried, ContextItem, ItemType
from contextui.context.units import Unit
from contextui.windowing.manager import WindowManager
from contextui.windowing.runtime import runtime_of
from contextui.windowing.snapshot import ContextVersion


@dataclass(frozen=True, slots=True)
class Arrival:
    """The windows that a request adds, and the item they are attached to (None: at the end)."""

    copies: tuple[Carried, ...] = ()
    carrier: ContextItem | None = None

    def with_item(self, item: ContextItem) -> tuple[Carried, ...]:
        """The windows attached to this item: those sent with it before, and those being added."""
        return (*item.carried, *self.copies) if item is self.carrier else item.carried

    @property
    def at_end(self) -> tuple[Carried, ...]:
        """The windows that go after everything else."""
        return self.copies if self.carrier is None else ()


def arrival(
    new: Sequence[Unit],
    in_turn: bool,
    sent: Mapping[str, ContextVersion],
    references: Iterable[ContextItem],
    windows: WindowManager | None,
) -> Arrival:
    """Decide which windows the next request adds, and where.

    Args:
        new: The units of the running turn that were not sent yet.
        in_turn: Whether a turn is running at all, sent or not.
        sent: The version of each window that was last sent in this turn.
        references: The visible window items, in order.
        windows: The window manager, None if there are no windows.
    """
    carrier = _carrier(new)
    if windows is None or (in_turn and carrier is None):
        return Arrival()
    shown = (live_copy(reference, windows) for reference in references)
    copies = tuple(
        copy for copy in shown if copy is not None and copy.version != sent.get(copy.window_id)
    )
    return Arrival(copies, carrier)


def live_copy(reference: ContextItem, windows: WindowManager) -> Carried | None:
    """A snapshot of the window that an item refers to; None if it is closed."""
    window = windows.get(reference.content)
    if window is None:
        return None
    render = runtime_of(window).renders.latest()
    return Carried(reference.content, render.version, render.xml)


def _carrier(new: Sequence[Unit]) -> ContextItem | None:
    """The newest item that windows can be attached to: the user messages at the end, or the last
    result."""
    found: ContextItem | None = None
    for unit in reversed(new):
        if unit.head.type is ItemType.USER:
            found = unit.head  # the first of several in a row, so keep looking
        elif found is not None:
            break
        elif results := [one for one in unit.items if one.type is ItemType.TOOL]:
            return results[-1]
    return found
