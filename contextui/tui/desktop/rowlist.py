"""Lists that a person works in: a row cursor, a filter line, and names with matched letters."""

from collections.abc import Callable, Collection, Hashable, Sequence
from itertools import chain
from typing import ClassVar, Generic, TypeVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, Static

from contextui.secrets import mask_own
from contextui.text import code_point, for_terminal, is_unseen, one_line
from contextui.tui.lines import FAINT, KEY, MUTED, LineView, fit, fold, line, lit
from contextui.words import Words

T = TypeVar("T")
Draw = Callable[[T, int], Content]

MATCHED = "bold $text-primary"
"""The style of the letters that a filter found."""
_MARKS = {"A": "$text-success", "?": "$text-success", "D": "$text-error", "U": "$text-error"}


class RowList(LineView, Generic[T], can_focus=True, inherit_bindings=False):
    """Rows with a cursor; only those in view are drawn.

    Args:
        draw: Draws a row to a width.
        key: Returns what identifies a row while the list changes.
    """

    BINDINGS = [
        Binding("up", "step(-1)", "move", key_display="↑↓"),
        Binding("down", "step(1)", show=False),
        Binding("pageup", "page(-1)", show=False),
        Binding("pagedown", "page(1)", show=False),
        Binding("home", "edge(-1)", show=False),
        Binding("end", "edge(1)", show=False),
        Binding("enter", "open", "open"),
        Binding("space", "expand", "expand", key_display="space"),
    ]
    DEFAULT_CSS = "RowList { overflow-y: auto; scrollbar-gutter: stable; scrollbar-size: 0 1; }"

    class Moved(Message):
        """Posted when the cursor is at another row."""

    class Opened(Message):
        """Posted when a row is chosen by enter or a click."""

    class Toggled(Message):
        """Posted when a row is to be expanded or collapsed."""

    opens_by_click: ClassVar[bool] = True
    """Whether a click on any row opens it, or only one on the row under the cursor."""
    expands: ClassVar[bool] = True
    """Whether rows can be expanded."""
    shows_cursor: ClassVar[bool] = False
    """Whether the cursor is shown although something else has the focus."""
    cursor = 0
    """The number of the row under the cursor, from 0."""

    def __init__(
        self,
        draw: Draw[T],
        key: Callable[[T], Hashable],
        *,
        id: str | None = None,  # noqa: A002
    ) -> None:
        super().__init__(id=id)
        self.rows: Sequence[T] = ()
        self.note = Content("")
        """Shown where the rows would be, if there are none."""
        self.is_filtered = False
        """Whether the filter has the focus, so that the cursor is shown."""
        self._draw_row, self._key = draw, key
        self._chosen: Hashable = None  # the key of the last row under the cursor
        self._noted: Sequence[Content] = ()  # the note, wrapped

    def is_entry(self, row: T) -> bool:  # noqa: ARG002
        """Whether the cursor can be on a row: headings override this."""
        return True

    @property
    def row(self) -> T | None:
        row = self.rows[self.cursor] if self.cursor < len(self.rows) else None
        return row if row is not None and self.is_entry(row) else None

    def show(self, rows: Sequence[T], note: Content | str = "", *, at: Hashable = None) -> None:
        """Show other rows; the cursor stays on its row, or near it."""
        if self.row is not None:
            self._chosen = self._key(self.row)
        self.rows = rows
        self.note = Content.styled(note, MUTED) if isinstance(note, str) else note
        wanted = self._chosen if at is None else at
        if wanted is not None:
            is_here = self.cursor < len(rows) and self._key(rows[self.cursor]) == wanted
            if not is_here:
                self._find(wanted)
        self.cursor = self._entry_from(self.cursor, 1)
        self._noted = [] if rows or not self.note.plain else fold(self.note, self.line_width or 80)
        self.set_count(len(rows) or len(self._noted), follow=False)
        if at is not None:
            self._show_cursor()

    def _find(self, wanted: Hashable) -> None:
        for number, row in enumerate(self.rows):
            if self._key(row) == wanted:
                self.cursor = number
                return

    def line_at(self, number: int, width: int) -> Content:
        if not self.rows:
            return self._noted[number]
        width -= self.show_vertical_scrollbar  # text does not touch it
        shown = self._draw_row(self.rows[number], width)
        if number == self.cursor and (self.has_focus or self.shows_cursor or self.is_filtered):
            return lit(shown.pad_right(max(width - shown.cell_length, 0)))
        return shown

    def _entry_from(self, place: int, step: int) -> int:
        """Return the next entry in the direction of `step`, else in the other; 0 if none."""
        count = len(self.rows)
        place = max(min(place, count - 1), 0)
        onward = range(place, count if step > 0 else -1, step)
        back = range(place, -1 if step > 0 else count, -step)
        places = chain(onward, back) if count else ()
        return next((one for one in places if self.is_entry(self.rows[one])), 0)

    def _show_cursor(self) -> None:
        above = self.cursor - 1
        if above >= 0 and not self.is_entry(self.rows[above]):
            self.show_line(above)
        self.show_line(self.cursor)

    def choose(self, place: int, step: int = 1) -> None:
        """Move the cursor to a row, or to the next one in the direction of `step`."""
        place = self._entry_from(place, step)
        moved, self.cursor = place != self.cursor, place
        self._show_cursor()
        self.refresh()
        if moved:
            self.post_message(self.Moved())

    def action_step(self, step: int) -> None:
        self.choose(self.cursor + step, step)

    def action_page(self, step: int) -> None:
        height = max(self.scrollable_content_region.height - 1, 1)
        self.choose(self.cursor + step * height, step)

    def action_edge(self, step: int) -> None:
        self.choose(0 if step < 0 else self.count, -step)

    def action_open(self) -> None:
        if self.row is not None:
            self.post_message(self.Opened())

    def action_expand(self) -> None:
        if self.row is not None:
            self.post_message(self.Toggled())

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return super().check_action(action, parameters) and (action != "expand" or self.expands)

    def opens(self, place: int, clicks: int) -> bool:  # noqa: ARG002
        """Whether a click on a row opens it; it always moves the cursor there."""
        return self.opens_by_click or place == self.cursor

    def on_click(self, event: events.Click) -> None:
        place = int(event.y) + self.scroll_offset.y
        if place < len(self.rows) and self.is_entry(self.rows[place]):
            event.stop()
            opens = self.opens(place, event.chain)
            self.choose(place)
            if opens:
                self.action_open()


class FilterInput(Input):
    """The text of a filter; the keys that move the list's cursor work here, too."""

    BINDINGS = [
        Binding("up", "step(-1)", "move", key_display="↑↓"),
        Binding("down", "step(1)", show=False),
        Binding("pageup", "page(-1)", show=False),
        Binding("pagedown", "page(1)", show=False),
        Binding("enter", "submit", "choose"),
        Binding("escape", "clear_filter", "clear filter"),
    ]

    def __init__(self, hint: str, rows: RowList[T], clear: Callable[[], None]) -> None:
        super().__init__(placeholder=hint, compact=True)
        self.action_step, self.action_page = rows.action_step, rows.action_page
        self.action_clear_filter = clear
        self.can_focus = False  # until it is used


class FilterLine(Horizontal):
    """One line above a list: what is typed, and how much it finds.

    Args:
        rows: The list below it.
        hint: Shown before anything is typed.
        keeps: Whether Enter returns to the list, and not opens the row under the cursor.
        is_always_shown: Whether the line is shown before it is used.
    """

    DEFAULT_CSS = """
    FilterLine {
        height: 1;
        .slash { width: 2; }
        FilterInput { width: 1fr; height: 1; padding: 0; background: $background; border: none; }
        .found { width: auto; height: 1; padding: 0 0 0 1; }
    }
    """

    class Changed(Message):
        """Posted when another text is to be found; empty if the filter was left."""

        def __init__(self, query: str) -> None:
            super().__init__()
            self.query = query

    def __init__(
        self,
        rows: RowList[T],
        *,
        hint: str = "",
        keeps: bool = False,
        is_always_shown: bool = False,
    ) -> None:
        super().__init__()
        self._rows, self._input = rows, FilterInput(hint, rows, self.end)
        self._keeps, self._is_always_shown = keeps, is_always_shown
        self._found = Static(classes="found")
        self.display = is_always_shown

    def compose(self) -> ComposeResult:
        yield Static(Content.styled("/ ", f"{KEY} bold"), classes="slash")
        yield self._input
        yield self._found

    @property
    def query_text(self) -> str:
        return self._input.value.strip() if self.display else ""

    @property
    def is_typing(self) -> bool:
        return self._input.has_focus

    def begin(self) -> None:
        self.display = self._input.can_focus = self._rows.is_filtered = True
        self._input.focus()

    def end(self) -> None:
        self._leave(self._is_always_shown)
        with self.prevent(Input.Changed):
            self._input.value = ""
        self.show_found("")
        self.post_message(self.Changed(""))

    def _leave(self, is_shown: bool) -> None:
        had_focus = self._input.has_focus
        self._input.can_focus = self._rows.is_filtered = False
        self.display = is_shown
        if had_focus:
            self._rows.focus()

    def show_found(self, text: str | Content) -> None:
        self._found.update(Content.styled(text, MUTED) if isinstance(text, str) else text)

    @on(Input.Changed)
    def _search(self, message: Input.Changed) -> None:
        message.stop()
        if not (query := self._input.value.strip()):
            self.show_found("")
        self.post_message(self.Changed(query))

    @on(Input.Submitted)
    def _open(self, message: Input.Submitted) -> None:
        message.stop()
        if not self._keeps:
            self._rows.action_open()
        elif self.query_text:
            self._leave(is_shown=True)
        else:
            self.end()


def mark_style(mark: str) -> str:
    """Return the style of the letter by which git marks a change."""
    return _MARKS.get(mark, "$text-warning")


def visible(name: str) -> str:
    r"""Return a name with every character that cannot be seen as a visible one.

    Two names that differ are shown differently.

    Example:
        >>> print(visible("a\nb\u200bc"))
        a␊b⟨U+200B⟩c
    """
    return name if name.isascii() and name.isprintable() else "".join(map(_visible, name))


def marked_name(name: str, positions: Collection[int] = (), style: str = "") -> Content:
    """Return a name as one line, with the matched letters highlighted."""
    if (masked := mask_own(name)) != name:
        return Content.styled(visible(masked), style)
    if not positions:
        return Content.styled(visible(name), style)
    return Content.assemble(
        *(
            (_visible(char), f"{style} {MATCHED}" if number in positions else style)
            for number, char in enumerate(name)
        )
    )


def positions_of(name: str, words: Sequence[str]) -> set[int]:
    """Return the indexes of the letters of a name where words, in lower case, occur in it."""
    folded, found = name.casefold(), set[int]()
    if len(folded) != len(name):  # some letters became several: where is unknown
        return found
    for word in words:
        at = folded.find(word)
        while word and at >= 0:
            found |= set(range(at, at + len(word)))
            at = folded.find(word, at + len(word))
    return found


def _visible(char: str) -> str:
    if not is_unseen(char):
        return char
    if char < " " or char == "\x7f":
        return {"\n": "␊", "\t": "␉"}.get(char) or for_terminal(char, lines=False)
    return code_point(char)


def spread(left: Content, right: Content, width: int) -> Content:
    """Return a row of exactly this width: the right part whole, the left one truncated."""
    room = max(width - right.cell_length, 0)
    return left.truncate(room, ellipsis=True, pad=True) + right


def heading_row(title: str, count: str, width: int) -> Content:
    """Return a row that names a group, with a count at its end."""
    return Content.assemble((fit(title, max(width - len(count), 0)), MUTED), (count, FAINT))


def found_text(count: int, total: int, words: Words) -> str:
    """Say how many rows a filter leaves."""
    return words("{count} of {total}", count=f"{count:,}", total=f"{total:,}")


def not_found_text(query: str, words: Words) -> str:
    """Say that a filter leaves nothing."""
    return words("Nothing matches “{query}”. Esc clears.", query=line(one_line(query, 40)))
