"""Terminal widget: draws the shell's screen and sends it what the person types."""

import asyncio
from collections.abc import Callable
from functools import lru_cache
from typing import ClassVar, NamedTuple

from rich.segment import Segment
from rich.style import Style as RichStyle
from textual import events
from textual.binding import Binding
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from contextui.text import for_terminal, one_line
from contextui.widgets import ActionRequested
from contextui.windowing.host import call_soon, warn
from contextui.windows.terminal.emulator import BRACKETED_PASTE, Cursor
from contextui.windows.terminal.screen import Row, Style
from contextui.windows.terminal.shell import Shell, ShellError
from contextui.windows.terminal.window import TerminalWindow
from contextui.words import Words

_FRAME = 0.03  # seconds between two pictures of the screen
_APPLICATION_KEYS = 1  # the private mode in which arrows are sent in another form
_WHEEL = 3  # rows of a step of the mouse wheel

_KEYS = {
    "enter": b"\r", "tab": b"\t", "shift+tab": b"\x1b[Z", "escape": b"\x1b",
    "backspace": b"\x7f", "ctrl+backspace": b"\x17", "delete": b"\x1b[3~", "insert": b"\x1b[2~",
    "pageup": b"\x1b[5~", "pagedown": b"\x1b[6~", "space": b" ", "ctrl+space": b"\x00",
    "ctrl+at": b"\x00", "ctrl+backslash": b"\x1c", "ctrl+right_square_bracket": b"\x1d",
    "ctrl+circumflex_accent": b"\x1e", "ctrl+underscore": b"\x1f",
    "f1": b"\x1bOP", "f2": b"\x1bOQ", "f3": b"\x1bOR", "f4": b"\x1bOS", "f5": b"\x1b[15~",
    "f6": b"\x1b[17~", "f7": b"\x1b[18~", "f8": b"\x1b[19~", "f9": b"\x1b[20~",
    "f10": b"\x1b[21~", "f11": b"\x1b[23~", "f12": b"\x1b[24~",
}  # fmt: skip
_ARROWS = {"up": "A", "down": "B", "right": "C", "left": "D", "home": "H", "end": "F"}
_MODIFIERS = {"shift": 1, "alt": 2, "ctrl": 4}


def bytes_of(key: str, character: str | None, application: bool) -> bytes:
    """Return what a terminal sends for a key; empty for one that it does not know.

    Args:
        key: The key, as Textual names it.
        character: The character that it writes, if any.
        application: Whether arrows are sent in the form for applications.
    """
    if key in _KEYS:
        return _KEYS[key]
    *modifiers, name = key.split("+")
    if name in _ARROWS:
        number = 1 + sum(_MODIFIERS.get(one, 0) for one in modifiers)
        start = f"[1;{number}" if number > 1 else "O" if application else "["
        return f"\x1b{start}{_ARROWS[name]}".encode()
    if modifiers == ["ctrl"] and len(name) == 1 and name.isascii() and name.isalpha():
        return bytes([ord(name.lower()) - 96])
    if modifiers == ["alt"] and len(name) == 1:
        return b"\x1b" + name.encode()
    if character is not None and character.isprintable():
        return character.encode("utf-8", "replace")
    return b""


class Picture(NamedTuple):
    """The screen at one moment."""

    rows: tuple[Row, ...] = ()
    cursor: Cursor = Cursor(0, 0, False)
    back: int = 0
    behind: int = 0


class TerminalBody(Widget, can_focus=True):
    """The screen of a shell."""

    DEFAULT_CSS = "TerminalBody { height: 1fr; }"
    BINDINGS = [
        Binding("shift+pageup", "back(1)", "scroll", key_display="⇧pgup"),
        Binding("shift+pagedown", "back(-1)", show=False),
    ]
    keeps_keys: ClassVar[bool] = True
    """Every key belongs to the shell, except ctrl+g, which leaves."""
    first_actions: ClassVar[tuple[str, ...]] = ("run", "restart")

    class Drawn(Message):
        """Posted, on the window's thread, when the screen has changed."""

    def __init__(self, window: TerminalWindow) -> None:
        super().__init__()
        self._window, self._words = window, Words(window.env.lang)
        self._shell: Shell | None = None
        self._picture, self._back, self._due = Picture(), 0, False
        self._leave: Callable[[], None] = lambda: None

    @property
    def window_title(self) -> str | None:
        """The running command; without one, the gist is shown."""
        shell = self._shell
        command = shell.running if shell is not None else None
        return f"$ {one_line(command.text, 80)}" if command is not None else None

    def on_mount(self) -> None:
        """Start to follow the screen."""
        self._leave = self._window.show_with(self._changed)
        call_soon(self._window, self._begin)

    def on_unmount(self) -> None:
        """Stop following the screen."""
        self._leave()

    def window_changed(self) -> None:
        """Draw the screen again."""
        self.refresh()

    # --- on the window's thread ---------------------------------------------------------

    def _begin(self) -> None:
        shell = self._window.state.shell
        if shell is not None:
            self._changed(shell)

    def _changed(self, shell: Shell) -> None:
        self._shell = shell
        if not self._due:
            self._due = True
            asyncio.get_running_loop().call_later(_FRAME, self._take, shell)

    def _take(self, shell: Shell) -> None:
        self._due = False
        emulator = shell.emulator
        behind = 0 if emulator.alternate else emulator.scrollback
        back = min(self._back, behind)
        rows = emulator.rows()
        if back:
            rows = [*emulator.history(behind - back, behind), *rows][: len(rows)]
        self._picture = Picture(tuple(rows), emulator.cursor, back, behind)
        self.post_message(self.Drawn())

    def _do(self, shell: Shell, data: bytes) -> None:
        try:
            shell.type(data)
        except ShellError as error:
            warn(self._window, error.text(self._window.env.lang))

    # --- drawing -----------------------------------------------------------------------

    def on_terminal_body_drawn(self, message: Drawn) -> None:
        """Draw the new picture."""
        message.stop()
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """Return one row of the screen."""
        width, picture = self.size.width, self._picture
        if self._has_ended and y == self.size.height - 1:
            said = self._words("The shell ended. r starts a new one.")
            ended = Strip([Segment(said, RichStyle(dim=True))]).adjust_cell_length(width)
            return ended.apply_style(self.rich_style)
        if y >= len(picture.rows):
            return Strip.blank(width, self.rich_style)
        cursor = picture.cursor
        strip = Strip([Segment(for_terminal(text, lines=False), _style(style))
                       for text, style in picture.rows[y]])  # fmt: skip
        strip = strip.adjust_cell_length(width).apply_style(self.rich_style)
        shows = cursor.visible and self.has_focus and not picture.back
        if shows and y == cursor.row and cursor.column < width:
            before, at = strip.crop(0, cursor.column), strip.crop(cursor.column, cursor.column + 1)
            rest = strip.crop(cursor.column + 1, width)
            strip = Strip.join([before, at.apply_style(RichStyle(reverse=True)), rest])
        return strip

    @property
    def _has_ended(self) -> bool:
        return bool(self._window.state.ended)

    # --- keyboard and mouse ------------------------------------------------------------

    def on_key(self, event: events.Key) -> None:
        """Send a key to the shell."""
        shell = self._shell
        if event.key in ("shift+pageup", "shift+pagedown"):
            return
        if self._has_ended:
            if event.key == "r":
                event.stop()
                event.prevent_default()
                self.post_message(ActionRequested("restart"))
            return
        event.stop()
        event.prevent_default()
        if shell is not None:
            application = shell.emulator.mode(_APPLICATION_KEYS)
            self._send(bytes_of(event.key, event.character, application))

    def on_paste(self, event: events.Paste) -> None:
        """Send pasted text, marked as such if the program in the terminal wants that."""
        event.stop()
        if self._shell is None or self._has_ended:
            return
        plain = "".join(one for one in event.text if one in "\n\t" or one.isprintable())
        data = plain.replace("\n", "\r").encode()
        if self._shell.emulator.mode(BRACKETED_PASTE):
            data = b"\x1b[200~" + data + b"\x1b[201~"
        self._send(data)

    def _send(self, data: bytes) -> None:
        shell = self._shell
        if data and shell is not None:
            self._back = 0
            call_soon(self._window, lambda: self._do(shell, data))

    def action_back(self, pages: int) -> None:
        """Scroll by pages, up for a positive number."""
        self._scroll_by(pages * max(self.size.height - 1, 1))

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Scroll up."""
        event.stop()
        self._scroll_by(_WHEEL)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Scroll down."""
        event.stop()
        self._scroll_by(-_WHEEL)

    def _scroll_by(self, rows: int) -> None:
        self._back = max(0, min(self._back + rows, self._picture.behind))
        call_soon(self._window, self._begin)

    def on_resize(self, event: events.Resize) -> None:
        """Give the shell the size of the widget."""
        rows, columns = event.size.height, event.size.width
        if rows > 0 and columns > 1:
            call_soon(self._window, lambda: self._resize(rows, columns))

    def _resize(self, rows: int, columns: int) -> None:
        shell = self._window.state.shell
        if shell is not None and shell.emulator.size != (rows, columns):
            shell.resize(rows, columns)
        self._begin()


_COLOURS = {"brown": "yellow"}


@lru_cache(maxsize=2_048)
def _style(style: Style) -> RichStyle:
    return RichStyle(
        color=_colour(style.fg),
        bgcolor=_colour(style.bg),
        bold=style.bold or None,
        italic=style.italic or None,
        underline=style.underline or None,
        strike=style.strike or None,
        reverse=style.reverse or None,
    )


def _colour(name: str) -> str | None:
    if name == "default":
        return None
    if name.startswith("bright"):
        return f"bright_{_COLOURS.get(name[6:], name[6:])}"
    return _COLOURS.get(name, name)
