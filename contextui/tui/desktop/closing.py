"""Closing a window: in the place of its actions it asks what should be remembered."""

from rich.cells import cell_len, set_cell_size
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from contextui.tui.cells import KEY
from contextui.tui.desktop.field import Field
from contextui.tui.words import Words

_HINTS = ("summary, or enter", "summary?")
_WARNINGS = ("not saved! enter closes", "unsaved! enter", "unsaved!")
"""What is said where there is no room for more, from longest to shortest."""
_ENOUGH = 40  # columns in which words make sense though they are cut


class Closing(Horizontal):
    """Asks for a summary; an empty one is an answer too."""

    BINDINGS = [Binding("escape", "leave", "back", show=False)]
    DEFAULT_CSS = """
    Closing {
        display: none; height: 1;
        Static { width: auto; }
        Field { height: 1; max-height: 1; width: 1fr; }
    }
    """

    class Confirmed(Message):
        """The window is to be closed."""

        def __init__(self, summary: str) -> None:
            super().__init__()
            self.summary = summary

    class Left(Message):
        """The window is to stay."""

    def __init__(self, words: Words) -> None:
        super().__init__()
        self._words = words
        self._warning = ""

    def compose(self) -> ComposeResult:
        """The question, and the field."""
        yield Static(Content.assemble((self._label, f"{KEY} bold")))
        yield Field(hint=self._words("summary, or enter"))

    def ask(self, warning: str = "") -> None:
        """Begin to ask; a warning says what would be lost."""
        field = self.query_one(Field)
        field.text, self._warning = "", warning
        self._tell()
        self.display = True
        field.focus()

    def on_resize(self) -> None:
        """Tell it in the room that there is now."""
        self._tell()

    @property
    def _label(self) -> str:
        return f"{self._words('Close')} "

    def _tell(self) -> None:
        """Tell what would be lost, or what can be typed: whole, in as few words as it takes."""
        room = self.size.width or self.container_size.width
        forms = [self._words(one) for one in (_WARNINGS if self._warning else _HINTS)]
        if self._warning:
            forms.insert(0, self._cut(room))
        told = next((one for one in forms if cell_len(one) <= room), forms[-1])
        has_label = cell_len(self._label + told) <= room
        self.query_one(Static).display = has_label
        style = "$text-warning" if self._warning else ""
        self.query_one(Field).placeholder = Content.assemble((told, style))

    def _cut(self, room: int) -> str:
        """The warning; a long one is cut where enough of it stays."""
        if _ENOUGH <= room < cell_len(self._warning):
            return set_cell_size(self._warning, room - 1) + "…"
        return self._warning

    @on(Field.Done)
    def _confirm(self, message: Field.Done) -> None:
        message.stop()
        self.display = False
        self.post_message(self.Confirmed(message.field.text.strip()))

    def action_leave(self) -> None:
        """Let the window stay."""
        self.display = False
        self.post_message(self.Left())
