"""Tool calls, one line each; a click or Enter unfolds what came of them."""

import time

from textual.content import Content
from textual.geometry import Size
from textual.widgets import Static

from contextui.tui.cells import FAINT, MUTED, fit, inert
from contextui.tui.conversation.entries import Called

_NAME, _TIME = 18, 6  # cells
_LONGEST = 4_000  # characters of a result that are unfolded


class CallLine(Static):
    """One call: whether it went well, what it was, with what, and how long it took."""

    def __init__(self, entry: Called) -> None:
        super().__init__(classes="call")
        self.entry = entry
        self._began = time.monotonic()
        self._took: float | None = None
        self.is_open = False

    def finish(self, entry: Called) -> None:
        """Show what came of it."""
        self.entry, self._took = entry, time.monotonic() - self._began
        self.refresh(layout=True)

    def on_click(self) -> None:
        """Unfold it, or fold it again."""
        self.toggle()

    def toggle(self) -> None:
        """Unfold it, or fold it again."""
        self.is_open = not self.is_open
        self.refresh(layout=True)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002
        """One line; unfolded, as many as there are in this width."""
        if not self.is_open:
            return 1
        unfolded = Content("\n").join(self._unfolded())
        return 1 + unfolded.get_height({}, width) if unfolded else 1

    def render(self) -> Content:
        """The line, and below it the result if it is unfolded."""
        mark, style = {
            True: ("✓", "$text-success"),
            False: ("✗", "$text-error"),
            None: ("·", "$text-warning"),
        }[self.entry.ok]
        name = max(_NAME, min(len(self.entry.title), 30))
        width = max(self.size.width - 2 - name - 1 - _TIME, 4)
        took = f"{self._took:.1f}s" if self._took is not None else ""
        what = self.entry.what
        if self.entry.ok is False and not self.is_open:
            what = self.entry.result
        head = Content.assemble(
            (f"{mark} ", style),
            (fit(self.entry.title, name) + " ", "$foreground 85%"),
            (fit(what, width), "$text-error" if self.entry.ok is False else MUTED),
            (fit(took, _TIME, right=True), FAINT),
        )
        if not self.is_open:
            return head
        return Content("\n").join([head, *self._unfolded()])

    def _unfolded(self) -> list[Content]:
        parts = [self.entry.what, self.entry.result[:_LONGEST]]
        return [inert(part).stylize(MUTED) for part in parts if part.strip()]
