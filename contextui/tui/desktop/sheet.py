"""Lines that scroll: whatever is redrawn stays where the eye is."""

from collections.abc import Sequence

from textual.content import Content
from textual.events import Resize
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip
from textual.style import Style
from textual.visual import Visual


class Sheet(ScrollView, can_focus=True):
    """Lines of content, of which only those in view are drawn; they can be selected and copied.

    Whoever extends it writes `lines_for`, and calls `redraw` when its lines are others.
    """

    DEFAULT_CSS = """
    Sheet { overflow-x: hidden; overflow-y: auto; scrollbar-gutter: stable; text-wrap: nowrap; }
    """

    def __init__(self) -> None:
        super().__init__()
        self.lines: Sequence[Content] = ()
        self.is_entered = False

    def lines_for(self, width: int) -> Sequence[Content]:
        """All lines, in this many cells."""
        raise NotImplementedError

    @property
    def line_width(self) -> int:
        """The cells that a line has."""
        return self.scrollable_content_region.width

    def redraw(self) -> None:
        """Show the lines as they are now, from the same one on."""
        if not self.is_attached or not self.line_width:
            return
        self.lines = self.lines_for(self.line_width)
        self.virtual_size = Size(0, len(self.lines))
        self.refresh()

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

    def show_line(self, number: int) -> None:
        """Scroll as little as needed to have this line in view."""
        region = Region(0, number, 1, 1)
        self.scroll_to_region(region, animate=False, immediate=True, x_axis=False)

    def render_line(self, y: int) -> Strip:
        """One line of the screen."""
        number, width = self.scroll_offset.y + y, self.line_width
        if number >= len(self.lines):
            return Strip.blank(width, self.rich_style)
        line = self._selected(self.lines[number], number)
        strips = Visual.to_strips(
            self, line, width, 1, self.visual_style, apply_selection=False, pad=True
        )
        return strips[0].apply_offsets(0, number)

    def _selected(self, line: Content, number: int) -> Content:
        selection = self.text_selection
        span = selection.get_span(number) if selection is not None else None
        if span is None:
            return line
        style = Style.from_styles(self.screen.get_component_styles("screen--selection"))
        return line.stylize(style, span[0], None if span[1] == -1 else span[1])

    def get_selection(self, selection: Selection) -> tuple[str, str]:
        """The text that is selected."""
        return selection.extract("\n".join(line.plain for line in self.lines)), "\n"
