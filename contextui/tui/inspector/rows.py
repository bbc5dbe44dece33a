"""Rows of the item list, in the order of the request.

Rows of finished turns, which may have a hundred thousand items, are created lazily.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby
from typing import NamedTuple, TypeAlias

from contextui.context.item import ContextItem, ItemView
from contextui.context.manager import ContextManager
from contextui.context.placement.items import PlacedBlock
from contextui.context.placement.slots import HEAD
from contextui.tui.inspector.snapshot import ContextSnapshot, head_of
from contextui.words import Text


class ItemRow(NamedTuple):
    """One item, or one block of the request that is not where its item is, or outdated."""

    item: ContextItem
    tokens: int | None = None  # in the request, by our own count; None if those are the item's
    block: PlacedBlock | None = None  # the block of the request that it shows
    log: ContextManager | None = None  # loaded from the log, if only that has the item

    @property
    def is_old(self) -> bool:
        return self.block is not None and bool(self.block.reason)

    @property
    def key(self) -> str:
        if self.block is not None and (self.is_old or self.block.kind == "change"):
            return self.block.key
        return self.item.id

    def home(self, context: ContextManager) -> ContextManager:
        """Return the context that has the item: this one, or that of the log."""
        return self.log or context


@dataclass(frozen=True, slots=True)
class Fold:
    """A line that represents items that summaries replace, or that only the log has."""

    count: int
    is_unfolded: bool = False
    is_reading: bool = False
    reason: Text = ""
    key: str = "older items"


class Rule(NamedTuple):
    """A line between rows: what follows is cached, or is not."""

    from_cache: bool
    tokens: int


Line: TypeAlias = ItemRow | Fold | Rule
"""A line of the item list."""


class Rows(Sequence[Line]):
    """Several runs of rows, concatenated."""

    def __init__(self, runs: Iterable[Sequence[Line]]) -> None:
        self._runs = [run for run in runs if run]
        self._ends = list(accumulate(map(len, self._runs)))

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    def __getitem__(self, index: int) -> Line:  # type: ignore[override]  # never sliced
        if not 0 <= index < len(self):
            raise IndexError(index)
        number = bisect_right(self._ends, index)
        return self._runs[number][index - (self._ends[number - 1] if number else 0)]

    def after(self, runs: Iterable[Sequence[Line]]) -> "Rows":
        return Rows([*runs, *self._runs])

    def find(self, key: str, seq: int) -> int | None:
        """Return the index of the row with this key and seq, or None."""
        start = 0
        for run in self._runs:
            if isinstance(run, Span):
                place = run.find(seq)
                row = run[place] if place is not None else None
                if place is not None and row is not None and row.key == key:
                    return start + place
            else:
                for place, one in enumerate(run):
                    if not isinstance(one, Rule) and one.key == key:
                        return start + place
            start += len(run)
        return None


class Span(Sequence[ItemRow]):
    """A range of items as rows, without those that are listed elsewhere."""

    def __init__(
        self,
        items: ItemView,
        start: int,
        stop: int,
        elsewhere: Sequence[int],
        log: ContextManager | None = None,
    ) -> None:
        self._items, self._elsewhere, self._log = items, elsewhere, log
        self._shifted = [place - number for number, place in enumerate(elsewhere)]
        self._first, self._last = self._kept(start), self._kept(stop)

    def __len__(self) -> int:
        return max(self._last - self._first, 0)

    def __getitem__(self, index: int) -> ItemRow:  # type: ignore[override]  # never sliced
        if not 0 <= index < len(self):
            raise IndexError(index)
        kept = self._first + index
        return ItemRow(self._items[kept + bisect_right(self._shifted, kept)], log=self._log)

    def find(self, seq: int) -> int | None:
        """Return the index of the item with this seq, or None."""
        kept = self._kept(place_of(self._items, seq)) - self._first
        return kept if 0 <= kept < len(self) else None

    def _kept(self, place: int) -> int:
        return place - bisect_left(self._elsewhere, place)


def place_of(items: ItemView, seq: int) -> int:
    """Return the index of the first item with this seq or a higher one."""
    return bisect_left(items, seq, key=lambda item: item.seq)


def tokens_of(row: ItemRow, snapshot: ContextSnapshot) -> int:
    """Return the tokens of a row in the request, by our own count."""
    if row.tokens is not None:
        return row.tokens
    if row.log is not None:
        return row.log.item_tokens(row.item)
    return snapshot.context.tokens_in(snapshot.composition, row.item)


def head_rows(snapshot: ContextSnapshot) -> Iterator[ItemRow]:
    """Yield rows for the system prompt, the project text and summaries without a block.

    The first row includes the tokens of the tools, which are sent with the prompt.
    """
    old = next((block for block in snapshot.blocks if block.item == HEAD), None)
    tools, is_outdated = snapshot.tools, old is not None
    for piece in head_of(snapshot.composition):
        for item in piece.shown.items:
            if item.is_summary and snapshot.composition.plan is not None:
                continue  # it has a block
            own = 0 if is_outdated else snapshot.context.item_tokens(item)
            yield ItemRow(item, tools + own)
            if old is not None:
                yield ItemRow(item, old.tokens, old)
            tools, old = 0, None


def in_summaries(snapshot: ContextSnapshot) -> list[int]:
    """Return the places of the items that summaries replace."""
    return [place for place, item in enumerate(snapshot.items) if item.hidden == "compacted"]


def rows_of(snapshot: ContextSnapshot, folded: Sequence[int] = ()) -> Rows:
    """Return all rows: items in their order, and among them the blocks of windows and sub-rows
    for what is outdated. If the state of the cache is known, rules say where it ends.

    Args:
        folded: The places of items that are not listed.
    """
    head, items, plan = list(head_rows(snapshot)), snapshot.items, snapshot.composition.plan
    blocks = sorted((one for one in snapshot.blocks if one.item != HEAD), key=lambda one: one.seq)
    placed = [(block, _block_row(snapshot, block)) for block in blocks]
    moved = {row.item.id: row.item for _, row in placed if not row.is_old}
    moved |= {row.item.id: row.item for row in head}
    elsewhere = sorted({*folded, *(place_of(items, item.seq) for item in moved.values())})
    has_cached = snapshot.cached > 0

    def listed(start: int, stop: int, is_cached: bool) -> Iterator[Sequence[Line]]:
        """Yield the rows of items in a range, each after the blocks that are before it."""
        for seq, group in groupby(placed, key=lambda pair: pair[0].seq):
            # Without a cached part, the rest lists every block: the plan marks blocks as cached
            # even if the model has no cache, or if its state is unknown.
            rows = [row for block, row in group if (block.is_cached and has_cached) is is_cached]
            end = min(max(place_of(items, seq), start), stop)
            if rows:
                yield Span(items, start, end, elsewhere)
                yield rows
                start = end
        yield Span(items, start, stop, elsewhere)

    if plan is None or not has_cached:
        rest = Rows([head, *listed(0, len(items), False)])
        has_rule = snapshot.knows_cache and (snapshot.blocks or len(rest) > len(head))
        return rest.after([[Rule(False, snapshot.shares.total)]]) if has_rule else rest
    end = min(place_of(items, plan.uncached_seq), len(items))
    uncached = snapshot.provider(max(snapshot.composition.tokens - plan.cached_tokens, 0))
    above, below = Rule(True, max(snapshot.shares.total - uncached, 0)), Rule(False, uncached)
    later = [*listed(end, len(items), False)]
    return Rows([[above], head, *listed(0, end, True), *([[below], *later] if any(later) else [])])


def _block_row(snapshot: ContextSnapshot, block: PlacedBlock) -> ItemRow:
    context = snapshot.context
    item = context.window_items(block.item)[-1] if block.text else context.items[block.item]
    return ItemRow(item, block.tokens, block)
