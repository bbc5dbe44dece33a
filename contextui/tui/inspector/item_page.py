"""The items page of the inspector: list, search filter, and detail with prices."""

import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Container
from textual.message import Message
from textual.widgets import Input

from contextui.context.item import ItemType
from contextui.text import one_line
from contextui.tui.inspector.detail import (
    Closer,
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
from contextui.tui.inspector.labels import label
from contextui.tui.inspector.look import Look
from contextui.tui.inspector.prices import Levels, Offer, Prices
from contextui.tui.inspector.rows import Row, head_of, rows_of
from contextui.tui.lines import short
from contextui.tui.timers import sure_timer
from contextui.windowing.runtime import runtime_of
from contextui.words import Words, msg

_SLICE = 0.008  # seconds of searching before yielding to the event loop


class Search:
    """Searches items for a text, in order and ignoring case.

    Args:
        query: The text to search for.
        words: Translates into the person's locale, for labels.
        older: Items read from the log that the session did not load.

    Attributes:
        found: The matching rows so far.
    """

    def __init__(self, query: str, words: Words, older: Iterable[Row] = ()) -> None:
        self.query = query
        self.found: list[Row] = []
        self._words = words
        self._sought = query.casefold()
        self._looked_through = 0
        self._older = iter(older)
        self._rest: Iterator[Row] = iter(())
        self._look: Look | None = None

    def extend(self, look: Look) -> None:
        """Continue with items added since."""
        self._look = look
        head = {row.item.id: row for row in head_of(look)}  # with the tokens of the tools
        newer = look.items.since(self._looked_through + 1)
        self._rest = chain(self._older, (head.get(item.id, Row(item)) for item in newer))

    def go_on(self) -> bool:
        """Search for one time slice; return whether there is more."""
        end = time.monotonic() + _SLICE
        for row in self._rest:
            if row.log is None:
                self._looked_through = row.item.seq
            if self._has(row):
                self.found.append(row)
            if time.monotonic() > end:
                return True
        return False

    def _has(self, row: Row) -> bool:
        item = row.item
        if self._sought in item.content.casefold():
            return True
        if self._look is None or item.type in (ItemType.USER, ItemType.SYSTEM):
            return False
        context = row.home(self._look.context)
        if item.type is ItemType.WINDOW:
            window = context.windows.get(item.content) if context.windows is not None else None
            return (
                window is not None
                and self._sought in runtime_of(window).renders.latest().xml.casefold()
            )
        if item.type is ItemType.ASSISTANT and item.content:
            return False
        return self._sought in label(item, context.calls, self._words).casefold()


class Finding:
    """The active search, if any, and its results so far.

    Args:
        words: Translates into the person's locale, for labels.
    """

    def __init__(self, words: Words) -> None:
        self._words = words
        self._search: Search | None = None
        self.remark = ""
        """A message if nothing was found."""

    @property
    def is_on(self) -> bool:
        """Whether a search is active."""
        return self._search is not None

    @property
    def rows(self) -> list[Row]:
        """The matching rows so far."""
        return list(self._search.found) if self._search is not None else []

    def begin(self, query: str, older: OlderItems | None) -> None:
        """Start a search, including items read from the log; an empty query clears it."""
        rows = older.rows if older is not None else None
        self._search = Search(query, self._words, rows or ()) if query else None

    def begin_again(self, older: OlderItems | None) -> None:
        """Restart the search, as the items have changed."""
        if self._search is not None:
            self.begin(self._search.query, older)

    def extend(self, look: Look) -> None:
        """Continue with items added since."""
        if self._search is not None:
            self._search.extend(look)

    def go_on(self) -> bool:
        """Search for one time slice; return whether there is more."""
        search = self._search
        if search is None:
            return False
        more, self.remark = search.go_on(), ""
        if not more and not search.found:
            query = one_line(search.query, 40)
            self.remark = self._words('No item contains "{query}". Esc clears.', query=query)
        return more


class Filter(Input):
    """The search field, shown only while a search is active."""

    BINDINGS = [Binding("escape", "clear", "clear"), Binding("down", "submit", show=False)]

    class QueryChanged(Message):
        """Posted when the query changes or is cleared."""

        def __init__(self, query: str) -> None:
            super().__init__()
            self.query = query

    class Left(Message):
        """Posted when the person leaves the field for the list."""

    def __init__(self, words: Words) -> None:
        super().__init__(id="filter", compact=True)
        self._words = words
        self.display = self.can_focus = False  # until a search starts

    def ask(self) -> None:
        """Show and focus the field."""
        self.placeholder = self._words("Filter items. Enter keeps, Esc clears.")
        self.display = self.can_focus = True
        self.focus()

    def clear_it(self) -> None:
        """Clear the search and hide the field."""
        with self.prevent(Input.Changed):
            self.value = ""
        self.display = self.can_focus = False
        self.post_message(self.QueryChanged(""))
        self.post_message(self.Left())

    def on_input_changed(self, message: Input.Changed) -> None:
        """Search while typing."""
        message.stop()
        self.post_message(self.QueryChanged(self.value.strip()))

    def on_input_submitted(self, message: Input.Submitted) -> None:
        """Move the focus to the results."""
        message.stop()
        if self.value.strip():
            self.can_focus = False
            self.post_message(self.Left())
        else:
            self.clear_it()

    def action_clear(self) -> None:
        """Clear the search."""
        self.clear_it()


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
        Binding("e", "edit", "edit"),
        Binding("p", "change('p')", "pin"),
        Binding("u", "undo", "undo"),
        Binding("plus", "change('+')", show=False),
        Binding("minus", "change('-')", show=False),
        Binding("slash", "filter", "filter", key_display="/"),
        Binding("c", "copy", show=False),
        Binding("escape", "clear", show=False),
    ]

    class Changed(Message):
        """Posted when the person changed an item."""

    class LevelsKnown(Message):
        """Posted when a window's tokens at other levels of detail are counted."""

    def __init__(self, words: Words) -> None:
        super().__init__(id="items")
        self._words = words
        self._prices: Prices | None = None
        self._turn_of: TurnOf = lambda _: None
        self._changing: Changing | None = None
        self._levels: Levels | None = None
        self._finding = Finding(words)
        self._older: OlderItems | None = None
        self._note, self._noted_for = Note(""), ""
        self._keys = ""

    def compose(self) -> ComposeResult:
        """Compose the list and the detail, below or beside it."""
        with Container(id="listing"):
            yield Filter(self._words)
            yield ItemList(self._words)
        yield Detail(self._words)

    @property
    def listing(self) -> ItemList:
        """The list."""
        return self.query_one(ItemList)

    def take_focus(self, may: bool) -> None:
        """Set whether the page can take the focus; only the visible page can."""
        self.listing.can_focus = may

    # --- rendering ---------------------------------------------------------------------

    def show(
        self,
        look: Look,
        turn_of: TurnOf,
        changing: Changing | None,
        older: OlderItems | None = None,
    ) -> None:
        """Show a snapshot of a context.

        Args:
            look: The snapshot.
            turn_of: Returns the turn of a seq.
            changing: Changes items; None for a read-only view.
            older: Items that a resumed session did not load.
        """
        before = self._prices.look if self._prices is not None else None
        self._turn_of, self._changing, self._older = turn_of, changing, older
        if before is None or before.context is not look.context:
            self._levels = Levels(look.context.render_tokens, self._post_levels_known)
            self._finding.begin_again(self._older)
        self._prices = Prices(look, self._prices)
        if self._finding.is_on:
            self._finding.extend(look)
            self._go_on_searching()
            return
        rows = rows_of(look)
        alone = len(rows) == 1 and not look.composition.arriving.copies
        if older is not None and older.fold is not None:
            unfolded = older.rows if older.is_unfolded else None
            rows = rows.behind([[older.fold], unfolded or []])
        self.listing.show(look, rows, self._words("This is all the model sees so far.") * alone)

    def _post_levels_known(self) -> None:
        self.post_message(self.LevelsKnown())

    @on(ItemList.Chosen)
    @on(LevelsKnown)
    def show_chosen(self) -> None:
        """Show the detail of the row under the cursor."""
        row, prices, detail = self.listing.row, self._prices, self.query_one(Detail)
        if row is None or prices is None:
            fold = self.listing.fold
            about = describe_fold(fold, self._words) if fold is not None else Description()
            detail.show(about, [], Note(""))
            self._offer_keys("")
            return
        if self._noted_for != row.item.id:
            self._note, self._noted_for = Note(""), row.item.id
            if self._changing is not None:
                self._changing.forget()
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

    def _note_for(self, row: Row) -> Note:
        if not self._note.text and row.is_old and row.block is not None and self._prices:
            rent = short(self._prices.look.provider(round(row.block.rent)))
            if not self._prices.look.knows_cache:
                return Note("")
            kept = msg("Kept for the cache, rent so far {tokens}.")
            goes = msg("Goes after the turn, rent so far {tokens}.")
            return Note(self._words(goes if row.block.waits else kept, tokens=rent))
        if not self._note.text and row.item.held is not None:
            return Note(self._words("Changed; applies when this turn ends."), is_warning=True)
        return self._note

    def _offers(self, row: Row) -> list[Offer]:
        """Return the actions on a row with their prices; none in a read-only view."""
        if self._changing is None or self._prices is None:
            return []
        windows = self._prices.look.context.windows
        is_window = row.item.type is ItemType.WINDOW and windows is not None
        window = windows.get(row.item.content) if is_window and windows is not None else None
        sizes = self._levels.sizes(window) if window and self._levels else {}
        return self._prices.offers(row, sizes)

    # --- changing ----------------------------------------------------------------------

    def on_key(self) -> None:
        """Clear the outcome of the key before."""
        if self._note.text:
            self._note = Note("")
            self.show_chosen()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Enable only the actions that apply to the selected item."""
        match action:
            case "change":
                return self.listing.has_focus and str(parameters[0]) in self._keys
            case "edit":
                return self.listing.has_focus and "e" in self._keys
            case "undo":
                return self.listing.has_focus and self._changing is not None
            case "clear":
                return self._finding.is_on
        return True

    def action_change(self, key: str) -> None:
        """Run the action of a key on the selected item."""
        row = self.listing.row
        offer = self._offer(key)
        if row is not None and offer is not None and self._changing is not None:
            note = self._changing.press(offer, row)
            self._show_note(note, row)
            if offer.name == "sweep" and not note.is_warning:  # the row is gone
                self.notify(note.text, markup=False)
            if row.log is not None:  # it may have been recalled from the log
                self._finding.begin_again(self._older)

    def action_explain(self, key: str) -> None:
        """Explain why there is no other level of detail, or nothing to restore."""
        row = self.listing.row
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

    def _offer(self, key: str) -> Offer | None:
        offers = self._offers(self.listing.row) if self.listing.row is not None else []
        return next((one for one in offers if one.key == key), None)

    @on(Detail.Pressed)
    def _press(self, message: Detail.Pressed) -> None:
        if message.key == "e":
            self.action_edit()
        else:
            self.action_change(message.key)

    def action_edit(self) -> None:
        """Edit the text of the selected item."""
        row, changing, offer = self.listing.row, self._changing, self._offer("e")
        closer = self._closer
        if not (row and changing and closer and offer and offer.price):
            return

        def save(text: str) -> None:
            self._show_note(changing.edit(row.item, text), row)

        once = offer.price.once
        price = self._words("{tokens} tokens rewritten", tokens=signed(once)) if once else ""
        price += changing.cost_text(once)
        heading = closer.heading(row)
        self.app.push_screen(EditScreen(self._words, heading, row.item.content, price, save))

    def action_undo(self) -> None:
        """Undo the last change, or the rewind that led here."""
        undo_rewind = getattr(self.screen, "undo_rewind", None)
        if undo_rewind is not None and undo_rewind():
            return
        if self._changing is not None and self.listing.row is not None:
            self._show_note(self._changing.undo(), self.listing.row)

    def _show_note(self, note: Note, row: Row) -> None:
        self._note, self._noted_for = note, row.item.id
        self.listing.stay()
        self.post_message(self.Changed())
        self.show_chosen()

    # --- reading -----------------------------------------------------------------------

    @property
    def _closer(self) -> Closer | None:
        look = self._prices.look if self._prices is not None else None
        return Closer(self.app, self._words, look) if look is not None else None

    def action_copy(self) -> None:
        """Copy the whole text of the selected item."""
        if self.listing.row is not None and self._closer is not None:
            self._closer.copy(self.listing.row)

    @on(ItemList.Opened)
    def _open(self) -> None:
        if self.listing.row is not None and self._closer is not None:
            self._closer.open(self.listing.row)

    # --- filtering ---------------------------------------------------------------------

    def action_filter(self) -> None:
        """Open the search field."""
        self.query_one(Filter).ask()

    def action_clear(self) -> None:
        """Clear the search."""
        self.query_one(Filter).clear_it()

    @on(Filter.QueryChanged)
    def _look_for(self, message: Filter.QueryChanged) -> None:
        self._finding.begin(message.query, self._older)
        if self._finding.is_on and self._older is not None:
            self._older.read()  # it may contain matches
        self._show_again()

    def _show_again(self) -> None:
        if self._prices is not None:
            self.show(self._prices.look, self._turn_of, self._changing, self._older)

    # --- items only in the log ---------------------------------------------------------

    @on(ItemList.Turned)
    def _turn_older(self) -> None:
        if self._older is not None:
            self._older.turn()
        self._show_again()

    def show_older(self) -> None:
        """Refresh after older items were read from the log."""
        self._finding.begin_again(self._older)
        self._show_again()

    @on(Filter.Left)
    def _go_on_in_list(self) -> None:
        self.listing.focus()

    def _go_on_searching(self) -> None:
        if not self._finding.is_on or self._prices is None:
            return
        more = self._finding.go_on()
        self.listing.show(self._prices.look, self._finding.rows, self._finding.remark)
        if more:
            sure_timer(self, _PAUSE, self._go_on_searching)
