"""Screen of a terminal: pyte's buffer with scroll-back, fast drawing and wide characters."""

import re
import unicodedata
from collections import deque
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import pyte
from pyte import charsets
from pyte import modes as mo
from wcwidth import wcwidth

from contextui.text import for_terminal

if TYPE_CHECKING:
    from rich.style import Style


class Label(NamedTuple):
    """Which command was typed in a row."""

    number: int
    column: int


Line = pyte.screens.StaticDefaultDict[int, pyte.screens.Char]
Run = tuple[str, "Style | None"]
Row = tuple[Run, ...]
_JOINERS = "\u200c\u200d"


class Screen(pyte.Screen):
    """pyte's screen with scroll-back as finished rows, fast drawing, and exact wide characters."""

    def __init__(self, columns: int, lines: int, history: int) -> None:
        self.history = deque[Row](maxlen=history)
        self.scrolled = 0
        self.above = 0  # rows of scroll-back that have room since the screen became higher
        self.labels = dict[int, Label]()
        self.take_row: Callable[[int, str, bool], None] | None = None
        self.erasing: Callable[[], None] = lambda: None
        self.reply: Callable[[str], None] = lambda _: None
        super().__init__(columns, lines)

    def write_process_input(self, data: str) -> None:
        self.reply(data)

    def row(self, y: int) -> Row:
        """Return one row as runs, without the plain blanks at its end."""
        line = self.buffer.get(y)
        if not line:
            return ()
        runs, parts = list[Run](), list[str]()
        last: Style | None = None
        default, attrs = line.default, None
        for x in range(min(max(line) + 1, self.columns)):
            char = line.get(x, default)
            if char[1:] != attrs:
                attrs = char[1:]
                style = _style(attrs)
                if parts and style != last:
                    runs.append(("".join(parts), last))
                    parts = []
                last = style
            parts.append(char[0])
        tail = "".join(parts)
        if last is None:
            tail = tail.rstrip(" ")
        if tail:
            runs.append((tail, last))
        return tuple((text.replace("\t", " "), style) for text, style in runs)

    @property
    def place(self) -> tuple[int, int]:
        """Row and column of the cursor, counted from the first row that ever was."""
        # After the last column is the start of the next row, for shells as well.
        wraps, column = divmod(self.cursor.x, self.columns)
        return self.scrolled + self.cursor.y + wraps, column

    @property
    def last_row(self) -> int:
        """The last row with content, counted likewise."""
        return self.scrolled + max((y for y, line in self.buffer.items() if line), default=-1)

    def line(self, row: int, start: int = 0) -> tuple[str, bool]:
        """Return the text of a row, counted likewise, and whether its line goes on in the next."""
        line = self.buffer.get(row - self.scrolled)
        if not line:
            return "", False
        cells = [line[x].data for x in range(start, min(max(line) + 1, self.columns))]
        for x, cell in enumerate(cells):
            if cell == "\t":
                for pad in range(x + 1, min((start + x) // 8 * 8 + 8 - start, len(cells))):
                    if cells[pad] != " ":
                        break
                    cells[pad] = ""
        goes_on = getattr(line, "goes_on", False)
        text = "".join(cells)
        return text if goes_on else text.rstrip(" "), goes_on

    def cells(self, y: int, start: int, end: int | None) -> str:
        line = self.buffer.get(y)
        if line is None:
            return ""
        stop = self.columns if end is None else min(end, self.columns)
        return "".join(line[x].data for x in range(start, stop)).replace("\t", " ")

    def keep(self, y: int) -> None:
        """Put the first row that did not scroll away yet into the scroll-back."""
        self.history.append(self.row(y))
        self.above = 0
        if self.take_row is not None:
            self.take_row(self.scrolled, *self.line(self.scrolled + y))
        self.scrolled += 1

    def index(self) -> None:
        top, bottom = self.margins or (0, self.lines - 1)
        if self.cursor.y == bottom and top == 0:
            self.keep(0)
        super().index()

    def take_lines(self, lines: Sequence[str]) -> bool:
        """Draw whole lines at once, if that is the same as drawing them one by one."""
        y = self.cursor.y
        rows = [
            (line[at : at + self.columns], at + self.columns < len(line))
            for line in lines
            for at in range(0, max(len(line), 1), self.columns)
        ]
        if (
            len(rows) <= self.lines
            or self.cursor.x
            or self.margins
            or mo.IRM in self.mode
            or mo.DECAWM not in self.mode
            or self.charset
            or self.g0_charset is not charsets.LAT1_MAP
            or any(self.buffer.get(below) for below in range(y, self.lines))
        ):
            return False
        for above in range(y):
            self.keep(above)
        shown = self.lines - 1
        style = _style(self.cursor.attrs[1:])
        if style is None:
            rows = [(row if goes_on else row.rstrip(" "), goes_on) for row, goes_on in rows]
        gone = rows[:-shown]
        self.history.extend(((row, style),) if row else () for row, _ in gone)
        self.buffer.clear()
        self.cursor.y = 0
        for row, goes_on in gone:
            if self.take_row is not None:
                self.take_row(self.scrolled, row, goes_on)
            self.scrolled += 1
        for row, goes_on in rows[-shown:]:
            self._put_ascii(row)
            _mark(self.buffer[self.cursor.y], goes_on)
            self.cursor.x = 0
            self.cursor.y += 1
        self.dirty.update(range(self.lines))
        return True

    def tab(self) -> None:
        line, x = self.buffer[self.cursor.y], self.cursor.x
        if x < self.columns and x > max(line, default=-1):
            line[x] = self.default_char._replace(data="\t")
        super().tab()

    def erase_in_line(self, how: int = 0, private: bool = False) -> None:
        super().erase_in_line(how, private)
        if how != 1:
            _mark(self.buffer[self.cursor.y], False)

    def erase_in_display(self, how: int = 0, *_: object, **__: object) -> None:
        if how >= 2:
            self.erasing()
            self.above = 0
        super().erase_in_display(how)
        for y, line in self.buffer.items():
            if how >= 2 or (y < self.cursor.y if how else y > self.cursor.y):
                _mark(line, False)
        if how == 3:
            self.history.clear()
        if how != 1:  # what is below the cursor, or everything
            start = self.cursor.y + bool(self.cursor.x) if how == 0 else 0
            self._forget_labels(self.scrolled + start)

    def reset(self) -> None:
        self.erasing()
        super().reset()
        self.savepoints.clear()
        self._forget_labels(self.scrolled)

    def _forget_labels(self, first: int) -> None:
        self.labels = {row: one for row, one in self.labels.items() if row < first}

    def resize(self, lines: int | None = None, columns: int | None = None) -> None:
        """Change the size; rows that no longer fit above the cursor scroll away."""
        lines, columns = max(2, lines or self.lines), max(2, columns or self.columns)
        self.margins = None
        while self.cursor.y >= lines:
            y, self.cursor.y = self.cursor.y, self.lines - 1
            self.index()
            self.cursor.y = y - 1
        for y in [y for y in self.buffer if y >= lines]:
            del self.buffer[y]
        for line in self.buffer.values():
            for x in [x for x in line if x >= columns]:
                del line[x]
        self.above = max(self.above + lines - self.lines, 0)
        self.lines, self.columns = lines, columns
        self.cursor.x = min(self.cursor.x, columns)
        self.tabstops = set(range(8, columns, 8))
        self.dirty = set(range(lines))

    def save_cursor(self) -> None:
        self.savepoints.clear()  # one place to save, as in xterm: no stack that grows
        super().save_cursor()

    def scroll(self, count: int, up: bool) -> None:
        top, bottom = self.margins or (0, self.lines - 1)
        y = self.cursor.y
        self.cursor.y = bottom if up else top
        for _ in range(count):
            (self.index if up else self.reverse_index)()
        self.cursor.y = y

    def back_tab(self) -> None:
        self.cursor.x = max((one for one in self.tabstops if one < self.cursor.x), default=0)

    def draw(self, data: str) -> None:
        charset = self.g1_charset if self.charset else self.g0_charset
        if charset is not charsets.LAT1_MAP:
            data = data.translate(charset)
        if mo.IRM in self.mode:
            for char in data:
                if (width := wcwidth(char)) > 0:
                    self.insert_characters(width)
                self._put(char, width)
        elif data.isascii():
            self._put_ascii(data)
        else:
            for char in data:
                self._put(char, wcwidth(char))

    def _put_ascii(self, data: str) -> None:
        cursor, made, at = self.cursor, _characters(self.cursor.attrs), 0
        while at < len(data):
            self._wrap(1)
            line, x = self.buffer[cursor.y], cursor.x
            part = data[at : at + self.columns - x]
            self._split_wide(line, x, x + len(part))
            line.update(zip(range(x, x + len(part)), map(made, part), strict=True))
            self.dirty.add(cursor.y)
            cursor.x += len(part)
            at += len(part)

    def _put(self, char: str, width: int) -> None:
        if width <= 0:
            if unicodedata.category(char)[0] == "M" or char in _JOINERS:
                self._combine(char)
            elif (shown := for_terminal(char)) != char:  # hidden, it could make a line lie
                self._put_ascii(shown)
            return
        self._wrap(width)
        cursor = self.cursor
        line, x = self.buffer[cursor.y], cursor.x
        self._split_wide(line, x, x + width)
        line[x] = cursor.attrs._replace(data=char)
        if width == 2:
            line[x + 1] = cursor.attrs._replace(data="")
        self.dirty.add(cursor.y)
        cursor.x = x + width

    def _wrap(self, width: int) -> None:
        cursor = self.cursor
        if cursor.x + width > self.columns:
            if mo.DECAWM in self.mode:
                _mark(self.buffer[cursor.y], True)
                cursor.x = 0
                self.index()
            else:
                cursor.x = self.columns - width

    def _split_wide(self, line: Line, start: int, end: int) -> None:
        """Blank the halves of wide characters that are about to lose their other half."""
        if start in line and line[start].data == "":
            line[start - 1] = line[start - 1]._replace(data=" ")
        if end in line and line[end].data == "":
            line[end] = line[end]._replace(data=" ")

    def _combine(self, mark: str) -> None:
        cursor = self.cursor
        line, x = self.buffer[cursor.y], cursor.x - 1
        if x > 0 and line[x].data == "":
            x -= 1
        if x >= 0 and len(line[x].data) < 8:  # a cell does not grow without bound
            line[x] = line[x]._replace(data=unicodedata.normalize("NFC", line[x].data + mark))
            self.dirty.add(cursor.y)


def _mark(line: Line, goes_on: bool) -> None:
    """Note whether the line of a row goes on in the next row; it moves with the row."""
    line.goes_on = goes_on  # type: ignore[attr-defined]


@lru_cache(maxsize=256)
def _characters(attrs: pyte.screens.Char) -> Callable[[str], pyte.screens.Char]:
    """Return a function that makes, and remembers, the cells with a style."""
    return {chr(code): attrs._replace(data=chr(code)) for code in range(0x20, 0x7F)}.__getitem__


@lru_cache(maxsize=4096)
def _style(attrs: tuple[str, str, bool, bool, bool, bool, bool, bool]) -> "Style | None":
    from rich.style import Style  # noqa: PLC0415  (without the screen, nothing draws)

    fg, bg, *flags, _ = attrs
    names = ("bold", "italic", "underline", "strike", "reverse")
    found: dict[str, Any] = {name: True for name, on in zip(names, flags, strict=True) if on}
    return Style(color=_colour(fg), bgcolor=_colour(bg), **found) or None


def _colour(name: str) -> str | None:
    """Return pyte's name of a colour as rich writes it."""
    if name == "default" or re.fullmatch(r"[0-9a-f]{6}", name):
        return None if name == "default" else f"#{name}"
    return name.replace("bfight", "bright").replace("brown", "yellow").replace("bright", "bright_")
