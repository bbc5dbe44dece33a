"""The items of a context as rows, in the order in which a request shows them.

Nothing is built for rows that nobody looks at: of the finished turns, of which there may be a
hundred thousand items, a row is made when it is asked for.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple, TypeAlias, overload

from contextui.context.item import Carried, ContextItem, ItemView, is_conversation
from contextui.context.manager import ContextManager
from contextui.context.messages import Piece
from contextui.tui.inspector.look import Look, head_pieces


class Row(NamedTuple):
    """One item, or one window as a request shows it.

    Attributes:
        item: The item.
        copy: The window as it stands in the request.
        tokens: What it costs there, by our own count; None if that is what the item costs.
        is_old: Whether a newer copy of the window counts, or none any more.
        log: The context of a log, if only that has the item.
    """

    item: ContextItem
    copy: Carried | None = None
    tokens: int | None = None
    is_old: bool = False
    log: ContextManager | None = None

    @property
    def key(self) -> str:
        """Names the row, whatever happens to the others."""
        if self.copy is not None and self.is_old:
            return f"{self.item.id}@{self.copy.version}"
        return self.item.id

    def home(self, context: ContextManager) -> ContextManager:
        """The context that knows the item: this one, unless only a log has it."""
        return self.log or context


@dataclass(frozen=True, slots=True)
class Fold:
    """A line that stands for items which only the log has.

    Attributes:
        count: How many.
        is_unfolded: Whether they stand below it.
        is_reading: Whether they are being read just now.
        reason: Why they cannot be read.
    """

    count: int
    is_unfolded: bool = False
    is_reading: bool = False
    reason: str = ""

    @property
    def key(self) -> str:
        """Names the line, as a row is named."""
        return "older items"


class Rule(NamedTuple):
    """A line between rows: what follows comes from the cache, or is sent anew."""

    from_cache: bool
    tokens: int


Line: TypeAlias = Row | Fold | Rule
"""What a list of items can have in a line."""


class Rows(Sequence[Line]):
    """Several runs of rows, one behind the other."""

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
        """The same with other runs before them."""
        return Rows([*runs, *self._runs])

    def find(self, key: str, seq: int) -> int | None:
        """Where the row of this key stands, if it stands here; its item has this seq."""
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
    """The items of a view from one place up to another, without those that stand elsewhere.

    Args:
        items: The view.
        start: The place of the first.
        stop: The place behind the last.
        elsewhere: The places that are left out, rising.
        log: The context of a log, if only that has the items.
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
        """Where the item of this seq stands, if it stands here."""
        kept = self._kept(place_of(self._items, seq)) - self._first
        return kept if 0 <= kept < len(self) else None

    def _kept(self, place: int) -> int:
        return place - bisect_left(self._elsewhere, place)


def place_of(items: ItemView, seq: int) -> int:
    """The place of the first item that has this seq or a higher one."""
    return bisect_left(items, seq, key=lambda item: item.seq)


def rows_of(look: Look) -> Rows:
    """All rows, with the rules between them."""
    items, ledger = look.items, look.context.ledger
    if look.in_place:
        return _with_rules(look, [], (), len(items), [])
    head = list(head_of(look))
    open_items = [one.seq for one in list(ledger.open) if is_conversation(one)]
    turn_start = min(open_items, default=ledger.seq + 1)
    live = [one for one in ledger.live_references if one.hidden is None]
    moved = [*(row.item for row in head), *live]
    end = place_of(items, turn_start)
    places = sorted(place_of(items, one.seq) for one in moved)
    elsewhere = tuple(place for place in places if place < end)
    return _with_rules(look, head, elsewhere, end, list(_turn(look, turn_start, live)))


def head_of(look: Look) -> Iterator[Row]:
    """The system prompt and what follows it directly: the project's text and summaries.

    What the tools cost is shown with the prompt, as they are sent together.
    """
    tools = look.tools
    for piece in look.pieces(0, head_pieces(look.composition)):
        for item in piece.shown.items:
            yield Row(item, tokens=look.context.ledger.size(item) + tools)
            tools = 0


def _with_rules(
    look: Look, head: list[Row], elsewhere: tuple[int, ...], end: int, turn: list[tuple[int, Row]]
) -> Rows:
    """The rows with a rule before what comes from the cache, and one before the rest."""
    items = look.items
    finished = Span(items, 0, end, elsewhere)
    rows = [row for _, row in turn]
    if not look.knows_cache or not (look.cached or finished or turn):
        return Rows([head, finished, rows])  # there is nothing to tell apart
    if not look.cached:
        return Rows([[Rule(False, _tokens(look, 0))], head, finished, rows])
    if look.cached < len(head):
        anew = _tokens(look, look.cached)
        cached = Rule(True, max(look.shares.total - anew, 0))
        start, rest_of_head = head[: look.cached], head[look.cached :]
        return Rows([[cached], start, [Rule(False, anew)], rest_of_head, finished, rows])
    place = end
    if look.cached < look.first_open or look.in_place:
        place = min(place_of(items, _first_anew(look)), end)
    cut = len([number for number, _ in turn if number < look.cached])
    anew = _tokens(look, look.cached)
    everything = look.shares.total
    runs: list[Sequence[Line]] = [
        [Rule(True, max(everything - anew, 0))],
        head,
        Span(items, 0, place, elsewhere),
    ]
    rest: list[Sequence[Line]] = [Span(items, place, end, elsewhere), rows[cut:]]
    if place == end:
        runs.append(rows[:cut])
    if any(rest):
        runs += [[Rule(False, anew)], *rest]
    return Rows(runs)


def _tokens(look: Look, start: int) -> int:
    """What the messages from this number on cost, in the provider's tokens."""
    if not start:
        return look.shares.total
    return look.provider(sum(piece.tokens for piece in look.pieces(start)))


def _first_anew(look: Look) -> int:
    """The seq of the first item that is not in the cache."""
    for piece in look.pieces(look.cached):
        return _seq(look, piece)
    return look.context.ledger.seq + 1


def _seq(look: Look, piece: Piece) -> int:
    if piece.shown.items or not look.in_place:
        return piece.seq
    references = look.context.ledger.references
    return min(references[copy.window_id][-1].seq for copy in piece.shown.copies)


def _turn(look: Look, start: int, live: Sequence[ContextItem]) -> Iterator[tuple[int, Row]]:
    """The rows of the turn under way, each with the number of its message.

    Items that the request does not show stand before the next one that it shows.
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
    # A window that was opened since the last request arrives with the next step.
    yield from ((behind, Row(item)) for item in live if item.id not in there)


def _shown(look: Look) -> Iterator[tuple[int, Row]]:
    pieces = list(enumerate(look.pieces(look.first_open), look.first_open))
    newest = {copy.window_id: copy for _, piece in pieces for copy in piece.shown.copies}
    references = look.context.ledger.references
    for number, piece in pieces:
        for item in piece.shown.items:
            yield number, Row(item)
        for index, copy in enumerate(piece.shown.copies):
            item = references[copy.window_id][-1]
            is_old = copy is not newest[copy.window_id] or item.hidden is not None
            yield number, Row(item, copy, look.copies[number, index], is_old)
