"""The line above a request: how many parts, of which turn, how large, and what the marks mean."""

from textual.content import Content
from textual.widget import Widget

from contextui.text import one_line
from contextui.tui.cells import MUTED, fit
from contextui.tui.inspector.draft import Draft
from contextui.tui.words import Words

_WIDE, _BESIDE = 60, 90  # cells for one line, and for outline and lines side by side
_OUTLINE = 40  # cells that the outline takes beside the lines


class RequestHead(Widget):
    """One line, or two where there is little room."""

    def __init__(self, words: Words) -> None:
        super().__init__(id="request-head")
        self._words = words
        self._draft: Draft | None = None
        self._reason = ""

    def show(self, draft: Draft) -> None:
        """Head another request."""
        self._draft, self._reason = draft, ""
        self.refresh()

    def show_reason(self, reason: str) -> None:
        """Tell why there is no request."""
        self._reason = one_line(reason, 400)
        self.refresh()

    def render(self) -> Content:
        """The line."""
        if self._draft is None or self._reason:
            return Content.styled(self._reason, "$text-error")
        draft, width = self._draft, self.size.width
        parts = self._words("{count} parts", count=len(draft.parts))
        parts = fit(parts, _OUTLINE) if width >= _BESIDE else f"{parts}   "
        between = "   " if width >= _WIDE else "\n"
        size = f"{draft.size / 1_000:,.1f} kB"
        told = f"{parts}{self._turn(draft)}{between}{size}"
        return Content.assemble((told, MUTED), *self._marks(draft, width))

    def _turn(self, draft: Draft) -> str:
        words, state = self._words, "sent" if draft.is_sent else "not sent yet"
        if draft.order.is_earlier:
            state = "as it was then"
        return words("turn {turn}", turn=draft.order.turn) + words(", ") + words(state)

    def _marks(self, draft: Draft, width: int) -> list[tuple[str, str]]:
        if not draft.is_compared:
            return []
        told = "changed since the request before" if width >= _BESIDE else "changed"
        return [
            ("   + ", "$text-success"), (self._words("new"), MUTED),
            ("  ~ ", "$text-warning"), (self._words(told), MUTED),
        ]  # fmt: skip
