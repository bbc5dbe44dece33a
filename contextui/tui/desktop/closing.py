"""Closing a window: in the place of its actions it asks what should be remembered."""

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

    def compose(self) -> ComposeResult:
        """The question, and the field."""
        yield Static(Content.assemble((f"{self._words('Close')} ", f"{KEY} bold")))
        yield Field(hint=self._words("summary, or enter"))

    def ask(self, warning: str = "") -> None:
        """Begin to ask; a warning says what would be lost."""
        field = self.query_one(Field)
        field.text = ""
        hint = self._words("summary, or enter")
        field.placeholder = (
            Content.assemble((warning, "$text-warning")) if warning else Content(hint)
        )
        self.display = True
        field.focus()

    @on(Field.Done)
    def _confirm(self, message: Field.Done) -> None:
        message.stop()
        self.display = False
        self.post_message(self.Confirmed(message.field.text.strip()))

    def action_leave(self) -> None:
        """Let the window stay."""
        self.display = False
        self.post_message(self.Left())
