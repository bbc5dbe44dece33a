"""All items and everything that is derived from them, kept in step with each other.

The ledger has no opinions: what may be done, and who is told, is the manager's business. A
session that is read back from its log writes into the ledger directly.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from contextui.config.settings import Placement
from contextui.context.changes import Changes
from contextui.context.compose import Composer
from contextui.context.item import (
    Carried,
    ContextItem,
    ItemIndex,
    ItemType,
    Stage,
    assign,
    is_conversation,
)
from contextui.context.messages import Composition
from contextui.context.report import ContextStats, Meter, Tally
from contextui.context.trim import Size, item_sizes, request_sizes
from contextui.context.units import Calls, Folds, units
from contextui.events import Trigger
from contextui.model import Block
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
        self.calls, self.changes, self.folds = Calls(), Changes(), Folds()
        self._awaits_answer = False
        self._said_meanwhile: list[ContextItem] = []
        self.open: list[ContextItem] = []
        """The items that are not final yet, of whatever type."""
        self._placement, self._windows = placement, windows
        self._meter = Meter(counter)
        self.size = item_sizes(self._meter, windows)
        self.tally = Tally()
        self._recount: dict[str, ContextItem] = {}
        self._redrawn: set[str] = set()
        self._composer = Composer((self.all, self.active), self.calls, windows, self._meter)
        self.generation = 0
        """How often anything was changed: a request is only good for the one it was made from."""

    # --- looking -----------------------------------------------------------------------

    @property
    def under_way(self) -> bool:
        """Whether something of this turn was sent, so that nothing before it may change."""
        return self._composer.under_way

    @property
    def turn_is_over(self) -> bool:
        """Whether new words would begin a new turn: something was answered, nothing is open."""
        newest = self._composer.newest
        if newest is None or self.under_way or self.calls.unanswered:
            return False
        return newest.type is not ItemType.USER

    @property
    def live_references(self) -> Sequence[ContextItem]:
        """The window items that are not hidden."""
        return self._composer.references

    def shown_content(self, item: ContextItem) -> str | tuple[Block, ...] | None:
        """What requests show of a final item of the conversation; None if that is not known."""
        return self._composer.shown_content(item)

    def compose(self) -> Composition:
        """The next request as things stand."""
        if self._placement == "tail":
            return self._composer.compose(self.seq, self.generation)
        return self._composer.compose_in_place(self.all.view(), self.seq, self.generation)

    def request_size(self) -> Size:
        """What each item costs in the next request, windows that were sent with it included."""
        return request_sizes(self.open, self._meter, self._windows)

    def stats(self) -> ContextStats:
        """The figures, after a look at what changed."""
        while self._redrawn:
            window_id = self._redrawn.pop()
            self._recount.update((one.id, one) for one in self.references.get(window_id, ()))
        changed, self._recount = self._recount, {}
        self.tally.update(changed.values(), self.size)
        return self.tally.stats()

    # --- changing ----------------------------------------------------------------------

    def enter(self, item: ContextItem, seq: int) -> None:
        """Put a new item in at this seq."""
        assign(item, seq=seq, is_owned=True)
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

    def recall(self, item: ContextItem) -> None:
        """Put an item in again that was left in the log; it was counted all the time."""
        self.tally.assume(-1, -(item.type is ItemType.WINDOW), -self.size(item))
        self.enter(item, item.seq)

    def due(self, item: ContextItem | None = None) -> list[ContextItem]:
        """What enters now: nothing of what is said while an answer is on its way, and all of that
        behind the answer, or when none is to come any more."""
        if item is not None and item.type is ItemType.USER and self._awaits_answer:
            assign(item, is_owned=True)
            self._said_meanwhile.append(item)
            return []
        if item is not None and item.type is not ItemType.ASSISTANT:
            return [item]
        self._awaits_answer = False
        said, self._said_meanwhile = self._said_meanwhile, []
        return [*([item] if item is not None else []), *said]

    def replace_older(self, item: ContextItem) -> list[ContextItem]:
        """Hide the older references to a window that a new item refers to; those concerned."""
        references = self.references.get(item.content, ()) if item.type is ItemType.WINDOW else ()
        older = [one for one in references if one.hidden not in ("closed", "replaced")]
        self.set(older, {"hidden": "replaced"})
        return older

    def step(self, items: Sequence[ContextItem], fields: Mapping[str, Any]) -> None:
        """Change items by a person's will: one undo takes it back."""
        self.changes.apply(items, self.under_way, **fields)
        gone = self._keep_out(items)
        self.note(items, shown=fields.keys() != {"pinned"} or gone)

    def compact(self, items: Sequence[ContextItem], summary: ContextItem, trigger: Trigger) -> None:
        """Have a summary stand for items: one undo takes it back. No turn changes it.

        What a strategy does is done again before the next turn, so no undo knows of it.
        """
        assign(summary, stage=Stage.FINAL)
        self.folds.note((item.id for item in items), summary.id)
        self.open = [item for item in self.open if item is not summary]
        if trigger == "strategy":
            self.set(items, {"hidden": "compacted"})
            self.set([summary], {"hidden": None})
            return
        self.changes.compact(items, summary)
        self.note([*items, summary])

    def set(self, items: Sequence[ContextItem], fields: Mapping[str, Any]) -> None:
        """Change items for another reason: no undo knows of it."""
        for item in items:
            self.changes.set(item, self.under_way, **fields)
        self.note(items)

    def undo(self) -> list[ContextItem]:
        """Take the last step back; the items that it had changed."""
        items = self.changes.undo(self.under_way)
        self._keep_out(items)
        self.note(items)
        return items

    def _keep_out(self, items: Iterable[ContextItem]) -> bool:
        """What lies before the cut and is held by no pin has no room; whether there was any."""
        out = [
            item
            for item in items
            if item.seq < self.cut and not (item.hidden or item.pinned) and is_conversation(item)
        ]
        for item in out:
            self.changes.set(item, self.under_way, hidden="trimmed")
        return bool(out)

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

    def send(self, composition: Composition) -> tuple[str, ...]:
        """Have the bytes of a request stay as they are; the ids of what it had to leave."""
        waiting = tuple(item.id for item in self.waiting(composition))
        if composition.arriving.carrier is not None:
            self.carry(composition.arriving.carrier, composition.arriving.copies)
        self.fix(composition.through_seq, waiting, composition)
        self._awaits_answer = True
        return waiting

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
        self.generation += 1

    def finish(self, early: bool = False) -> list[ContextItem]:
        """Give everything that is open its final form, and let held changes count.

        Early, the newest step stays as it is and goes out anew: it was not answered yet.
        """
        released = self.changes.release()
        stays = self._newest_step() if early else []
        for item in stays:
            assign(item, stage=Stage.NEW, carried=())
        done = [item for item in self.open if item not in stays]
        self.open = stays
        for item in done:
            assign(item, stage=Stage.FINAL, carried=())
        self._composer.finished([item for item in done if is_conversation(item)])
        if not early:
            self.calls.give_up()
        self.note([*done, *released], shown=False)
        self.note(released)
        return done

    def _newest_step(self) -> list[ContextItem]:
        """What was not sent yet; if all of it was, the words or the results that went last."""
        new = [item for item in self.open if item.stage is Stage.NEW]
        if any(is_conversation(item) for item in new):
            return new
        turn = units(item for item in self.open if is_conversation(item) and not item.hidden)
        last: list[ContextItem] = []
        for unit in reversed(turn):
            if last and not (unit.head.type is last[0].type is ItemType.USER):
                break
            last = [*unit.items, *last]
        return sorted([*last, *new], key=lambda item: item.seq)

    def note(self, items: Iterable[ContextItem], shown: bool = True) -> None:
        """Keep everything that is derived from these items up to date.

        Args:
            items: The items that are different.
            shown: Whether what a request shows of them may be different.
        """
        self.generation += 1
        for item in items:
            (self.active.discard if item.hidden else self.active.add)(item)
            self._recount[item.id] = item
            if shown and item.held is None:
                self._composer.changed(item)

    def redrawn(self, window_id: str) -> None:
        """Note that a window looks different. May be called from any thread, at any time."""
        self._redrawn.add(window_id)
