"""Items in the order of their seq, handed out as unchanging views without copying them."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import overload

from contextui.context.item import ContextItem

_CHUNK = 512  # seqs to a chunk: a change copies one chunk and the list of chunks


class ItemView(Sequence[ContextItem]):
    """The items as they stood when the view was asked for."""

    def __init__(self, chunks: tuple[tuple[ContextItem, ...], ...], length: int) -> None:
        self._chunks, self._length = chunks, length
        self._ends: list[int] | None = None

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[ContextItem]:
        for chunk in self._chunks:
            yield from chunk

    @overload
    def __getitem__(self, index: int) -> ContextItem: ...
    @overload
    def __getitem__(self, index: slice) -> list[ContextItem]: ...
    def __getitem__(self, index: int | slice) -> ContextItem | list[ContextItem]:
        if isinstance(index, slice):
            return [self[position] for position in range(*index.indices(self._length))]
        position = index + self._length if index < 0 else index
        if not 0 <= position < self._length:
            raise IndexError(index)
        if self._ends is None:
            self._ends = list(accumulate(map(len, self._chunks)))
        number = bisect_right(self._ends, position)
        start = self._ends[number - 1] if number else 0
        return self._chunks[number][position - start]

    def since(self, seq: int) -> Iterator[ContextItem]:
        """The items from this seq on."""
        for chunk in self._chunks[max(seq, 0) // _CHUNK :]:
            for item in chunk:
                if item.seq >= seq:
                    yield item


class ItemIndex:
    """A changing set of items, always in order. Every step costs the same at any length."""

    def __init__(self) -> None:
        self._chunks: list[tuple[ContextItem, ...]] = []
        self._length = 0
        self._view: ItemView | None = None

    def add(self, item: ContextItem) -> None:
        """Put an item in its place; one that is there already stays there once."""
        number = item.seq // _CHUNK
        while len(self._chunks) <= number:
            self._chunks.append(())
        chunk = self._chunks[number]
        place = bisect_right(chunk, item.seq, key=lambda one: one.seq)
        if place and chunk[place - 1] is item:
            return
        self._replace(number, (*chunk[:place], item, *chunk[place:]), 1)

    def discard(self, item: ContextItem) -> None:
        """Take an item out, if it is in."""
        number = item.seq // _CHUNK
        if number < len(self._chunks) and item in self._chunks[number]:
            rest = tuple(one for one in self._chunks[number] if one is not item)
            self._replace(number, rest, -1)

    def view(self) -> ItemView:
        """The items as they stand now."""
        if self._view is None:
            self._view = ItemView(tuple(self._chunks), self._length)
        return self._view

    def _replace(self, number: int, chunk: tuple[ContextItem, ...], change: int) -> None:
        self._chunks[number] = chunk
        self._length += change
        self._view = None
