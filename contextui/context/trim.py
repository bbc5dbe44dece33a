"""Trim items to fit a token limit, in this order:

1. obsolete items,
2. the conversation before the last three rounds, oldest first, in a step large enough to last,
3. windows, least recently used first,
4. the last three rounds, oldest first.

System items, pinned items, the user message of the last round and its newest step always stay. A
call and its results are dropped together, and apart from pinned items the rest of the conversation
is contiguous.
"""

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from contextui.context.item import ContextItem, ItemType, is_conversation
from contextui.context.messages import Meter
from contextui.context.units import Unit, rounds, units
from contextui.errors import ContextTooLargeError
from contextui.text import one_line
from contextui.tokens import TokenCounter
from contextui.windowing.manager import WindowManager

ROUNDS_KEPT = 3
"""The number of latest rounds that are kept longer than windows."""

STEP_DOWN_TO = 0.75
"""How full the budget is after the cut moved. Every move invalidates the provider's cache, so
one move makes room for many turns; it ends below the 80% at which compaction is due."""

Size = Callable[[ContextItem], int]


@dataclass(slots=True)
class Trimming:
    """The items to drop, and the seq from which on the conversation stays."""

    cut: int
    dropped: list[ContextItem] = field(default_factory=list)


def trim(
    items: Iterable[ContextItem],
    max_tokens: int,
    *,
    windows: WindowManager | None = None,
    counter: TokenCounter | None = None,
    cut: int = 0,
) -> list[ContextItem]:
    """Return the items that fit, by rising seq. Pure: it changes no item.

    Args:
        items: All items.
        max_tokens: The limit, in our own token count.
        windows: The window manager, for the tokens and the last use of windows.
        counter: Counts the tokens.
        cut: Conversation before this seq is already trimmed and stays so.

    Raises:
        ContextTooLargeError: The items that must stay do not fit.
    """
    given = sorted(items, key=lambda item: item.seq)
    meter = Meter(counter or TokenCounter())
    size = item_sizes(meter.item, meter, windows)
    plan = plan_trim(given, max_tokens, size, windows, cut)
    dropped = {item.id for item in plan.dropped}
    return [item for item in given if item.id not in dropped]


def item_sizes(own: Size, meter: Meter, windows: WindowManager | None) -> Size:
    """A function that returns an item's tokens: of a window its render, otherwise its own."""
    return lambda item: (
        meter.reference(item, windows) if item.type is ItemType.WINDOW else own(item)
    )


def plan_trim(
    items: Sequence[ContextItem],
    max_tokens: int,
    size: Size,
    windows: WindowManager | None = None,
    cut: int = 0,
) -> Trimming:
    """Decide which items to drop, given by rising seq."""
    plan = Trimming(cut)
    total = sum(map(size, items))

    def drop(dropped: Iterable[ContextItem]) -> None:
        nonlocal total
        for item in dropped:
            plan.dropped.append(item)
            total -= size(item)

    visible = [item for item in items if not item.is_obsolete]
    references = [item for item in visible if item.type is ItemType.WINDOW]
    conversation = units(item for item in visible if is_conversation(item))
    gathered = rounds(conversation)
    older, recent = deque(gathered[:-ROUNDS_KEPT]), _replaceable(gathered[-ROUNDS_KEPT:])

    while older and older[0][-1].items[-1].seq < cut:
        drop(_movable(older.popleft()))
    if total > max_tokens:
        drop(item for item in items if item.is_obsolete)
    if total > max_tokens:
        while older and total > max_tokens * STEP_DOWN_TO:
            plan.cut = older[0][-1].items[-1].seq + 1
            drop(_movable(older.popleft()))
    for reference in sorted(references, key=lambda item: _last_use(item, windows)):
        if total > max_tokens and not reference.pinned:
            drop([reference])
    while recent and total > max_tokens:
        plan.cut = recent[0][-1].items[-1].seq + 1
        drop(_movable(recent.popleft()))
    if total > max_tokens:
        dropped = {item.id for item in plan.dropped}
        raise _too_large([item for item in items if item.id not in dropped], max_tokens, size)
    return plan


def _movable(candidates: Iterable[Unit]) -> list[ContextItem]:
    return [item for unit in candidates if not unit.pinned for item in unit.items]


def _replaceable(recent: Sequence[list[Unit]]) -> deque[list[Unit]]:
    """The droppable parts of the last rounds: earlier rounds as a whole, the last one step by
    step, but neither its user message nor its newest step."""
    if not recent:
        return deque()
    *earlier, last = recent
    steps = [[unit] for unit in last if unit.head.type is not ItemType.USER]
    return deque([*earlier, *steps[:-1]])


def _last_use(item: ContextItem, windows: WindowManager | None) -> tuple[int, int]:
    return (windows.focused_at(item.content) if windows else 0, item.seq)


def _too_large(kept: Sequence[ContextItem], max_tokens: int, size: Size) -> ContextTooLargeError:
    largest = sorted(kept, key=size, reverse=True)[:3]
    return ContextTooLargeError(
        sum(map(size, kept)),
        max_tokens,
        [
            f"[{item.seq:04}] {item.type.value} {one_line(item.content, 30)}, ~{size(item)}"
            for item in largest
        ],
    )
