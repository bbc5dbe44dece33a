"""The items of a conversation and all state derived from them, kept consistent.

The ledger checks no permissions and emits no events: the manager does. A session that is resumed
from its log writes to the ledger directly: those changes were permitted when they were logged.
"""

import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from contextui.config.schema import Placement
from contextui.context.item import (
    THINKING,
    Calls,
    ContextItem,
    Folds,
    ItemIndex,
    ItemType,
    Stage,
    TurnItems,
    assign,
    is_conversation,
)
from contextui.context.messages import Composition, is_reduced
from contextui.context.placement.compose import PricedComposer
from contextui.context.render import compose_in_place
from contextui.context.trim import Meter
from contextui.context.units import units
from contextui.errors import InvalidItemError
from contextui.events import Trigger
from contextui.tokens import TokenCounter
from contextui.windowing.manager import WindowManager

UNDO_STEPS = 100
"""The maximum number of undo steps."""

UNDO_COMPACTIONS = 5
"""The maximum number of compactions among them: each keeps all that it hid in memory."""

_BY_ITSELF = ("closed", "replaced", "trimmed", "compacted")  # undoing an edit never shows these
_FIELDS = ("content", "blocks", "gist", "whole", "hidden", "pinned")


class Before(NamedTuple):
    """The fields of an item before a step."""

    item: ContextItem
    fields: Mapping[str, Any]


class Compaction(NamedTuple):
    """An undo step of its own kind: a summary that replaces items that were visible before."""

    summary: ContextItem
    items: tuple[ContextItem, ...]


Step = list[Before] | Compaction


def items_of(step: Step) -> list[ContextItem]:
    """The items that a step changed."""
    if isinstance(step, Compaction):
        return [step.summary, *step.items]
    return [before.item for before in step]


@dataclass(frozen=True, slots=True)
class ContextStats:
    """Counts of a context: items, hidden ones too, and tokens, of the active items and of all."""

    total_items: int = 0
    active_items: int = 0
    obsolete_items: int = 0
    window_items: int = 0
    estimated_tokens: int = 0
    all_tokens: int = 0


class Tally:
    """Updates the stats incrementally, from the items that changed."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[bool, int]] = {}
        self._total = self._active = self._windows = 0
        self._tokens = self._all_tokens = 0

    def update(self, items: Iterable[ContextItem], size: Callable[[ContextItem], int]) -> None:
        """Recount these items."""
        for item in items:
            was_active, was = self._known.get(item.id, (False, 0))
            if item.id not in self._known:
                self._total += 1
                self._windows += item.type is ItemType.WINDOW
            active, tokens = not item.is_obsolete, size(item)
            self._known[item.id] = (active, tokens)
            self._active += active - was_active
            self._tokens += tokens * active - was * was_active
            self._all_tokens += tokens - was

    def tokens_of(self, item: ContextItem) -> int:
        """The tokens of an item when it was last counted."""
        return self._known[item.id][1]

    def assume(self, items: int, windows: int, tokens: int) -> None:
        """Count hidden items that exist in the log but are not loaded."""
        self._total += items
        self._windows += windows
        self._all_tokens += tokens

    def stats(self) -> ContextStats:
        """Count items and tokens, kept up to date by every change."""
        return ContextStats(
            total_items=self._total,
            active_items=self._active,
            obsolete_items=self._total - self._active,
            window_items=self._windows,
            estimated_tokens=self._tokens,
            all_tokens=self._all_tokens,
        )


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
        self.calls, self.folds = Calls(), Folds()
        self.steps: deque[Step] = deque(maxlen=UNDO_STEPS)
        """The changes that `undo` can revert, oldest first."""
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
        """Whether a new user message starts a new turn: all is answered, calls too."""
        newest = self.turn.newest
        if newest is None or self.under_way or self.calls.unanswered:
            return False
        return newest.type is not ItemType.USER

    @property
    def live_references(self) -> Sequence[ContextItem]:
        """The window items that are not hidden."""
        return self.turn.references

    def compose(self, limit: int | None = None) -> Composition:
        """Compose the next request from the current state."""
        if self.priced is not None:
            return self.priced.compose(self.seq, self.generation, limit)
        active = self.active.view()
        return compose_in_place(active, self._windows, self.meter, self.seq, self.generation)

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
        if self.priced is None or item.type is ItemType.WINDOW:
            return self.meter.size(item, self._windows)
        return self.priced.figures.tokens_of(item)

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

    # --- checkpoints -------------------------------------------------------------------

    def load(
        self,
        seq: int,
        cut: int,
        *,
        rest: Sequence[int],
        folds: Mapping[str, str],
        undo_steps: Iterable[Step],
        placement: Mapping[str, Any] | None,
    ) -> None:
        """Restore the figures of a checkpoint, after `enter` has added its items."""
        if self.priced is not None:
            self.priced.load(placement)
        self.seq, self.cut = seq, cut
        self.tally.assume(*rest)
        self.folds.restore(folds)
        self.steps.extend(undo_steps)
        self.calls.end_turn()

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
        """Check that an edit would not remove thinking that the next request must contain."""
        is_new = item.stage is Stage.NEW and not item.hidden
        if is_new and any(block.get("type") in THINKING for block in item.blocks or ()):
            raise InvalidItemError("This answer has thinking that goes with the next request. "
                                   "Edit it after that.")  # fmt: skip

    def step(self, items: Sequence[ContextItem], fields: Mapping[str, Any]) -> None:
        """Apply an edit that a person made: `undo` reverts it as one step."""
        self.steps.append(
            [Before(item, {name: getattr(item, name) for name in _FIELDS}) for item in items]
        )
        for item in items:
            assign(item, **fields)
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
        if trigger != "strategy":
            self.steps.append(Compaction(summary, tuple(items)))
            while sum(isinstance(step, Compaction) for step in self.steps) > UNDO_COMPACTIONS:
                self.steps.popleft()
        self.set(items, {"hidden": "compacted"})
        self.set([summary], {"hidden": None})

    def set(self, items: Sequence[ContextItem], fields: Mapping[str, Any]) -> None:
        """Change items without an undo step."""
        for item in items:
            assign(item, **fields)
        self.note(items)

    def undo(self) -> list[ContextItem]:
        """Undo the last step and return the items that it had changed, none if there is no step."""
        if not self.steps:
            return []
        step = self.steps.pop()
        if isinstance(step, Compaction):
            assign(step.summary, hidden="dropped")
            for item in step.items:
                if item.hidden == "compacted":
                    assign(item, hidden=None)
        else:
            for item, fields in step:
                gone = item.hidden in _BY_ITSELF and fields["hidden"] is None
                stays = gone or item.hidden == "closed"
                assign(item, **{**fields, "hidden": item.hidden if stays else fields["hidden"]})
        items = items_of(step)
        self._keep_out(items)
        self.note(items)
        return items

    def _keep_out(self, items: Sequence[ContextItem]) -> None:
        """Hide items before the cut again unless pinned, and results of hidden answers."""
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
        """Give all open items their final form; early, the newest step stays, to be sent again."""
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
