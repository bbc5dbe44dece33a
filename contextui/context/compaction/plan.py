"""What a compaction takes away, and what it leaves."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from contextui.context.item import ContextItem, is_conversation
from contextui.context.manager import ContextManager
from contextui.context.trim import ROUNDS_KEPT
from contextui.context.units import Unit, rounds, units

RETAIN = 0.2
"""The share of the newest messages that stays beside a summary."""

FALLBACK = 0.3
"""The share that stays where there is no summary."""

SUMMARY_SHARE = 8
"""The part of the room that a summary may take: an eighth."""

_COMFORT = 0.5  # of the room: more of the share does not stay, so that many turns have room
_MOST = 0.75  # of the room: more of the last rounds does not stay, or it would soon be due again


@dataclass(frozen=True, slots=True)
class Plan:
    """What goes and what stays of the conversation, oldest first.

    Attributes:
        goes: The items that a summary will stand for, an earlier summary among them.
        stays: The items of the conversation that stay as they are.
        tokens: What those that go cost now.
        stays_tokens: What those that stay cost.
    """

    goes: tuple[ContextItem, ...]
    stays: tuple[ContextItem, ...]
    tokens: int
    stays_tokens: int

    @property
    def messages(self) -> int:
        """How many messages of the conversation there are."""
        return len(self.stays) + sum(map(is_conversation, self.goes))


def plan(context: ContextManager, share: float = RETAIN, room: int | None = None) -> Plan:
    """Decide what goes.

    The newest messages stay, as many as the share says and at least the last three rounds. Fewer
    stay if the request would be too large otherwise, but always the newest. Calls stay with their
    results, and what is pinned stays, wherever it stands.

    Args:
        context: The conversation.
        share: The part of all messages that is to stay.
        room: The tokens, as they are counted here, that a request may have.
    """
    active, size = list(context.get_active()), context.ledger.size
    said = units(item for item in active if is_conversation(item))
    earlier = [item for item in active if item.is_summary and not item.pinned]
    costs = [sum(map(size, unit.items)) for unit in said]
    kept = max(_share(said, share), _last_rounds(said))
    if room is not None:
        fixed = context.outlook().tokens - sum(map(size, earlier)) - sum(costs)
        kept = _capped(said, costs, kept, fixed + room // SUMMARY_SHARE, room)
    older = said[: len(said) - kept]
    goes = [item for unit in older if not unit.pinned for item in unit.items]
    gone = {item.id for item in goes}
    stays = [item for unit in said for item in unit.items if item.id not in gone]
    folded = sorted([*earlier, *goes], key=lambda item: item.seq) if goes else []
    return Plan(tuple(folded), tuple(stays), sum(map(size, folded)), sum(map(size, stays)))


def _share(said: Sequence[Unit], share: float) -> int:
    """How many of the last units have so large a share of the messages."""
    # As floats, 0.2 * 35 is 7.000000000000001; the written number is what is meant.
    wanted = math.ceil(Fraction(str(share)) * sum(len(unit.items) for unit in said))
    kept = found = 0
    while found < wanted:
        kept += 1
        found += len(said[-kept].items)
    return kept


def _last_rounds(said: Sequence[Unit]) -> int:
    return sum(len(one) for one in rounds(said)[-ROUNDS_KEPT:])


def _capped(said: Sequence[Unit], costs: Sequence[int], wanted: int, fixed: int, room: int) -> int:
    """How many of the last units there is room for beside what is fixed; one at least."""
    floor = _last_rounds(said)
    pinned = sum(cost for unit, cost in zip(said, costs, strict=True) if unit.pinned)
    used, kept = fixed + pinned, 0
    for unit, cost in zip(reversed(said), reversed(costs), strict=True):
        used += 0 if unit.pinned else cost
        limit = _MOST if kept < floor else _COMFORT
        if kept == wanted or (kept and used > limit * room):
            break
        kept += 1
    return kept
