"""Usage of a session's requests, as its log has it: tokens, dollars, and sweeps.

Another program may have written a log, so a figure of another form counts as missing.
"""

import math
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from contextui.plain_file import open_plain
from contextui.session.entry import Entry
from contextui.session.lines import lines
from contextui.session.reader import entries, marks_of
from contextui.tokens import Usage

_HIGHEST = 2**53  # of a figure


@dataclass(frozen=True, slots=True)
class Sweep:
    """A request was rewritten after a number of blocks; None for what the log does not say."""

    reason: str = ""
    cause: str = ""
    after: int | None = None
    rent: float | None = None
    price: float | None = None
    saved: int | None = None
    rewritten: int | None = None
    sent: datetime | None = field(default=None, compare=False)


class PlannedRequest(NamedTuple):
    """How a request was planned; without a cache that it uses, sweeping is free."""

    number: int | None = None
    outdated: int | None = None
    sweep: Sweep | None = None
    uses_cache: bool = True


def planned(plan: object, sent: datetime | None = None) -> PlannedRequest | None:
    """Parse the plan of a request; None if it has none, as in logs of older versions."""
    if not isinstance(plan, Mapping):
        return None
    found = plan.get("sweep")
    sweep = _sweep(found, sent) if isinstance(found, Mapping) else None
    is_cached = any(_count(plan, name) for name in ("read", "written"))
    uses_cache = is_cached or not _count(plan, "plain")
    return PlannedRequest(_count(plan, "number"), _count(plan, "outdated"), sweep, uses_cache)


def _sweep(facts: Mapping[str, Any], sent: datetime | None) -> Sweep:
    reason, cause = (facts.get(name) for name in ("reason", "cause"))
    return Sweep(
        reason if isinstance(reason, str) else "",
        cause if isinstance(cause, str) else "",
        _count(facts, "after"),
        _figure(facts, "rent"),
        _figure(facts, "price"),
        _count(facts, "saved"),
        _count(facts, "rewritten"),
        sent,
    )


def usage_of(figures: Mapping[str, Any]) -> Usage:
    """Parse the usage of a request; what is missing counts as 0."""
    counts = {name: _count(figures, name) or 0 for name in Usage().as_dict()}
    return Usage(**counts, cost=_figure(figures, "cost_usd"))


_SEQ = b'"data":{"seq":'
_ID = len(b'{"uuid":"')


class Scanned(NamedTuple):
    """An entry that `scan` found, the seq of the last item before it, and those of all by id."""

    entry: Entry
    seq: int
    seqs: Mapping[str, int]


def scan(path: Path, *kinds: str) -> Iterator[Scanned]:
    """Yield the system entries of some kinds in a log; damaged lines are skipped.

    Of an item, nothing but its id and its seq is read. Without a readable log, nothing is yielded.
    """
    marks, seqs, seq = marks_of(kinds), dict[str, int](), 0
    with suppress(OSError), open_plain(path) as file:
        for line in lines(file):
            text, place = line.text, line.text.rfind(_SEQ)
            if place >= 0:
                with suppress(ValueError):
                    end = place + len(_SEQ)
                    seq = int(text[end : end + 20].split(b",")[0].split(b"}")[0])
                    seqs[text[_ID : text.index(b'"', _ID)].decode("ascii", "replace")] = seq
            elif any(mark in text for mark in marks):
                yield from (Scanned(entry, seq, seqs) for _, entry in entries([line]))


def cost_of_session(path: Path) -> float | None:
    """Return what the requests in a log cost in dollars; None if no price was known."""
    found = (usage_of(scanned.entry.data["usage"]) for scanned in scan(path, "usage"))
    return sum(found, Usage()).cost


def _count(facts: Mapping[str, Any], name: str) -> int | None:
    value = facts.get(name)
    return value if type(value) is int and 0 <= value <= _HIGHEST else None


def _figure(facts: Mapping[str, Any], name: str) -> float | None:
    value = facts.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if math.isfinite(value) and abs(value) <= _HIGHEST else None
