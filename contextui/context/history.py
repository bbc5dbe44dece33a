"""The finished turns as pieces of a request. What did not change is never built again."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from itertools import takewhile

from contextui.context.calls import Calls
from contextui.context.item import ContextItem, ItemType, Stage, is_conversation
from contextui.context.pieces import Piece
from contextui.context.sequence import ItemView
from contextui.model import Block

_MANY = 16  # changed rounds from which on it is cheaper to build all that lies between them

Build = Callable[[Iterable[ContextItem]], Iterable[Piece]]


class History:
    """The pieces of everything that is final, kept up to date round by round.

    A list of pieces that was handed out grows, but what it held stays: changes make a new list.

    Args:
        items: Gives the items among which are all that requests show.
        calls: Who asked and who answered.
        build: Makes the pieces of items.
    """

    def __init__(self, items: Callable[[], ItemView], calls: Calls, build: Build) -> None:
        self._view, self._calls, self._build = items, calls, build
        self._pieces: list[Piece] = []
        self._tokens = 0
        self._built_through = 0
        self._finished: list[ContextItem] = []
        self._changed: set[int] = set()

    def finish(self, items: Iterable[ContextItem]) -> None:
        """Take items in that are final from now on."""
        self._finished += items

    def touch(self, item: ContextItem) -> None:
        """Note that what is shown of a final item is different from now on."""
        seq = self._calls.asker(item).seq
        if seq <= self._built_through:
            self._changed.add(seq)

    def current(self) -> tuple[list[Piece], int]:
        """The pieces as they are now, and what they cost."""
        if len(self._changed) > _MANY:
            self._rebuild(min(self._changed), max(self._changed))
        else:
            for seq in sorted(self._changed):
                self._rebuild(seq, seq)
        self._changed.clear()
        if self._finished:
            # One that stayed open longer than those behind it was built among them.
            later = [item for item in self._finished if item.seq > self._built_through]
            later.sort(key=lambda item: item.seq)
            new = list(self._build(item for item in later if self._is_shown(item)))
            self._pieces += new
            self._tokens += sum(piece.tokens for piece in new)
            self._built_through = later[-1].seq if later else self._built_through
            self._finished = []
        return self._pieces, self._tokens

    def shown(self, item: ContextItem) -> str | tuple[Block, ...] | None:
        """What a request shows of a final item, as it was built last; None if it shows nothing."""
        seq = self._calls.asker(item).seq
        start = bisect_left(self._pieces, seq, key=lambda piece: piece.seq)
        end = bisect_right(self._pieces, seq, key=lambda piece: piece.seq)
        for piece in self._pieces[start:end]:
            if not any(one is item for one in piece.shown.items):
                continue
            content = piece.message.content
            if item.tool_call_id is None or isinstance(content, str):
                return content
            given = (b for b in content if b.get("tool_use_id") == item.tool_call_id)
            result = next(given, {}).get("content", "")
            return result if isinstance(result, str) else tuple(result)
        return None

    def _rebuild(self, seq: int, through: int) -> None:
        """Build the rounds again that lie between these seqs, and those that the seqs are in."""
        pieces = self._pieces
        behind = bisect_right(pieces, seq, key=lambda piece: piece.seq)
        first = next((n for n in range(behind - 1, -1, -1) if self._starts_round(n)), 0)
        start = pieces[first].seq if first < behind and self._starts_round(first) else 0
        behind = bisect_right(pieces, through, key=lambda piece: piece.seq)
        last = next((n for n in range(behind, len(pieces)) if self._starts_round(n)), len(pieces))
        end = pieces[last].seq if last < len(pieces) else self._built_through + 1
        new = list(self._build(self._items(start, end)))
        self._tokens += sum(piece.tokens for piece in new)
        self._tokens -= sum(piece.tokens for piece in pieces[first:last])
        self._pieces = [*pieces[:first], *new, *pieces[last:]]

    def _items(self, start: int, end: int) -> list[ContextItem]:
        """The visible items from one seq up to another, with results that came later."""
        found = [item for item in self._between(start, end) if self._is_shown(item)]
        late = [
            result
            for item in found
            for result in self._calls.results(item)
            if result.seq >= end and self._is_shown(result)
        ]
        return sorted([*found, *late], key=lambda item: item.seq) if late else found

    def _between(self, start: int, end: int) -> Iterator[ContextItem]:
        return takewhile(lambda item: item.seq < end, self._view().since(start))

    @staticmethod
    def _is_shown(item: ContextItem) -> bool:
        final = item.stage is Stage.FINAL and is_conversation(item)
        return final and item.is_shown

    def _starts_round(self, index: int) -> bool:
        return self._is_words(index) and not (index and self._is_words(index - 1))

    def _is_words(self, index: int) -> bool:
        items = self._pieces[index].shown.items
        return bool(items) and items[0].type is ItemType.USER
