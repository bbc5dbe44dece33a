"""`ctrl+g`, then one key: where to go."""

import unicodedata
from collections.abc import Callable, Sequence

from textual import events
from textual.app import ComposeResult
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from contextui.tui.cells import KEY, MUTED
from contextui.tui.words import Words

Place = tuple[str, str]
"""A key, and in English where it leads."""
QUESTION: Place = ("a", "question")
PLACES: tuple[Place, ...] = (("1–9", "window"), ("c", "chat"), ("i", "inspector"), ("p", "prompt"))


class GoTo(ModalScreen[str]):
    """Waits for one key, and gives it back; anything else than a place changes nothing.

    Args:
        words: The language of the screen.
        chosen: Hears of the key at once, before any other is taken.
        places: Where one can go.
    """

    DEFAULT_CSS = """
    GoTo { align: left bottom; background: $background 0%; }
    GoTo > Static { width: 100%; height: 1; padding: 0 2; background: $surface; }
    """

    def __init__(
        self, words: Words, chosen: Callable[[str], object], places: Sequence[Place] = PLACES
    ) -> None:
        super().__init__()
        self._words, self._chosen, self._places = words, chosen, places

    def compose(self) -> ComposeResult:
        """One line with the places, where the keys stand otherwise."""
        parts = [
            part
            for key, place in self._places
            for part in ((f"{key} ", KEY), (f"{self._words(place)}   ", MUTED))
        ]
        yield Static(Content.assemble((self._words("go to") + "   ", MUTED), *parts))

    def on_key(self, event: events.Key) -> None:
        """The key, as it is without an input method."""
        event.stop()
        character = unicodedata.normalize("NFKC", event.character or "")
        self._chosen(character)
        self.dismiss(character)

    def on_click(self) -> None:
        """A click elsewhere leaves."""
        self.dismiss("")
