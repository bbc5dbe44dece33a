"""What was said while a turn runs, until its turn comes."""

from collections.abc import Sequence

from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.widgets import Static

from contextui.tui.cells import FAINT, KEY, fit
from contextui.tui.words import Words

_SHOWN = 3


class Queue(Static):
    """The words that wait, one line each; a click takes the last of them back."""

    class TakenBack(Message):
        """The person wants to change the last one."""

    def __init__(self, words: Words) -> None:
        super().__init__(id="queue")
        self._words = words
        self._waiting: Sequence[str] = ()
        self._is_held = False

    def show(self, waiting: Sequence[str], *, is_held: bool) -> None:
        """Show what waits, and whether it will be sent by itself."""
        if (list(waiting), is_held) != (list(self._waiting), self._is_held):
            self._waiting, self._is_held = list(waiting), is_held
            self.display = bool(waiting)
            self.refresh(layout=True)

    def on_click(self) -> None:
        """Take the last one back."""
        self.post_message(self.TakenBack())

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002
        """One line for each that is shown, and one that says what can be done."""
        return min(len(self._waiting), _SHOWN) + 1

    def render(self) -> Content:
        """The last few, and how the last one is changed."""
        width = max(self.size.width - 10, 10)
        rows = [Content.assemble(("· ", KEY), fit(text, width)) for text in self._waiting[-_SHOWN:]]
        hint = self._words(
            "not sent, as the turn before it did not end   ↑ takes the last one back"
            if self._is_held
            else "waits for the turn to end   ↑ changes the last one"
        )
        return Content("\n").join([*rows, Content.styled(hint, FAINT)])
