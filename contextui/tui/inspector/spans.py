"""Rows in runs: what a list is made of, each row made when it is asked for."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple, TypeAlias, overload

from contextui.context.item import Carried, ContextItem
from contextui.context.manager import ContextManager
from contextui.context.sequence import ItemView


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
