"""Dialog that shows a whole text, to scroll, select and copy."""

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content

from contextui.tui.dialogs.diff import ChangeView, Line, plain_lines
from contextui.tui.dialogs.question import Dialog
from contextui.tui.footer import KeyBar
from contextui.tui.lines import line, short
from contextui.words import Words


class WholeText(Dialog[None]):
    """Shows a whole text, as high as it needs.

    Args:
        lines: The lines that are shown, if not just those of the text.
    """

    DEFAULT_CSS = """
    WholeText {
        #box { width: 110; padding: 0 1; }
        ChangeView { max-height: 100%; background: $background; }
        .keys { dock: bottom; margin: 1 0 0 0; }
    }
    """
    BINDINGS = [
        Binding("c", "copy", "copy"),
        Binding("escape,enter,d,x,q", "dismiss", "back"),
    ]

    def __init__(
        self, words: Words, title: Content | str, text: str, lines: Sequence[Line] | None = None
    ) -> None:
        super().__init__()
        self._words, self._text = words, text
        self._title = Content(line(title)) if isinstance(title, str) else title
        self._lines = plain_lines(text) if lines is None else lines

    def compose(self) -> ComposeResult:
        with Vertical(id="box") as box:
            box.border_title = self._title
            yield ChangeView(self._lines)
            size = self._words("{count} characters", count=short(len(self._text)))
            yield KeyBar(self._words, [("↑↓", "move"), ("c", "copy"), ("esc", "back")], size)

    def action_copy(self) -> None:
        self.app.copy_to_clipboard(self._text)
