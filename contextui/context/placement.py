"""Where live windows stand in a request. The whole policy is here.

``tail`` (the default): live windows stand only in the turn under way, so that everything before
it keeps its bytes and the provider's cache holds. They arrive with the newest thing that was not
sent yet: before the person's words (the question comes last), or inside the last tool result
(text beside a result provokes empty answers). A window that was sent in this turn arrives again
only when it has a newer version. With no turn under way they stand at the end, where the next
words will follow.

``in-place``: each window stands at the seq of its item, live, as S0 has it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from contextui.context.item import Carried, ContextItem, ItemType
from contextui.context.units import Unit
from contextui.windowing.manager import WindowManager
from contextui.windowing.snapshot import ContextVersion


@dataclass(frozen=True, slots=True)
class Arrival:
    """Windows that a request brings: which, and with which item (None: at the end)."""

    copies: tuple[Carried, ...] = ()
    carrier: ContextItem | None = None

    def with_item(self, item: ContextItem) -> tuple[Carried, ...]:
        """The windows that stand with this item: those sent with it, and those arriving."""
        return (*item.carried, *self.copies) if item is self.carrier else item.carried

    @property
    def at_end(self) -> tuple[Carried, ...]:
        """The windows that stand behind everything else."""
        return self.copies if self.carrier is None else ()


def arrival(
    new: Sequence[Unit],
    in_turn: bool,
    sent: Mapping[str, ContextVersion],
    references: Iterable[ContextItem],
    windows: WindowManager | None,
) -> Arrival:
    """What arrives with the next request.

    Args:
        new: The units of the turn under way that were not sent yet.
        in_turn: Whether there is a turn under way at all, sent or not.
        sent: The version of each window that was sent in this turn last.
        references: The visible window items, in order.
        windows: Where the windows are.
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
    """The window that an item refers to, as it stands now; None if it is gone."""
    window = windows.get(reference.content)
    if window is None:
        return None
    render = window.runtime.renders.latest()
    return Carried(reference.content, render.version, render.xml)


def _carrier(new: Sequence[Unit]) -> ContextItem | None:
    """The newest thing that windows can arrive with: the words at the end, or the last result."""
    found: ContextItem | None = None
    for unit in reversed(new):
        if unit.head.type is ItemType.USER:
            found = unit.head  # the first of several in a row, so go on
        elif found is not None:
            break
        elif results := [one for one in unit.items if one.type is ItemType.TOOL]:
            return results[-1]
    return found
