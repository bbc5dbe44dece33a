"""Snapshots of a context: its items, the next request, cached messages, and tokens.

Taking a snapshot changes nothing and waits for nothing.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import takewhile

from contextui.context.item import ItemType, ItemView
from contextui.context.manager import ContextManager
from contextui.context.messages import Composition, Piece
from contextui.context.placement.items import PlacedBlock
from contextui.context.placement.slots import HEAD
from contextui.tui.inspector.budget import Shares


@dataclass(frozen=True, slots=True)
class ContextSnapshot:
    """What the inspector shows: the items, the next request, and the tokens of its parts."""

    context: ContextManager
    items: ItemView
    composition: Composition  # the next request
    tools: int  # tokens of their declarations
    shares: Shares
    blocks: Sequence[PlacedBlock]  # of windows, and those that are outdated; only by price
    knows_cache: bool  # not for an earlier turn, nor for a model without a cache

    @property
    def cached(self) -> int:
        plan = self.composition.plan
        return plan.cached if plan is not None and self.knows_cache else 0

    @property
    def cached_tokens(self) -> int:
        plan = self.composition.plan
        return self.provider(plan.cached_tokens) if plan is not None else 0

    def provider(self, counted: int) -> int:
        return self.context.counter.calibrated(counted)


def snapshot_of(
    context: ContextManager, tools: int = 0, *, knows_cache: bool = False
) -> ContextSnapshot:
    """Take a snapshot of a context."""
    composition = context.outlook()
    blocks = context.placed(composition)
    windows = sum(block.tokens for block in blocks if block.text and not block.reason)
    if composition.plan is None:  # windows in place are not blocks of their own
        windows = sum(map(context.item_tokens, context.live_window_items))
    old = [block for block in blocks if block.reason]
    outdated = sum(one.tokens for one in old)
    system = sum(piece.tokens for piece in head_of(composition))
    system -= sum(one.tokens for one in old if one.item == HEAD)
    provider = context.counter.calibrated
    shares = Shares(
        provider(system + tools),
        provider(max(composition.tokens - system - windows - outdated, 0)),
        provider(windows),
        provider(outdated),
    )
    knows_cache = knows_cache and composition.plan is not None
    return ContextSnapshot(
        context, context.get_all(), composition, tools, shares, blocks, knows_cache
    )


def head_of(composition: Composition) -> Iterable[Piece]:
    """Return the messages with the system prompt, the project text and the summaries."""
    return takewhile(
        lambda piece: piece.shown.items and piece.shown.items[0].type is ItemType.SYSTEM,
        composition.messages.pieces(),
    )
