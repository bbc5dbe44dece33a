"""Lines that scroll: whatever is redrawn stays where the eye is."""

from collections.abc import Sequence

from textual.content import Content
from textual.events import Resize
from textual.selection import Selection
from textual.strip import Strip
from textual.style import Style

from contextui.tui.sheet.lineview import LineView


class Sheet(LineView, can_focus=True):
    """Lines of content, folded to the width; they can be selected and copied.

    Whoever extends it writes `lines_for`, and calls `redraw` when its lines are others.
    """

    ALLOW_SELECT = True
    DEFAULT_CSS = "Sheet { overflow-y: auto; scrollbar-gutter: stable; }"

    def __init__(self) -> None:
        super().__init__()
        self.lines: Sequence[Content] = ()
        self.is_entered = False

    def lines_for(self, width: int) -> Sequence[Content]:
        """All lines, in this many cells."""
        raise NotImplementedError

    def redraw(self) -> None:
        """Show the lines as they are now, from the same one on."""
        if self.is_attached and self.line_width:
            self.lines = self.lines_for(self.line_width)
            self.set_count(len(self.lines), follow=False)

    def on_resize(self, _: Resize) -> None:
        """Fold the lines anew."""
        self.redraw()

    def on_focus(self) -> None:
        """Show the cursor, if there is one."""
        self.is_entered = True
        self.redraw()

    def on_blur(self) -> None:
        """Show none."""
        self.is_entered = False
        self.redraw()

    def render_line(self, y: int) -> Strip:
        """One line of the screen, which knows its place, so that it can be selected."""
        return super().render_line(y).apply_offsets(0, self.scroll_offset.y + y)

    def line_at(self, number: int, width: int) -> Content:  # noqa: ARG002
        """One line, with what is selected of it."""
        line, selection = self.lines[number], self.text_selection
        span = selection.get_span(number) if selection is not None else None
        if span is None:
            return line
        style = Style.from_styles(self.screen.get_component_styles("screen--selection"))
        return line.stylize(style, span[0], None if span[1] == -1 else span[1])

    def get_selection(self, selection: Selection) -> tuple[str, str]:
        """The text that is selected."""
        return selection.extract("\n".join(line.plain for line in self.lines)), "\n"
