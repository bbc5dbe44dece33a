"""Question with two answers: a letter for yes, Esc for no."""

import time
import unicodedata

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from contextui.tui.lines import KEY, fit
from contextui.words import Words

_DEAF = 0.5  # seconds in which keys are ignored: they were meant for something else
_KEY = 5  # cells


class QuestionScreen(ModalScreen[bool]):
    """Asks whether to do something; the other answer is to stay.

    Args:
        words: Translates into the person's locale.
        title: The question.
        key: The letter that answers yes.
        yes: What that does.
    """

    DEFAULT_CSS = """
    QuestionScreen {
        align: center middle;
        background: $background 65%;
        #box {
            width: 72; max-width: 96%; height: auto; max-height: 92%;
            border: round $warning; border-title-color: $text-warning; border-title-style: bold;
            background: $background; padding: 1 2;
        }
        #choices { height: auto; }
    }
    """

    def __init__(self, words: Words, title: str, key: str, yes: str) -> None:
        super().__init__()
        self._words, self._title, self._yes_key, self._yes = words, title, key, yes
        self._opened = time.monotonic()

    def compose(self) -> ComposeResult:
        """Compose the details and the answers."""
        with Vertical(id="box") as box:
            box.border_title = Content(self._title)
            yield from self.details()
            yield Static(self.choices(), id="choices")

    def details(self) -> ComposeResult:
        """Compose what is shown above the answers."""
        yield from ()

    def choices(self) -> Content:
        """Return the answers with their keys."""
        rows = [(self._yes_key, self._yes), ("Esc", self._words("Stay"))]
        return Content("\n").join(
            [Content.assemble((fit(key, _KEY), f"{KEY} bold"), name) for key, name in rows]
        )

    def on_key(self, event: events.Key) -> None:
        """Answer by letter, including full-width letters of an input method."""
        event.stop()
        if event.time - self._opened < _DEAF:
            return
        key = unicodedata.normalize("NFKC", event.character or "").lower()
        if event.key == "escape" or key in (self._yes_key, "n"):
            self._decide(key == self._yes_key)

    @on(events.Click, "#choices")
    def _choose_clicked(self, event: events.Click) -> None:
        self._decide(event.y == 0)

    def _decide(self, wanted: bool) -> None:
        if self.is_current:
            self.dismiss(wanted)
