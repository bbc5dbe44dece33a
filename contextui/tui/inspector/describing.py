"""One item in words and figures, for a closer look."""

from collections.abc import Callable
from dataclasses import dataclass

from contextui.text import one_line
from contextui.tui.cells import short
from contextui.tui.inspector.labels import origin, text_of, title
from contextui.tui.inspector.prices import Prices
from contextui.tui.inspector.spans import Fold, Row
from contextui.tui.inspector.standing import fate
from contextui.tui.words import Words

_OLDER = (
    "They were left out before the last break. Only the log has them: they can be read, found, "
    "copied and restored."
)

TurnOf = Callable[[int], int | None]
"""Tells the turn that an item of a seq belongs to."""


@dataclass(frozen=True, slots=True)
class Description:
    """What there is to say of one item.

    Attributes:
        title: What it is.
        tokens: What it costs.
        origin: Who it comes from, in which turn, and how it goes to the model.
        text: What the model reads of it.
    """

    title: str = ""
    tokens: str = ""
    origin: str = ""
    text: str = ""


def describe(row: Row, prices: Prices, turn_of: TurnOf, words: Words) -> Description:
    """Describe the item of a row."""
    look = prices.look
    context = row.home(look.context)
    ledger = context.ledger
    counted = row.tokens if row.tokens is not None else ledger.size(row.item)
    told = [fate(row.item, ledger, look.context.counter, words)]
    if look.knows_cache and not row.item.hidden:
        told.append(words("from cache" if _is_cached(row, prices) else "sent anew"))
    return Description(
        title(row, ledger.calls, words),
        short(look.provider(counted)),
        origin(row, turn_of(row.item.seq), told, words),
        text_of(row, context.windows),
    )


def describe_fold(fold: Fold, words: Words) -> Description:
    """Describe what only the log has."""
    told = words(_OLDER)
    if fold.reason:
        told = words("The log cannot be read: {reason}", reason=one_line(fold.reason, 200))
    return Description(words("Earlier items"), "", words("only in the log"), told)


def _is_cached(row: Row, prices: Prices) -> bool:
    look = prices.look
    if row.copy is not None:
        cached = look.pieces(look.first_open, look.cached)
        return any(row.copy in piece.shown.copies for piece in cached)
    asker = look.context.ledger.calls.asker(row.item)
    return prices.rewritten(asker.seq) > 0
