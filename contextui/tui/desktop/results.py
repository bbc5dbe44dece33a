"""What came of an action, in a line, and all of it where that is not enough."""

from dataclasses import dataclass

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen

from contextui.files.errors import FileChangedError
from contextui.tui.cells import line
from contextui.tui.diff import ChangeView, Line, diff_lines, is_diff, plain_lines
from contextui.tui.hints import KeyHints
from contextui.tui.words import Words
from contextui.windowing.action import ActionResult


@dataclass(frozen=True, slots=True)
class Told:
    """A result as it is told.

    Attributes:
        line: The line in the window's last row.
        style: Its style.
        whole: All of it, if there is more to read.
    """

    line: str
    style: str
    whole: str = ""


def told(result: ActionResult, name: str, words: Words) -> Told:
    """How to tell a result of the window of this name."""
    style = "$text-success" if result.ok else "$text-error"
    text = result.text.strip()
    first, _, rest = text.partition("\n")
    changed = result.error.__cause__ if result.error is not None else None
    if isinstance(changed, FileChangedError):
        said = words("{name} changed on disk. Not saved. d shows the difference.", name=name)
        return Told(said, "$text-error", text)
    if not rest:
        return Told(line(first), style, text if not result.ok else "")
    return Told(f"{line(first)}  {words('d shows all')}", style, text)


class ResultScreen(ModalScreen[None]):
    """A result in full, to be scrolled through."""

    BINDINGS = [
        Binding("escape,enter,d,q", "leave", "back", show=False),
        Binding("up,k", "scroll(-1)", show=False),
        Binding("down,j", "scroll(1)", show=False),
        Binding("pageup", "scroll(-10)", show=False),
        Binding("pagedown,space", "scroll(10)", show=False),
    ]

    def __init__(self, title: Content, text: str, words: Words) -> None:
        super().__init__()
        self._title, self._text, self._words = title, text, words

    def compose(self) -> ComposeResult:
        """The text in a box; a diff in its colours."""
        with Vertical(classes="box") as box:
            box.border_title = self._title
            yield ChangeView(self._lines())
            yield KeyHints(self._words, [("↑↓", "move"), ("esc", "leaves")])

    def _lines(self) -> list[Line]:
        """The text, and a diff at its end with numbers."""
        start = 0 if self._text.startswith("--- ") else self._text.find("\n--- ") + 1
        if is_diff(diff := self._text[start:]):
            above = plain_lines(self._text[:start]) if start else []
            return [*above, *diff_lines(diff, self._words)]
        return plain_lines(self._text)

    def action_scroll(self, by: int) -> None:
        """Scroll by lines."""
        self.query_one(ChangeView).scroll_relative(y=by, animate=False)

    def action_leave(self) -> None:
        """Close it."""
        self.dismiss(None)

    def on_click(self) -> None:
        """A click anywhere closes it."""
        self.dismiss(None)
