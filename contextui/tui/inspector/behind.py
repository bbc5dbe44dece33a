"""What stands behind a summary: the items that it stands for, each of which can be read."""

from collections.abc import Callable, Sequence

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen

from contextui.context.item import ContextItem
from contextui.tui.cells import line
from contextui.tui.hints import KeyHints
from contextui.tui.inspector.items import ItemList
from contextui.tui.inspector.look import Look
from contextui.tui.inspector.spans import Row
from contextui.tui.inspector.standing import counted
from contextui.tui.words import Words

_AROUND = 4  # rows of the box that are no items


class BehindSummary(ModalScreen[None]):
    """A summary, and below it all that it stands for.

    Args:
        words: The language of the screen.
        look: Where the items come from.
        summary: The summary.
        items: What it stands for.
        read: Shows the whole text of a row.
    """

    BINDINGS = [Binding("escape,q", "leave", "back")]

    def __init__(
        self,
        words: Words,
        look: Look,
        summary: ContextItem,
        items: Sequence[ContextItem],
        read: Callable[[Row], None],
    ) -> None:
        super().__init__()
        self._words, self._look, self._read = words, look, read
        self._rows = [Row(summary), *map(Row, items)]

    def compose(self) -> ComposeResult:
        """The list and the keys."""
        told = f"{self._words('Summary')} {counted(len(self._rows) - 1, self._words)}"
        with Vertical(id="whole") as box:
            box.border_title = Content(line(told))
            yield ItemList(self._words, tells_states=False)
            hints = [("↑↓", "move"), ("enter", "whole text"), ("esc", "back")]
            yield KeyHints(self._words, hints)

    def on_mount(self) -> None:
        """Show the items, in no more room than they need."""
        most = self.app.size.height * 23 // 25
        self.query_one("#whole").styles.height = min(len(self._rows) + _AROUND, most)
        self.query_one(ItemList).show(self._look, self._rows)

    @on(ItemList.Opened)
    def _open(self) -> None:
        row = self.query_one(ItemList).row
        if row is not None:
            self._read(row)

    def action_leave(self) -> None:
        """Back."""
        self.dismiss()
