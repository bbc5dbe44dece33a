"""The body of any window: drawn from its last finished render."""

from collections.abc import Sequence

from textual import events
from textual.binding import Binding
from textual.content import Content, Span
from textual.message import Message
from textual.style import Style

from contextui.tui.desktop.rows import ANCHOR, Row, order_of, rows_of
from contextui.tui.sheet.folding import fold
from contextui.tui.sheet.sheet import Sheet
from contextui.tui.words import Words
from contextui.windowing.base import Window

_CURSOR = "on $primary 22%"


class ContentBody(Sheet):
    """What a window shows, as text; its anchors can be clicked, or gone to and pressed."""

    BINDINGS = [
        Binding("up", "step(-1)", show=False),
        Binding("down", "step(1)", show=False),
        Binding("enter,space", "press", show=False),
    ]

    class AnchorPressed(Message):
        """An anchor was clicked, or chosen by key."""

        def __init__(self, anchor_id: str) -> None:
            super().__init__()
            self.anchor_id = anchor_id

    def __init__(self, window: Window, words: Words) -> None:
        super().__init__()
        self._window, self._words = window, words
        self._rows: list[Row] = []
        self._anchors: list[str] = []
        self._cursor: str | None = None
        self._folded: list[Content] = []
        self._folded_width = 0

    def window_changed(self) -> None:
        """Draw what the window shows now; the cursor stays at its anchor."""
        more = self._words("… {count} more characters")
        self._rows = rows_of(self._window.runtime.renders.latest(), more)
        self._anchors, self._folded_width = order_of(self._rows), 0
        if self._cursor not in self._anchors:
            self._cursor = self._anchors[0] if self._anchors else None
        self.redraw()

    def on_mount(self) -> None:
        """Draw it for the first time."""
        self.window_changed()

    def lines_for(self, width: int) -> Sequence[Content]:
        """The rows, folded, with the cursor."""
        if width != self._folded_width:
            rows = (fold(row.content, width, row.hanging) for row in self._rows)
            self._folded, self._folded_width = [one for row in rows for one in row], width
        return [self._with_cursor(one) for one in self._folded]

    def _with_cursor(self, content: Content) -> Content:
        if not self.is_entered or self._cursor is None:
            return content
        for span in content.spans:
            if _anchor_of(span) == self._cursor:
                return content.stylize(_CURSOR, span.start, span.end)
        return content

    # --- going in ----------------------------------------------------------------------

    def action_step(self, by: int) -> None:
        """Go to the next anchor; without any, scroll."""
        if self._cursor is None:
            scroll = self.scroll_down if by > 0 else self.scroll_up
            scroll(animate=False)
            return
        at = self._anchors.index(self._cursor) + by
        self._cursor = self._anchors[min(max(at, 0), len(self._anchors) - 1)]
        self.redraw()
        for number, one in enumerate(self.lines):
            if any(_anchor_of(span) == self._cursor for span in one.spans):
                self.show_line(number)
                return

    def action_press(self) -> None:
        """Press the anchor under the cursor."""
        if self._cursor is not None:
            self.post_message(self.AnchorPressed(self._cursor))

    def on_click(self, event: events.Click) -> None:
        """Press what was clicked."""
        anchor_id = event.style.meta.get(ANCHOR)
        if anchor_id is not None:
            event.stop()
            self._cursor = str(anchor_id)
            self.post_message(self.AnchorPressed(self._cursor))


def _anchor_of(span: Span) -> str | None:
    found = span.style.meta.get(ANCHOR) if isinstance(span.style, Style) else None
    return None if found is None else str(found)
