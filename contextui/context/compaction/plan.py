"""What a compaction takes away, and what it leaves."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from contextui.context.item import ContextItem, is_conversation
from contextui.context.manager import ContextManager
from contextui.context.trim import ROUNDS_KEPT
from contextui.context.units import Unit, rounds, units

RETAIN = 0.2
"""The share of the newest messages that stays beside a summary."""

FALLBACK = 0.3
"""The share that stays where there is no summary."""

_ROOM = 0.5  # of the budget that what stays may take


@dataclass(frozen=True, slots=True)
class Plan:
    """What goes and what stays of the conversation, oldest first.

    Attributes:
        goes: The items that a summary will stand for, an earlier summary among them.
        stays: The items of the conversation that stay as they are.
        tokens: What those that go cost now.
    """

    goes: tuple[ContextItem, ...]
    stays: tuple[ContextItem, ...]
    tokens: int


def plan(context: ContextManager, share: float = RETAIN, budget: int | None = None) -> Plan:
    """Decide what goes.

    The newest messages stay, as many as the share says and at least the last three rounds; fewer
    if they would fill more than half of the budget. Calls stay with their results, and what is
    pinned stays, wherever it stands.
    """
    active = list(context.get_active())
    said = units(item for item in active if is_conversation(item))
    size = context.ledger.size
    kept = _newest(said, math.ceil(share * len(said)), size, budget)
    goes = [item for unit in said[: len(said) - kept] if not unit.pinned for item in unit.items]
    earlier = [item for item in active if item.is_summary and not item.pinned]
    gone = {item.id for item in goes}
    stays = [item for unit in said for item in unit.items if item.id not in gone]
    everything = sorted([*earlier, *goes], key=lambda item: item.seq) if goes else []
    return Plan(tuple(everything), tuple(stays), sum(map(size, everything)))


def _newest(
    said: Sequence[Unit], wanted: int, size: Callable[[ContextItem], int], budget: int | None
) -> int:
    """How many of the last units stay."""
    gathered = rounds(said)
    floor = sum(len(one) for one in gathered[-ROUNDS_KEPT:])
    kept = min(max(wanted, floor), len(said))
    if budget is None:
        return kept
    least = len(gathered[-1]) if gathered else 0
    cost = [sum(map(size, unit.items)) for unit in said]
    while kept > least and sum(cost[len(said) - kept :]) > budget * _ROOM:
        kept -= 1
    return kept
