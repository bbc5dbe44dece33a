"""Sweeps: when requests stopped carrying outdated content, why, and what that cost."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from contextui.words import Words, msg

_REASONS = {
    "price": msg("keeping it cost more"),
    "cold": msg("the cache had expired"),
    "asked": msg("you asked for it"),
    "room": msg("to make room"),
    "closed": msg("{cause} was closed"),
    "dropped": msg("you dropped {cause}"),
    "edited": msg("you edited {cause}"),
    "restored": msg("you restored {cause}"),
    "compacted": msg("earlier turns were summarized"),
    "trimmed": msg("no room for earlier turns"),
    "lowered": msg("{cause} shows less, to make room"),
    "system": msg("the system prompt changed"),
}


class Sweep(NamedTuple):
    """A sweep, in our own token count.

    Attributes:
        reason: Why it was made, as the log says it.
        cause: The item or window that was the cause, as lists name it.
        removed: The tokens that requests have no more.
        rewritten: The tokens that had to be written to the cache again.
        rent: The cost of having carried what was removed, and of carrying it on for a while.
        price: The cost of writing again, in the same unit.
        when: The time, or the day if it was not today.
    """

    reason: str
    cause: str = ""
    removed: int = 0
    rewritten: int = 0
    rent: float = 0.0
    price: float = 0.0
    when: str = ""


def sweep_of(
    plan: Mapping[str, Any] | None,
    seq_of: Callable[[str], int | None],
    sent: datetime | None = None,
) -> Sweep | None:
    """Return the sweep that a request was planned with, None if there was none or no cache.

    Args:
        plan: The facts of the request.
        seq_of: Returns the seq of an item, None if there is no such item.
        sent: When the request was sent; None for now.
    """
    facts = plan.get("sweep") if isinstance(plan, Mapping) else None
    if not isinstance(facts, Mapping) or not uses_cache(plan):
        return None
    cause, seq = str(facts.get("cause", "")), seq_of(str(facts.get("cause", "")))
    return Sweep(
        str(facts.get("reason", "")),
        f"{seq:04}" if seq is not None else cause,
        round(_figure(facts, "saved")),
        round(_figure(facts, "rewritten")),
        _figure(facts, "rent"),
        _figure(facts, "price"),
        _short(sent, datetime.now().astimezone()),
    )


def _short(time: datetime | None, now: datetime) -> str:
    time = (time or now).astimezone()
    return time.strftime("%H:%M" if time.date() == now.date() else "%m-%d")


def uses_cache(plan: Mapping[str, Any] | None) -> bool:
    """Return whether a request reads from a cache or writes to one; without, sweeping is free."""
    if not isinstance(plan, Mapping) or not _figure(plan, "plain"):
        return True
    return bool(_figure(plan, "read") or _figure(plan, "written"))


def outdated_in(plan: Mapping[str, Any] | None) -> int:
    """Return the tokens that a request carried although they were outdated."""
    return round(_figure(plan, "outdated")) if isinstance(plan, Mapping) else 0


def _figure(facts: Mapping[str, Any], name: str) -> float:
    value = facts.get(name)
    return float(value) if isinstance(value, int | float) else 0.0


def reason_text(sweep: Sweep, words: Words) -> str:
    """Return why a sweep was made, in words."""
    reason = _REASONS.get(sweep.reason)
    return words(reason, cause=sweep.cause) if reason else sweep.reason
