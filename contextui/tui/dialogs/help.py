"""The help screen with all keys and commands, and the go-to menu."""

import unicodedata
from collections.abc import Callable, Sequence
from itertools import zip_longest
from typing import TypeAlias

from rich.cells import cell_len
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from contextui.tui.commands import Commands
from contextui.tui.footer import hints_in
from contextui.tui.keys import KeyLine
from contextui.tui.lines import KEY, MUTED, Rows, fit, fold, line
from contextui.words import Words, msg

_COLUMN, _MOST, _GAP = 36, 3, 3  # cells of a column at least, columns at most, cells between them
_LONGEST = 18  # cells of a key or command
_LEAST = 6  # rows with which a block may begin
Block: TypeAlias = list[list[Content]]
"""A heading and keys; rows that belong together are in one list."""
_KEYS: dict[str, tuple[tuple[str, str], ...]] = {
    msg("Ask and answer"): (
        ("enter", msg("send, or queue")),
        ("^j", "new line"),
        ("^x ^e", msg("write in your editor")),
        ("@  !  /", msg("file, shell, command")),
        ("↑ ↓  ^r", msg("history, search it")),
        ("esc", msg("stop, or close a list")),
        ("^c", msg("copy, stop, clear")),
        ("pgup pgdn", msg("scroll the conversation")),
    ),
    msg("Move around"): (
        ("tab ⇧tab", msg("next pane, or previous")),
        ("^g 1–9", msg("go to a window")),
        ("^g c i p", msg("chat, inspector, prompt")),
        ("^g a", msg("open the pending question")),
        ("^g ↑↓←→", msg("resize, = resets")),
        ("f2", msg("show or hide the inspector")),
        ("f3", msg("zoom the current pane")),
        ("^p", msg("search commands")),
        ("^q", msg("quit; the session is saved")),
    ),
    msg("Read the chat"): (
        ("enter", msg("expand calls and thinking")),
        ("^y", msg("copy the last answer")),
        ("^s", msg("save its code")),
        ("^f", msg("find words in all messages")),
    ),
    msg("Use a window"): (
        ("enter esc", msg("focus or edit, back")),
        ("^s ^f ^l", msg("text: save, find, line")),
        ("a", msg("all actions")),
        ("+ −", msg("more or less detail")),
        ("z  m", msg("zoom, make main")),
        ("^g ↓ ↑", msg("make it larger, smaller")),
        (",  .", msg("move it")),
        ("x", msg("close with a summary")),
        ("u", "undo"),
    ),
    msg("See what the model reads"): (
        ("[ ]", msg("switch tab")),
        ("enter", msg("whole text")),
        ("d r p", msg("drop, restore, pin")),
        ("e g + −", msg("edit, gist, detail")),
        ("u", msg("undo the last change")),
        (",  .", msg("earlier or later turn")),
        ("/", msg("filter items")),
        ("x  c", msg("raw bytes, copy")),
    ),
}


class HelpPage(Rows):
    """All keys and commands, in as many columns as fit."""

    def __init__(self, words: Words, commands: Commands) -> None:
        super().__init__()
        listed = tuple(
            (" ".join(f"/{name}" for name in (one.name, *one.aliases[:1])), one.about)
            for one in commands.all
        )
        self._groups = {
            words(name): [(key, words(about)) for key, about in keys]
            for name, keys in {**_KEYS, msg("Commands"): listed}.items()
            if keys
        }

    def rows(self, width: int) -> list[Content]:
        columns = self._columns(width)
        width = _width(width, len(columns)) + _GAP
        rows = [
            Content("").join(
                row + " " * max(width - row.cell_length, 0) for row in cells if row is not None
            )
            for cells in zip_longest(*columns, fillvalue=Content(""))
        ]
        return [row.rstrip() for row in rows]

    def _columns(self, width: int) -> list[list[Content]]:
        count = max(min((width + _GAP) // (_COLUMN + _GAP), _MOST), 1)
        room = _width(width, count)
        blocks = [_block(name, rows, room) for name, rows in self._groups.items()]
        total = sum(len(row) for block in blocks for row in block) + len(blocks)
        heights, gap = range((total - len(blocks)) // count, total + 1), count == _MOST
        lowest = next(most for most in heights if len(_filled(blocks, most, gap)) <= count)
        return _filled(blocks, lowest, gap)


def _filled(blocks: Sequence[Block], most: int, gap: bool) -> list[list[Content]]:
    """Put blocks into columns of at most so many rows, an empty row between two if `gap`.

    The last block, which is the longest, may be divided.
    """
    columns: list[list[Content]] = [[]]
    for block in blocks:
        column, height = columns[-1], sum(map(len, block))
        pieces = block if block is blocks[-1] else [[row for piece in block for row in piece]]
        room = most - len(column) - (gap and bool(column))
        if column and room < (height if len(pieces) == 1 else _LEAST):
            columns.append([])
        elif column and gap:
            column.append(Content(""))
        for piece in pieces:
            if len(columns[-1]) + len(piece) > most and columns[-1]:
                columns.append([])
            columns[-1] += piece
    return columns


def _width(width: int, columns: int) -> int:
    return (width + _GAP) // columns - _GAP


def _block(name: str, rows: Sequence[tuple[str, str]], width: int) -> Block:
    """Return a heading with the first key, and each other key; a long description is wrapped."""
    most = min(max((cell_len(key) for key, _ in rows), default=0), _LONGEST) + 2
    found = [[Content.styled(fit(name, min(width, cell_len(name))), "bold")]]
    for number, (key, about) in enumerate(rows):
        row = Content.assemble((fit(key, most), KEY), (line(about), MUTED))
        pieces = fold(row, width, most)
        if number:
            found.append(pieces)
        else:
            found[0] += pieces
    return found


class HelpScreen(ModalScreen[None]):
    """Lists all keys and commands, on one page if the terminal is large enough."""

    BINDINGS = [Binding("escape,q,f1,question_mark", "dismiss", "back")]
    DEFAULT_CSS = """
    HelpScreen {
        align: center middle;
        background: $background 65%;
        VerticalScroll {
            width: 124; max-width: 100%; height: auto; max-height: 100%;
            border: round $primary; background: $background; padding: 0 1;
            border-subtitle-align: right; scrollbar-size-vertical: 1;
        }
    }
    """

    def __init__(self, words: Words, commands: Commands) -> None:
        super().__init__()
        self._words, self._commands = words, commands

    def compose(self) -> ComposeResult:
        with VerticalScroll() as page:
            page.border_title = Content(self._words("Keys and commands"))
            yield HelpPage(self._words, self._commands)

    def on_resize(self) -> None:
        self.call_after_refresh(self._show_keys)

    def _show_keys(self) -> None:
        page = self.query_one(VerticalScroll)
        scroll = [("↑↓", msg("scroll"))] if page.max_scroll_y > 0 else []
        page.border_subtitle = hints_in(40, [*scroll, ("esc", "back")], self._words)


Place = tuple[str, str]
"""A key and its target in English."""
QUESTION: Place = ("a", msg("question"))
PLACES: tuple[Place, ...] = (
    ("1–9", "window"),
    ("c", msg("chat")),
    ("i", "inspector"),
    ("p", msg("prompt")),
)
AGAIN: Place = ("^g", msg("into the window"))
"""Given to a window that uses all keys; only ctrl+g does not reach it at once."""
SIZES: tuple[Place, ...] = (("↑↓←→", msg("size")), ("=", msg("reset")))
"""The keys that move the dividers between the panes."""


class GoTo(ModalScreen[str]):
    """The go-to menu: waits for one key and returns it.

    Escape and enter dismiss it; so does a key that is not listed, which then acts as always.
    `chosen` is called with the key before the next one is handled. `move` moves a divider and
    returns whether a key does that; an arrow key leaves the menu open, for more arrow keys.
    """

    DEFAULT_CSS = """
    GoTo { align: left bottom; background: $background 0%; }
    GoTo > Static { width: 100%; height: 1; padding: 0 2; background: $surface; }
    """

    def __init__(
        self,
        words: Words,
        chosen: Callable[[str], object],
        places: Sequence[Place] = PLACES,
        move: Callable[[str], bool] = lambda _: False,
    ) -> None:
        super().__init__()
        self._words, self._chosen, self._places, self._move = words, chosen, places, move
        self._resizes = False  # whether an arrow key was pressed: then no key goes anywhere

    def compose(self) -> ComposeResult:
        parts = [
            part
            for key, place in self._places
            for part in ((f"{key} ", KEY), (f"{self._words(place)}   ", MUTED))
        ]
        yield Static(Content.assemble((self._words("go to") + "   ", MUTED), *parts))

    def on_key(self, event: events.Key) -> None:
        """Return the key, normalized from an input method's full-width form."""
        event.stop()
        character = unicodedata.normalize("NFKC", event.character or "")
        if self._move(character or event.key):
            self._resizes = True
            if character:
                self.dismiss("")
            return
        chosen = AGAIN[0] if event.key == "ctrl+g" else character
        listed = {AGAIN[0], *"123456789", *(key for key, _ in self._places)}
        if (chosen in listed and not self._resizes) or event.key in ("escape", "enter"):
            self._chosen(chosen)
            self.dismiss(chosen)
            return
        self.dismiss("")
        if isinstance(self.app, KeyLine):
            self.app.repeat(event, lambda: self.app.screen is not self)

    def on_click(self) -> None:
        self.dismiss("")
