"""Item changes by key: drop, restore, pin, fold, edit and undo, with confirmation if costly."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static, TextArea

from contextui.context.item import ContextItem, ItemType
from contextui.context.manager import ContextManager
from contextui.errors import ContextUIError
from contextui.text import for_terminal, one_line, turn_cost
from contextui.tui.footer import KeyBar
from contextui.tui.inspector.prices import Offer, turns
from contextui.tui.inspector.rows import ItemRow
from contextui.tui.lines import line, short
from contextui.windowing.snapshot import Lod
from contextui.words import Words, msg

_DONE = {
    "drop": msg("Dropped {seq}. u undoes."),
    "restore": msg("Restored {seq}. u undoes."),
    "pin": msg("Pinned {seq}. u undoes."),
    "unpin": msg("Unpinned {seq}. u undoes."),
    "edit": msg("Edited {seq}. u undoes."),
    "unfold": msg("{seq} is shown in full. u undoes."),
}
_DONE_LATER = {
    "drop": msg("Drops {seq} after the turn. u undoes."),
    "restore": msg("Restores {seq} after the turn. u undoes."),
    "edit": msg("Edits {seq} after the turn. u undoes."),
    "unfold": msg("{seq}: in full after the turn. u undoes."),
}
_AGAIN = {
    "drop": msg("d again drops it."),
    "restore": msg("r again restores it."),
    "sweep": msg("d again sweeps all that is outdated."),
}
_DEAR = msg("Pays off after {turns} turns.")
_NEVER = msg("Rewrites {tokens} tokens, saves none.")
_NOT_COUNTED = msg("Its cost is not counted yet.")
_MOST_LISTED = 5  # items that are listed one by one


class Note(NamedTuple):
    """The outcome of a key, in one line."""

    text: str
    is_warning: bool = False


def listed(items: Sequence[ContextItem], words: Words) -> str:
    """Return the numbers of items in one line; of many, how many there are.

    Example:
        >>> listed(items, Words("en"))
        '45 items, 0002 to 0046'
    """
    seqs = sorted({item.seq for item in items})
    if len(seqs) <= _MOST_LISTED:
        return ", ".join(f"{seq:04}" for seq in seqs)
    return words(
        "{count} items, {first} to {last}",
        count=len(seqs),
        first=f"{seqs[0]:04}",
        last=f"{seqs[-1]:04}",
    )


class Changing:
    """Applies the changes that keys request."""

    def __init__(
        self,
        context: ContextManager,
        words: Words,
        recall: Callable[[ContextItem], None],
        cached: Callable[[], int] = lambda: 0,
        cost: Callable[[int], float | None] = lambda _: None,
    ) -> None:
        self._context, self._words, self._cached, self._cost = context, words, cached, cost
        self._recall = recall
        self.asked: tuple[str, str] | None = None  # the key and the row that need a second press
        self.has_swept = False
        """Whether the last key was a sweep: the same key again must not drop something else."""

    def press(self, offer: Offer, row: ItemRow) -> Note:
        """Apply an offer; a costly one needs a second press."""
        asked, self.asked = self.asked, None
        is_dear = offer.price is None or offer.price.is_dear
        is_dear |= self.has_swept and offer.name == "drop"
        self.has_swept = False
        if is_dear and asked != (offer.key, row.key):
            self.asked = (offer.key, row.key)
            return Note(self._again(offer), is_warning=True)
        try:
            if offer.lod is not None:
                return self._show_at(row, offer.lod)
            if offer.name == "sweep":
                self._context.sweep()
                self.has_swept = True
                words = msg("Everything outdated is left out of the next request.")
                return Note(self._words(words))
            return self._change(offer.name, row)
        except ContextUIError as problem:
            return Note(one_line(self._words(problem), 160), is_warning=True)

    def edit(self, item: ContextItem, text: str) -> Note:
        """Replace the text of an item, or raise an InvalidItemError."""
        self._context.edit(item.id, text)
        return self._done("edit", item)

    def undo(self) -> Note:
        before = self._cached()
        items = self._context.undo()
        if not items:
            return Note(self._words("Nothing to undo."))
        seqs = listed(items, self._words)
        lost = before - self._cached()
        if lost > 0:
            words = self._words("Undone: {seq}. {tokens} tokens rewritten.", seq=seqs,
                                tokens=short(lost))  # fmt: skip
            return Note(words + self.cost_text(lost))
        return Note(self._words("Undone: {seq}.", seq=seqs))

    def cost_text(self, once: int) -> str:
        dollars = self._cost(once) if once > 0 else None
        return f" ({turn_cost(dollars)})" if dollars else ""

    def _change(self, name: str, row: ItemRow) -> Note:
        if row.log is not None:
            self._recall(row.item)
        getattr(self._context, name)(row.item.id)  # drop, restore, pin or unpin
        return self._done(name, self._context.get(row.item.id))

    def _show_at(self, row: ItemRow, lod: Lod) -> Note:
        if row.item.type is not ItemType.WINDOW:
            self._context.unfold(row.item.id)
            return self._done("unfold", row.item)
        windows = self._context.windows
        assert windows is not None, "a level is offered for an open window"
        windows.set_lod(row.item.content, lod)
        words = self._words
        template = msg("{window} shows {lod} now. + shows more, - less.")
        return Note(words(template, window=row.item.content, lod=words(lod.value)))

    def _done(self, name: str, item: ContextItem) -> Note:
        later = name in _DONE_LATER and self._waits(item)
        template = (_DONE_LATER if later else _DONE)[name]
        return Note(self._words(template, seq=f"{item.seq:04}"))

    def _waits(self, item: ContextItem) -> bool:
        """Return whether requests keep the item as it was until the turn ends."""
        blocks = self._context.placed(self._context.outlook())
        return any(block.waits and block.item in (item.id, item.content) for block in blocks)

    def _again(self, offer: Offer) -> str:
        """Return what a key does when it is pressed again, and why that is asked for."""
        words, price = self._words, offer.price
        if price is None:
            why = words(_NOT_COUNTED)
        elif not price.is_dear:
            why = ""
        elif (after := turns(price)) is None:
            why = words(_NEVER, tokens=short(price.once))
        else:
            why = words(_DEAR, turns=after)
        if offer.lod is None:
            return f"{words(_AGAIN[offer.name])} {why}".rstrip()
        lod = words(offer.lod.value)
        return f"{words('{key} again shows {lod}.', key=offer.key, lod=lod)} {why}"


Save = Callable[[str], object]
_KEYS = (("^s", "save"), ("esc", "leave"))

_ONLY_CALLS = msg("This message has no text, only calls. Text added here goes before them.")


class EditScreen(ModalScreen[bool]):
    """A dialog to edit an item's text; returns whether it was changed."""

    BINDINGS = [
        Binding("ctrl+s", "save", "save", key_display="^s", priority=True),
        Binding("escape", "leave", "leave", priority=True),
    ]

    def __init__(self, words: Words, title: str, text: str, price: str, save: Save) -> None:
        super().__init__()
        self._words, self._title, self._save, self._price = words, title, save, price
        # A terminal would interpret control characters: show and save their visible forms.
        self._shown = for_terminal(text)
        self._is_exact = self._shown == text
        self._is_discarding = False

    def compose(self) -> ComposeResult:
        with Vertical(id="edit") as box:
            box.border_title = Content(line(self._title))
            note = self._words("Control characters are shown and saved as symbols.")
            remarks = [self._price, "" if self._is_exact else note]
            remark = "   ".join(filter(None, remarks))
            box.border_subtitle = Content.styled(remark, "$text-warning")
            hint = self._words(_ONLY_CALLS)
            yield TextArea(self._shown, id="text", soft_wrap=True, placeholder=Content(hint))
            yield KeyBar(self._words, _KEYS)
            yield Static(id="message")

    def on_mount(self) -> None:
        self.query_one(TextArea).focus()

    @on(TextArea.Changed)
    def _note_change(self) -> None:
        if self._is_discarding:
            self._is_discarding = False
            self._show("", "")

    def action_save(self) -> None:
        text = self.query_one(TextArea).text
        if text == self._shown:
            self.dismiss(False)
            return
        try:
            self._save(text)
        except ContextUIError as problem:
            self._show(one_line(self._words(problem), 200), "$text-error")
        else:
            self.dismiss(True)

    def action_leave(self) -> None:
        """Dismiss the dialog; unsaved changes are discarded only on a second press."""
        if self._is_discarding or self.query_one(TextArea).text == self._shown:
            self.dismiss(False)
            return
        self._is_discarding = True
        self._show(self._words("esc again discards the changes."), "$text-warning")

    def _show(self, text: str, style: str) -> None:
        self.query_one("#message", Static).update(Content.styled(text, style))
        self.set_class(bool(text), "-message")
