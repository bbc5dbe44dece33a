"""What the model thinks before it answers, in one line; a click or Enter unfolds it."""

from textual.content import Content
from textual.geometry import Size
from textual.widgets import Static

from contextui.secrets import begun_own, mask_own
from contextui.tui.cells import FAINT, MUTED, fit, inert
from contextui.tui.words import Words

_NAME = 18  # cells, as the names of calls have
_SEEN = 400  # characters of which the newest that fit are shown
_LONGEST = 20_000  # characters that are unfolded


class Thought(Static):
    """Some thinking: its newest words as they come, and all of it once unfolded."""

    def __init__(self, words: Words) -> None:
        super().__init__(classes="call")
        self._words = words
        self._text = ""
        self.is_open = False

    def feed(self, text: str) -> None:
        """Some more of it."""
        self._text += text
        self.refresh(layout=self.is_open)

    def on_click(self) -> None:
        """Unfold it, or fold it again."""
        self.toggle()

    def toggle(self) -> None:
        """Unfold it, or fold it again."""
        self.is_open = not self.is_open
        self.refresh(layout=True)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002
        """One line; unfolded, as many as there are in this width."""
        return 1 + self._unfolded().get_height({}, width) if self.is_open else 1

    def render(self) -> Content:
        """The line, and below it the rest if it is unfolded."""
        room = max(self.size.width - 2 - _NAME - 1, 4)
        text = mask_own(self._text[-_SEEN:])
        newest = " ".join(text[: len(text) - begun_own(text)].split())
        head = Content.assemble(
            ("· ", FAINT),
            (fit(self._words("thinking"), _NAME) + " ", MUTED),
            ("" if self.is_open else fit(newest[-room:], room), FAINT),
        )
        return Content("\n").join([head, self._unfolded()]) if self.is_open else head

    def _unfolded(self) -> Content:
        text = mask_own(self._text[:_LONGEST])
        return inert(text[: len(text) - begun_own(text)].strip()).stylize(MUTED)
