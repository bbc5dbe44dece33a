"""Diff view: shows every line of a proposed change, wrapped, and renders only what is in view.

Nothing is truncated. A wrapped line continues after `↪`; an invisible character is shown as
`⟨U+200B⟩`, a tab as `→`, trailing blanks as `·` and a trailing carriage return as `␍`.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from typing import Any, Literal, NamedTuple

from rich.cells import cell_len
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.timer import Timer

from contextui.secrets import mask_own
from contextui.text import code_point, is_unseen
from contextui.tui.lines import MUTED, LineView
from contextui.words import Words

Kind = Literal["+", "-", " ", "@", "!", "?", "$", ">"]
"""Added, removed, unchanged; a heading; the target; a problem; a command and its further lines."""

TWO_COLUMNS = 70
"""Minimum cells for two columns of line numbers, old and new."""
UNSEEN = "bold $background on $warning"
"""The style of an invisible character."""

_TAB = 4
_MARKS = 4  # maximum combining characters per character
_PIECE = 4_096  # characters of one line that are laid out at once
_AT_ONCE = 200_000  # layout steps before the first render
_A_WHILE = 20_000  # layout steps at a time afterwards
_KEPT = 256  # pieces whose rows are cached
_NUMBER = r"(\d{1,9})"
_HUNK = re.compile(rf"@@ -{_NUMBER}(?:,{_NUMBER})? \+{_NUMBER}(?:,{_NUMBER})? @@ ?(.*)", re.DOTALL)
_GROUND = {
    "+": "on $success-soft",
    "-": "on $error-soft",
    " ": "on $soft",
    "@": "on $soft",
    "!": "on $soft",
    "?": "on $soft",
    "$": "",
    ">": "",
}
_INK = {
    "+": "$text-success",
    "-": "$text-error",
    " ": "$foreground 85%",
    "@": MUTED,
    "!": "$foreground bold",
    "?": "$text-error",
    "$": "$foreground bold",
    ">": "$foreground bold",
}


class Line(NamedTuple):
    """One line of a change; `old` and `new` are its line numbers, 0 if it has none."""

    kind: Kind
    text: str
    old: int = 0
    new: int = 0


# --- lines -----------------------------------------------------------------------------


def is_diff(text: str) -> bool:
    """Return whether a text is a unified diff, of one file or as git writes it of several."""
    return text.startswith(("--- ", "diff --git ")) and "\n+++ " in text and "\n@@ " in text


def plain_lines(text: str) -> list[Line]:
    """Return the lines of a text, without line numbers."""
    return [Line(" ", one) for one in _split(text)]


def diff_lines(diff: str, words: Words, target: str = "") -> list[Line]:
    """Parse a unified diff; its file names are left out if they match the target."""
    lines = _split(diff)
    head = lines[:2] if diff.startswith("--- ") else []
    is_named = all(_names(line[4:], target) for line in head)
    found = [] if is_named else [Line("@", one) for one in head]
    old = new = old_left = new_left = 0
    for at, one in enumerate(lines[len(head) :], len(head)):
        is_over = old_left <= 0 and new_left <= 0
        if hunk := _HUNK.fullmatch(one):
            old, old_left, new, new_left = (int(count or 1) for count in hunk.groups()[:4])
            first, count = (new, new_left) if new_left else (old, old_left)
            last = max(first + count - 1, first)
            text = words("lines {first} to {last}", first=first, last=last)
            found.append(Line("@", f"{text}   {hunk[5]}" if hunk[5] else text))
        elif (kind := one[:1] or " ") in ("+", "-", " ") and not (
            is_over and _is_file_heading(lines, at)
        ):
            is_old, is_new = kind != "+", kind != "-"
            found.append(Line(kind, one[1:], old * is_old, new * is_new))  # type: ignore[arg-type]
            old, new = old + is_old, new + is_new
            old_left, new_left = old_left - is_old, new_left - is_new
        else:
            found.append(Line("@", one))
    return found


def whole_lines(whole: str, changes: Sequence[Line]) -> list[Line]:
    """Return the content after a change, with the changed lines marked."""
    texts = _split(whole)
    added = {change.new for change in changes if change.kind == "+"}
    removed: dict[int, list[Line]] = {}
    at = 1
    for change in changes:
        if change.kind == "-":
            removed.setdefault(at, []).append(change)
        elif change.kind in "+ ":
            at = change.new + 1
    marked: list[Line] = []
    for number, text in enumerate(texts, 1):
        marked += removed.pop(number, [])
        marked.append(Line("+" if number in added else " ", text, 0, number))
    return [*marked, *(one for rest in removed.values() for one in rest)]


def _split(text: str) -> list[str]:
    """Split at LF only; a trailing LF adds no empty line."""
    lines = mask_own(text).split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def _names(name: str, target: str) -> bool:
    """Return whether a file name in a diff's header is the target."""
    name = name.partition("\t")[0]
    known = {target, f"a/{target}", f"b/{target}", "/dev/null"}
    return not target or name in known or name.startswith(f"{target} (")


def _is_file_heading(lines: Sequence[str], at: int) -> bool:
    here, before = lines[at], lines[at - 1]
    below = lines[at + 1] if at + 1 < len(lines) else ""
    return (here.startswith("--- ") and below.startswith("+++ ")) or (
        here.startswith("+++ ") and before.startswith("--- ")
    )


# --- characters ------------------------------------------------------------------------


class Cell(NamedTuple):
    """A character as displayed: its cells, and whether it is a placeholder."""

    text: str
    cells: int
    is_unseen: bool = False
    is_blank: bool = False


def cells_of(text: str, widest: int, *, is_end: bool = True) -> list[Cell]:
    """Return the characters of a line as displayed."""
    body = text[:-1] if is_end and text.endswith("\r") else text
    end = len(body.rstrip(" \t"))
    shown: list[Cell] = []
    column = marks = 0
    for at, char in enumerate(body):
        if char == "\t":
            width = min(_TAB - column % _TAB, widest)
            shown.append(Cell("→".ljust(width), width, is_blank=True))
        elif char == " ":
            shown.append(Cell("·", 1, is_blank=True) if at >= end else Cell(" ", 1))
        elif is_unseen(char) or (char == "⟨" and body.startswith("⟨U+", at)):
            shown += _stand_in(char, widest)
        elif size := _size(char):
            marks = 0
            shown.append(Cell(char, size))
        else:  # a combining character: attach a few of them to the character before
            base = shown[-1] if shown else None
            if base is None or base.is_unseen or base.is_blank or base.text == " " or (
                marks >= _MARKS
            ):  # fmt: skip
                shown += _stand_in(char, widest)
            else:
                marks += 1
                joined = base.text + char
                shown[-1] = Cell(joined, cell_len(joined))
        column += shown[-1].cells
    if len(body) < len(text):
        shown.append(Cell("␍", 1, is_blank=True))
    return shown


@lru_cache(maxsize=65_536)
def _size(char: str) -> int:
    return cell_len(char)


def _stand_in(char: str, widest: int) -> list[Cell]:
    text = code_point(char)
    if len(text) <= widest:
        return [Cell(text, len(text), is_unseen=True)]
    return [Cell(one, 1, is_unseen=True) for one in text]


def spelled(text: str) -> Content:
    """Return text in one line, with invisible characters as placeholders."""
    cells = cells_of(mask_own(text), len(code_point("\U0010ffff")))
    return Content.assemble(*((cell.text, UNSEEN if cell.is_unseen else "") for cell in cells))


def shortened(text: Content, room: int, *, at_end: bool = False) -> Content:
    """Truncate a text at its start, as the end of a path says most, or at its end."""
    while text.plain and text.cell_length > max(room - 1, 1):
        text = text[:-1] if at_end else text[1:]
    return Content.assemble(text, "…") if at_end else Content.assemble("…", text)


# --- rows ------------------------------------------------------------------------------


def hanging(text: str, width: int) -> int:
    """Return the indent of a line's wrapped rows: its own indent plus two."""
    indent = len(text) - len(text.lstrip(" "))
    return indent + 2 if indent + 2 <= width // 2 else 0


def breaks(cells: Sequence[Cell], width: int, later: int) -> list[int]:
    """Return where rows end: after a space, beside a wide character, else where the row is full.

    One space may exceed the width of a row. Nothing else is left out.
    """
    ends: list[int] = []
    start, room, at = 0, width, 0
    used = good = 0  # cells used in the row; the last possible break
    has_text = False
    while at < len(cells):
        cell = cells[at]
        is_space = cell.text == " "
        if used + cell.cells > room and at > start and not (
            is_space and used <= room and cells[at - 1].text != " "
        ):  # fmt: skip
            at = start = good or at
            ends.append(at)
            room, used, good, has_text = later, 0, 0, False
            continue
        used += cell.cells
        has_text = has_text or not is_space
        if is_space and has_text:
            good = at + 1
        elif cell.cells == 2 and not cell.is_unseen and has_text and at > start:
            good = at  # a break is possible before a wide character
        at += 1
    return [*ends, len(cells)]


def _plain_breaks(text: str, width: int, later: int) -> list[int]:
    """Return the breaks of visible text in which each character takes one cell."""
    ends: list[int] = []
    start, room = 0, width
    while len(text) - start > room:
        full = start + room
        if text[full] == " " and text[full - 1] != " ":
            cut = full + 1
        else:
            cut = text.rfind(" ", start, full) + 1
        ends.append(cut if text[start:cut].strip(" ") else full)
        start, room = ends[-1], later
    return [*ends, len(text)]


@dataclass(frozen=True, slots=True)
class _Piece:
    """A line, or as much of a very long one as is laid out at once."""

    line: int
    start: int


class Layout:
    """The rows of a change at a given width, laid out incrementally."""

    def __init__(self, lines: Sequence[Line], width: int) -> None:
        self.lines, self.width = lines, max(width, 8)
        self.unseen = self.count = 0
        highest = max((max(line.old, line.new) for line in lines), default=0)
        self._digits = max(len(str(highest)), 4) if highest else 0
        self._has_two = self.width >= TWO_COLUMNS and any(line.old for line in lines)
        self._pieces: list[_Piece] = []
        self._ends: list[int] = []  # rows up to the end of each piece
        self._next = _Piece(0, 0)
        self._rows = lru_cache(_KEPT)(lambda at: list(self._draw(self._pieces[at])))

    @property
    def is_whole(self) -> bool:
        return self._next.line >= len(self.lines)

    def measure(self, steps: int, up_to: int = -1) -> None:
        """Lay out more: at least up to a line; each unusual character takes about one step."""
        while not self.is_whole and (steps > 0 or self._next.line <= up_to):
            piece = self._next
            text, is_end = self._text(piece)
            rows, unseen, work = self._measured(self.lines[piece.line], text, piece, is_end)
            self._pieces.append(piece)
            self.count += rows
            self.unseen += unseen
            self._ends.append(self.count)
            steps -= work
            start = piece.start + len(text)
            self._next = _Piece(piece.line + 1, 0) if is_end else _Piece(piece.line, start)

    def line_at(self, row: int) -> int:
        if not self._pieces:
            return 0
        return self._pieces[min(bisect_right(self._ends, row), len(self._pieces) - 1)].line

    def row_of(self, line: int) -> int:
        at = bisect_right(self._pieces, line - 1, key=lambda one: one.line)
        return self._ends[at - 1] if at else 0

    def row(self, number: int) -> Content:
        at = bisect_right(self._ends, number)
        return self._rows(at)[number - (self._ends[at - 1] if at else 0)]

    def _text(self, piece: _Piece) -> tuple[str, bool]:
        line = self.lines[piece.line].text
        if piece.start == 0 and len(line) <= _PIECE:
            return line, True
        end = piece.start + _PIECE
        return line[piece.start : end], end >= len(line)

    def _room(self, kind: Kind) -> int:
        """Return the cells of the text: after the mark, and one left of the scrollbar."""
        return max(self.width - len(self._gutter(kind)) - 3, 4)

    def _gutter(self, kind: Kind, old: str = "", new: str = "") -> str:
        if kind in "@!?$>" or not self._digits:
            return ""
        if self._has_two:
            return f" {old:>{self._digits}} {new:>{self._digits}} "
        return f" {new or old:>{self._digits}} "

    def _widths(self, line: Line, piece: _Piece) -> tuple[int, int]:
        room = self._room(line.kind)
        later = room - hanging(line.text[:_PIECE], room)
        return (room if piece.start == 0 else later), later

    def _measured(self, line: Line, text: str, piece: _Piece, is_end: bool) -> tuple[int, int, int]:
        """Return the rows, invisible characters and layout steps of a piece."""
        first, later = self._widths(line, piece)
        if text.isascii() and text.isprintable():
            if len(text) <= first:
                return 1, 0, 1
            if text[-1] != " ":
                return len(_plain_breaks(text, first, later)), 0, 1 + len(text) // 40
        cells = cells_of(text, later, is_end=is_end)
        unseen = sum(cell.is_unseen and cell.text[0] == "⟨" for cell in cells)
        return len(breaks(cells, first, later)), unseen, len(text)

    def _draw(self, piece: _Piece) -> Iterator[Content]:
        line, (text, is_end) = self.lines[piece.line], self._text(piece)
        first, later = self._widths(line, piece)
        cells = cells_of(text, later, is_end=is_end)
        ground, ink = _GROUND[line.kind], _INK[line.kind]
        numbers = [str(one or "") for one in (line.old, line.new)]
        start, ends = 0, breaks(cells, first, later)
        for row, end in enumerate(ends):
            goes_on = bool(row or piece.start)
            gutter = self._gutter(line.kind, *([] if goes_on else numbers))
            mark = "↪ " if goes_on else f"{line.kind if line.kind in '+-$>' else ' '} "
            parts = [(gutter, f"{MUTED} {ground}"), (mark, f"{MUTED if goes_on else ink} {ground}")]
            if goes_on:
                parts.append((" " * (self._room(line.kind) - later), ground))
            shown = _with_end(cells[start:end], is_last=row == len(ends) - 1)
            for style, group in groupby(shown, lambda one: _cell_style(one, ink, ground)):
                parts.append(("".join(one.text for one in group), style))
            used = sum(cell_len(text) for text, _ in parts)
            parts.append((" " * (self.width - used), ground))
            yield Content.assemble(*parts)
            start = end


def _with_end(cells: Sequence[Cell], *, is_last: bool) -> list[Cell]:
    """Drop a single trailing space, which is the break itself; show several as blanks."""
    shown = list(cells)
    blanks = 0
    while not is_last and blanks < len(shown) and shown[-1 - blanks].text == " ":
        blanks += 1
    if blanks == 1 and len(shown) > 1:
        return shown[:-1]
    for at in range(len(shown) - blanks, len(shown)):
        shown[at] = Cell("·", 1, is_blank=True)
    return shown


def _cell_style(cell: Cell, ink: str, ground: str) -> str:
    if cell.is_unseen:
        return UNSEEN
    return f"{MUTED} {ground}" if cell.is_blank else f"{ink} {ground}"


# --- the view --------------------------------------------------------------------------


class ChangeView(LineView, can_focus=True):
    """A scrollable view of a change of any size; renders only what is in view."""

    DEFAULT_CSS = """
    ChangeView { height: auto; overflow-y: auto; scrollbar-gutter: stable; }
    """

    class Moved(Message):
        """Posted when the view scrolled, or more lines were laid out."""

    def __init__(self, lines: Sequence[Line], *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._lines = lines
        self.layout_of = Layout(lines, 0)
        """The rows at the current width."""
        self.drawn = 0
        """The number of rows rendered."""
        self._follows_end = False
        self._more: Timer | None = None

    def show(self, lines: Sequence[Line]) -> None:
        self._lines = lines
        self.scroll_home(animate=False, force=True, immediate=True)
        self._lay_out(0)

    @property
    def lines_in_view(self) -> tuple[int, int, int]:
        """The first and last line in view, counted from 1, and the number of lines."""
        top, rows = self.scroll_offset.y, self.layout_of
        bottom = min(top + self.scrollable_content_region.height, rows.count) - 1
        return rows.line_at(top) + 1, rows.line_at(max(bottom, top)) + 1, len(self._lines)

    def on_mount(self) -> None:
        self._more = self.set_interval(0.02, self._measure_more, pause=True)

    def on_resize(self) -> None:
        """Lay the change out at the new width; the top line stays."""
        if self.line_width != self.layout_of.width or not self.count:
            self._lay_out(self.layout_of.line_at(self.scroll_offset.y))
        else:
            self.post_message(self.Moved())

    def _lay_out(self, top: int) -> None:
        self.layout_of = Layout(self._lines, self.line_width)
        self.layout_of.measure(_AT_ONCE, up_to=top)
        self._take_measure()
        if top:
            row = self.layout_of.row_of(top)
            self.scroll_to(y=row, animate=False, force=True, immediate=True)

    def _measure_more(self) -> None:
        self.layout_of.measure(_A_WHILE)
        # Each new count triggers a layout and a render: limit them to a few.
        if self.layout_of.is_whole or self.layout_of.count > 2 * self.count:
            self._take_measure()

    def _take_measure(self) -> None:
        self.set_count(self.layout_of.count, follow=self._follows_end)
        if self._more is not None:
            (self._more.pause if self.layout_of.is_whole else self._more.resume)()
        self.post_message(self.Moved())

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002
        """Return the number of rows, or of lines while the width is unknown."""
        return max(self.count or len(self._lines), 1)

    def line_at(self, number: int, width: int) -> Content:  # noqa: ARG002
        self.drawn += 1
        return self.layout_of.row(number)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        if new_value < self.max_scroll_y:
            self._follows_end = False
        self.post_message(self.Moved())

    def _scroll_to(self, *place: Any, **how: Any) -> bool:
        """Scroll at once, as each key asks for the next lines."""
        return super()._scroll_to(*place, **{**how, "animate": False})

    def action_scroll_end(self) -> None:
        """Scroll to the end, and follow it while more is laid out."""
        self._follows_end = not self.layout_of.is_whole
        self.scroll_end(animate=False)
