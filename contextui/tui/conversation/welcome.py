"""The welcome screen of an empty conversation, with four suggestions."""

from collections.abc import Iterable, Sequence
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
    has_readme, is_repository = (folder / _README).is_file(), (folder / ".git").exists()
    changes, todo = msg("What has changed here?"), msg("Make a todo list with milk, eggs and bread")
    return (
        changes if is_repository else todo,
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
        event.stop()
        self.action_say()

    def action_say(self) -> None:
        self.post_message(self.Chosen(self._text))


class Welcome(Vertical):
    """The content of an empty conversation: how to begin, and four suggestions."""

    def __init__(self, words: Words, folder: Path) -> None:
        super().__init__(id="welcome")
        self._words, self._folder = words, folder

    def compose(self) -> ComposeResult:
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

    def show_offline(self, ways: Sequence[tuple[str, str]] = ()) -> None:
        """Show that no model is connected, what answers until then, and how to connect one."""
        note = self._words(
            "No model is connected. Until one is, a small built-in model answers. It only "
            "understands simple requests in English and Chinese; it does not write code or explain."
        )
        rows = [Content.assemble(("● ", "$text-warning"), note)]
        if ways:
            rows.append(Content(""))
        width = max((len(command) for command, _ in ways), default=0)
        rows += [
            Content.assemble((f"  {command:<{width}}", f"{KEY} bold"), (f"   {about}", MUTED))
            for command, about in ways
        ]
        self.query_one("#offline", Static).update(Content("\n").join(rows))

    async def show_waiting(self, line: Content) -> None:
        self.add_class("-waiting")
        await self.query_one("#card").mount(Static(line, classes="ready"))

    async def show_recent(self, widgets: Iterable[Static]) -> None:
        """Show the earlier sessions of the folder instead of the introduction."""
        card, offline = self.query_one("#card"), self.query_one("#offline")
        with self.app.batch_update():
            await card.remove_children([child for child in card.children if child is not offline])
            await card.mount_all(widgets, before=offline)
