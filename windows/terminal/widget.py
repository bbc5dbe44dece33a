"""Terminal widget: draws the shell's screen and sends it what the person types.

Left of each command is a mark: how it ended, or that it runs. Right of it is who typed it, and how
long it took. Keys of the frame go to failed commands and end a running one; with Enter the person
types into the shell, and every key but ctrl+g is the shell's.
"""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import ClassVar, NamedTuple

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding
from textual.geometry import Region
from textual.selection import Selection
from textual.strip import Strip
from textual.timer import Timer

from contextui.text import duration, for_terminal, one_line
from contextui.tui.desktop.frame import ask_for_room
from contextui.tui.dialogs.question import QuestionScreen
from contextui.tui.lines import Selectable, line, spinner
from contextui.widgets import ActionRequested
from contextui.windowing.runtime import runtime_of
from contextui.windows.terminal.emulator import APPLICATION_CURSOR, BRACKETED_PASTE, Cursor
from contextui.windows.terminal.record import Command, Who
from contextui.windows.terminal.screen import Row
from contextui.windows.terminal.shell import Shell, ShellError
from contextui.windows.terminal.window import TerminalWindow
from contextui.words import Words, msg

_FRAME = 0.03  # seconds between two pictures of the screen
_FEW, _MANY, _ALL = 10, 24, 1_000  # rows that the window wants
_WHEEL = 3  # rows of a step of the mouse wheel
_GUTTER = 2  # columns left of the screen, for marks
_GAP = "   "
_SPIN = 0.25  # seconds between two pictures of a spinner
_WHO = {"person": ("◇", msg("you"), "you"), "model": ("◆", "model", "model")}

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
    """Return what a terminal sends for a key; empty for one that it does not know."""
    if key in _KEYS:
        return _KEYS[key]
    *modifiers, name = key.split("+")
    if name in _ARROWS:
        number = 1 + sum(_MODIFIERS.get(modifier, 0) for modifier in modifiers)
        start = f"[1;{number}" if number > 1 else "O" if application else "["
        return f"\x1b{start}{_ARROWS[name]}".encode()
    if modifiers == ["ctrl"] and len(name) == 1 and name.isascii() and name.isalpha():
        return bytes([ord(name.lower()) - 96])
    if modifiers == ["alt"] and len(name) == 1:
        return b"\x1b" + name.encode()
    if character is not None and character.isprintable():
        return character.encode("utf-8", "replace")
    return b""


_LOOKS = {
    "ok": "color: $text-success;",
    "failed": "color: $text-error;",
    "running": "color: $text-warning;",
    "you": "color: $text-secondary;",
    "model": "color: $text-accent;",
    "muted": "color: $muted;",
    "chosen": "background: $cursor;",
}


class Mark(NamedTuple):
    """What is drawn beside the row in which a command was typed."""

    column: int
    who: Who
    started: datetime
    ended: datetime | None
    status: int | None
    stopped: bool = False

    @property
    def failed(self) -> bool:
        return self.ended is not None and bool(self.status) and not self.stopped


class Running(NamedTuple):
    """The command that runs, with the number of its job."""

    number: int
    job: int
    text: str


class Picture(NamedTuple):
    """The screen at one moment."""

    rows: tuple[Row, ...] = ()
    cursor: Cursor = Cursor(0, 0, False)
    back: int = 0
    behind: int = 0
    top: int = 0
    marks: Mapping[int, Mark] = {}
    failed: tuple[int, ...] = ()
    running: Running | None = None
    full_screen: bool = False


class TerminalBody(Selectable, can_focus=True):
    """The screen of a shell. The view stays where it is while text in it is selected."""

    COMPONENT_CLASSES = {f"terminal--{one}" for one in _LOOKS}
    DEFAULT_CSS = "TerminalBody { height: 1fr; }\n" + "\n".join(
        f".terminal--{name} {{ {look} }}" for name, look in _LOOKS.items()
    )
    BINDINGS = [
        Binding("shift+pageup", "back(1)", "scroll", key_display="⇧pgup"),
        Binding("shift+pagedown", "back(-1)", show=False),
    ]
    frame_bindings: ClassVar[tuple[Binding, ...]] = (
        Binding("enter", "type", "type"),
        Binding("r", "restart", "new shell"),
        Binding("x", "end", "end command"),
        Binding("n", "failed(1)", "failed", key_display="n N"),
        Binding("N", "failed(-1)", show=False),
    )
    """Keys while the frame has the focus, and not the shell."""
    keeps_keys: ClassVar[bool] = True
    """Every key belongs to the shell, except ctrl+g, which leaves; a second one is the shell's."""
    first_actions: ClassVar[tuple[str, ...]] = ("run", "restart")

    def __init__(self, window: TerminalWindow) -> None:
        super().__init__()
        self._window, self._words = window, Words(window.env.lang)
        self._shell: Shell | None = None
        self._room: tuple[int, int] | None = None
        self._picture, self._back, self._due = Picture(), 0, False
        self._drawn = Picture()
        self._chosen: int | None = None  # the row of a failed command
        self._held: int | None = None  # the first row of the view, while text is selected
        self._seen = dict[int, Row]()  # the rows that were shown since then
        self._spins: Timer | None = None
        self._leave: Callable[[], None] = lambda: None

    @property
    def window_title(self) -> str | None:
        """The running command; without one, the gist is shown."""
        shell = self._shell
        command = shell.running if shell is not None else None
        return f"$ {one_line(command.text, 80)}" if command is not None else None

    @property
    def window_rows(self) -> int:
        """Few rows, many as soon as the output needs more, or all for a full-screen program."""
        picture = self._drawn
        few = _FEW if picture.behind + picture.cursor.row < _FEW else _MANY
        return _ALL if picture.full_screen else few

    def on_mount(self) -> None:
        self._spins = self.set_interval(_SPIN, self._spin, pause=True)
        self._leave = self._window.show_with(self._changed)
        runtime_of(self._window).worker.call_soon(self._begin)

    def on_unmount(self) -> None:
        self._leave()

    def window_changed(self) -> None:
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
            asyncio.get_running_loop().call_later(_FRAME, self._take)

    def _take(self) -> None:
        shell, self._due = self._shell, False
        assert shell is not None
        emulator = shell.emulator
        if self._room is not None and self._room != emulator.size:  # or it is another shell
            shell.resize(*self._room)
        above, cursor = emulator.above, emulator.cursor
        behind = 0 if emulator.alternate else emulator.scrollback - above
        chosen = self._chosen if self._held is None else self._held
        top = emulator.top - above
        back = min(self._back if chosen is None else max(top - chosen, 0), behind)
        rows = emulator.rows()
        if back or above:
            rows = [*emulator.history(behind - back, behind + above), *rows][: len(rows)]
        marks = {} if emulator.alternate else dict(_marks(shell))
        first, running = top - back, shell.running
        self._picture = Picture(
            tuple(rows),
            cursor._replace(row=cursor.row + above),
            back,
            behind,
            top,
            {row - first: mark for row, mark in marks.items() if 0 <= row - first < len(rows)},
            tuple(sorted(row for row, mark in marks.items() if mark.failed)),
            Running(running.number, running.job, running.text) if running is not None else None,
            emulator.alternate,
        )
        self.call_later(self._draw_changes)  # it is thread-safe

    def _do(self, shell: Shell, data: bytes) -> None:
        try:
            shell.type(data)
        except ShellError as error:
            runtime_of(self._window).core.warn(error.text(self._window.env.lang))

    # --- drawing -----------------------------------------------------------------------

    def _draw_changes(self) -> None:
        old, new, wanted = self._drawn, self._picture, self.window_rows
        self._drawn, self.count = new, new.top + len(new.rows)
        if wanted != self.window_rows:
            ask_for_room(self)
        if self._held is not None:
            self._seen.update(enumerate(new.rows, new.top - new.back))
        if (bool(old.failed), old.running) != (bool(new.failed), new.running):
            self.refresh_bindings()
        if self._spins is not None:
            running = any(mark.ended is None for mark in new.marks.values())
            (self._spins.resume if running else self._spins.pause)()
        if len(old.rows) != len(new.rows) or (old.back > 0) != (new.back > 0):
            self.refresh()
            return
        changed = {y for y, row in enumerate(new.rows) if row is not old.rows[y]}
        marked = old.marks.keys() | new.marks.keys()
        changed |= {y for y in marked if old.marks.get(y) != new.marks.get(y)}
        if old.cursor != new.cursor:
            changed |= {old.cursor.row, new.cursor.row}
        if changed:
            self.refresh(*(Region(0, y, self.size.width, 1) for y in changed))

    def _spin(self) -> None:
        rows = [y for y, mark in self._picture.marks.items() if mark.ended is None]
        if rows:
            self.refresh(*(Region(0, y, self.size.width, 1) for y in rows))

    def render_line(self, y: int) -> Strip:
        width, picture, is_last = self.size.width, self._picture, y == self.size.height - 1
        if is_last and self._has_ended:
            said, look = self._words("The shell ended. r starts a new one."), self._look("muted")
            strip = Strip([Segment(said, look)]).adjust_cell_length(width, look)
            return strip.apply_style(self.rich_style)
        if y >= len(picture.rows):
            return Strip.blank(width, self.rich_style)
        cursor, mark, columns = picture.cursor, picture.marks.get(y), max(width - _GUTTER, 0)
        strip = Strip([Segment(for_terminal(text, lines=False), style)
                       for text, style in picture.rows[y]])  # fmt: skip
        row = picture.top - picture.back + y
        strip = self.selected(strip, row)
        if mark is not None:
            strip = self._with_facts(strip, mark, columns)
        strip = strip.adjust_cell_length(columns)
        shows = cursor.visible and self.has_focus and not picture.back
        if shows and y == cursor.row and cursor.column < columns:
            before, at = strip.crop(0, cursor.column), strip.crop(cursor.column, cursor.column + 1)
            rest = strip.crop(cursor.column + 1, columns)
            strip = Strip.join([before, at.apply_style(Style(reverse=True)), rest])
        strip = Strip.join([Strip([self._sign(mark)]), strip]).adjust_cell_length(width)
        if row == self._chosen:
            strip = strip.apply_style(self._look("chosen"))
        return strip.apply_style(self.rich_style).apply_offsets(-_GUTTER, row)

    def text_of(self, row: int) -> str:
        return "".join(for_terminal(text, lines=False) for text, _ in self._seen.get(row, ()))

    def selection_updated(self, selection: Selection | None) -> None:
        if selection is None:
            self._held, self._seen = None, {}
            runtime_of(self._window).worker.call_soon(self._begin)
        elif self._held is None:
            self._held = self._picture.top - self._picture.back
            self._seen = dict(enumerate(self._picture.rows, self._held))
        self.refresh()

    def _look(self, name: str) -> Style:
        """Return a colour of the theme; it hides nothing that the row has of its own."""
        style = self.get_component_rich_style(f"terminal--{name}")
        if name == "chosen":
            return Style(bgcolor=style.bgcolor)
        return Style(color=style.color)

    def _sign(self, mark: Mark | None) -> Segment:
        if mark is None:
            return Segment(" " * _GUTTER)
        if mark.ended is None:
            return Segment(f"{spinner()} ", self._look("running"))
        if mark.status is None or mark.stopped:
            return Segment("· ", self._look("muted"))
        return (
            Segment("✗ ", self._look("failed")) if mark.failed else Segment("✓ ", self._look("ok"))
        )

    def _with_facts(self, strip: Strip, mark: Mark, columns: int) -> Strip:
        """Return the row of a command, with who typed it and how it ended as far as there is room.

        The text of the person's own prompt stays as it is.
        """
        strip = Strip.join(
            [strip.crop(0, mark.column), strip.crop(mark.column).apply_style(Style(bold=True))]
        )
        sign, name, look = _WHO[mark.who]
        seconds = ((mark.ended or datetime.now(UTC)) - mark.started).total_seconds()
        took = duration(seconds if mark.ended else max(int(seconds), 0), self._words)
        who = (f"{sign} {self._words(name)}", self._look(look))
        status = (self._words("exit {status}", status=mark.status), self._look("failed"))
        muted = self._look("muted")
        exits = [status] if mark.failed else []
        exits += [(self._words("stopped"), muted)] if mark.stopped else []
        for parts in ([who, *exits, (took, muted)], [(sign, who[1]), *exits, (took, muted)], exits):
            gaps = [segment for part in parts for segment in (Segment(_GAP), Segment(*part))]
            facts = Strip([*gaps, Segment(" ")])
            room = columns - strip.cell_length - facts.cell_length
            if parts and room >= 0:
                return Strip.join([strip, Strip([Segment(" " * room)]), facts])
        return strip

    @property
    def _has_ended(self) -> bool:
        return bool(self._window.state.ended)

    # --- keyboard and mouse ------------------------------------------------------------

    def on_key(self, event: events.Key) -> None:
        shell = self._shell
        if event.key in ("shift+pageup", "shift+pagedown"):
            return
        event.stop()
        event.prevent_default()
        if self._has_ended:
            if event.key == "r":
                self.action_restart()
        elif shell is not None:
            application = shell.emulator.mode(APPLICATION_CURSOR)
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
            self._back, self._chosen = 0, None
            self.screen.clear_selection()
            runtime_of(self._window).worker.call_soon(lambda: self._do(shell, data))

    # --- keys of the frame -------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        running = self._picture.running
        applies = {
            "restart": self._has_ended,
            "end": running is not None and running.job > 0 and not self._has_ended,
            "failed": bool(self._picture.failed),
        }
        return applies[action] if action in applies else super().check_action(action, parameters)

    def action_type(self) -> None:
        self._back, self._chosen = 0, None
        self.focus()
        runtime_of(self._window).worker.call_soon(self._begin)

    def action_restart(self) -> None:
        self.post_message(ActionRequested("restart"))

    def action_failed(self, step: int) -> None:
        """Show the next or previous failed command; the newest comes first."""
        rows = self._picture.failed
        if self._chosen in rows:
            self._chosen = rows[(rows.index(self._chosen) + step) % len(rows)]
        elif rows:
            self._chosen = rows[-1]
        self.refresh()
        runtime_of(self._window).worker.call_soon(self._begin)

    def action_end(self) -> None:
        """Ask whether to end the running command; it may have ended until there is an answer."""
        asked, words = self._picture.running, self._words

        def answer(yes: bool | None) -> None:
            if yes and asked is not None and asked == self._picture.running:
                self.post_message(ActionRequested("cancel", {"job": asked.job}))

        title = words("End {command}?", command=line(one_line(asked.text if asked else "", 60)))
        self.app.push_screen(QuestionScreen(words, title, "y", words("End it")), answer)

    def on_focus(self) -> None:
        self.refresh()

    on_blur = on_focus

    def action_back(self, pages: int) -> None:
        self._scroll_by(pages * max(self.size.height - 1, 1))

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self._scroll_by(_WHEEL)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        self._scroll_by(-_WHEEL)

    def _scroll_by(self, rows: int) -> None:
        self._back = max(0, min(self._picture.back + rows, self._picture.behind))
        self._chosen = None
        if self._held is not None:
            self._held = self._picture.top - self._back
        runtime_of(self._window).worker.call_soon(self._begin)

    def on_resize(self, event: events.Resize) -> None:
        rows, columns = event.size.height, event.size.width - _GUTTER
        if rows > 0 and columns > 1:
            self._room = max(rows, 2), columns
            runtime_of(self._window).worker.call_soon(self._begin)


def _marks(shell: Shell) -> Iterator[tuple[int, Mark]]:
    commands: dict[int, Command] = {command.number: command for command in shell.commands}
    for row, (number, column) in shell.emulator.labels().items():
        if (one := commands.get(number)) is not None:
            yield row, Mark(column, one.who, one.started, one.ended, one.status, one.stopped)
