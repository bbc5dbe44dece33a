"""The names of the inspector's pages."""

from collections.abc import Callable

from rich.cells import cell_len
from textual.content import Content
from textual.events import Click
from textual.widget import Widget

from contextui.tui.lines import FAINT, KEY, MUTED, RULE
from contextui.words import Words, msg

PAGES = (msg("Items"), msg("Request"), msg("Usage"), msg("Log"))


class TabBar(Widget):
    """The page names with the current one underlined; a click selects a page."""

    def __init__(
        self,
        words: Words,
        turn_to: Callable[[str], object] = lambda _: None,
        go_to_newest: Callable[[], object] = lambda: None,
    ) -> None:
        super().__init__(id="tabs")
        self._words, self._turn_to, self._go_to_newest = words, turn_to, go_to_newest
        self._present, self._marked = PAGES[0], ""
        self._follows, self._new = True, 0

    def show(self, page: str) -> None:
        self._present = page
        if page == self._marked:
            self._marked = ""
        self.refresh()

    def mark(self, page: str) -> None:
        if page not in (self._present, self._marked):
            self._marked = page
            self.refresh()

    def show_following(self, follows: bool, new: int) -> None:
        if (follows, new) != (self._follows, self._new):
            self._follows, self._new = follows, new
            self.refresh()

    def on_click(self, event: Click) -> None:
        if self._present == PAGES[0] and event.x - self.gutter.left >= self._end + 2:
            self._go_to_newest()
            return
        for page, start, end in self._places():
            if start <= event.x - self.gutter.left < end:
                self._turn_to(page)

    def render(self) -> Content:
        names: list[tuple[str, str]] = []
        for page, start, end in self._places():
            style = "bold $foreground" if page == self._present else MUTED
            mark = "•" if page == self._marked else " "
            names += [(self._words(page), style), (mark, "$text-warning"), (" ", "")]
            if page == self._present:
                line = self._line(start, end)
        return Content.assemble(*names, *self._following(), "\n", *line)

    @property
    def _end(self) -> int:
        return self._places()[-1][2]

    def _following(self) -> list[tuple[str, str]]:
        text = self._words("following")
        if not self._follows:
            text = self._words("{count} new, end", count=self._new) if self._new else ""
        room = self.size.width - self._end - 2 - cell_len(text)
        if self._present != PAGES[0] or not text or room < 1:
            return []
        return [(" " * room, ""), (text, FAINT if self._follows else KEY)]

    def _line(self, start: int, end: int) -> list[tuple[str, str]]:
        left = "━" * (start - 1) + "╸" if start else ""
        right = "╺" + "━" * (self.size.width - end - 1)
        return [(left, RULE), ("━" * (end - start), "$primary"), (right, RULE)]

    def _places(self) -> list[tuple[str, int, int]]:
        places, start = [], 0
        for page in PAGES:
            end = start + cell_len(self._words(page))
            places.append((page, start, end))
            start = end + 2
        return places
