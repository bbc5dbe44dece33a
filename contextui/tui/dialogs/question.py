"""Question with two answers: a letter for yes, `n` or Esc for no."""

from collections.abc import Sequence
from typing import ClassVar, Generic, TypeVar

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from contextui.tui.dialogs.diff import ChangeView, Line
from contextui.tui.dialogs.guard import KeyGuard
from contextui.tui.keys import letter_of
from contextui.tui.lines import KEY, fit
from contextui.words import Words, msg

R = TypeVar("R")


class Dialog(ModalScreen[R], Generic[R]):
    """A box in the middle of the dimmed screen."""

    DEFAULT_CSS = """
    Dialog {
        align: center middle;
        background: $background 65%;
        #box {
            max-width: 96%; height: auto; max-height: 92%;
            border: round $primary; border-title-style: bold; border-title-color: $foreground;
            border-subtitle-color: $muted;
            background: $background; padding: 1 2 0 2;
        }
    }
    """


class QuestionScreen(Dialog[bool]):
    """Asks whether to do something. Other keys belong to what has the focus."""

    DEFAULT_CSS = """
    QuestionScreen {
        #box {
            width: 72; padding: 1 2;
            border: round $warning; border-title-color: $text-warning;
        }
    }
    """

    no: ClassVar[tuple[str, str]] = ("Esc", msg("Stay"))  # the other answer: its key and text
    delay: ClassVar[float | None] = None  # seconds in which keys are ignored, if not as usual

    def __init__(self, words: Words, title: str, key: str, yes: str) -> None:
        super().__init__()
        self._words, self._title, self._yes_key, self._yes = words, title, key, yes
        self._guard = KeyGuard(self, self.delay)

    def on_mount(self) -> None:
        self._guard.begin()

    def compose(self) -> ComposeResult:
        with Vertical(id="box") as box:
            box.border_title = Content(self._title)
            yield from self.details()
            yield Static(self.choices(), id="choices")

    def details(self) -> ComposeResult:
        yield from ()

    def choices(self) -> Content:
        no, stay = self.no
        rows = [(self._yes_key, self._yes), (no, self._words(stay))]
        return Content("\n").join(
            [Content.assemble((fit(key, len(no) + 2), f"{KEY} bold"), name) for key, name in rows]
        )

    def on_key(self, event: events.Key) -> None:
        key = letter_of(event)
        is_answer = event.key == "escape" or key in (self._yes_key, "n")
        if is_answer or self.focused is None:
            event.stop()
        if is_answer and self._guard.accepts(event.time):
            self._decide(key == self._yes_key)

    @on(events.Click, "#choices")
    def _choose_clicked(self, event: events.Click) -> None:
        self._decide(event.y == 0)

    def _decide(self, wanted: bool) -> None:
        if self.is_current:
            self.dismiss(wanted)


class ChangeQuestion(QuestionScreen):
    """Asks about lines that the person reads first."""

    DEFAULT_CSS = """
    ChangeQuestion {
        #box { width: 108; }
        ChangeView { max-height: 60vh; margin: 1 0; }
    }
    """
    no = ("n", msg("Cancel; Esc does the same"))

    def __init__(
        self, words: Words, title: str, yes: str, *, about: Content, lines: Sequence[Line]
    ) -> None:
        super().__init__(words, title, "y", yes)
        self._about, self._lines = about, lines

    def details(self) -> ComposeResult:
        yield Static(self._about, id="about")
        yield ChangeView(self._lines)

    def on_mount(self) -> None:
        self.query_one(ChangeView).focus()
