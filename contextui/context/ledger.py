"""All items and everything that is derived from them, kept in step with each other.

The ledger has no opinions: what may be done, and who is told, is the manager's business. A
session that is read back from its log writes into the ledger directly.
"""

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from contextui.context.calls import Calls
from contextui.context.changes import Changes
from contextui.context.compose import Composer, Composition
from contextui.context.item import Carried, ContextItem, ItemType, Stage, assign, is_conversation
from contextui.context.meter import Meter
from contextui.context.placement import Placement
from contextui.context.report import ContextStats, Tally
from contextui.context.sequence import ItemIndex
from contextui.context.trim import sizes
from contextui.tokens import TokenCounter
from contextui.windowing.manager import WindowManager


class Ledger:
    """The items of one conversation: by id, by seq, by window, by call, and what they cost."""

    def __init__(
        self, windows: WindowManager | None, counter: TokenCounter, placement: Placement
    ) -> None:
        self.seq = 0
        """The seq of the newest item."""
        self.cut = 0
        """Conversation before this seq was left out to make room."""
        self.items: dict[str, ContextItem] = {}
        self.references: dict[str, list[ContextItem]] = {}
        """The items of each window, by its id."""
        self.all, self.active = ItemIndex(), ItemIndex()
        self.calls, self.changes = Calls(), Changes()
        self.open: list[ContextItem] = []
        """The items that are not final yet, of whatever type."""
        self._placement = placement
        self._meter = Meter(counter)
        self.size = sizes(self._meter, windows)
        self.tally = Tally()
        self._recount: dict[str, ContextItem] = {}
        self._redrawn: deque[str] = deque()
        self._composer = Composer(self.all, self.calls, windows, self._meter)

    # --- looking -----------------------------------------------------------------------

    @property
    def under_way(self) -> bool:
        """Whether something of this turn was sent, so that nothing before it may change."""
        return self._composer.under_way

    @property
    def turn_is_over(self) -> bool:
        """Whether new words would begin a new turn: something was answered, nothing is open."""
        turn = self._composer.turn
        settled = not self.under_way and not self.calls.unanswered
        return settled and bool(turn) and turn[-1].type is not ItemType.USER

    @property
    def live_references(self) -> Sequence[ContextItem]:
        """The window items that are not hidden."""
        return self._composer.references

    def compose(self) -> Composition:
        """The next request as things stand."""
        if self._placement == "tail":
            return self._composer.compose(self.seq)
        return self._composer.compose_in_place(self.seq)

    def stats(self) -> ContextStats:
        """The figures, after a look at what changed."""
        while self._redrawn:
            window_id = self._redrawn.popleft()
            self._recount.update((one.id, one) for one in self.references.get(window_id, ()))
        changed, self._recount = self._recount, {}
        self.tally.update(changed.values(), self.size)
        return self.tally.stats()

    # --- changing ----------------------------------------------------------------------

    def enter(self, item: ContextItem, seq: int) -> None:
        """Put a new item in at this seq."""
        assign(item, seq=seq)
        self.seq = max(self.seq, seq)
        self.items[item.id] = item
        if item.type is ItemType.WINDOW:
            self.references.setdefault(item.content, []).append(item)
        if item.stage is not Stage.FINAL:
            self.open.append(item)
        self.calls.note(item)
        self.all.add(item)
        self._composer.added(item)
        self.note([item])

    def step(self, items: Sequence[ContextItem], fields: Mapping[str, Any]) -> None:
        """Change items by a person's will: one undo takes it back."""
        self.changes.apply(items, self.under_way, **fields)
        self.note(items)

    def set(self, items: Sequence[ContextItem], fields: Mapping[str, Any]) -> None:
        """Change items for another reason: no undo knows of it."""
        for item in items:
            self.changes.set(item, self.under_way, **fields)
        self.note(items)

    def undo(self) -> list[ContextItem]:
        """Take the last step back; the items that it had changed."""
        items = self.changes.undo(self.under_way)
        self.note(items)
        return items

    def waiting(self, composition: Composition) -> list[ContextItem]:
        """Visible items that a request has to leave for later: a result whose answer was sent
        without it, or a system prompt that would stand before what was sent."""
        shown = {item.id for piece in composition.fresh for item in piece.shown.items}
        return [
            item
            for item in self.open
            if item.stage is Stage.NEW and not item.hidden and item.id not in shown
            if item.type is ItemType.TOOL or (item.type is ItemType.SYSTEM and self.under_way)
        ]

    def carry(self, carrier: ContextItem, copies: tuple[Carried, ...]) -> None:
        """Have windows stand with this item from now on, until the turn ends."""
        assign(carrier, carried=(*carrier.carried, *copies))

    def fix(
        self, through_seq: int, waiting: Iterable[str], composition: Composition | None = None
    ) -> None:
        """Have the bytes of a request stay as they are, with all items up to this seq."""
        left = set(waiting)
        for item in self.open:
            if item.seq <= through_seq and item.id not in left:
                assign(item, stage=Stage.SENT)
        self._composer.sent(composition.fresh if composition else None)

    def finish(self) -> list[ContextItem]:
        """Give everything that is open its final form, and let held changes count."""
        done, self.open = self.open, []
        released = self.changes.release()
        for item in done:
            assign(item, stage=Stage.FINAL, carried=())
        self._composer.finished([item for item in done if is_conversation(item)])
        self._recount.update((item.id, item) for item in done)
        self.note(released)
        return done

    def note(self, items: Iterable[ContextItem]) -> None:
        """Keep everything that is derived from these items up to date."""
        for item in items:
            (self.active.discard if item.hidden else self.active.add)(item)
            self._recount[item.id] = item
            if item.held is None:
                self._composer.changed(item)

    def redrawn(self, window_id: str) -> None:
        """Note that a window looks different. May be called from any thread, at any time."""
        self._redrawn.append(window_id)
