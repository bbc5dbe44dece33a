"""The open windows: a master, a stack, and one line for each that does not fit."""

from textual.containers import Container

from contextui.tui.desk import Desk
from contextui.tui.link import Changes
from contextui.tui.words import Words


class Desktop(Container):
    """All open windows."""

    def __init__(self, words: Words) -> None:
        super().__init__(id="desktop")
        self._words = words

    def attach(self, desk: Desk) -> None:
        """Show the windows of a session."""

    def take(self, changes: Changes) -> None:
        """Draw what changed."""
