"""Sweeps: when requests stopped carrying outdated content, why, and what that cost."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from contextui.session.usage import PlannedRequest, Sweep
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


def sweep_of(plan: PlannedRequest | None, seq_of: Callable[[str], int | None]) -> Sweep | None:
    """Return the sweep of a request, None if there was none or no cache.

    Args:
        plan: How the request was planned.
        seq_of: Returns the seq of an item, None if there is no such item: lists name it so.
    """
    if plan is None or plan.sweep is None or not plan.uses_cache:
        return None
    seq = seq_of(plan.sweep.cause)
    return plan.sweep if seq is None else replace(plan.sweep, cause=f"{seq:04}")


def time_of(sweep: Sweep) -> str:
    """Return the time at which a sweep was sent, or the day if that was not today."""
    now = datetime.now().astimezone()
    sent = (sweep.sent or now).astimezone()
    return sent.strftime("%H:%M" if sent.date() == now.date() else "%m-%d")


def reason_text(sweep: Sweep, words: Words) -> str:
    """Return why a sweep was made, in words."""
    reason = _REASONS.get(sweep.reason)
    return words(reason, cause=sweep.cause) if reason else sweep.reason
