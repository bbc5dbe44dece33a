"""The item list; its cursor stays on the same item when rows change."""

from collections.abc import Sequence

from rich.cells import cell_len
from textual.binding import Binding
from textual.content import Content
from textual.events import Click, Resize
from textual.message import Message

from contextui.context.item import ItemType
from contextui.tui.inspector.labels import (
    KINDS,
    gist_size,
    label,
    outdated_texts,
    state,
    window_label,
)
from contextui.tui.inspector.look import Look
from contextui.tui.inspector.rows import Fold, Line, Row, Rows, Rule, tokens_of
from contextui.tui.lines import FAINT, KEY, MUTED, RULE, CursorView, fit, lit, nearest, short
from contextui.words import Words, msg

_BRANCH = "  ╰ "
_KIND = 6  # cells
_ROOMY = 30  # cells
_LABELS = 2_000  # labels to cache


class ItemList(CursorView):
    """All items, including finished turns; hidden ones are marked [X].

    Args:
        words: Translates into the person's locale.
        shows_states: Whether each row shows the state of its item.
    """

    BINDINGS = [Binding("enter", "open", "whole text")]

    class Chosen(Message):
        """Posted when the cursor moves to another row."""

    class Opened(Message):
        """Posted when the person wants to read the whole text of the selected row."""

    class Followed(Message):
        """Posted when the list begins or stops to follow the newest item, or more are below.

        Attributes:
            follows: Whether the cursor stays on the newest item.
            new: How many items came since it does not.
        """

        def __init__(self, follows: bool, new: int) -> None:
            super().__init__()
            self.follows, self.new = follows, new

    class Turned(Message):
        """Posted when the person folds or unfolds the items that only the log has."""

    def __init__(self, words: Words, *, shows_states: bool = True) -> None:
        super().__init__(id="list")
        self._words, self._shows_states = words, shows_states
        self._look: Look | None = None
        self._rows: Sequence[Line] = Rows([])
        self._remark = ""
        self._chosen: tuple[str, str, int] | None = None
        self._labels: dict[tuple[str, int], str] = {}
        self._follows = shows_states
        self._known = 0  # items when the person moved away from the newest
        self._posted: tuple[bool, int] | None = None
        self._stays = False

    @property
    def row(self) -> Row | None:
        """The row under the cursor."""
        return self._chosen_line if isinstance(self._chosen_line, Row) else None

    @property
    def fold(self) -> Fold | None:
        """The line under the cursor, if it represents items only in the log."""
        return self._chosen_line if isinstance(self._chosen_line, Fold) else None

    @property
    def _chosen_line(self) -> Line | None:
        return self._rows[self.cursor] if self.cursor < len(self._rows) else None

    def show(self, look: Look, rows: Sequence[Line], remark: str = "") -> None:
        """Show these rows, and a remark below them.

        Args:
            look: The snapshot that they come from.
            rows: The rows.
            remark: A remark in one line.
        """
        if self._look is None or self._look.context is not look.context:
            self._labels.clear()
        is_other = self._look is not None and self._look.context is not look.context
        self._look, self._rows, self._remark = look, rows, remark
        if self._stays and isinstance(rows, Rows):
            self._stays, self.cursor = False, self._place()
            self._follows = self._follows and self.cursor >= self._newest()
        follows = self._follows and isinstance(rows, Rows)  # not what a search finds
        self.cursor = self._newest() if follows else self._place()
        self.set_count(len(rows) + (2 if rows else 1) * bool(remark))
        if follows or is_other:
            self.show_line(len(rows) - 1 if follows else self.cursor)
        self._note_choice()
        self._post_followed()

    def _newest(self) -> int:
        """Return the place of the newest item: the last row that is not part of another."""
        place = self._selectable(len(self._rows) - 1, -1)
        while place and isinstance(line := self._rows[place], Row) and line.is_old:
            place = self._selectable(place - 1, -1)
        return place

    def _post_followed(self) -> None:
        """Report whether the newest item is followed, if that changed."""
        count = len(self._look.items) if self._look is not None else 0
        self._known = count if self._follows else min(self._known, count)
        now = (self._follows, count - self._known)
        if now != self._posted:
            self._posted = now
            self.post_message(self.Followed(*now))

    def _place(self) -> int:
        """Return the cursor position: on its item, else as near as possible."""
        if self._chosen is not None and isinstance(self._rows, Rows):
            key, item, seq = self._chosen
            place = self._rows.find(key, seq)
            if place is None:  # the row of a change is gone, that of its window stays
                place = self._rows.find(item, seq)
            if place is not None:
                return place
        elif self._chosen is not None:
            keys = [row.key for row in self._rows if isinstance(row, Row)]
            if self._chosen[0] in keys:
                return keys.index(self._chosen[0])
        else:
            is_row = (isinstance(line, Row) for line in self._rows)
            return next((place for place, found in enumerate(is_row) if found), 0)
        return self._selectable(min(self.cursor, len(self._rows) - 1), 1)

    def _selectable(self, place: int, step: int) -> int:
        """Return the next row from here that is not a rule."""
        rows = self._rows
        return nearest(place, step, len(rows), lambda here: not isinstance(rows[here], Rule))

    def choose(self, place: int, step: int = 1) -> None:
        """Move the cursor to a row, or to the next one that is not a rule."""
        before, self.cursor = self.cursor, self._selectable(place, step)
        self.refresh_line(before)
        self.refresh_line(self.cursor)
        top = self.cursor
        while top and isinstance(self._rows[top - 1], Rule):
            top -= 1  # keep the rule above it in view
        self.show_line(top)
        self.show_line(self.cursor)
        self._note_choice()
        self._moved()

    def stay(self) -> None:
        """Keep the cursor on its item when the rows are shown again, wherever it moves."""
        self._stays = True

    def follow(self, follows: bool) -> None:
        """Keep the cursor on the newest item, or where it is."""
        if follows and isinstance(self._rows, Rows):
            self.choose(self._newest(), -1)
        self._follows = follows and self._shows_states
        self._post_followed()

    def _moved(self) -> None:
        """Follow the newest item while the cursor is at the end of the list, and only then."""
        if isinstance(self._rows, Rows):
            self._follows = self._shows_states and self.cursor >= self._newest()
            self._post_followed()

    def _note_choice(self) -> None:
        if self.row is not None:
            self._chosen = (self.row.key, self.row.item.id, self.row.item.seq)
        elif self.fold is not None:
            self._chosen = (self.fold.key, "", 0)
        self.post_message(self.Chosen())

    def action_open(self) -> None:
        """Read the whole text, or fold or unfold the items that only the log has."""
        if self.row is not None:
            self.post_message(self.Opened())
        elif self.fold is not None:
            self.post_message(self.Turned())

    def on_click(self, event: Click) -> None:
        """Select the clicked row; a double click opens it."""
        place = event.y + self.scroll_offset.y
        if place < len(self._rows) and not isinstance(self._rows[place], Rule):
            self.choose(place)
            if event.chain == 2 or self.fold is not None:
                self.action_open()

    def on_resize(self, _: Resize) -> None:
        """Keep the cursor in view."""
        if self._rows:
            self.show_line(self.cursor)

    # --- rendering ---------------------------------------------------------------------

    def line_at(self, number: int, width: int) -> Content:
        """Return a row, a rule, or the remark."""
        if number >= len(self._rows):
            is_remark = number == self.count - 1
            return Content.styled(self._remark if is_remark else "", FAINT)
        row = self._rows[number]
        if isinstance(row, Rule):
            return self._rule(row, width)
        is_chosen = number == self.cursor
        if isinstance(row, Row) and row.is_old and row.block is not None:
            line = self._outdated(row, width, MUTED if is_chosen else FAINT)
        else:
            line = self._fold(row, width) if isinstance(row, Fold) else self._row(row, width)
        return lit(line) if is_chosen else line

    def _rule(self, rule: Rule, width: int) -> Content:
        name = f" {self._words(msg('cached') if rule.from_cache else msg('not cached'))} "
        tokens = f" {short(rule.tokens)}"
        rest = max(width - 2 - cell_len(name) - len(tokens), 0)
        return Content.assemble(
            ("──", RULE), (name, MUTED), ("─" * rest, RULE), (tokens, MUTED)
        )  # fmt: skip

    def _fold(self, fold: Fold, width: int) -> Content:
        one, several = (
            msg("1 earlier item, Enter shows it"),
            msg("{count} earlier items, Enter shows them"),
        )
        if fold.is_reading:
            one, several = (
                msg("Reading 1 earlier item …"),
                msg("Reading {count} earlier items …"),
            )
        elif fold.is_unfolded:
            one, several = (
                msg("1 earlier item, Enter hides it"),
                msg("{count} earlier items, Enter hides them"),
            )
        mark = "↓ " if fold.is_unfolded else "↑ "
        text = self._words(one if fold.count == 1 else several, count=f"{fold.count:,}")
        return Content.assemble((mark, KEY), (fit(text, width - 2), MUTED))

    def _outdated(self, row: Row, width: int, style: str) -> Content:
        """Return the dimmed sub-row of an outdated block."""
        right = 7 if width > 60 else 5
        room = width - len(_BRANCH) - right
        rent = self._look.provider(round(row.block.rent)) if self._look and row.block else 0
        rent *= self._look is not None and self._look.knows_cache
        texts = outdated_texts(row, rent, self._words)
        text = next((one for one in texts if cell_len(one) <= room), texts[-1])
        figure = fit(self._tokens(row), right, right=True)
        return Content.styled(_BRANCH + fit(text, room) + figure, style)

    def _row(self, row: Row, width: int) -> Content:
        item, words = row.item, self._words
        hidden = not self._counts(row)
        is_off = hidden or row.is_old
        seq = f"{item.seq:04} "
        pin = f"{words('pin')} " if item.pinned else ""
        right = 7 if width > 60 else 5
        room = width - 4 - len(seq) - _KIND - 1 - cell_len(pin) - right
        text = self._text(row, room)
        tokens = "–" if hidden else self._tokens(row)
        bright = "$text-error" if item.is_error else "$foreground"
        return Content.assemble(
            ("[", FAINT),
            ("X" if hidden else "✓", FAINT if is_off else "$text-success"),
            ("] ", FAINT),
            (seq, FAINT),
            (fit(words(KINDS[item.type]), _KIND) + " ", FAINT if is_off else MUTED),
            (pin, "$text-warning"),
            (text, FAINT if is_off else bright),
            (fit(tokens, right, right=True), FAINT if is_off else MUTED),
        )

    def _text(self, row: Row, room: int) -> str:
        """Return the text of a row; if there is room, its state is never truncated."""
        state, text = self._state(row), self._label(row)
        if room < _ROOMY and (size := self._gist_size(row)):
            state = size
        whole = f"{text}  {state}" if state else text
        if not state or (room < _ROOMY and not self._gist_size(row)):
            fits = cell_len(fit(whole, len(whole) + room).rstrip()) <= room
            return fit(whole if fits else text, room)
        length = min(cell_len(fit(text, room).rstrip()), room - cell_len(state) - 2)
        return fit(f"{fit(text, length)}  {state}", room)

    def _state(self, row: Row) -> str:
        item, words = row.item, self._words
        if not self._shows_states:
            return ""
        if item.held is not None:
            return words("changed after this turn")
        if self._look is None:
            return ""
        return state(item, row.home(self._look.context), words)

    def _gist_size(self, row: Row) -> str:
        """Return the size of what the row's gist replaces, which is always shown."""
        if self._look is None or not self._shows_states:
            return ""
        return gist_size(row.item, row.home(self._look.context), self._words)

    def _label(self, row: Row) -> str:
        item, look = row.item, self._look
        if look is None:
            return ""
        if item.type is ItemType.WINDOW:
            return window_label(row, row.home(look.context).windows, self._words)
        name = (item.id, item.revision)
        if name not in self._labels:
            if len(self._labels) >= _LABELS:
                self._labels.clear()
            calls = row.home(look.context).calls
            self._labels[name] = label(item, calls, self._words)
        return self._labels[name]

    def _counts(self, row: Row) -> bool:
        """Return whether anything of the item counts, as its mark says."""
        item, look = row.item, self._look
        if item.held is not None or look is None or row.log is not None:
            return (item.held.hidden if item.held is not None else item.hidden) is None
        return look.context.counts(look.composition, item)

    def _tokens(self, row: Row) -> str:
        if self._look is None:
            return ""
        return short(self._look.provider(tokens_of(row, self._look)))
