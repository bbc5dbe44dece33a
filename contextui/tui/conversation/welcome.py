"""The welcome screen of an empty conversation, with four suggestions."""

from pathlib import Path

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.events import Click
from textual.message import Message
from textual.widgets import Static

from contextui.tui.lines import KEY, MUTED
from contextui.words import Words, msg

_README = "README.md"


def tries_in(folder: Path) -> tuple[str, ...]:
    """Return four suggested messages, all of which work in this folder."""
    has_readme = (folder / _README).is_file()
    return (
        msg("Make a todo list with milk, eggs and bread"),
        msg("Open README.md in the editor") if has_readme else msg("Show me the files here"),
        msg("How busy is this machine?"),
        msg("What do you see right now?"),
    )


class Try(Static, can_focus=True):
    """A suggested message."""

    BINDINGS = [
        Binding("enter", "say", "send"),
        Binding("up", "app.focus_previous", show=False),
        Binding("down", "app.focus_next", show=False),
    ]

    class Chosen(Message):
        """Posted when the person selects the suggestion."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    def __init__(self, text: str) -> None:
        super().__init__(Content.assemble(("› ", KEY), text), classes="try")
        self._text = text

    def on_click(self, event: Click) -> None:
        """Send the suggestion."""
        event.stop()
        self.action_say()

    def action_say(self) -> None:
        """Send the suggestion."""
        self.post_message(self.Chosen(self._text))


class Welcome(Vertical):
    """The welcome screen.

    Args:
        words: Translates into the person's locale.
        folder: The folder that the suggestions refer to.
    """

    def __init__(self, words: Words, folder: Path) -> None:
        super().__init__(id="welcome")
        self._words, self._folder = words, folder

    def compose(self) -> ComposeResult:
        """Compose the introduction, the suggestions, and a note if no model is connected."""
        words = self._words
        with Vertical(id="card"):
            yield Static(Content.styled("contextui", "bold $text-primary"))
            yield Static(
                words(
                    "You and the model see the same windows and use the same actions. "
                    "The inspector lists everything the model sees, item by item, "
                    "and what it costs. Nothing is ever lost."
                ),
                classes="about",
                markup=False,
            )
            hint = words("Try one: ↓ and Enter, or click")
            yield Static(Content.styled(hint, MUTED), classes="hint")
            for text in tries_in(self._folder):
                yield Try(words(text))
            yield Static("", id="offline", markup=False)

    def show_offline(self) -> None:
        """Show that no model is connected, and how to connect one."""
        note = self._words(
            "No model is connected. The built-in offline model handles simple requests. "
            "Set ANTHROPIC_API_KEY or type /model."
        )
        self.query_one("#offline", Static).update(Content.styled(note, MUTED))
