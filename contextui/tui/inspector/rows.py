"""Rows of the item list, in the order of the request.

Rows of finished turns, which may have a hundred thousand items, are created lazily.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby
from typing import NamedTuple, TypeAlias, overload

from contextui.context.item import Carried, ContextItem, ItemView, is_conversation
from contextui.context.manager import ContextManager
from contextui.context.messages import Piece
from contextui.context.placement.figures import PlacedBlock
from contextui.context.placement.messages import Plan
from contextui.context.placement.slots import HEAD
from contextui.tui.inspector.look import Look, head_pieces
from contextui.windowing.blocks import version_of
from contextui.windowing.snapshot import ContextVersion
from contextui.words import Text


class Row(NamedTuple):
    """One item, or one copy of a window in the request.

    Attributes:
        item: The item.
        copy: The window as it is in the request.
        tokens: Its tokens there, by our own count; None if those are the item's.
        is_old: Whether the copy is stale: a newer one counts, or none.
        block: The block of the request that it shows, where windows are placed by price.
        log: The context loaded from the log, if only that has the item.
    """

    item: ContextItem
    copy: Carried | None = None
    tokens: int | None = None
    is_old: bool = False
    block: PlacedBlock | None = None
    log: ContextManager | None = None

    @property
    def key(self) -> str:
        """A stable key of the row."""
        if self.block is not None and (self.is_old or self.block.kind == "change"):
            return self.block.key
        if self.copy is not None and self.is_old:
            return f"{self.item.id}@{self.copy.version}"
        return self.item.id

    def home(self, context: ContextManager) -> ContextManager:
        """Return the context that has the item: this one, or that of the log."""
        return self.log or context


@dataclass(frozen=True, slots=True)
class Fold:
    """A line that represents items only in the log.

    Attributes:
        count: The number of items.
        is_unfolded: Whether they are listed below it.
        is_reading: Whether they are being read.
        reason: Why they cannot be read.
    """

    count: int
    is_unfolded: bool = False
    is_reading: bool = False
    reason: Text = ""

    @property
    def key(self) -> str:
        """A stable key of the line."""
        return "older items"


class Rule(NamedTuple):
    """A line between rows: what follows is cached, or is not."""

    from_cache: bool
    tokens: int


Line: TypeAlias = Row | Fold | Rule
"""A line of the item list."""


class Rows(Sequence[Line]):
    """Several runs of rows, concatenated."""

    def __init__(self, runs: Iterable[Sequence[Line]]) -> None:
        self._runs = [run for run in runs if run]
        self._ends = list(accumulate(map(len, self._runs)))

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    @overload
    def __getitem__(self, index: int) -> Line: ...
    @overload
    def __getitem__(self, index: slice) -> list[Line]: ...
    def __getitem__(self, index: int | slice) -> Line | list[Line]:
        if isinstance(index, slice):
            return [self[position] for position in range(*index.indices(len(self)))]
        if not 0 <= index < len(self):
            raise IndexError(index)
        number = bisect_right(self._ends, index)
        return self._runs[number][index - (self._ends[number - 1] if number else 0)]

    def behind(self, runs: Iterable[Sequence[Line]]) -> "Rows":
        """Return the rows with other runs before them."""
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


class Span(Sequence[Row]):
    """A range of items as rows, without those that are listed elsewhere.

    Args:
        items: The items.
        start: The index of the first.
        stop: The index after the last.
        elsewhere: The indexes to leave out, ascending.
        log: The context loaded from the log, if only that has the items.
    """

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

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> list[Row]: ...
    def __getitem__(self, index: int | slice) -> Row | list[Row]:
        if isinstance(index, slice):
            return [self[position] for position in range(*index.indices(len(self)))]
        if not 0 <= index < len(self):
            raise IndexError(index)
        kept = self._first + index
        return Row(self._items[kept + bisect_right(self._shifted, kept)], log=self._log)

    def find(self, seq: int) -> int | None:
        """Return the index of the item with this seq, or None."""
        kept = self._kept(place_of(self._items, seq)) - self._first
        return kept if 0 <= kept < len(self) else None

    def _kept(self, place: int) -> int:
        return place - bisect_left(self._elsewhere, place)


def place_of(items: ItemView, seq: int) -> int:
    """Return the index of the first item with this seq or a higher one."""
    return bisect_left(items, seq, key=lambda item: item.seq)


def tokens_of(row: Row, look: Look) -> int:
    """Return the tokens of a row in the request, by our own count."""
    if row.tokens is not None:
        return row.tokens
    if row.log is not None:
        return row.log.item_tokens(row.item)
    return look.context.tokens_in(look.composition, row.item)


def rows_of(look: Look) -> Rows:
    """Return all rows, with the rules between them."""
    items, context = look.items, look.context
    if look.in_place:
        return _with_rules(look, [], (), len(items), [])
    if look.composition.plan is not None:
        return _by_price(look, look.composition.plan)
    head = list(head_of(look))
    open_items = [one.seq for one in context.open_items if is_conversation(one)]
    turn_start = min(open_items, default=context.current_seq + 1)
    live = context.live_window_items
    moved = [*(row.item for row in head), *live]
    end = place_of(items, turn_start)
    places = sorted(place_of(items, one.seq) for one in moved)
    elsewhere = tuple(place for place in places if place < end)
    return _with_rules(look, head, elsewhere, end, list(_turn(look, turn_start, live)))


def head_of(look: Look) -> Iterator[Row]:
    """Yield rows for the system prompt, the project text and the summaries.

    The first row includes the tokens of the tools, which are sent with the prompt.
    """
    tools, old = look.tools, next((one for one in look.blocks if one.item == HEAD), None)
    outdated = old is not None
    for piece in look.pieces(0, head_pieces(look.composition)):
        for item in piece.shown.items:
            if item.is_summary and look.by_price:
                continue  # it has a block
            yield Row(item, tokens=tools + (0 if outdated else look.context.item_tokens(item)))
            if old is not None:
                yield Row(item, tokens=old.tokens, is_old=True, block=old)
            tools, old = 0, None


def _by_price(look: Look, plan: Plan) -> Rows:
    """Return all rows: items in their order, and among them the blocks of windows and sub-rows
    for what is outdated."""
    head, items = list(head_of(look)), look.items
    blocks = sorted((one for one in look.blocks if one.item != HEAD), key=lambda one: one.seq)
    placed = [(block, _block_row(look, block)) for block in blocks]
    moved = {row.item.id: row.item for _, row in placed if not row.is_old}
    moved |= {row.item.id: row.item for row in head}
    elsewhere = sorted(place_of(items, one.seq) for one in moved.values())

    def listed(start: int, stop: int, is_cached: bool) -> Iterator[Sequence[Line]]:
        """Yield the rows of items in a range, each after the blocks that stand before it."""
        for seq, group in groupby(placed, key=lambda pair: pair[0].seq):
            # Without a cached part, the rest lists every block: the plan marks blocks as cached
            # even if the model has no cache, or if its state is unknown.
            rows = [one for block, one in group if (block.is_cached and has_cached) is is_cached]
            end = min(max(place_of(items, seq), start), stop)
            if rows:
                yield Span(items, start, end, elsewhere)
                yield rows
                start = end
        yield Span(items, start, stop, elsewhere)

    has_cached = look.cached > 0
    end = min(place_of(items, plan.uncached_seq), len(items))
    cached = [head, *listed(0, end, True)] if has_cached else []
    rest = [*([] if has_cached else [head]), *listed(end if cached else 0, len(items), False)]
    if not look.knows_cache or not (look.blocks or len(Rows(rest)) + len(Rows(cached)) > len(head)):
        return Rows([*cached, *rest])
    uncached = look.shares.total
    if cached:
        uncached = look.provider(max(look.composition.tokens - plan.cached_tokens, 0))
        cached = [[Rule(True, max(look.shares.total - uncached, 0))], *cached]
    return Rows([*cached, [Rule(False, uncached)], *rest] if any(rest) else cached)


def _block_row(look: Look, block: PlacedBlock) -> Row:
    copy = None
    if block.text:
        item = look.context.window_items(block.item)[-1]
        copy = Carried(block.item, ContextVersion.read(version_of(block.text)), block.text)
    else:
        item = look.context.items[block.item]
    return Row(item, copy, block.tokens, bool(block.reason), block)


def _with_rules(
    look: Look, head: list[Row], elsewhere: tuple[int, ...], end: int, turn: list[tuple[int, Row]]
) -> Rows:
    """Return the rows with a rule before the cached part, and one before the rest."""
    items = look.items
    finished = Span(items, 0, end, elsewhere)
    rows = [row for _, row in turn]
    if not look.knows_cache or not (look.cached or finished or turn):
        return Rows([head, finished, rows])  # nothing to separate
    if not look.cached:
        return Rows([[Rule(False, _tokens(look, 0))], head, finished, rows])
    if look.cached < len(head):
        uncached = _tokens(look, look.cached)
        cached = Rule(True, max(look.shares.total - uncached, 0))
        start, rest_of_head = head[: look.cached], head[look.cached :]
        return Rows([[cached], start, [Rule(False, uncached)], rest_of_head, finished, rows])
    place = end
    if look.cached < look.first_open or look.in_place:
        place = min(place_of(items, _first_uncached(look)), end)
    cut = len([number for number, _ in turn if number < look.cached])
    uncached = _tokens(look, look.cached)
    everything = look.shares.total
    runs: list[Sequence[Line]] = [
        [Rule(True, max(everything - uncached, 0))],
        head,
        Span(items, 0, place, elsewhere),
    ]
    rest: list[Sequence[Line]] = [Span(items, place, end, elsewhere), rows[cut:]]
    if place == end:
        runs.append(rows[:cut])
    if any(rest):
        runs += [[Rule(False, uncached)], *rest]
    return Rows(runs)


def _tokens(look: Look, start: int) -> int:
    """Return the tokens of the messages from this index on, by the provider's count."""
    if not start:
        return look.shares.total
    return look.provider(sum(piece.tokens for piece in look.pieces(start)))


def _first_uncached(look: Look) -> int:
    """Return the seq of the first uncached item."""
    for piece in look.pieces(look.cached):
        return _seq(look, piece)
    return look.context.current_seq + 1


def _seq(look: Look, piece: Piece) -> int:
    if piece.shown.items or not look.in_place:
        return piece.seq
    items_of = look.context.window_items
    return min(items_of(copy.window_id)[-1].seq for copy in piece.shown.copies)


def _turn(look: Look, start: int, live: Sequence[ContextItem]) -> Iterator[tuple[int, Row]]:
    """Yield the rows of the current turn, each with the index of its message.

    Items that the request does not show come before the next one that it shows.
    """
    shown = list(_shown(look))
    there = {row.item.id for _, row in shown}
    known = there | {item.id for item in live}
    left = [item for item in look.items.since(start) if item.id not in known]
    for number, row in shown:
        while left and row.copy is None and left[0].seq < row.item.seq:
            yield number, Row(left.pop(0))
        yield number, row
    behind = len(look.composition.messages)
    yield from ((behind, Row(item)) for item in left)
    # A window opened since the last request is sent with the next step.
    yield from ((behind, Row(item)) for item in live if item.id not in there)


def _shown(look: Look) -> Iterator[tuple[int, Row]]:
    pieces = list(enumerate(look.pieces(look.first_open), look.first_open))
    newest = {copy.window_id: copy for _, piece in pieces for copy in piece.shown.copies}
    for number, piece in pieces:
        for item in piece.shown.items:
            yield number, Row(item)
        for index, copy in enumerate(piece.shown.copies):
            item = look.context.window_items(copy.window_id)[-1]
            is_old = copy is not newest[copy.window_id] or item.hidden is not None
            yield number, Row(item, copy, look.copies[number, index], is_old)
