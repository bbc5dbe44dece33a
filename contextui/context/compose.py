"""The messages of the next request, built from what changed since the last one.

`ContextRenderer.render` says what the messages are; this says the same, but keeps what cannot
have changed: the system prompt, the finished turns, and what of this turn was sent.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import NamedTuple, overload

from contextui.context.calls import Calls
from contextui.context.forms import Shown, unit_messages, window_message
from contextui.context.item import ContextItem, ItemType, Stage, is_conversation
from contextui.context.meter import Meter
from contextui.context.placement import Arrival, arrival
from contextui.context.render import arrange
from contextui.context.sequence import ItemIndex
from contextui.context.units import Unit, units
from contextui.model import LlmMessage
from contextui.windowing.manager import WindowManager


class Piece(NamedTuple):
    """One message of a request: what it shows, what it costs, where it comes from."""

    shown: Shown
    tokens: int
    seq: int

    @property
    def message(self) -> LlmMessage:
        """The message itself."""
        return self.shown.message


class Run:
    """Pieces in a row, and what they cost up to each of them. It only grows."""

    def __init__(self, pieces: Iterable[Piece] = ()) -> None:
        self.pieces: list[Piece] = []
        self._totals: list[int] = [0]
        self.extend(pieces)

    def first(self, count: int) -> "Run":
        """A run of the first few of these pieces."""
        run = Run()
        run.pieces, run._totals = self.pieces[:count], self._totals[: count + 1]
        return run

    def extend(self, pieces: Iterable[Piece]) -> None:
        """Put more pieces behind the others."""
        for piece in pieces:
            self.pieces.append(piece)
            self._totals.append(self._totals[-1] + piece.tokens)

    @property
    def tokens(self) -> int:
        """What all of them cost."""
        return self._totals[-1]

    def before_round_of(self, seq: int) -> "tuple[Run, int]":
        """The run without the round that this seq is in and all after it, and where that begins."""
        end = bisect_left(self.pieces, seq + 1, key=lambda piece: piece.seq)
        while end and not self._starts_round(end - 1):
            end -= 1
        start = self.pieces[end - 1].seq if end else 0
        return self.first(max(end - 1, 0)), start

    def _starts_round(self, index: int) -> bool:
        items = self.pieces[index].shown.items
        before = self.pieces[index - 1].shown.items if index else ()
        return (
            bool(items)
            and items[0].type is ItemType.USER
            and not (before and before[0].type is ItemType.USER)
        )


class Messages(Sequence[LlmMessage]):
    """The messages of several runs, one behind the other, as they were when it was made."""

    def __init__(self, runs: Iterable[list[Piece]]) -> None:
        self._parts = [(pieces, len(pieces)) for pieces in runs]

    def __len__(self) -> int:
        return sum(length for _, length in self._parts)

    def __iter__(self) -> Iterator[LlmMessage]:
        return (piece.message for piece in self.pieces())

    @overload
    def __getitem__(self, index: int) -> LlmMessage: ...
    @overload
    def __getitem__(self, index: slice) -> list[LlmMessage]: ...
    def __getitem__(self, index: int | slice) -> LlmMessage | list[LlmMessage]:
        if isinstance(index, slice):
            return [self[position] for position in range(*index.indices(len(self)))]
        position = index + len(self) if index < 0 else index
        for pieces, length in self._parts:
            if 0 <= position < length:
                return pieces[position].message
            position -= length
        raise IndexError(index)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]  # equal to lists, which have none either

    def __repr__(self) -> str:
        return f"{type(self).__name__}({list(self)!r})"

    def pieces(self) -> Iterator[Piece]:
        """The messages with what they show and cost."""
        return chain.from_iterable(islice(pieces, length) for pieces, length in self._parts)


@dataclass(frozen=True, slots=True)
class Composition:
    """A request: its messages, and what is known about them.

    Attributes:
        messages: What to send, in order; `messages.pieces()` tells where each comes from.
        tokens: What it costs at most, by our own count.
        stable: How many of the first messages are in their final form: cache marks belong here.
        through_seq: The newest item that is in it.
        arriving: The windows that it brings.
    """

    messages: Messages
    tokens: int
    stable: int
    through_seq: int
    arriving: Arrival = field(default_factory=Arrival)
    fresh: tuple[Piece, ...] = ()


class Composer:
    """Builds the next request with windows at the tail, step by step as the context changes."""

    def __init__(
        self, items: ItemIndex, calls: Calls, windows: WindowManager | None, meter: Meter
    ) -> None:
        self._items, self._calls, self._windows, self._meter = items, calls, windows, meter
        self._system: Run | None = None
        self._system_items: list[ContextItem] = []
        self._references = ItemIndex()
        self._history = Run()
        self._finished: list[ContextItem] = []  # final, but not yet among the history's pieces
        self._sent: Run | None = Run()
        self._turn: list[ContextItem] = []
        self._changed_from: int | None = None
        self.under_way = False
        """Whether something of this turn was sent, so that nothing before it may change."""

    @property
    def references(self) -> Sequence[ContextItem]:
        """The window items that are not hidden."""
        return self._references.view()

    @property
    def turn(self) -> Sequence[ContextItem]:
        """The items of the turn under way."""
        return self._turn

    def added(self, item: ContextItem) -> None:
        """Take note of a new item."""
        match item.type:
            case ItemType.SYSTEM:
                self._system_items.append(item)
            case ItemType.WINDOW:
                self._references.add(item)
            case _:
                (self._finished if item.stage is Stage.FINAL else self._turn).append(item)

    def changed(self, item: ContextItem) -> None:
        """Take note that what is shown of an item is different from now on."""
        if item.type is ItemType.SYSTEM:
            # In mid-turn a new one waits: it would stand before everything that was sent.
            self._system = self._system if self.under_way else None
        elif item.type is ItemType.WINDOW:
            (self._references.discard if item.is_obsolete else self._references.add)(item)
        elif item.stage is Stage.FINAL:
            self._rebuild_from(self._calls.asker(item).seq)

    def sent(self, pieces: Iterable[Piece] | None = None) -> None:
        """Fix the bytes of what was composed; without that, of what the items say was sent."""
        if pieces is None or self._sent is None:
            self._sent = None
        else:
            self._sent.extend(pieces)
        self.under_way = True

    def finished(self, items: Sequence[ContextItem]) -> None:
        """Take the items of the turn, now final, into the history."""
        done = {item.id for item in items}
        self._turn = [item for item in self._turn if item.id not in done]
        self._sent, self._system, self.under_way = Run(), None, False
        self._finished += items
        for item in items:
            if (asker := self._calls.asker(item)).id not in done:
                self._rebuild_from(asker.seq)  # a late result joins its answer

    def compose(self, through_seq: int) -> Composition:
        """The request as the context stands."""
        history, system = self._current_history(), self._current_system()
        turn = units(self._visible(self._turn))
        arriving = arrival(turn, self._references.view(), self._windows)
        new = [unit for unit in turn if unit.stage is Stage.NEW]
        fresh = [
            *self._pieces(new, arriving),
            *(self._piece(window_message(copy), through_seq) for copy in arriving.at_end),
        ]
        sent = self._current_sent()
        tokens = history.tokens + system.tokens + sent.tokens
        return Composition(
            Messages([system.pieces, history.pieces, sent.pieces, fresh]),
            tokens + sum(piece.tokens for piece in fresh),
            len(system.pieces) + len(history.pieces),
            through_seq,
            arriving,
            tuple(fresh),
        )

    def compose_in_place(self, through_seq: int) -> Composition:
        """The request with each window at its own seq. Live windows may change anything behind
        them, so there is nothing to keep, and all items are passed over."""
        items = list(self._visible(self._items.view()))
        pieces = [self._piece(one, 0) for one in arrange(items, self._windows, "in-place")]
        tokens = sum(piece.tokens for piece in pieces)
        fresh = (p for p in pieces if any(item.stage is Stage.NEW for item in p.shown.items))
        return Composition(Messages([pieces]), tokens, 0, through_seq, fresh=tuple(fresh))

    def _current_system(self) -> Run:
        if self._system is None:
            self._system = Run(self._pieces(units(self._visible(self._system_items))))
        return self._system

    def _current_sent(self) -> Run:
        if self._sent is None:
            sent = (item for item in self._visible(self._turn) if item.stage is Stage.SENT)
            self._sent = Run(self._pieces(units(sent)))
        return self._sent

    def _current_history(self) -> Run:
        final: Iterable[ContextItem] = self._finished
        if self._changed_from is not None:
            self._history, start = self._history.before_round_of(self._changed_from)
            final = (
                item
                for item in self._items.view().since(start)
                if item.stage is Stage.FINAL and is_conversation(item)
            )
        self._history.extend(self._pieces(units(self._visible(final))))
        self._finished, self._changed_from = [], None
        return self._history

    def _rebuild_from(self, seq: int) -> None:
        self._changed_from = min(seq, seq if self._changed_from is None else self._changed_from)

    def _visible(self, items: Iterable[ContextItem]) -> Iterator[ContextItem]:
        return (item for item in items if item.face.hidden is None)

    def _pieces(self, gathered: Iterable[Unit], arriving: Arrival | None = None) -> Iterator[Piece]:
        for unit in gathered:
            for shown in unit_messages(unit, arriving or Arrival()):
                yield self._piece(shown, unit.head.seq)

    def _piece(self, shown: Shown, seq: int) -> Piece:
        own = sum(map(self._meter.item, shown.items))
        return Piece(shown, own + self._meter.copies(shown.copies), seq)
