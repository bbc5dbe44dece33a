"""Terminal screen: interprets a program's output, on top of pyte's screen buffer.

`Emulator` reads escape sequences itself, because pyte's parser raises on malformed ones and does
not know the alternate screen. It keeps the screen, the rows that scrolled away, and the modes that
programs set. `rows` returns them for drawing, `text` as plain lines.
"""

import re
import unicodedata
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple, Protocol

import pyte
from pyte import charsets
from pyte import modes as mo
from wcwidth import wcwidth

from contextui.text import for_terminal

BRACKETED_PASTE, APPLICATION_CURSOR, ALTERNATE = 2004, 1, 1049
SCROLLBACK = 5_000

TOKEN = re.compile(
    r"([^\x00-\x1f\x7f-\x9f]+)"  # 1: text
    r"|\x1b\[([0-?]{0,256})([ -/]{0,4})([@-~])"  # 2-4: CSI: parameters, intermediates, final
    r"|(\x1b[\]PX^_][^\x07\x18\x1a\x1b\x9c]{0,65536}(?:\x07|\x9c|\x1b\\|(?=[\x18\x1a\x1b])))"  # 5
    r"|\x1b([ -/]{0,4})([0-~])"  # 6-7: other escapes
    r"|([\x00-\x1a\x1c-\x1f\x7f-\x9f])"  # 8: control character
    r"|\x1b",
    re.DOTALL,
)
"""One token of terminal output. 5 is a string for the terminal, such as a title: never shown."""

_PLAIN_LINES = re.compile(r"(?<=\n)(?:[ -~]{0,500}\r\n){20,}")
_UNFINISHED = re.compile(
    r"\x1b(?:\[[0-?]{0,256}[ -/]{0,4}|[\]PX^_][^\x07\x18\x1a\x1b\x9c]{0,65536}|[ -/]{0,4})?\Z",
    re.DOTALL,
)


class Style(NamedTuple):
    """The look of a run of characters.

    Colours are "default", one of 16 names such as "red" and "brightred", or "#rrggbb".
    """

    fg: str = "default"
    bg: str = "default"
    bold: bool = False
    italic: bool = False
    underline: bool = False
    strike: bool = False
    reverse: bool = False


Run = tuple[str, Style]
Row = tuple[Run, ...]
PLAIN = Style()


class Cursor(NamedTuple):
    """Where the cursor is on the screen."""

    row: int
    column: int
    visible: bool


class Label(NamedTuple):
    """Which command was typed in a row.

    Attributes:
        number: The number of the command.
        column: Where it starts, behind the prompt.
    """

    number: int
    column: int


class Recorder(Protocol):
    """What reads the same tokens as the screen: the transcript of a command."""

    @property
    def ready(self) -> bool:
        """Whether it can take whole lines: it is at the start of a new one."""
        ...

    def take_lines(self, lines: Sequence[str]) -> None:
        """Take whole lines of printable ASCII."""

    def text(self, text: str) -> None:
        """Take printable text."""

    def control(self, char: str) -> None:
        """Take one control character."""

    def sequence(self, final: str, numbers: Sequence[int]) -> None:
        """Take a CSI sequence without prefix."""


def unfinished(text: str) -> int:
    """Return where an escape sequence starts that needs more text, or the length of the text."""
    at = text.rfind("\x1b")
    return at if at >= 0 and _UNFINISHED.match(text, at) else len(text)


def numbers(params: str) -> list[int]:
    """Return the parameters of a CSI sequence; 0 is a parameter left out."""
    return [min(int(one), 9999) if one.isdecimal() else 0 for one in params.split(";")]


class Emulator:
    """The main screen, the alternate screen, and the modes of one terminal.

    Args:
        rows: Rows of the screen.
        columns: Columns of the screen.

    Attributes:
        reply: Takes what the terminal answers to a program's question.
    """

    def __init__(self, rows: int, columns: int) -> None:
        self.reply: Callable[[str], None] = lambda _: None
        self._main, self._other = _Screen(columns, rows, SCROLLBACK), _Screen(columns, rows, 0)
        self._screen = self._main
        self._main.reply = self._other.reply = self._reply
        self._modes = set[int]()
        self._held = ""
        self._last = " "
        self._row_cache: list[Row] = []

    @property
    def alternate(self) -> bool:
        """Whether a full-screen program uses the alternate screen."""
        return self._screen is self._other

    @property
    def size(self) -> tuple[int, int]:
        """Rows and columns."""
        return self._screen.lines, self._screen.columns

    @property
    def title(self) -> str:
        """The title that a program set, as one line."""
        return for_terminal(self._screen.title, lines=False)

    def mode(self, number: int) -> bool:
        """Whether a private mode is on, such as `BRACKETED_PASTE`."""
        return number in self._modes

    @property
    def cursor(self) -> Cursor:
        """The cursor of the visible screen."""
        cursor, screen = self._screen.cursor, self._screen
        return Cursor(cursor.y, min(cursor.x, screen.columns - 1), mo.DECTCEM in screen.mode)

    @property
    def position(self) -> tuple[int, int]:
        """The cursor's row, counted from the first that was ever on the main screen, and column."""
        screen = self._main
        # Behind the last column is the start of the next row, for shells as well.
        wraps, column = divmod(screen.cursor.x, screen.columns)
        return screen.scrolled + screen.cursor.y + wraps, column

    @property
    def scrollback(self) -> int:
        """How many rows scrolled away and are kept."""
        return len(self._main.history)

    @property
    def top(self) -> int:
        """The first row of the main screen, counted as in `position`."""
        return self._main.scrolled

    def label(self, row: int, label: Label) -> None:
        """Note that a command was typed in a row of the main screen, counted as in `position`."""
        labels, first = self._main.labels, self._main.scrolled - self.scrollback
        # Rows below were erased by a way that is not an erasure, such as spaces.
        for one in [one for one in labels if one < first or one > row]:
            del labels[one]
        labels[row] = label

    def labels(self) -> Mapping[int, Label]:
        """Return the labels of the rows that are shown or can be scrolled to."""
        first = self._main.scrolled - self.scrollback
        return {row: label for row, label in self._main.labels.items() if row >= first}

    def rows(self) -> list[Row]:
        """Return the visible rows. Only those that changed since the last call are built."""
        screen = self._screen
        if len(self._row_cache) != screen.lines:
            self._row_cache = [()] * screen.lines
            screen.dirty.update(range(screen.lines))
        for y in screen.dirty:
            if y < screen.lines:
                self._row_cache[y] = screen.row(y)
        screen.dirty.clear()
        return list(self._row_cache)

    @property
    def changed(self) -> bool:
        """Whether `rows` would return something else than the last time."""
        return bool(self._screen.dirty)

    def history(self, start: int, end: int) -> list[Row]:
        """Return rows that scrolled away, by range; 0 is the oldest kept."""
        history = self._main.history
        return [history[at] for at in range(max(0, start), min(end, len(history)))]

    def text(self) -> str:
        """Return the visible screen as plain text, without the blank rows at its end."""
        lines = ["".join(text for text, _ in row).rstrip() for row in self.rows()]
        return for_terminal("\n".join(lines).rstrip("\n"))

    def text_from(self, row: int, column: int) -> str:
        """Return the main screen's text from a `position` to the cursor."""
        screen = self._main
        first, last = row - screen.scrolled, screen.cursor.y
        if first < 0 or first > last:
            return ""
        parts = [
            screen.cells(y, column if y == first else 0, screen.cursor.x if y == last else None)
            for y in range(first, last + 1)
        ]
        return for_terminal("".join(parts), lines=False).strip()

    def behind_cursor(self) -> str:
        """Return the main screen's text right of the cursor, without spaces at its end."""
        screen = self._main
        return screen.cells(screen.cursor.y, screen.cursor.x, None).rstrip()

    def resize(self, rows: int, columns: int) -> None:
        """Change the size of both screens. Lines are not wrapped again."""
        for screen in (self._main, self._other):
            screen.resize(rows, columns)

    def recover(self) -> None:
        """Undo what a full-screen program that crashed left: modes, margins, character set."""
        self._leave_alternate()
        self._modes -= set(range(1000, 1017)) | {APPLICATION_CURSOR, 47, 1047, ALTERNATE}
        screen = self._main
        screen.margins = None
        screen.charset, screen.g0_charset = 0, charsets.LAT1_MAP
        screen.mode = {mo.DECAWM, mo.DECTCEM}
        screen.select_graphic_rendition(0)

    def gap(self, lines: int, kept: str) -> None:
        """Note in the scroll-back that lines were not drawn; apply only the modes they set."""
        screen = self._main
        for y in range(screen.cursor.y + 1):
            screen.keep(y)
        screen.history.append(((f"⋯ {lines} ⋯", Style(italic=True)),))
        screen.scrolled += 1
        screen.erase_in_display(2)
        screen.cursor_position()
        self._held = ""
        self.feed(kept)

    def feed(self, text: str, recorder: Recorder | None = None) -> None:
        """Interpret output; pass its tokens to a recorder too, except on the alternate screen."""
        text = self._held + text
        end = unfinished(text)
        self._held = text[end:]
        at = 0
        # Most long output is plain lines: drawing each only to scroll it away takes 20 times as
        # long.
        for match in _PLAIN_LINES.finditer(text, 0, end):
            self._feed(text, at, match.start(), recorder)
            lines = match[0].split("\r\n")[:-1]
            taken = not self.alternate and (recorder is None or recorder.ready)
            if taken and self._main.take_lines(lines):
                if recorder is not None:
                    recorder.take_lines(lines)
            else:
                self._feed(text, match.start(), match.end(), recorder)
            at = match.end()
        self._feed(text, at, end, recorder)

    def _feed(self, text: str, at: int, end: int, recorder: Recorder | None) -> None:
        for match in TOKEN.finditer(text, at, end):
            kind = match.lastindex
            taker = None if self._screen is self._other else recorder
            if kind == 1:
                run = match[1]
                self._screen.draw(run)
                self._last = run[-1]
                if taker is not None:
                    taker.text(run)
            elif kind == 8:
                self._control(match[8])
                if taker is not None:
                    taker.control(match[8])
            elif kind == 4:
                params, between, final = match[2], match[3], match[4]
                if not between and params[:1] not in ("?", "<", "=", ">"):
                    self._sequence(final, params)
                    if taker is not None:
                        if final == "b":
                            taker.text(self._last * self._repeats(numbers(params)))
                        else:
                            taker.sequence(final, numbers(params) if final != "m" else ())
                elif params[:1] == "?" and final in "hl" and not between:
                    self._set_modes(numbers(params[1:]), final == "h")
            elif kind == 7:
                self._escape(match[6], match[7])
            elif kind == 5 and match[5][1:4] in ("]0;", "]2;"):
                self._screen.title = match[5][4:1000].rstrip("\x07\x1b\\\x9c")

    def _reply(self, text: str) -> None:
        self.reply(text)

    def _control(self, char: str) -> None:
        screen = self._screen
        match char:
            case "\n" | "\v" | "\f":
                screen.index()
            case "\r":
                screen.cursor.x = 0
            case "\b":
                screen.backspace()
            case "\t":
                screen.tab()
            case "\x0e":
                screen.shift_out()
            case "\x0f":
                screen.shift_in()

    def _escape(self, between: str, final: str) -> None:
        screen = self._screen
        match between, final:
            case "", "c":
                self.recover()
                self._screen.reset()
            case "", "D":
                screen.index()
            case "", "E":
                screen.cursor.x = 0
                screen.index()
            case "", "M":
                screen.reverse_index()
            case "", "H":
                screen.set_tab_stop()
            case "", "7":
                screen.savepoints.clear()  # one place to save, as in xterm: no stack that grows
                screen.save_cursor()
            case "", "8":
                screen.restore_cursor()
            case (("(" | ")"), _):
                screen.define_charset(final, between)

    def _sequence(self, final: str, params: str) -> None:
        screen = self._screen
        if final == "m":
            screen.select_graphic_rendition(*_rendition(params))
            return
        values = numbers(params)
        first = values[0]
        if final in _MOVES:
            getattr(screen, _MOVES[final])(first or None)
            return
        match final:
            case "H" | "f":
                screen.cursor_position(first, values[1] if len(values) > 1 else None)
            case "J" if first <= 3:
                screen.erase_in_display(first)
            case "K" if first <= 2:
                screen.erase_in_line(first)
            case "r":
                screen.set_margins(first or None, (values[1] if len(values) > 1 else 0) or None)
            case "S" | "T":
                screen.scroll(min(first or 1, screen.lines), up=final == "S")
            case "b":
                screen.draw(self._last * self._repeats(values))
            case "Z":
                screen.back_tab()
            case "g" if first in (0, 3):
                screen.clear_tab_stop(first)
            case "h" | "l" if 4 in values:
                (screen.mode.add if final == "h" else screen.mode.discard)(mo.IRM)
            case "c" if first == 0:
                screen.report_device_attributes()
            case "n" if first in (5, 6):
                screen.report_device_status(first)
            case "s":
                screen.savepoints.clear()
                screen.save_cursor()
            case "u":
                screen.restore_cursor()

    def _repeats(self, values: Sequence[int]) -> int:
        rows, columns = self.size
        return min(values[0] or 1, rows * columns)

    def _set_modes(self, values: Sequence[int], on: bool) -> None:
        for value in values:
            (self._modes.add if on else self._modes.discard)(value)
            if value in (47, 1047, ALTERNATE):
                if on:
                    self._enter_alternate()
                else:
                    self._leave_alternate()
            elif value in (5, 6, 7, 25):  # reverse screen, origin, wrap, cursor
                screen = self._screen
                if value != 6 or screen.margins is not None or not on:
                    (screen.set_mode if on else screen.reset_mode)(value, private=True)

    def _enter_alternate(self) -> None:
        if self._screen is self._main:
            self._other.reset()
            self._other.cursor.attrs = self._main.cursor.attrs
            self._show(self._other)

    def _leave_alternate(self) -> None:
        if self._screen is self._other:
            self._show(self._main)

    def _show(self, screen: "_Screen") -> None:
        self._screen = screen
        screen.dirty.update(range(screen.lines))


_NAMES = (
    *("cursor_up", "cursor_down", "cursor_forward", "cursor_back", "cursor_down1", "cursor_up1"),
    *("cursor_to_column", "cursor_to_column", "cursor_forward", "cursor_down", "cursor_to_line"),
    *("insert_lines", "delete_lines", "delete_characters", "insert_characters"),
    "erase_characters",
)
_MOVES = dict(zip("ABCDEFG`aedLMP@X", _NAMES, strict=True))


def _rendition(params: str) -> list[int]:
    """Return the numbers of an SGR sequence; colons as in `38:2::1:2:3` become semicolons."""
    found = list[int]()
    for part in params.split(";"):
        first, *rest = part.split(":")
        if first in ("38", "48") and rest:
            mode, values = rest[0], rest[1:]
            rest = [mode, *(values[-3:] if mode == "2" else values[:1])]
            found += numbers(";".join([first, *rest]))
        elif first == "4" and rest:
            found.append(24 if rest[0] == "0" else 4)
        else:
            found += numbers(first)
    return [min(one, 255) for one in found]  # a colour has no larger part


class _Screen(pyte.Screen):
    """pyte's screen with scroll-back as finished rows, fast drawing, and exact wide characters."""

    def __init__(self, columns: int, lines: int, history: int) -> None:
        self.history = deque[Row](maxlen=history)
        self.scrolled = 0
        self.labels = dict[int, Label]()
        self.reply: Callable[[str], None] = lambda _: None
        super().__init__(columns, lines)

    def write_process_input(self, data: str) -> None:
        self.reply(data)

    def row(self, y: int) -> Row:
        """Return one row as runs, without the plain blanks at its end."""
        line = self.buffer.get(y)
        if not line:
            return ()
        runs, parts, last = list[Run](), list[str](), PLAIN
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
        if last == PLAIN:
            tail = tail.rstrip(" ")
        if tail:
            runs.append((tail, last))
        return tuple(runs)

    def cells(self, y: int, start: int, end: int | None) -> str:
        """Return the text in some columns of a row."""
        line = self.buffer.get(y)
        if line is None:
            return ""
        stop = self.columns if end is None else min(end, self.columns)
        return "".join(line[x].data for x in range(start, stop))

    def keep(self, y: int) -> None:
        """Put a row into the scroll-back."""
        self.history.append(self.row(y))
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
            line[at : at + self.columns] for line in lines for at in _starts(line, self.columns)
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
        if style == PLAIN:
            rows = [row.rstrip(" ") for row in rows]
        gone = [((row, style),) if row else () for row in rows[:-shown]]
        self.history.extend(gone)
        self.scrolled += len(gone)
        self.buffer.clear()
        self.cursor.y = 0
        for row in rows[-shown:]:
            self._put_ascii(row)
            self.cursor.x = 0
            self.cursor.y += 1
        self.dirty.update(range(self.lines))
        return True

    def erase_in_display(self, how: int = 0, *_: object, **__: object) -> None:
        super().erase_in_display(how)
        if how == 3:
            self.history.clear()
        if how != 1:  # what is below the cursor, or everything
            start = self.cursor.y + bool(self.cursor.x) if how == 0 else 0
            self._forget_labels(self.scrolled + start)

    def reset(self) -> None:
        super().reset()
        self.savepoints.clear()
        self._forget_labels(self.scrolled)

    def _forget_labels(self, first: int) -> None:
        for row in [row for row in self.labels if row >= first]:
            del self.labels[row]

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
        self.lines, self.columns = lines, columns
        self.cursor.x = min(self.cursor.x, columns)
        self.tabstops = set(range(8, columns, 8))
        self.dirty = set(range(lines))

    def scroll(self, count: int, up: bool) -> None:
        """Move the lines between the margins; the cursor stays."""
        top, bottom = self.margins or (0, self.lines - 1)
        y = self.cursor.y
        self.cursor.y = bottom if up else top
        for _ in range(count):
            (self.index if up else self.reverse_index)()
        self.cursor.y = y

    def back_tab(self) -> None:
        """Move to the previous tab stop."""
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
            for char, width in _with_width(data):
                self._put(char, width)

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
            if unicodedata.category(char)[0] == "M":
                self._combine(char)
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
                cursor.x = 0
                self.index()
            else:
                cursor.x = self.columns - width

    def _split_wide(
        self, line: pyte.screens.StaticDefaultDict[int, pyte.screens.Char], start: int, end: int
    ) -> None:
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


def _starts(line: str, columns: int) -> range:
    return range(0, max(len(line), 1), columns)


def _with_width(data: str) -> Iterator[tuple[str, int]]:
    for char in data:
        yield char, _width(char)


@lru_cache(maxsize=8192)
def _width(char: str) -> int:
    return int(wcwidth(char))


@lru_cache(maxsize=256)
def _characters(attrs: pyte.screens.Char) -> Callable[[str], pyte.screens.Char]:
    """Return a function that makes, and remembers, the cells with a style."""
    return {chr(code): attrs._replace(data=chr(code)) for code in range(0x20, 0x7F)}.__getitem__


@lru_cache(maxsize=4096)
def _style(attrs: tuple[str, str, bool, bool, bool, bool, bool, bool]) -> Style:
    fg, bg, bold, italic, underline, strike, reverse, _ = attrs
    style = Style(_colour(fg), _colour(bg), bold, italic, underline, strike, reverse)
    return PLAIN if style == PLAIN else style


def _colour(name: str) -> str:
    if re.fullmatch(r"[0-9a-f]{6}", name):
        return f"#{name}"
    # pyte's names for two colours are not those of other programs.
    return {"brown": "yellow", "brightbrown": "brightyellow"}.get(
        name, name.replace("bfight", "bright")
    )
