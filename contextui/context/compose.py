"""The messages of the next request, built from what changed since the last one.

`ContextRenderer.render` says what the messages are; this says the same, but keeps what cannot
have changed: the system prompt, the finished turns, and what of this turn was sent.
"""

from bisect import insort
from collections.abc import Iterable, Iterator, Sequence

from contextui.context.calls import Calls
from contextui.context.forms import Shown, head_first, unit_messages, window_message
from contextui.context.history import History
from contextui.context.item import ContextItem, ItemType, Stage, is_conversation
from contextui.context.meter import Meter
from contextui.context.pieces import Composition, Messages, Piece
from contextui.context.placement import Arrival, arrival
from contextui.context.render import arrange
from contextui.context.sequence import ItemIndex, ItemView
from contextui.context.units import Unit, units
from contextui.model import Block
from contextui.windowing.manager import WindowManager
from contextui.windowing.snapshot import ContextVersion


class Composer:
    """Builds the next request with windows at the tail, step by step as the context changes."""

    def __init__(
        self,
        items: tuple[ItemIndex, ItemIndex],
        calls: Calls,
        windows: WindowManager | None,
        meter: Meter,
    ) -> None:
        self._all, self._active = items
        self._windows, self._meter = windows, meter
        self._system: list[Piece] | None = None
        self._system_items: list[ContextItem] = []
        self._references = ItemIndex()
        self._history = History(self._shown_items, calls, lambda one: self._pieces(units(one)))
        self._new: list[ContextItem] = []
        self._sent: list[ContextItem] = []
        self._sent_pieces: list[Piece] | None = []
        self._sent_versions: dict[str, ContextVersion] = {}

    @property
    def under_way(self) -> bool:
        """Whether something of this turn was sent, so that nothing before it may change."""
        return bool(self._sent)

    @property
    def references(self) -> Sequence[ContextItem]:
        """The window items that are not hidden."""
        return self._references.view()

    @property
    def newest(self) -> ContextItem | None:
        """The newest item of the conversation that is not final."""
        turn = self._new or self._sent
        return turn[-1] if turn else None

    def added(self, item: ContextItem) -> None:
        """Take note of a new item."""
        match item.type:
            case ItemType.SYSTEM:
                insort(self._system_items, item, key=lambda one: one.seq)
            case ItemType.WINDOW:
                self._references.add(item)
            case _ if item.stage is Stage.FINAL:
                self._history.finish([item])
            case _:
                self._new.append(item)

    def changed(self, item: ContextItem) -> None:
        """Take note that what is shown of an item is different from now on."""
        if item.type is ItemType.SYSTEM:
            self._system = None
        elif item.type is ItemType.WINDOW:
            (self._references.discard if item.is_obsolete else self._references.add)(item)
        elif item.stage is Stage.FINAL:
            self._history.touch(item)

    def sent(self, pieces: Sequence[Piece] | None) -> None:
        """Fix the bytes of what was composed; without that, of what the items say was sent."""
        sent = [item for item in self._new if item.stage is Stage.SENT]
        self._new = [item for item in self._new if item.stage is Stage.NEW]
        self._sent += sent
        for item in sent:
            self._sent_versions.update((copy.window_id, copy.version) for copy in item.carried)
        if pieces is None or self._sent_pieces is None:
            self._sent_pieces = None
        else:
            self._sent_pieces += pieces

    def finished(self, items: Sequence[ContextItem]) -> None:
        """Take items of the turn, now final, into the history; what remains is new again."""
        rest = [item for item in (*self._sent, *self._new) if item.stage is Stage.NEW]
        self._new = sorted(rest, key=lambda item: item.seq)
        self._sent, self._sent_pieces, self._sent_versions = [], [], {}
        self._system = None
        self._history.finish(items)
        for item in items:
            self._history.touch(item)  # a late result joins its answer

    def compose(self, through_seq: int, generation: int) -> Composition:
        """The request as the context stands."""
        history, tokens = self._history.current()
        system, sent = self._current_system(), self._current_sent()
        new = units(visible(self._new))
        in_turn = bool(new) or any(True for _ in visible(self._sent))
        arriving = arrival(
            new, in_turn, self._sent_versions, self._references.view(), self._windows
        )
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

    def compose_in_place(self, items: ItemView, through_seq: int, generation: int) -> Composition:
        """The request with each window at its own seq. Live windows may change anything behind
        them, so there is nothing to keep, and all items are passed over."""
        arranged = arrange(list(visible(items)), self._windows, "in-place")
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
        """What requests show of a final item of the conversation; None if that is not known."""
        return self._history.shown(item)

    def _shown_items(self) -> ItemView:
        """Few items among which are all that are shown: in mid-turn a hidden one may be."""
        return (self._all if self.under_way else self._active).view()

    def _current_system(self) -> list[Piece]:
        if self._system is None:
            # In mid-turn a new one waits: it would stand before everything that was sent.
            stands = (
                item
                for item in visible(self._system_items)
                if not (self.under_way and item.stage is Stage.NEW)
            )
            self._system = list(self._pieces(units(head_first(stands))))
        return self._system

    def _current_sent(self) -> list[Piece]:
        if self._sent_pieces is None:
            self._sent_pieces = list(self._pieces(units(visible(self._sent))))
        return self._sent_pieces

    def _pieces(self, gathered: Iterable[Unit], arriving: Arrival | None = None) -> Iterator[Piece]:
        for unit in gathered:
            for shown in unit_messages(unit, arriving or Arrival()):
                yield self._piece(shown, unit.head.seq)

    def _piece(self, shown: Shown, seq: int) -> Piece:
        own = sum(map(self._meter.item, shown.items))
        return Piece(shown, own + self._meter.copies(shown.copies), seq)


def visible(items: Iterable[ContextItem]) -> Iterator[ContextItem]:
    """The items that a request shows."""
    return (item for item in items if item.is_shown)
