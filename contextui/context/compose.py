"""Compose the messages of the next request incrementally.

The result equals `ContextRenderer.render`, but parts that cannot have changed are cached: the
system prompt, the finished turns, and the messages of this turn that were sent.
"""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Any

from contextui.context.arrival import Arrival, arrival
from contextui.context.item import (
    ContextItem,
    ItemIndex,
    ItemType,
    ItemView,
    Stage,
    is_conversation,
)
from contextui.context.messages import (
    Composition,
    Messages,
    Piece,
    Shown,
    head_first,
    own_content,
    unit_messages,
    window_message,
)
from contextui.context.render import arrange
from contextui.context.report import Meter
from contextui.context.units import Calls, TurnItems, Unit, units
from contextui.model import Block
from contextui.windowing.manager import WindowManager
from contextui.windowing.snapshot import ContextVersion

_MANY = 16  # changed rounds from which on rebuilding the whole range between them is cheaper

Build = Callable[[Iterable[ContextItem]], Iterable[Piece]]


class History:
    """Caches the message pieces of all final items, updated round by round.

    A list that `current` returned may grow, but its existing entries never change: an edit makes a
    new list.

    Args:
        items: Returns a view that includes all items that requests contain.
        calls: Links tool calls and their results.
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
        """Add items that are final from now on."""
        self._finished += items

    def touch(self, item: ContextItem) -> None:
        """Mark the cached piece of a final item as stale."""
        seq = self._calls.asker(item).seq
        if seq <= self._built_through:
            self._changed.add(seq)

    def current(self) -> tuple[list[Piece], int]:
        """The up-to-date pieces and their tokens."""
        if len(self._changed) > _MANY:
            self._rebuild(min(self._changed), max(self._changed))
        else:
            for seq in sorted(self._changed):
                self._rebuild(seq, seq)
        self._changed.clear()
        if self._finished:
            # An item that stayed open longer than later ones was already built among them.
            later = [item for item in self._finished if item.seq > self._built_through]
            later.sort(key=lambda item: item.seq)
            new = list(self._build(item for item in later if self._is_shown(item)))
            self._pieces += new
            self._tokens += sum(piece.tokens for piece in new)
            self._built_through = later[-1].seq if later else self._built_through
            self._finished = []
        return self._pieces, self._tokens

    def shown(self, item: ContextItem) -> str | tuple[Block, ...] | None:
        """What a request contains of a final item, as last built; None if nothing."""
        seq = self._calls.asker(item).seq
        start = bisect_left(self._pieces, seq, key=lambda piece: piece.seq)
        end = bisect_right(self._pieces, seq, key=lambda piece: piece.seq)
        for piece in self._pieces[start:end]:
            if any(one is item for one in piece.shown.items):
                return own_content(piece, item)
        return None

    def _rebuild(self, seq: int, through: int) -> None:
        """Rebuild the rounds between these seqs, and the rounds that contain them."""
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
        """The visible items from one seq up to another, including results that came later."""
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


class Composer:
    """Composes the next request with windows at the tail, updated as the context changes.

    Args:
        items: The indexes of all items and of those that are not hidden.
        calls: Links tool calls and their results.
        windows: The windows of the conversation.
        meter: Counts tokens.
        is_in_place: Whether windows stand where they were opened instead.
    """

    def __init__(
        self,
        items: tuple[ItemIndex, ItemIndex],
        calls: Calls,
        windows: WindowManager | None,
        meter: Meter,
        *,
        is_in_place: bool = False,
    ) -> None:
        self._is_in_place = is_in_place
        self._all, self._active = items
        self._windows, self._meter = windows, meter
        self._system: list[Piece] | None = None
        self._system_items: list[ContextItem] = []
        self.turn = TurnItems()
        self.changed_forms: frozenset[str] = frozenset()
        self._history = History(self._shown_items, calls, lambda one: self._pieces(units(one)))
        self._sent_pieces: list[Piece] | None = []
        self._sent_versions: dict[str, ContextVersion] = {}

    def added(self, item: ContextItem) -> None:
        """Register a new item."""
        match item.type:
            case ItemType.SYSTEM:
                insort(self._system_items, item, key=lambda one: one.seq)
            case ItemType.WINDOW:
                self.turn.add(item)
            case _ if item.stage is Stage.FINAL:
                self._history.finish([item])
            case _:
                self.turn.add(item)

    def changed(self, item: ContextItem) -> None:
        """Invalidate what is cached of a changed item."""
        if item.type is ItemType.SYSTEM:
            self._system = None
        elif item.type is ItemType.WINDOW:
            self.turn.changed(item)
        elif item.stage is Stage.FINAL:
            self._history.touch(item)

    def sent(
        self,
        composition: Composition | None,
        facts: Mapping[str, Any] | None,  # noqa: ARG002
    ) -> None:
        """Freeze the pieces of a request as sent; without one, they are rebuilt from the sent
        items."""
        for item in self.turn.send():
            self._sent_versions.update((copy.window_id, copy.version) for copy in item.carried)
        if composition is None or self._sent_pieces is None:
            self._sent_pieces = None
        else:
            self._sent_pieces += composition.fresh

    def finished(self, items: Sequence[ContextItem], early: bool = False) -> None:  # noqa: ARG002
        """Move the turn's items, now final, into the history; the rest is new again."""
        self.turn.finish()
        self._sent_pieces, self._sent_versions = [], {}
        self._system = None
        self._history.finish(items)
        for item in items:
            self._history.touch(item)  # a late result joins its answer

    def compose(
        self,
        through_seq: int,
        generation: int,
        limit: int | None = None,  # noqa: ARG002
    ) -> Composition:
        """Compose the request from the current state."""
        if self._is_in_place:
            return self._compose_in_place(through_seq, generation)
        history, tokens = self._history.current()
        system, sent = self._current_system(), self._current_sent()
        new = units(visible(self.turn.new))
        in_turn = bool(new) or any(True for _ in visible(self.turn.sent))
        arriving = arrival(new, in_turn, self._sent_versions, self.turn.references, self._windows)
        fresh = [
            *self._pieces(new, arriving),
            *(self._piece(window_message(copy), through_seq) for copy in arriving.at_end),
        ]
        return Composition(
            Messages([system, history, sent, fresh]),
            tokens + sum(piece.tokens for piece in (*system, *sent, *fresh)),
            len(system) + len(history),
            through_seq,
            generation,
            arriving,
            tuple(fresh),
            in_turn,
        )

    def _compose_in_place(self, through_seq: int, generation: int) -> Composition:
        """Compose the request with each window at its own seq. Live windows may change anything
        after them, so nothing is cached and all items are visited."""
        arranged = arrange(list(visible(self._all.view())), self._windows, "in-place")
        pieces = [
            self._piece(one, one.items[0].seq if one.items else through_seq) for one in arranged
        ]
        tokens = sum(piece.tokens for piece in pieces)
        fresh = (p for p in pieces if any(item.stage is Stage.NEW for item in p.shown.items))
        turn = (item for p in pieces for item in p.shown.items if item.stage is not Stage.FINAL)
        return Composition(
            Messages([pieces]),
            tokens,
            0,
            through_seq,
            generation,
            fresh=tuple(fresh),
            in_turn=any(map(is_conversation, turn)),
        )

    def shown_content(self, item: ContextItem) -> str | tuple[Block, ...] | None:
        """What requests contain of a final item of the conversation; None if unknown."""
        return self._history.shown(item)

    def _shown_items(self) -> ItemView:
        """A small view that includes all shown items: mid-turn, a hidden item may still be
        shown."""
        return (self._all if self.turn.under_way else self._active).view()

    def _current_system(self) -> list[Piece]:
        if self._system is None:
            # Mid-turn, a new system item waits: it would precede everything that was sent.
            fixed = (
                item
                for item in visible(self._system_items)
                if not (self.turn.under_way and item.stage is Stage.NEW)
            )
            self._system = list(self._pieces(units(head_first(fixed))))
        return self._system

    def _current_sent(self) -> list[Piece]:
        if self._sent_pieces is None:
            self._sent_pieces = list(self._pieces(units(visible(self.turn.sent))))
        return self._sent_pieces

    def _pieces(self, gathered: Iterable[Unit], arriving: Arrival | None = None) -> Iterator[Piece]:
        for unit in gathered:
            for shown in unit_messages(unit, arriving or Arrival()):
                yield self._piece(shown, unit.head.seq)

    def _piece(self, shown: Shown, seq: int) -> Piece:
        own = sum(map(self._meter.item, shown.items))
        return Piece(shown, own + self._meter.copies(shown.copies), seq)


def visible(items: Iterable[ContextItem]) -> Iterator[ContextItem]:
    """The items that a request contains."""
    return (item for item in items if item.is_shown)
