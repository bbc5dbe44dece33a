"""What stands for what: gists for whole texts, summaries for items, newer items for older ones."""

from contextui.context.item import ContextItem, ItemType, Stage
from contextui.context.ledger import Ledger
from contextui.tokens import TokenCounter
from contextui.tui.words import Words

_LONG = 20_000  # characters from which on tokens are estimated: nobody waits for a count
_BY_WHOM = {
    "dropped": "dropped by you",
    "trimmed": "left out: no room",
    "closed": "closed with its window",
}


def is_gist(item: ContextItem) -> bool:
    """Whether the model reads a gist in the place of the whole text."""
    return has_gist(item) and not item.whole


def has_gist(item: ContextItem) -> bool:
    """Whether a gist could stand in the place of the whole text."""
    return item.type is ItemType.TOOL and item.stage is Stage.FINAL and bool(item.gist)


def replaced(item: ContextItem, ledger: Ledger) -> list[ContextItem]:
    """The items that an item stands for, as far as they are known here."""
    known = map(ledger.items.get, ledger.folds.items_of(item.id))
    return [one for one in known if one is not None]


def standing_for(item: ContextItem, ledger: Ledger) -> ContextItem | None:
    """The item that stands in the place of one that is left out, if any does."""
    if item.hidden == "compacted":
        return ledger.items.get(ledger.folds.summary_of(item.id) or "")
    if item.hidden == "replaced":
        return ledger.references[item.content][-1]
    return None


def state(item: ContextItem, ledger: Ledger, words: Words) -> str:
    """What a list says of an item beside its words: why it is left out, what it stands for."""
    other = standing_for(item, ledger)
    if other is not None:
        said = "in summary {seq}" if item.hidden == "compacted" else "replaced by {seq}"
        return words(said, seq=f"{other.seq:04}")
    if item.hidden:
        return words(item.hidden)
    if items := replaced(item, ledger):
        return counted(len(items), words)
    return words("gist") if is_gist(item) else ""


def fate(item: ContextItem, ledger: Ledger, counter: TokenCounter, words: Words) -> str:
    """The same, for whoever looks closer."""
    if item.hidden == "dropped" and item.type is ItemType.SYSTEM:
        return words("dropped" if item.is_summary else "replaced")  # by undo, by a newer prompt
    if item.hidden in _BY_WHOM:
        return words(_BY_WHOM[item.hidden])
    if item.hidden or not is_gist(item):
        return state(item, ledger, words)
    whole, gist = (tokens(one, counter) for one in (item.content, item.gist or ""))
    return words("gist of {whole} → {gist} tokens", whole=whole, gist=gist)


def both_texts(item: ContextItem, counter: TokenCounter, words: Words) -> str:
    """The gist that the model reads, and the whole text that it stands for."""
    gist, whole = item.gist or "", item.content
    heads = (
        words("── the gist, which the model reads: {tokens} tokens", tokens=tokens(gist, counter)),
        words("── the whole text: {tokens} tokens", tokens=tokens(whole, counter)),
    )
    return f"{heads[0]}\n\n{gist}\n\n{heads[1]}\n\n{whole}"


def counted(count: int, words: Words) -> str:
    """For how many items something stands."""
    return words("for 1 item") if count == 1 else words("for {count} items", count=count)


def size(text: str, counter: TokenCounter) -> int:
    """What a text costs, as the provider will probably count it."""
    count = counter.count if len(text) <= _LONG else counter.estimate
    return counter.calibrated(count(text))


def tokens(text: str, counter: TokenCounter) -> str:
    """The same in words."""
    return f"{'~' if len(text) > _LONG else ''}{size(text, counter):,}"
