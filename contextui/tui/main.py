"""The main screen: windows, conversation and inspector, side by side or as panes."""

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.screen import Screen
from textual.widgets import Footer

from contextui.agent.events import TurnFinished
from contextui.events import Event
from contextui.tui.conversation.pane import Conversation
from contextui.tui.conversation.prompt import Prompt
from contextui.tui.desk import Desk
from contextui.tui.desktop.pane import Desktop
from contextui.tui.header import Header, Panes
from contextui.tui.inspector.pane import Inspector
from contextui.tui.link import Link
from contextui.tui.talk import Talk
from contextui.tui.words import Words

_BATCH = 0.05  # seconds that changes are gathered before they are drawn


class MainScreen(Screen[None]):
    """One tree of widgets, three arrangements by width; nothing is ever re-parented."""

    BINDINGS = [
        Binding("f2", "toggle_inspector", "inspector"),
        Binding("f3", "zoom", "zoom", show=False),
        Binding("escape", "back", "back", show=False),
    ]

    class Changed(Message):
        """Something happened in the session."""

    def __init__(self, words: Words, folder: str) -> None:
        super().__init__()
        self._words, self._folder = words, folder
        self.desk: Desk | None = None
        self.talk: Talk | None = None
        self._link: Link | None = None

    def compose(self) -> ComposeResult:
        """The frame and its panes."""
        yield Header(self._words, self._folder)
        yield Panes(self._words)
        with Horizontal(id="body"):
            with Vertical(id="work"):
                yield Desktop(self._words)
                with Vertical(id="chat"):
                    yield Conversation(self._words)
                    yield Prompt(self._words)
            yield Inspector(self._words)
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        """Begin where the person types."""
        self.query_one(Prompt).focus()

    def attach(self, desk: Desk) -> None:
        """Show a session."""
        self.desk = desk
        self.talk = Talk(desk.controller, self.hear)
        self._link = Link(desk, lambda: self.post_message(self.Changed()))
        self.query_one(Header).attach(desk)
        self.query_one(Desktop).attach(desk)
        self.query_one(Conversation).attach(desk)
        self.query_one(Prompt).attach(desk, self.talk)
        self.query_one(Inspector).attach(desk)
        self._arrange()

    def on_unmount(self) -> None:
        """Listen no more."""
        if self._link is not None:
            self._link.close()

    # --- what happens ------------------------------------------------------------------

    def on_main_screen_changed(self) -> None:
        """Wait a moment: changes come in swarms, and each is drawn once."""
        self.set_timer(_BATCH, self._take_changes)

    def _take_changes(self) -> None:
        if self._link is None or not self.is_attached:
            return
        changes = self._link.take()
        self.query_one(Desktop).take(changes)
        self.query_one(Inspector).take(changes)
        self.query_one(Panes).take(changes)
        self._arrange()

    def hear(self, event: Event) -> None:
        """An event of the turn under way."""
        self.query_one(Conversation).hear(event)
        self.query_one(Prompt).hear(event)
        self.query_one(Inspector).hear(event)
        if isinstance(event, TurnFinished):
            self._arrange()

    def _arrange(self) -> None:
        """With no window open the conversation takes the room."""
        if self.desk is not None:
            self.set_class(not self.desk.session.windows.windows(), "-no-windows")

    # --- what the person does ----------------------------------------------------------

    def on_prompt_submitted(self, message: Prompt.Submitted) -> None:
        """Say it, now or when the turn under way has ended."""
        self.say(message.text)

    def say(self, text: str) -> None:
        """Say something to the model."""
        if self.talk is None:
            return
        if self.talk.is_running:
            self.talk.waiting.append(text)
        else:
            self.run_worker(self.talk.run(text), name="turn", exit_on_error=True)

    def action_toggle_inspector(self) -> None:
        """Show or hide the inspector."""
        self.toggle_class("-no-inspector")

    def action_zoom(self) -> None:
        """Give the focused pane all the room, or take it back."""
        self.toggle_class("-zoom")

    def action_back(self) -> None:
        """Undo the innermost thing: the zoom, or the turn under way."""
        if self.has_class("-zoom"):
            self.remove_class("-zoom")
        elif self.talk is not None and self.talk.is_running:
            self.talk.stop()
