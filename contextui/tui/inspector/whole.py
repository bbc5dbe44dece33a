"""The whole text of an item, line by line, however long it is."""

import threading
from collections.abc import Callable, Iterable
from itertools import islice

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.events import Resize
from textual.message import Message
from textual.screen import ModalScreen

from contextui.tui.cells import line, short
from contextui.tui.hints import KeyHints
from contextui.tui.sheet.folding import wrapped
from contextui.tui.sheet.lineview import LineView
from contextui.tui.words import Words

Break = Callable[[str, int], Iterable[str]]

_LONG = 100_000  # characters from which on breaking them into lines is left to a thread
_BATCH = 4_000  # lines that it hands over at once


class TextLines(LineView, can_focus=True):
    """A text that only has to be read.

    Args:
        text: The text.
        broken: Breaks it into lines of a width.
    """

    class Broken(Message):
        """Some more of a long text is broken into lines of a width."""

        def __init__(self, lines: list[str], width: int) -> None:
            super().__init__()
            self.lines, self.width = lines, width

    class Shown(Message):
        """It is known how many lines there are."""

        def __init__(self, count: int) -> None:
            super().__init__()
            self.count = count

    def __init__(self, text: str, broken: Break = wrapped) -> None:
        super().__init__(id="lines")
        self._text, self._broken = text, broken
        self._lines: list[str] = []
        self._width = 0

    def on_resize(self, _: Resize) -> None:
        """Break the text anew."""
        width = self.scrollable_content_region.width
        if width in (0, self._width):
            return
        self._width, self._lines = width, []
        if len(self._text) <= _LONG:
            self._show(list(self._broken(self._text, width)))
        else:
            # A daemon: leaving does not wait for it.
            threading.Thread(target=self._break, args=(width,), daemon=True).start()

    def _break(self, width: int) -> None:
        pieces = iter(self._broken(self._text, width))
        while self._width == width and (lines := list(islice(pieces, _BATCH))):
            self.post_message(self.Broken(lines, width))

    def on_text_lines_broken(self, message: Broken) -> None:
        """Show it, if the width is still the same."""
        if message.width == self._width:
            self._show(message.lines)

    def _show(self, more: list[str]) -> None:
        self._lines += more
        self.set_count(len(self._lines))
        self.post_message(self.Shown(len(self._lines)))

    def line_at(self, number: int, width: int) -> Content:  # noqa: ARG002
        """One line."""
        return Content(self._lines[number])


class WholeText(ModalScreen[None]):
    """A text to be read, scrolled and copied.

    Args:
        words: The language of the screen.
        title: What it is.
        text: All of it.
        broken: Breaks it into lines.
    """

    BINDINGS = [
        Binding("c", "copy", "copy"),
        Binding("escape,enter,x,q", "leave", "back"),
    ]

    def __init__(self, words: Words, title: str, text: str, broken: Break = wrapped) -> None:
        super().__init__()
        self._words, self._title, self._text, self._broken = words, title, text, broken

    def compose(self) -> ComposeResult:
        """The text and the keys."""
        with Vertical(id="whole") as box:
            box.border_title = Content(line(self._title))
            yield TextLines(self._text, self._broken)
            size = self._words("{count} characters", count=short(len(self._text)))
            yield KeyHints(self._words, [("↑↓", "move"), ("c", "copy"), ("esc", "back")], size)

    @on(TextLines.Shown)
    def _fit(self, message: TextLines.Shown) -> None:
        """Take no more room than the text needs."""
        most = self.size.height * 23 // 25
        self.query_one("#whole").styles.height = min(message.count + 4, most)

    def action_copy(self) -> None:
        """Copy all of it."""
        self.app.copy_to_clipboard(self._text)
        told = self._words("Copied {count} characters.", count=short(len(self._text)))
        self.notify(told, markup=False)

    def action_leave(self) -> None:
        """Back."""
        self.dismiss()
