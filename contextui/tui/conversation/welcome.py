"""What an empty screen says: what this is, and four things to try."""

from pathlib import Path

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.events import Click
from textual.message import Message
from textual.widgets import Static

from contextui.tui.lines import KEY, MUTED
from contextui.tui.words import Words

_README = "README.md"


def tries_in(folder: Path) -> tuple[str, ...]:
    """Four things to try, all of which work in this folder."""
    has_readme = (folder / _README).is_file()
    return (
        "Make a todo list with milk, eggs and bread",
        "Open README.md in the editor" if has_readme else "Show me the files here",
        "How busy is this machine?",
        "What do you see right now?",
    )


class Try(Static, can_focus=True):
    """One thing to try."""

    BINDINGS = [
        Binding("enter", "say", "say it"),
        Binding("up", "app.focus_previous", show=False),
        Binding("down", "app.focus_next", show=False),
    ]

    class Chosen(Message):
        """The person wants to try this."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    def __init__(self, text: str) -> None:
        super().__init__(Content.assemble(("› ", KEY), text), classes="try")
        self._text = text

    def on_click(self, event: Click) -> None:
        """A click says it."""
        event.stop()
        self.action_say()

    def action_say(self) -> None:
        """Say it."""
        self.post_message(self.Chosen(self._text))


class Welcome(Vertical):
    """The empty screen.

    Args:
        words: The language of the screen.
        folder: Where the things are to be tried.
    """

    def __init__(self, words: Words, folder: Path) -> None:
        super().__init__(id="welcome")
        self._words, self._folder = words, folder

    def compose(self) -> ComposeResult:
        """Three lines on what this is, four things to try, and what is missing."""
        words = self._words
        with Vertical(id="card"):
            yield Static(Content.styled("contextui", "bold $text-primary"))
            yield Static(
                words(
                    "You and the model look at the same windows and change them by the same "
                    "actions. The inspector lists everything the model sees, item by item, and "
                    "what it costs. Nothing is ever lost."
                ),
                classes="about",
                markup=False,
            )
            hint = words("Try one: ↓ and Enter, or click")
            yield Static(Content.styled(hint, MUTED), classes="hint")
            for text in tries_in(self._folder):
                yield Try(words(text))
            yield Static("", id="offline", markup=False)

    def say_offline(self) -> None:
        """Say that no model is connected, and how to connect one."""
        note = self._words(
            "No model is connected. The built-in offline one understands simple wishes. "
            "Set ANTHROPIC_API_KEY or type /model."
        )
        self.query_one("#offline", Static).update(Content.styled(note, MUTED))
