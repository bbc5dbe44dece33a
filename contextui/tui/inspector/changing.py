"""Changing items by a key: twice if the price is high, and with a line that says what undoes it."""

from collections.abc import Callable
from typing import NamedTuple

from contextui.context.item import ContextItem, ItemType
from contextui.context.manager import ContextManager
from contextui.errors import ContextUIError
from contextui.text import one_line
from contextui.tui.cells import short
from contextui.tui.inspector.prices import Offer
from contextui.tui.inspector.spans import Row
from contextui.tui.words import Words
from contextui.windowing.snapshot import Lod

_DONE = {
    "drop": "Dropped {seq}. u undoes.",
    "restore": "Restored {seq}. u undoes.",
    "pin": "Pinned {seq}. u undoes.",
    "unpin": "Unpinned {seq}. u undoes.",
    "edit": "Edited {seq}. u undoes.",
    "unfold": "{seq} is shown in full. u undoes.",
    "fold": "{seq} is shown as its gist. u undoes.",
}
_DONE_LATER = {
    "drop": "Dropped {seq} when this turn ends. u undoes.",
    "restore": "Restored {seq} when this turn ends. u undoes.",
    "edit": "Edited {seq} when this turn ends. u undoes.",
    "unfold": "{seq} is shown in full when this turn ends. u undoes.",
    "fold": "{seq} is shown as its gist when this turn ends. u undoes.",
}
_AGAIN = {
    "drop": "d again drops it.",
    "restore": "r again restores it.",
}


class Note(NamedTuple):
    """What came of a key, in one line."""

    text: str
    is_warning: bool = False


class Changing:
    """Carries out what keys ask for.

    Args:
        context: The items.
        words: The language to tell it in.
        recall: Has an item come back into the context that only the log has.
        cached: Tells how many tokens come from the cache as things stand.
    """

    def __init__(
        self,
        context: ContextManager,
        words: Words,
        recall: Callable[[ContextItem], None],
        cached: Callable[[], int] = lambda: 0,
    ) -> None:
        self._context, self._words, self._cached = context, words, cached
        self._recall = recall
        self._asked: tuple[str, str] | None = None

    def forget(self) -> None:
        """What was asked once counts no more: the person went elsewhere."""
        self._asked = None

    def press(self, offer: Offer, row: Row) -> Note:
        """Carry an offer out, unless its price is such that it must be asked for twice."""
        asked, self._asked = self._asked, None
        is_dear = offer.price is None or offer.price.is_dear
        if is_dear and asked != (offer.key, row.key):
            self._asked = (offer.key, row.key)
            return Note(self._again(offer), is_warning=True)
        try:
            if offer.lod is not None:
                return self._show_at(row, offer.lod)
            return self._change(offer.name, row)
        except ContextUIError as problem:
            return Note(one_line(str(problem), 160), is_warning=True)

    def edit(self, item: ContextItem, text: str) -> Note:
        """Give an item other words.

        Raises:
            InvalidItemError: It cannot have these.
        """
        self._context.edit(item.id, text)
        return self._told("edit", item)

    def undo(self) -> Note:
        """Take the last change back, and tell what that costs."""
        before = self._cached()
        items = self._context.undo()
        if not items:
            return Note(self._words("There is nothing to take back."))
        seqs = ", ".join(f"{item.seq:04}" for item in items)
        lost = before - self._cached()
        if lost > 0:
            words = self._words("Undone: {seq}. {tokens} are written anew.", seq=seqs,
                                tokens=short(lost))  # fmt: skip
            return Note(words)
        return Note(self._words("Undone: {seq}.", seq=seqs))

    def _change(self, name: str, row: Row) -> Note:
        if row.log is not None:
            self._recall(row.item)
        change = {
            "drop": self._context.drop,
            "restore": self._context.restore,
            "pin": self._context.pin,
            "unpin": self._context.unpin,
        }[name]
        change(row.item.id)
        return self._told(name, self._context.get(row.item.id))

    def _show_at(self, row: Row, lod: Lod) -> Note:
        if row.item.type is not ItemType.WINDOW:
            is_whole = lod is Lod.FULL
            (self._context.unfold if is_whole else self._context.fold)(row.item.id)
            return self._told("unfold" if is_whole else "fold", row.item)
        windows = self._context.windows
        if windows is None:
            return Note("")
        windows.set_lod(row.item.content, lod)
        words = self._words
        told = "{window} shows {lod} now. + shows more, - less."
        return Note(words(told, window=row.item.content, lod=words(lod.value)))

    def _told(self, name: str, item: ContextItem) -> Note:
        later = item.held is not None and name in _DONE_LATER
        told = (_DONE_LATER if later else _DONE)[name]
        return Note(self._words(told, seq=f"{item.seq:04}"))

    def _again(self, offer: Offer) -> str:
        if offer.lod is None:
            return self._words(_AGAIN[offer.name])
        lod = self._words(offer.lod.value)
        return self._words("{key} again shows {lod}.", key=offer.key, lod=lod)
