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
from contextui.context.messages import content_of, is_reduced, role_of
from contextui.context.units import Unit, rounds, units
from contextui.errors import ContextTooLargeError
from contextui.text import one_line
from contextui.tokens import TokenCounter
from contextui.windowing.manager import WindowManager
from contextui.windowing.runtime import runtime_of

ROUNDS_KEPT = 3
"""The number of latest rounds that are kept longer than windows."""

STEP_DOWN_TO = 0.75
"""How full the budget is after the cut moved. Every move invalidates the provider's cache, so
one move makes room for many turns; it ends below the 80% at which compaction is due."""

Size = Callable[[ContextItem], int]


class Meter:
    """Counts the tokens of items, and caches the counts.

    An item costs its content plus the overhead of a message; a message that contains several items
    is therefore counted slightly too high, never too low. So is a window that is a message of its
    own.
    """

    def __init__(self, counter: TokenCounter, *, is_alone: bool = True) -> None:
        self._counter, self._is_alone = counter, is_alone
        self._items: dict[str, tuple[tuple[int, bool], int]] = {}
        self._windows: dict[str, dict[int, int]] = {}

    def item(self, item: ContextItem) -> int:
        """The tokens of an item's own content, in the form of its current stage."""
        form = (item.revision, is_reduced(item))
        known = self._items.get(item.id)
        if known is None or known[0] != form:
            overhead = self._counter.message_overhead(role_of(item))
            tokens = overhead + self._counter.count_content(content_of(item))
            known = self._items[item.id] = (form, tokens)
        return known[1]

    def window(self, window_id: str, xml: str) -> int:
        """The tokens of a window's render."""
        counts, key = self._windows.setdefault(window_id, {}), hash(xml)
        if key not in counts:
            if len(counts) >= 4:
                counts.clear()
            counts[key] = self.render(xml)
        return counts[key]

    def render(self, xml: str) -> int:
        """The tokens of a render, counted now."""
        overhead = self._counter.message_overhead("user") if self._is_alone else 0
        return overhead + self._counter.count(xml)

    def size(self, item: ContextItem, windows: WindowManager | None = None) -> int:
        """The tokens of an item; of a window those of its render, not of its id."""
        if item.type is not ItemType.WINDOW:
            return self.item(item)
        xml, window_id = None, item.content
        if windows is not None:
            window, closed = windows.get(window_id), windows.last_render(window_id)
            xml = runtime_of(window).renders.latest().xml if window else closed
        return self.window(window_id, window_id if xml is None else xml)


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
    plan = plan_trim(given, max_tokens, lambda item: meter.size(item, windows), windows, cut)
    dropped = {item.id for item in plan.dropped}
    return [item for item in given if item.id not in dropped]


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
    """The droppable parts of the last rounds, but neither the last words nor the newest step."""
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
