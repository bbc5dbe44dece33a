"""The names of the inspector's pages."""

from rich.cells import cell_len
from textual.content import Content
from textual.events import Click
from textual.message import Message
from textual.widget import Widget

from contextui.tui.lines import MUTED, RULE
from contextui.words import Words, msg

PAGES = (msg("Items"), msg("Request"), msg("Usage"), msg("Log"))


class TabBar(Widget):
    """The page names with the current one underlined; a click selects a page."""

    class Chosen(Message):
        """Posted when the person selects a page."""

        def __init__(self, page: str) -> None:
            super().__init__()
            self.page = page

    def __init__(self, words: Words) -> None:
        super().__init__(id="tabs")
        self._words = words
        self._present, self._marked = PAGES[0], ""

    def show(self, page: str) -> None:
        """Underline this page."""
        self._present = page
        if page == self._marked:
            self._marked = ""
        self.refresh()

    def mark(self, page: str) -> None:
        """Mark a page as having something new, until it is shown."""
        if page not in (self._present, self._marked):
            self._marked = page
            self.refresh()

    def on_click(self, event: Click) -> None:
        """Select the page whose name was clicked."""
        for page, start, end in self._places():
            if start <= event.x - self.gutter.left < end:
                self.post_message(self.Chosen(page))

    def render(self) -> Content:
        """Render the names and the underline."""
        names: list[tuple[str, str]] = []
        for page, start, end in self._places():
            style = "bold $foreground" if page == self._present else MUTED
            mark = "•" if page == self._marked else " "
            names += [(self._words(page), style), (mark, "$text-warning"), (" ", "")]
            if page == self._present:
                line = self._line(start, end)
        return Content.assemble(*names, "\n", *line)

    def _line(self, start: int, end: int) -> list[tuple[str, str]]:
        left = "━" * (start - 1) + "╸" if start else ""
        right = "╺" + "━" * (self.size.width - end - 1)
        return [(left, RULE), ("━" * (end - start), "$primary"), (right, RULE)]

    def _places(self) -> list[tuple[str, int, int]]:
        """Return the pages with the start and end cells of their names."""
        places, start = [], 0
        for page in PAGES:
            end = start + cell_len(self._words(page))
            places.append((page, start, end))
            start = end + 2
        return places
