"""The items of a conversation and all state derived from them, kept consistent.

The ledger checks no permissions and emits no events: the manager does. A session that is resumed
from its log writes to the ledger directly.
"""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from contextui.config.schema import Placement
from contextui.context.changes import Changes
from contextui.context.composition import Composition
from contextui.context.item import (
    THINKING,
    ContextItem,
    ItemIndex,
    ItemType,
    Stage,
    assign,
    is_conversation,
)
from contextui.context.messages import Content, is_reduced
from contextui.context.placement.compose import PricedComposer
from contextui.context.render import compose_in_place
from contextui.context.report import ContextStats, Meter, Tally
from contextui.context.units import Calls, Folds, TurnItems, units
from contextui.errors import InvalidItemError
from contextui.events import Trigger
from contextui.model import CachePrices
from contextui.tokens import TokenCounter
from contextui.windowing.manager import WindowManager


class Ledger:
    """Indexes the items of one conversation by id, seq, window and call, and counts tokens."""

    def __init__(
        self,
        windows: WindowManager | None,
        counter: TokenCounter,
        placement: Placement,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.seq = 0
        """The seq of the newest item."""
        self.cut = 0
        """Conversation before this seq was trimmed."""
        self.items: dict[str, ContextItem] = {}
        self.references: dict[str, list[ContextItem]] = {}
        """The items of each window, by window id."""
        self.all, self.active = ItemIndex(), ItemIndex()
        self.calls, self.changes, self.folds = Calls(), Changes(), Folds()
        self._awaits_answer = False
        self._pending: list[ContextItem] = []
        self.open: list[ContextItem] = []
        """The items of any type that are not final yet."""
        self._windows, self.turn = windows, TurnItems()
        self.meter = Meter(counter, is_alone=placement != "price")
        self.priced = (
            PricedComposer(self.calls, self.turn, windows, counter, clock)
            if placement == "price"
            else None
        )
        """Composes requests by price; None if windows are placed where they were opened."""
        self.tally = Tally()
        self._recount: dict[str, ContextItem] = {}
        self._redrawn: set[str] = set()
        self.generation = 0
        """Counts all changes: a composed request is stale if it has an older generation."""

    # --- queries -----------------------------------------------------------------------

    @property
    def under_way(self) -> bool:
        """Whether a part of this turn was sent, so that nothing before it may change."""
        return self.turn.under_way

    @property
    def turn_is_over(self) -> bool:
        """Whether a new user message starts a new turn: there is an answer, and no call is
        unanswered."""
        newest = self.turn.newest
        if newest is None or self.under_way or self.calls.unanswered:
            return False
        return newest.type is not ItemType.USER

    @property
    def live_references(self) -> Sequence[ContextItem]:
        """The window items that are not hidden."""
        return self.turn.references

    def shown_content(self, item: ContextItem) -> Content | None:
        """What requests contain of a final item of the conversation; None if unknown."""
        return self.priced.shown_content(item) if self.priced is not None else None

    def compose(self, limit: int | None = None) -> Composition:
        """Compose the next request from the current state."""
        if self.priced is not None:
            return self.priced.compose(self.seq, self.generation, limit)
        active = self.active.view()
        return compose_in_place(active, self._windows, self.meter, self.seq, self.generation)

    def use(self, prices: CachePrices, key: str) -> None:
        """Note which model and tools the next requests are for."""
        if self.priced is not None:
            self.priced.use(prices, key)

    def sweep(self) -> None:
        """Leave everything outdated out of the next request."""
        if self.priced is not None:
            self.generation += 1
            self.priced.sweep()

    def is_whole(self, item: ContextItem) -> bool:
        """Whether requests contain a tool result as a whole."""
        return self.priced.figures.is_whole(item) if self.priced else not is_reduced(item)

    def size(self, item: ContextItem) -> int:
        """The tokens of an item; of a window, those of its render."""
        if item.type is ItemType.WINDOW:
            return self.meter.reference(item, self._windows)
        return self.priced.figures.tokens_of(item) if self.priced else self.meter.item(item)

    def request_size(self, item: ContextItem) -> int:
        """The tokens of an item in the next request."""
        return self.priced.figures.size(item) if self.priced else self.size(item)

    def stats(self) -> ContextStats:
        """The current stats, after recounting what changed."""
        while self._redrawn:
            window_id = self._redrawn.pop()
            self._recount.update((one.id, one) for one in self.references.get(window_id, ()))
        changed, self._recount = self._recount, {}
        self.tally.update(changed.values(), self.size)
        return self.tally.stats()

    # --- changes -----------------------------------------------------------------------

    def enter(self, item: ContextItem, seq: int) -> None:
        """Insert a new item at this seq."""
        assign(item, seq=seq, is_owned=True)
        self.seq = max(self.seq, seq)
        self.items[item.id] = item
        if item.type is ItemType.WINDOW:
            self.references.setdefault(item.content, []).append(item)
        if item.stage is not Stage.FINAL:
            self.open.append(item)
        self.calls.note(item)
        if not item.hidden and self.calls.asker(item).hidden == "dropped":
            assign(item, hidden="dropped")  # with its answer, while it ran
        self.all.add(item)
        self.turn.add(item)
        if self.priced is not None:
            self.priced.added(item)
        self.note([item])

    def recall(self, item: ContextItem) -> None:
        """Insert an item again that was only in the log; the stats already include it."""
        self.tally.assume(-1, -(item.type is ItemType.WINDOW), -self.size(item))
        self.enter(item, item.seq)

    def due(self, item: ContextItem | None = None) -> list[ContextItem]:
        """Return the items to append now. User messages that arrive while an answer is streaming
        are queued, and follow the answer, or come when none is expected any more."""
        if item is not None and item.type is ItemType.USER and self._awaits_answer:
            assign(item, is_owned=True)
            self._pending.append(item)
            return []
        if item is not None and item.type is not ItemType.ASSISTANT:
            return [item]
        self._awaits_answer = False
        pending, self._pending = self._pending, []
        return [*([item] if item is not None else []), *pending]

    def replace_older(self, item: ContextItem) -> list[ContextItem]:
        """Hide older references to the window that a new item refers to; return them."""
        references = self.references.get(item.content, ()) if item.type is ItemType.WINDOW else ()
        older = [one for one in references if one.hidden not in ("closed", "replaced")]
        self.set(older, {"hidden": "replaced"})
        return older

    def check_edit(self, item: ContextItem) -> None:
        """Check that an edit would not remove thinking that the next request must contain.

        Raises:
            InvalidItemError: It would.
        """
        is_new = item.stage is Stage.NEW and not item.hidden
        if is_new and any(block.get("type") in THINKING for block in item.blocks or ()):
            raise InvalidItemError("This answer has thinking that goes with the next request. "
                                   "Edit it after that.")  # fmt: skip

    def step(self, items: Sequence[ContextItem], fields: Mapping[str, Any]) -> None:
        """Apply an edit that a person made: `undo` reverts it as one step."""
        self.changes.apply(items, fields)
        self._keep_out(items)
        self.note(items)

    def compact(self, items: Sequence[ContextItem], summary: ContextItem, trigger: Trigger) -> None:
        """Replace items with a summary, as one step for `undo`. The summary is final at once.

        A strategy compacts again before each turn, so its compactions are not in the undo history.
        """
        assign(summary, stage=Stage.FINAL)
        self.folds.note((item.id for item in items), summary.id)
        self.open = [item for item in self.open if item is not summary]
        if self.priced is not None:
            self.priced.compacted(items, summary)
        if trigger == "strategy":
            self.set(items, {"hidden": "compacted"})
            self.set([summary], {"hidden": None})
            return
        self.changes.compact(items, summary)
        self.note([*items, summary])

    def set(self, items: Sequence[ContextItem], fields: Mapping[str, Any]) -> None:
        """Change items without an undo step."""
        for item in items:
            assign(item, **fields)
        self.note(items)

    def undo(self) -> list[ContextItem]:
        """Undo the last step and return the items that it had changed."""
        items = self.changes.undo()
        self._keep_out(items)
        self.note(items)
        return items

    def _keep_out(self, items: Sequence[ContextItem]) -> None:
        """Hide items before the cut again unless they are pinned, and results of hidden
        answers."""
        for item in items:
            if item.seq < self.cut and not (item.hidden or item.pinned) and is_conversation(item):
                assign(item, hidden="trimmed")
        for item in items:
            for result in (item, *self.calls.results(item)):
                if not result.hidden and (hidden := self.calls.asker(result).hidden):
                    self.set([result], {"hidden": hidden})

    def waiting(self, composition: Composition) -> list[ContextItem]:
        """Visible items that a request cannot include yet: a tool result whose answer was sent
        without it, or a system prompt that would precede what was sent."""
        shown = {item.id for piece in composition.fresh for item in piece.shown.items}
        return [
            item
            for item in self.open
            if item.stage is Stage.NEW and not item.hidden and item.id not in shown
            if item.type is ItemType.TOOL or (item.type is ItemType.SYSTEM and self.under_way)
        ]

    def send(self, composition: Composition) -> tuple[str, ...]:
        """Freeze the bytes of a request; return the ids of the items it could not include."""
        waiting = tuple(item.id for item in self.waiting(composition))
        self.fix(composition.through_seq, waiting, composition)
        self._awaits_answer = True
        return waiting

    def take_back(self) -> None:
        """Take the last request back: it failed before it was answered."""
        if self.priced is not None:
            self.priced.take_back()
            self._note_forms()

    def _note_forms(self) -> None:
        """Count the items again that requests show in another form from now on."""
        forms = self.priced.changed_forms if self.priced is not None else ()
        changed = (self.items.get(item_id) for item_id in forms)
        self._recount.update((item.id, item) for item in changed if item is not None)
        self.generation += 1

    def fix(
        self,
        through_seq: int,
        waiting: Iterable[str],
        composition: Composition | None = None,
        facts: Mapping[str, Any] | None = None,
    ) -> None:
        """Freeze the bytes of a request with all items up to this seq."""
        left = set(waiting)
        for item in self.open:
            if item.seq <= through_seq and item.id not in left:
                assign(item, stage=Stage.SENT)
        self.turn.send()
        if self.priced is not None:
            self.priced.sent(composition, facts)
        self._note_forms()

    def finish(self, early: bool = False) -> list[ContextItem]:
        """Give all open items their final form.

        Early, the newest step stays open and is sent again: it was not answered yet.
        """
        stays = self._newest_step() if early else []
        for item in stays:
            assign(item, stage=Stage.NEW)
        done = [item for item in self.open if item not in stays]
        self.open = stays
        for item in done:
            assign(item, stage=Stage.FINAL)
        self.turn.finish()
        if self.priced is not None:
            self.priced.finished([item for item in done if is_conversation(item)], early)
        if not early:
            self.calls.end_turn()
        self._recount.update((item.id, item) for item in done)
        self.generation += 1
        return done

    def _newest_step(self) -> list[ContextItem]:
        """The items not sent yet; if all were sent, the last user messages or tool results."""
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

    def note(self, items: Iterable[ContextItem]) -> None:
        """Update everything derived from these items."""
        self.generation += 1
        for item in items:
            (self.active.discard if item.hidden else self.active.add)(item)
            self._recount[item.id] = item
            if item.type is ItemType.WINDOW:
                self.turn.changed(item)
            if self.priced is not None:
                self.priced.changed(item)

    def redrawn(self, window_id: str) -> None:
        """Mark a window's render as changed. Thread-safe and non-blocking."""
        self._redrawn.add(window_id)
