"""The conversation, as it is said."""

from textual.containers import VerticalScroll
from textual.widgets import Static

from contextui.agent.events import TurnFinished, TurnStarted
from contextui.events import Event
from contextui.tui.cells import inert
from contextui.tui.desk import Desk
from contextui.tui.words import Words


class Conversation(VerticalScroll):
    """What person and model said, the newest at the bottom."""

    def __init__(self, words: Words) -> None:
        super().__init__(id="log", can_focus=False)
        self._words = words

    def attach(self, desk: Desk) -> None:
        """Show what was said before."""

    def hear(self, event: Event) -> None:
        """Show what happens in the turn under way."""
        match event:
            case TurnStarted(text=text):
                self.mount(Static(inert(text), classes="you"))
            case TurnFinished(text=text):
                self.mount(Static(inert(text)))
