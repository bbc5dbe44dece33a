"""The items page of the inspector: list, search filter, and detail with prices."""

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import chain

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Container
from textual.events import Key

from contextui.context.item import ItemType
from contextui.context.manager import ContextManager
from contextui.tui.desktop.rowlist import FilterLine, not_found_text
from contextui.tui.dialogs.whole_text import WholeText
from contextui.tui.inspector.detail import (
    Description,
    Detail,
    TurnOf,
    describe,
    describe_fold,
    hints,
    signed,
)
from contextui.tui.inspector.edit import Changing, EditScreen, Note
from contextui.tui.inspector.history import OlderItems
from contextui.tui.inspector.items import ItemList
from contextui.tui.inspector.labels import (
    both_texts,
    is_gist,
    label,
    replaced,
    title,
    whole_text,
    window_of,
)
from contextui.tui.inspector.prices import Levels, Offer, Prices
from contextui.tui.inspector.rows import Fold, ItemRow, Rows, head_rows, in_summaries, rows_of
from contextui.tui.inspector.snapshot import ContextSnapshot
from contextui.tui.lines import short
from contextui.tui.timers import sure_timer
from contextui.windowing.runtime import runtime_of
from contextui.words import Words, msg

_SLICE = 0.008  # seconds of searching before yielding to the event loop


class Search:
    """Searches items for a text, in order and ignoring case."""

    def __init__(self, query: str, words: Words, older: Iterable[ItemRow] = ()) -> None:
        self.query = query
        self.found: list[ItemRow] = []
        self._words = words
        self._sought = query.casefold()
        self._looked_through = 0
        self._older = iter(older)
        self._rest: Iterator[ItemRow] = iter(())
        self._snapshot: ContextSnapshot | None = None

    def extend(self, snapshot: ContextSnapshot) -> None:
        self._snapshot = snapshot
        head = {row.item.id: row for row in head_rows(snapshot)}  # with the tokens of the tools
        newer = snapshot.items.since(self._looked_through + 1)
        self._rest = chain(self._older, (head.get(item.id, ItemRow(item)) for item in newer))

    def go_on(self) -> bool:
        end = time.monotonic() + _SLICE
        for row in self._rest:
            if row.log is None:
                self._looked_through = row.item.seq
            if self._has(row):
                self.found.append(row)
            if time.monotonic() > end:
                return True
        return False

    def _has(self, row: ItemRow) -> bool:
        item = row.item
        if self._sought in item.content.casefold():
            return True
        if self._snapshot is None or item.type in (ItemType.USER, ItemType.SYSTEM):
            return False
        context = row.home(self._snapshot.context)
        if item.type is ItemType.WINDOW:
            window = window_of(item, context)
            xml = runtime_of(window).renders.latest().xml if window is not None else ""
            return self._sought in xml.casefold()
        if item.type is ItemType.ASSISTANT and item.content:
            return False
        return self._sought in label(item, context.calls, self._words).casefold()


_PAUSE = 0.01  # seconds between two slices of a search
_ONE_LEVEL = msg("{seq} has one level of detail: windows and files have more.")
_IS_HIDDEN = msg("{seq} is hidden: r restores it first.")
_NOT_BACK = {
    "closed": msg("{seq} was closed with its window."),
    "replaced": msg("{seq} was replaced by a newer version."),
}
_NOT_DROPPED = msg("{seq} is sent: nothing to restore.")


class ItemPage(Container):
    """All items, and the actions on them."""

    BINDINGS = [
        Binding("d", "change('d')", "drop"),
        Binding("r", "change('r')", "restore"),
        Binding("g", "change('g')", "gist"),
        Binding("g", "explain('g')", show=False),  # if the one above does not apply
        Binding("r", "explain('r')", show=False),
        Binding("e", "change('e')", "edit"),
        Binding("p", "change('p')", "pin"),
        Binding("u", "undo", "undo"),
        Binding("plus", "change('+')", show=False),
        Binding("minus", "change('-')", show=False),
        Binding("slash", "filter", "filter", key_display="/"),
        Binding("c", "copy", show=False),
        Binding("escape", "clear", show=False),
    ]

    def __init__(self, words: Words, changed: Callable[[], object]) -> None:
        super().__init__(id="items")
        self._words, self._changed = words, changed
        self._prices: Prices | None = None
        self._turn_of: TurnOf = lambda _: None
        self._changing: Changing | None = None
        self._levels: Levels | None = None
        self._search: Search | None = None
        self._older: OlderItems | None = None
        self.listing = ItemList(words)
        self._filter = FilterLine(
            self.listing, hint=words("Filter items. Enter keeps, Esc clears."), keeps=True
        )
        self.action_filter, self.action_clear = self._filter.begin, self._filter.end
        self._note, self._noted_for = Note(""), ""
        self._keys = ""

    def compose(self) -> ComposeResult:
        with Container(id="listing"):
            yield self._filter
            yield self.listing
        yield Detail(self._words, self.action_change)

    # --- rendering ---------------------------------------------------------------------

    def show(
        self,
        snapshot: ContextSnapshot,
        turn_of: TurnOf,
        changing: Changing | None,
        older: OlderItems | None = None,
    ) -> None:
        before = self._prices.snapshot if self._prices is not None else None
        self._turn_of, self._changing, self._older = turn_of, changing, older
        if before is None or before.context is not snapshot.context:
            self._levels = Levels(
                snapshot.context.render_tokens, lambda: self.call_later(self.show_chosen)
            )
            self._search_again()
        self._prices = Prices(snapshot, self._prices)
        if self._search is not None:
            self._search.extend(snapshot)
            self._go_on_searching()
            return
        replaced_items = in_summaries(snapshot) if older is not None else []
        is_unfolded = older is not None and older.is_unfolded
        rows = rows_of(snapshot, () if is_unfolded else replaced_items)
        alone = len(rows) == 1
        if older is not None and (fold := older.fold(len(replaced_items))) is not None:
            rows = rows.after([[fold], (is_unfolded and older.rows) or []])
        remark = self._words("This is all the model sees so far.") if alone else ""
        self.listing.show_items(snapshot, rows, remark)
        self.show_chosen()

    @on(ItemList.Moved)
    def show_chosen(self) -> None:
        row, prices, detail = self.listing.item_row, self._prices, self.query_one(Detail)
        if row is None or prices is None:
            fold, about = self.listing.row, Description()
            if isinstance(fold, Fold):
                about = describe_fold(fold, self._words)
            detail.show(about, [], Note(""))
            self._offer_keys("")
            return
        if self._noted_for != row.item.id:
            self._note, self._noted_for = Note(""), row.item.id
            if self._changing is not None:
                self._changing.asked = None
        offers = self._offers(row)
        described = describe(row, prices, self._turn_of, self._words)
        described = replace(described, hints=tuple(hints(row, offers, prices, self._words)))
        if self._changing is not None:
            once = max((offer.price.once for offer in offers if offer.price), default=0)
            cost = self._changing.cost_text(once)
            described = replace(described, cost="" if "<" in cost else cost)
        detail.show(described, offers, self._note_for(row))
        self._offer_keys("".join(offer.key for offer in offers))

    def _offer_keys(self, keys: str) -> None:
        if keys != self._keys:
            self._keys = keys
            self.refresh_bindings()

    def _note_for(self, row: ItemRow) -> Note:
        if not self._note.text and row.is_old and row.block is not None and self._prices:
            rent = short(self._prices.snapshot.provider(round(row.block.rent)))
            if not self._prices.snapshot.knows_cache:
                return Note("")
            kept = msg("Kept for the cache, rent so far {tokens}.")
            goes = msg("Goes after the turn, rent so far {tokens}.")
            return Note(self._words(goes if row.block.waits else kept, tokens=rent))
        return self._note

    def _offers(self, row: ItemRow) -> list[Offer]:
        if self._changing is None or self._prices is None:
            return []
        window = window_of(row.item, self._prices.snapshot.context)
        sizes = self._levels.sizes(window) if window and self._levels else {}
        return self._prices.offers(row, sizes)

    # --- changing ----------------------------------------------------------------------

    def on_key(self, event: Key) -> None:
        if event.key != "d" and self._changing is not None:
            self._changing.has_swept = False
        if self._note.text:
            self._note = Note("")
            self.show_chosen()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        match action:
            case "change":
                return self.listing.has_focus and str(parameters[0]) in self._keys
            case "undo":
                return self.listing.has_focus and self._changing is not None
            case "clear":
                return self._filter.display
        return True

    def action_change(self, key: str) -> None:
        row, changing = self.listing.item_row, self._changing
        offers = self._offers(row) if row is not None else []
        offer = next((offer for offer in offers if offer.key == key), None)
        if row is None or offer is None or changing is None:
            return
        if key == "e":
            self._edit(offer, row, changing)
        else:
            note = changing.press(offer, row)
            self._show_note(note, row)
            if offer.name == "sweep" and not note.is_warning:  # the row is gone
                self.notify(note.text, markup=False)
            if row.log is not None:  # it may have been recalled from the log
                self._search_again()

    def action_explain(self, key: str) -> None:
        """Explain why there is no other level of detail, or nothing to restore."""
        row = self.listing.item_row
        if row is None or self._changing is None:
            return
        hidden = row.item.hidden
        if hidden is not None and hidden in _NOT_BACK:
            reason = _NOT_BACK[hidden]
        elif key == "g":
            reason = _IS_HIDDEN if hidden else _ONE_LEVEL
        else:
            reason = _NOT_DROPPED
        self._show_note(Note(self._words(reason, seq=f"{row.item.seq:04}")), row)

    def _edit(self, offer: Offer, row: ItemRow, changing: Changing) -> None:
        def save(text: str) -> None:
            self._show_note(changing.edit(row.item, text), row)

        once = offer.price.once if offer.price is not None else 0
        price = self._words("{tokens} tokens rewritten", tokens=signed(once)) if once else ""
        price += changing.cost_text(once)
        screen = EditScreen(self._words, self._heading(row), row.item.content, price, save)
        self.app.push_screen(screen)

    def action_undo(self) -> None:
        """Undo the last change, or the rewind that led here."""
        undo_rewind = getattr(self.screen, "undo_rewind", None)
        if undo_rewind is not None and undo_rewind():
            return
        if self._changing is not None and self.listing.item_row is not None:
            self._show_note(self._changing.undo(), self.listing.item_row)

    def _show_note(self, note: Note, row: ItemRow) -> None:
        self._note, self._noted_for = note, row.item.id
        self.listing.stay()
        self._changed()
        self.show_chosen()

    # --- reading -----------------------------------------------------------------------

    def _home(self, row: ItemRow) -> ContextManager:
        assert self._prices is not None, "a row is shown"
        return row.home(self._prices.snapshot.context)

    def _heading(self, row: ItemRow) -> str:
        return f"{row.item.seq:04} {title(row, self._home(row).calls, self._words)}"

    def action_copy(self) -> None:
        if (row := self.listing.item_row) is not None:
            self.app.copy_to_clipboard(whole_text(row, self._home(row)))

    @on(ItemList.Opened)
    def _open(self) -> None:
        """Show the item's text, followed by what a gist or summary replaces; or turn the fold."""
        row = self.listing.item_row
        if row is None or self._prices is None:
            self._turn_older()
            return
        home = self._home(row)
        if is_gist(row.item):
            text = both_texts(row.item, home.counter, self._words)
        else:
            text = whole_text(row, home)
            for item in map(ItemRow, replaced(row.item, home) if row.log is None else []):
                text += f"\n\n── {self._heading(item)}\n\n{whole_text(item, home)}"
        self.app.push_screen(WholeText(self._words, self._heading(row), text))

    # --- filtering ---------------------------------------------------------------------

    @on(FilterLine.Changed)
    def _look_for(self, message: FilterLine.Changed) -> None:
        message.stop()
        self._begin_search(message.query)
        if self._search is not None:
            self._read_older()  # it may contain matches
        self._show_again()

    def _begin_search(self, query: str) -> None:
        older = self._older.rows if self._older is not None else None
        self._search = Search(query, self._words, older or ()) if query else None

    def _search_again(self) -> None:
        if self._search is not None:
            self._begin_search(self._search.query)

    def _go_on_searching(self) -> None:
        search, remark = self._search, ""
        if search is None or self._prices is None:
            return
        more = search.go_on()
        if not more and not search.found:
            remark = not_found_text(search.query, self._words)
        rows = Rows([list(search.found)])
        self.listing.show_items(self._prices.snapshot, rows, remark, is_search=True)
        self.show_chosen()
        if more:
            sure_timer(self, _PAUSE, self._go_on_searching)

    def _show_again(self) -> None:
        if self._prices is not None:
            self.show(self._prices.snapshot, self._turn_of, self._changing, self._older)

    # --- items only in the log ---------------------------------------------------------

    def _turn_older(self) -> None:
        if self._older is not None:
            self._older.is_unfolded = not self._older.is_unfolded
            if self._older.is_unfolded:
                self._read_older()
        self._show_again()

    def _read_older(self) -> None:
        if self._older is not None and self._older.begin():
            self.run_worker(self._show_older(self._older), name="older items")

    async def _show_older(self, older: OlderItems) -> None:
        await older.read()
        self._search_again()
        self._show_again()
