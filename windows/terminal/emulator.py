"""Terminal emulator: interprets a program's output on a screen.

`Emulator` reads escape sequences itself, because pyte's parser raises on malformed ones and does
not know the alternate screen. It keeps the screen, the rows that scrolled away, and the modes that
programs set. `rows` returns them for drawing, `text` as plain lines.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from pyte import charsets
from pyte import modes as mo

from contextui.text import for_terminal
from contextui.windows.terminal.screen import Label, Row, Screen
from contextui.windows.terminal.transcript import Transcript

BRACKETED_PASTE, APPLICATION_CURSOR, ALTERNATE = 2004, 1, 1049
SCROLLBACK = 5_000

_TOKEN = re.compile(
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


class Cursor(NamedTuple):
    """Where the cursor is on the screen."""

    row: int
    column: int
    visible: bool


def unfinished(text: str) -> int:
    """Return where an escape sequence starts that needs more text, or the length of the text."""
    at = text.rfind("\x1b")
    return at if at >= 0 and _UNFINISHED.match(text, at) else len(text)


def _numbers(params: str) -> list[int]:
    return [min(int(part), 9999) if part.isdecimal() else 0 for part in params.split(";")]


class Emulator:
    """The main screen, the alternate screen, and the modes of one terminal."""

    def __init__(self, rows: int, columns: int) -> None:
        self.reply: Callable[[str], None] = lambda _: None
        self._main, self._other = Screen(columns, rows, SCROLLBACK), Screen(columns, rows, 0)
        self._screen = self._main
        self._main.reply = self._other.reply = lambda text: self.reply(text)  # noqa: PLW0108
        self._modes = set[int]()
        self._held = ""
        self._last = " "
        self._row_cache: list[Row] = []
        self._transcript: Transcript | None = None

    @property
    def alternate(self) -> bool:
        """Whether a full-screen program uses the alternate screen."""
        return self._screen is self._other

    @property
    def size(self) -> tuple[int, int]:
        return self._screen.lines, self._screen.columns

    def mode(self, number: int) -> bool:
        return number in self._modes

    @property
    def cursor(self) -> Cursor:
        cursor, screen = self._screen.cursor, self._screen
        return Cursor(cursor.y, min(cursor.x, screen.columns - 1), mo.DECTCEM in screen.mode)

    @property
    def position(self) -> tuple[int, int]:
        """The cursor's row, counted from the first that was ever on the main screen, and column."""
        return self._main.place

    def record(self, transcript: Transcript | None) -> None:
        """Let a transcript read the main screen from the cursor on; the one before ends here."""
        if transcript is not self._transcript:
            if self._transcript is not None:
                self._transcript.finish()
            self._transcript = transcript
            self._main.take_row = transcript.scrolled if transcript is not None else None
            self._main.erasing = transcript.erasing if transcript is not None else lambda: None
            if transcript is not None:
                transcript.begin(self._main)

    @property
    def scrollback(self) -> int:
        return len(self._main.history)

    @property
    def above(self) -> int:
        """How many rows of the scroll-back are to be shown in place of blank ones at the end."""
        screen = self._main
        used = max(screen.cursor.y, screen.last_row - screen.scrolled) + 1
        return 0 if self.alternate else min(screen.above, screen.lines - used, self.scrollback)

    @property
    def top(self) -> int:
        """The first row of the main screen, counted as in `position`."""
        return self._main.scrolled

    def label(self, row: int, label: Label) -> None:
        """Note that a command was typed in a row of the main screen, counted as in `position`."""
        labels, first = self._main.labels, self._main.scrolled - self.scrollback
        # Rows below were erased by a way that is not an erasure, such as spaces.
        kept = {at: one for at, one in labels.items() if first <= at < row}
        self._main.labels = kept | {row: label}

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

    def history(self, start: int, end: int) -> list[Row]:
        """Return rows that scrolled away, by range; 0 is the oldest kept."""
        return list(islice(self._main.history, max(0, start), end))

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
        from rich.style import Style  # noqa: PLC0415  (without the screen, nothing draws)

        screen = self._main
        for y in range(screen.cursor.y + 1):
            screen.keep(y)
        screen.buffer.clear()
        screen.history.append(((f"⋯ {lines} ⋯", Style(italic=True)),))
        screen.scrolled += 1
        screen.erase_in_display(2)
        screen.cursor_position()
        self._held = ""
        self.feed(kept)

    def feed(self, text: str) -> None:
        text = self._held + text
        end = unfinished(text)
        self._held = text[end:]
        at = 0
        # Most long output is plain lines: drawing each only to scroll it away takes 20 times as
        # long.
        for match in _PLAIN_LINES.finditer(text, 0, end):
            self._feed(text, at, match.start())
            lines = match[0].split("\r\n")[:-1]
            if self.alternate or not self._main.take_lines(lines):
                self._feed(text, match.start(), match.end())
            at = match.end()
        self._feed(text, at, end)

    def _feed(self, text: str, at: int, end: int) -> None:
        for match in _TOKEN.finditer(text, at, end):
            kind = match.lastindex
            if kind == 1:
                run = match[1]
                self._screen.draw(run)
                self._last = run[-1]
            elif kind == 8 and (name := _CONTROLS.get(match[8])):
                getattr(self._screen, name)()
            elif kind == 4:
                params, between, final = match[2], match[3], match[4]
                if not between and params[:1] not in ("?", "<", "=", ">"):
                    self._sequence(final, params)
                elif params[:1] == "?" and final in "hl" and not between:
                    self._set_modes(_numbers(params[1:]), final == "h")
            elif kind == 7:
                self._escape(match[6], match[7])

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
                self._moved()
            case "", "H":
                screen.set_tab_stop()
            case "", "7":
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
        values = _numbers(params)
        first = values[0]
        if final in _MOVES:
            getattr(screen, _MOVES[final])(first or None)
            self._moved()
            return
        match final:
            case "H" | "f":
                screen.cursor_position(first, values[1] if len(values) > 1 else None)
                self._moved()
            case "J" if first <= 3:
                screen.erase_in_display(first)
            case "K" if first <= 2:
                screen.erase_in_line(first)
            case "r":
                screen.set_margins(first or None, (values[1] if len(values) > 1 else 0) or None)
            case "S" | "T":
                screen.scroll(min(first or 1, screen.lines), up=final == "S")
            case "b":
                screen.draw(self._last * min(values[0] or 1, screen.lines * screen.columns))
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
                screen.save_cursor()
            case "u":
                screen.restore_cursor()

    def _moved(self) -> None:
        if self._transcript is not None and not self.alternate:
            self._transcript.moved()

    def _set_modes(self, values: Sequence[int], on: bool) -> None:
        for value in values:
            (self._modes.add if on else self._modes.discard)(value)
            if value in (47, 1047, ALTERNATE):
                if not on:
                    self._leave_alternate()
                elif not self.alternate:
                    self._other.reset()
                    self._other.cursor.attrs = self._main.cursor.attrs
                    self._show(self._other)
            elif value in (5, 6, 7, 25):  # reverse screen, origin, wrap, cursor
                screen = self._screen
                if value != 6 or screen.margins is not None or not on:
                    (screen.set_mode if on else screen.reset_mode)(value, private=True)

    def _leave_alternate(self) -> None:
        if self._screen is self._other:
            self._show(self._main)

    def _show(self, screen: Screen) -> None:
        self._screen = screen
        screen.dirty.update(range(screen.lines))


_OF_CONTROLS = ("carriage_return", "backspace", "tab", "shift_out", "shift_in")
_CONTROLS = dict(zip("\n\v\f\r\b\t\x0e\x0f", ("index",) * 3 + _OF_CONTROLS, strict=True))
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
            found += _numbers(";".join([first, *rest]))
        elif first == "4" and rest:
            found.append(24 if rest[0] == "0" else 4)
        else:
            found += _numbers(first)
    return [min(one, 255) for one in found]  # a colour has no larger part
