"""Windows that do not fit: one line each, drawn by one widget however many there are."""

from collections.abc import Sequence

from rich.cells import cell_len
from textual import events
from textual.content import Content
from textual.message import Message
from textual.widget import Widget

from contextui.tui.cells import FAINT, KEY, MUTED, fit, line
from contextui.tui.desktop.border import facts_of, name_of
from contextui.tui.desktop.setting import Setting
from contextui.windowing.base import Window

_WIDE = 50  # cells from which a line also tells who acted, and what it costs


class WindowLines(Widget):
    """One line for each window: its number, its name, its gist."""

    DEFAULT_CSS = "WindowLines { padding: 0 2; }"

    class Chosen(Message):
        """A line was clicked."""

        def __init__(self, window_id: str) -> None:
            super().__init__()
            self.window_id = window_id

    class MoreChosen(Message):
        """The line that tells of more windows was clicked."""

    def __init__(self, setting: Setting) -> None:
        super().__init__()
        self._setting = setting
        self._windows: Sequence[tuple[int, Window]] = ()
        self._more = 0
        self._drawn = Content("")

    def show(self, windows: Sequence[tuple[int, Window]], more: int) -> None:
        """Show these windows, by their numbers, and how many there are besides."""
        self._windows, self._more = windows, more
        self.redraw()

    def redraw(self) -> None:
        """Draw what differs."""
        drawn = self._lines(self.size.width)
        if not drawn.is_same(self._drawn):
            self._drawn = drawn
            self.refresh()

    def on_resize(self) -> None:
        """Draw the lines as wide as there is room."""
        self.redraw()

    def render(self) -> Content:
        """All lines."""
        return self._drawn

    def _lines(self, width: int) -> Content:
        lines = [self._line(number, window, width) for number, window in self._windows]
        if self._more:
            words = self._setting.words("… {count} more windows", count=self._more)
            lines.append(Content.assemble((fit(words, width), FAINT)))
        return Content("\n").join(lines)

    def _line(self, number: int, window: Window, width: int) -> Content:
        setting = self._setting
        name = line(name_of(window))
        facts = Content("")
        if width >= _WIDE:
            tokens = setting.tokens(window.id)
            facts = facts_of(window, setting.doings, tokens, setting.words).within(
                width // 2, setting.words
            )
        head = f"{number} "
        gap = 2 if facts.plain else 0
        room = width - len(head) - cell_len(name) - 2 - gap - facts.cell_length
        return Content.assemble(
            (head, KEY),
            (fit(name, min(cell_len(name), max(width - len(head), 0))), "bold"),
            ("  " + fit(setting.gists.of(window), room), MUTED) if room > 0 else "",
            " " * gap,
            facts,
        )

    def on_click(self, event: events.Click) -> None:
        """Go to the window whose line was clicked."""
        at = event.y - self.gutter.top
        if at < len(self._windows):
            self.post_message(self.Chosen(self._windows[at][1].id))
        elif self._more:
            self.post_message(self.MoreChosen())
