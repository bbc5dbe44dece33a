"""The item list; its cursor stays on the same item when rows change."""

from collections.abc import Callable, Hashable
from typing import ClassVar

from rich.cells import cell_len
from textual.binding import Binding
from textual.content import Content
from textual.events import Resize

from contextui.context.item import ItemType
from contextui.tui.desktop.rowlist import RowList
from contextui.tui.inspector.labels import (
    KINDS,
    gist_size,
    label,
    outdated_texts,
    state,
    window_label,
)
from contextui.tui.inspector.rows import Fold, ItemRow, Line, Rows, Rule, tokens_of
from contextui.tui.inspector.snapshot import ContextSnapshot
from contextui.tui.lines import FAINT, KEY, MUTED, RULE, fit, short
from contextui.words import Words, msg

_BRANCH = "  ╰ "
_KIND = 6  # cells
_ROOMY = 30  # cells


class ItemList(RowList[Line]):
    """All items, including finished turns; hidden ones are marked [X]."""

    BINDINGS = [Binding("enter", "open", "whole text")]
    expands: ClassVar[bool] = False
    shows_cursor: ClassVar[bool] = True

    def __init__(self, words: Words) -> None:
        super().__init__(self._draw, _key_of, id="list")
        self._words = words
        self._snapshot: ContextSnapshot | None = None
        self._follows = True
        self._is_search = False
        self._known = 0  # items when the person moved away from the newest
        self._stays = False
        self.followed: Callable[[bool, int], object] = lambda *_: None
        """Callback with whether the list follows the newest item, and how many are below."""

    def is_entry(self, row: Line) -> bool:
        return not isinstance(row, Rule)

    @property
    def item_row(self) -> ItemRow | None:
        return self.row if isinstance(self.row, ItemRow) else None

    def show_items(
        self, snapshot: ContextSnapshot, rows: Rows, remark: str = "", *, is_search: bool = False
    ) -> None:
        before = self._snapshot.context if self._snapshot is not None else snapshot.context
        is_other = before is not snapshot.context
        self._snapshot, self._is_search = snapshot, is_search
        self.show(rows, Content.styled(remark, FAINT))
        self.set_count(self.count + 2 * bool(rows and remark), follow=False)
        if self._stays and not is_search:
            self._stays = False
            self._follows = self._follows and self.cursor >= self._newest()
        if self._follows and not is_search:
            self.cursor = self._newest()
            self.show_line(len(rows) - 1)
        elif is_other:
            self._show_cursor()
        self._report_followed()

    def _find(self, wanted: Hashable) -> None:
        """Move the cursor to an item, without a look at all of them."""
        assert isinstance(wanted, tuple)
        assert isinstance(self.rows, Rows)
        key, item, seq = wanted
        for name in (key, item):  # the row of a change is gone, that of its window stays
            place = self.rows.find(name, seq)
            if place is not None:
                self.cursor = place
                return

    def _newest(self) -> int:
        """Return the place of the newest item: the last row that is not part of another."""
        place = self._entry_from(len(self.rows) - 1, -1)
        while place and isinstance(row := self.rows[place], ItemRow) and row.is_old:
            place = self._entry_from(place - 1, -1)
        return place

    def _report_followed(self) -> None:
        count = len(self._snapshot.items) if self._snapshot is not None else 0
        self._known = count if self._follows else min(self._known, count)
        self.followed(self._follows, count - self._known)

    def choose(self, place: int, step: int = 1) -> None:
        super().choose(place, step)
        if not self._is_search:
            self._follows = self.cursor >= self._newest()
            self._report_followed()

    def stay(self) -> None:
        """Keep the cursor on its item when the rows are shown again, wherever it moves."""
        self._stays = True

    def follow(self) -> None:
        self.choose(self._newest(), -1)

    def opens(self, place: int, clicks: int) -> bool:
        return clicks == 2 or isinstance(self.rows[place], Fold)

    def on_resize(self, _: Resize) -> None:
        if self.rows:
            self.show_line(self.cursor)

    # --- rendering ---------------------------------------------------------------------

    def line_at(self, number: int, width: int) -> Content:
        if self.rows and number >= len(self.rows):
            return self.note if number == self.count - 1 else Content("")
        return super().line_at(number, width)

    def _draw(self, row: Line, width: int) -> Content:
        assert self._snapshot is not None, "rows come with a snapshot"
        match row:
            case Rule():
                return self._rule(row, width)
            case Fold():
                return self._fold(row, width)
        draw = self._outdated if row.is_old else self._row
        return draw(row, self._snapshot, width)

    def _rule(self, rule: Rule, width: int) -> Content:
        name = f" {self._words(msg('cached') if rule.from_cache else msg('not cached'))} "
        tokens = f" {short(rule.tokens)}"
        rest = max(width - 2 - cell_len(name) - len(tokens), 0)
        return Content.assemble(
            ("──", RULE), (name, MUTED), ("─" * rest, RULE), (tokens, MUTED)
        )  # fmt: skip

    def _fold(self, fold: Fold, width: int) -> Content:
        texts = (
            msg("1 earlier item, Enter shows it"),
            msg("{count} earlier items, Enter shows them"),
        )
        if fold.is_reading:
            texts = msg("Reading 1 earlier item …"), msg("Reading {count} earlier items …")
        elif fold.is_unfolded:
            texts = (
                msg("1 earlier item, Enter hides it"),
                msg("{count} earlier items, Enter hides them"),
            )
        mark = "↓ " if fold.is_unfolded else "↑ "
        text = self._words(texts[fold.count > 1], count=f"{fold.count:,}")
        return Content.assemble((mark, KEY), (fit(text, width - 2), MUTED))

    def _outdated(self, row: ItemRow, snapshot: ContextSnapshot, width: int) -> Content:
        right = 7 if width > 60 else 5
        room = width - len(_BRANCH) - right
        rent = 0
        if snapshot.knows_cache and row.block is not None:
            rent = snapshot.provider(round(row.block.rent))
        texts = outdated_texts(row, rent, self._words)
        text = next((one for one in texts if cell_len(one) <= room), texts[-1])
        figure = fit(_tokens(row, snapshot), right, right=True)
        return Content.styled(_BRANCH + fit(text, room) + figure, FAINT)

    def _row(self, row: ItemRow, snapshot: ContextSnapshot, width: int) -> Content:
        item, words = row.item, self._words
        if row.log is not None:
            hidden = item.hidden is not None
        else:
            hidden = not snapshot.context.counts(snapshot.composition, item)
        seq = f"{item.seq:04} "
        pin = f"{words('pin')} " if item.pinned else ""
        right = 7 if width > 60 else 5
        room = width - 4 - len(seq) - _KIND - 1 - cell_len(pin) - right
        text = self._text(row, snapshot, room)
        tokens = "–" if hidden else _tokens(row, snapshot)
        bright = "$text-error" if item.finished.failed else "$foreground"
        return Content.assemble(
            ("[", FAINT),
            ("X" if hidden else "✓", FAINT if hidden else "$text-success"),
            ("] ", FAINT),
            (seq, FAINT),
            (fit(words(KINDS[item.type]), _KIND) + " ", FAINT if hidden else MUTED),
            (pin, "$text-warning"),
            (text, FAINT if hidden else bright),
            (fit(tokens, right, right=True), FAINT if hidden else MUTED),
        )

    def _text(self, row: ItemRow, snapshot: ContextSnapshot, room: int) -> str:
        """Return the text of a row; if there is room, its state is never truncated."""
        item, home, words = row.item, row.home(snapshot.context), self._words
        if item.type is ItemType.WINDOW:
            text = window_label(row, home, words)
        else:
            text = label(item, home.calls, words)
        size = gist_size(item, home, words) if room < _ROOMY else ""  # it is always shown
        shown = size or state(item, home, words)
        whole = f"{text}  {shown}" if shown else text
        if not shown or (room < _ROOMY and not size):
            fits = cell_len(fit(whole, len(whole) + room).rstrip()) <= room
            return fit(whole if fits else text, room)
        length = min(cell_len(fit(text, room).rstrip()), room - cell_len(shown) - 2)
        return fit(f"{fit(text, length)}  {shown}", room)


def _tokens(row: ItemRow, snapshot: ContextSnapshot) -> str:
    return short(snapshot.provider(tokens_of(row, snapshot)))


def _key_of(line: Line) -> Hashable:
    """Return what identifies a line: its key, its item, and where the item is."""
    if isinstance(line, ItemRow):
        return line.key, line.item.id, line.item.seq
    return (line.key, "", 0) if isinstance(line, Fold) else None
