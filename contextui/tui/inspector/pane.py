"""The inspector: what the model sees, what it costs, and what went wrong."""

from textual.containers import Vertical

from contextui.events import Event
from contextui.tui.desk import Desk
from contextui.tui.link import Changes
from contextui.tui.words import Words


class Inspector(Vertical):
    """Items, request, usage and log of a session."""

    def __init__(self, words: Words) -> None:
        super().__init__(id="inspector")
        self._words = words

    def attach(self, desk: Desk) -> None:
        """Inspect a session."""

    def take(self, changes: Changes) -> None:
        """Show what changed."""

    def hear(self, event: Event) -> None:
        """Note what a turn costs."""
