"""Where the person types."""

from textual.binding import Binding
from textual.message import Message
from textual.widgets import TextArea

from contextui.events import Event
from contextui.tui.desk import Desk
from contextui.tui.talk import Talk
from contextui.tui.words import Words


class Prompt(TextArea):
    """A field of several lines; its border tells what goes on."""

    BINDINGS = [
        Binding("enter", "submit", "send", key_display="enter", priority=True),
        Binding("ctrl+j", "new_line", "new line", key_display="^j", priority=True),
    ]

    class Submitted(Message):
        """The person said something."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    def __init__(self, words: Words) -> None:
        placeholder = words("Say what you want, or / for commands")
        super().__init__(id="prompt", placeholder=placeholder, highlight_cursor_line=False)
        self._words = words

    def attach(self, desk: Desk, talk: Talk) -> None:
        """Be ready."""

    def hear(self, event: Event) -> None:
        """Show how far the turn is."""

    def action_submit(self) -> None:
        """Say it."""
        if text := self.text.strip():
            self.clear()
            self.post_message(self.Submitted(text))

    def action_new_line(self) -> None:
        """Go on in the next line."""
        self.insert("\n")
