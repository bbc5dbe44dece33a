"""Rows that are drawn only while they are seen: a hundred thousand cost what forty do."""

from textual.content import Content
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.visual import Visual


class LineView(ScrollView):
    """A list of lines, each made when it comes into view.

    Whoever extends it writes `line_at`, and says by `set_count` how many lines there are.
    """

    ALLOW_SELECT = False
    DEFAULT_CSS = "LineView { overflow-x: hidden; text-wrap: nowrap; }"

    count = 0
    """How many lines there are."""

    def line_at(self, number: int, width: int) -> Content:
        """The line of this number, in this many cells."""
        raise NotImplementedError

    @property
    def line_width(self) -> int:
        """The cells that a line has."""
        return self.scrollable_content_region.width

    def set_count(self, count: int, *, follow: bool = True) -> None:
        """Have so many lines, and draw those in view anew.

        Args:
            count: How many there are now.
            follow: Whether who is at the end stays at the end.
        """
        at_end = follow and self.scroll_offset.y >= self.max_scroll_y > 0
        self.count = count
        self.virtual_size = Size(0, count)
        if at_end:
            self.scroll_end(animate=False, force=True, immediate=True)
        self.refresh()

    def show_line(self, number: int) -> None:
        """Scroll as little as needed to have this line in view."""
        # By force: right after the lines changed, the scrollbar is not there yet.
        top, height = self.scroll_offset.y, self.scrollable_content_region.height
        if number < top:
            self.scroll_to(y=number, animate=False, force=True, immediate=True)
        elif height and number >= top + height:
            self.scroll_to(y=number - height + 1, animate=False, force=True, immediate=True)

    def render_line(self, y: int) -> Strip:
        """One line of the screen."""
        number, width = self.scroll_offset.y + y, self.line_width
        if number < self.count:
            line = self.line_at(number, width)
            style = self.visual_style
            (strip, *_) = Visual.to_strips(
                self, line, width, 1, style, apply_selection=False, pad=True
            )
            return strip
        return Strip.blank(width, self.rich_style)
