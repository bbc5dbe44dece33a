"""`ContextReplay`: load and restore a context from a session's log, without events."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from contextui.context.changes import Step
from contextui.context.item import ContextItem
from contextui.context.manager import ContextManager
from contextui.events import Trigger


class ContextReplay:
    """Applies logged changes to a context.

    The changes were permitted when they were logged: nothing is checked here, and no event is
    emitted.
    """

    def __init__(self, context: ContextManager) -> None:
        self._ledger = context.ledger

    # --- checkpoints -------------------------------------------------------------------

    @property
    def undo_steps(self) -> Sequence[Step]:
        """The changes that `undo` can revert, oldest first."""
        return self._ledger.changes.steps

    def counted_tokens(self, item: ContextItem) -> int:
        """The tokens of an item that the stats include."""
        return self._ledger.tally.tokens_of(item)

    def items_sent(self) -> Iterable[ContextItem]:
        """The items that the last request contained something of, if that must be saved."""
        priced = self._ledger.priced
        return priced.items_sent() if priced is not None else ()

    def placement_facts(self, item_ids: Collection[str]) -> dict[str, Any] | None:
        """What a checkpoint with these items keeps of what was sent."""
        priced = self._ledger.priced
        return priced.save(item_ids) if priced is not None else None

    def begin(self) -> None:
        """Begin to load a checkpoint: `insert` its items, then `load` the rest."""
        if self._ledger.priced is not None:
            self._ledger.priced.hold()

    def load(
        self,
        seq: int,
        cut: int,
        *,
        rest: Sequence[int],
        folds: Mapping[str, str],
        undo_steps: Iterable[Step],
        placement: Mapping[str, Any] | None = None,
    ) -> None:
        """Restore the figures of a checkpoint, after `insert` has added its items."""
        ledger = self._ledger
        if ledger.priced is not None:
            ledger.priced.load(placement)
        ledger.seq, ledger.cut = seq, cut
        ledger.tally.assume(*rest)
        ledger.folds.restore(folds)
        ledger.changes.steps.extend(undo_steps)
        ledger.calls.end_turn()

    # --- entries -----------------------------------------------------------------------

    def insert(self, item: ContextItem, seq: int) -> None:
        """Insert an item at this seq."""
        self._ledger.enter(item, seq)

    def add(self, item: ContextItem, seq: int) -> None:
        """Insert an item at this seq; a second reference to a window hides the older one."""
        self._ledger.replace_older(item)
        self._ledger.enter(item, seq)

    def set(self, items: Sequence[ContextItem], fields: Mapping[str, Any]) -> None:
        """Change items without an undo step."""
        self._ledger.set(items, fields)

    def edit(self, items: Sequence[ContextItem], fields: Mapping[str, Any]) -> None:
        """Change items as one step for `undo`."""
        self._ledger.step(items, fields)

    def undo(self) -> None:
        """Undo the last step."""
        self._ledger.undo()

    def compact(self, items: Sequence[ContextItem], summary: ContextItem, trigger: Trigger) -> None:
        """Replace items with a summary that was inserted before."""
        self._ledger.compact(items, summary, trigger)

    def set_cut(self, cut: int) -> None:
        """Move the cut: conversation before this seq was trimmed."""
        self._ledger.cut = cut

    def mark_sent(
        self, through_seq: int, waiting_ids: Iterable[str], plan: Mapping[str, Any] | None = None
    ) -> None:
        """Mark all items up to this seq as sent, except those that had to wait."""
        self._ledger.fix(through_seq, waiting_ids, facts=plan)

    def end_turn(self, *, early: bool) -> None:
        """End the turn; early, its newest step stays open."""
        self._ledger.finish(early=early)
