"""A closer look: all that an item says, on a screen of its own or in the clipboard."""

from textual.app import App

from contextui.tui.cells import short
from contextui.tui.inspector.behind import BehindSummary
from contextui.tui.inspector.labels import title, whole_text
from contextui.tui.inspector.look import Look
from contextui.tui.inspector.spans import Row
from contextui.tui.inspector.standing import both_texts, is_gist, replaced
from contextui.tui.inspector.whole import WholeText
from contextui.tui.words import Words


class Closer:
    """Shows the whole of what a list has in a line.

    Args:
        app: Where it is shown.
        words: The language to tell it in.
        look: Where the items come from.
    """

    def __init__(self, app: App[object], words: Words, look: Look) -> None:
        self._app, self._words, self._look = app, words, look

    def heading(self, row: Row) -> str:
        """What it is headed by."""
        calls = row.home(self._look.context).ledger.calls
        return f"{row.item.seq:04} {title(row, calls, self._words)}"

    def open(self, row: Row) -> None:
        """Show all of it: of a summary also what it stands for."""
        look, words = self._look, self._words
        if row.log is None and (items := replaced(row.item, look.context.ledger)):
            self._app.push_screen(BehindSummary(words, look, row.item, items, self.read))
        else:
            self.read(row)

    def read(self, row: Row) -> None:
        """Show its text: where a gist stands for that, both."""
        counter = row.home(self._look.context).counter
        item, words = row.item, self._words
        shown = both_texts(item, counter, words) if is_gist(item) else self._text(row)
        self._app.push_screen(WholeText(words, self.heading(row), shown))

    def copy(self, row: Row) -> None:
        """Copy its text."""
        text = self._text(row)
        self._app.copy_to_clipboard(text)
        told = self._words("Copied {count} characters.", count=short(len(text)))
        self._app.notify(told, markup=False)

    def _text(self, row: Row) -> str:
        return whole_text(row, row.home(self._look.context).windows)
