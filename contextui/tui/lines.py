"""Text layout: wrap, truncate and escape lines, and line-based scroll views."""

import os
import time
from collections.abc import Iterator, Sequence
from itertools import pairwise

from rich.cells import CellSpan, cell_len, split_graphemes
from rich.segment import Segment
from textual.cache import LRUCache
from textual.content import Content, Span
from textual.events import Resize
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip
from textual.visual import Visual
from textual.widget import Widget

from contextui.secrets import mask_own
from contextui.text import cut, for_terminal

_TAB = 4
_CLINGING = frozenset("，。、；：？！）》」』】”’…,.;:?!)]}%")  # never first in a row
_OPENING = frozenset("（《「『【“‘([{")  # never last
_STRIPS = 200  # lines that are kept as they were drawn
_MARKS = 8  # maximum characters per cell when a row is measured


def fold(content: Content, width: int, hanging: int = 0) -> list[Content]:
    """Wrap one line of content into rows of at most `width` cells; trailing spaces may exceed it.

    All rows but the first are indented by `hanging` cells.
    """
    width = max(width, 2)
    if content.cell_length <= width:
        return [content]
    hanging = hanging if hanging < width // 2 else 0
    first, *rest = content.divide(list(_cuts(content.plain, width, width - hanging)))
    return [first, *(Content(" " * hanging) + row for row in rest)]


def wrapped(text: str, width: int) -> Iterator[str]:
    """Escape the text and wrap it lazily into rows of at most `width` cells.

    Example:
        >>> list(wrapped("milk, eggs\\n把牛奶放进待办", 8))
        ['milk,', 'eggs', '把牛奶放', '进待办']
    """
    return (row for _, row in numbered(text, width))


def numbered(text: str, width: int) -> Iterator[tuple[int, str]]:
    """Wrap like `wrapped`, and yield each row with its line number, counted from 0."""
    for number, one in enumerate(for_terminal(mask_own(text)).split("\n")):
        line, start = one.expandtabs(_TAB), 0
        for end in _cuts(line, max(width, 2)):
            yield number, line[start:end].rstrip(" ")
            start = end
        row = line[start:]  # its trailing spaces go if it is too wide
        yield number, row if cell_len(row) <= max(width, 2) else row.rstrip(" ")


def _cuts(text: str, width: int, later: int | None = None) -> Iterator[int]:
    """Yield the start of every row but the first."""
    end, room = _row_end(text, 0, width), width if later is None else later
    while end < len(text):
        yield end
        end = _row_end(text, end, room)


def _row_end(text: str, start: int, room: int) -> int:
    head = text[start : start + room + 1]
    if len(head) <= room and head.isascii():
        return len(text)
    if head.isascii():
        return _plain_end(text, start, start + room)
    # Only as much as could fill the row: a line may be megabytes long.
    some = text[start : start + _MARKS * room]
    pieces = split_graphemes(some)[0]
    full = _full(some, pieces, room)
    if full == len(pieces):
        return start + len(some)
    good = full
    while good and not _may_break(some, pieces[good - 1], pieces[good]):
        good -= 1
    return start + pieces[good or full][0]


def _plain_end(text: str, start: int, full: int) -> int:
    """Return the row end for ASCII text, where each character takes one cell."""
    if text[full] == " ":
        while full < len(text) and text[full] == " ":
            full += 1
        return full
    blank = text.rfind(" ", start, full)
    return blank + 1 if blank > start and text[start:blank].strip() else full


def _full(text: str, pieces: Sequence[CellSpan], room: int) -> int:
    """Return the index of the first piece that no longer fits; at least one always fits."""
    for at, (start, _, size) in enumerate(pieces):
        room -= size
        if room < 0 and text[start] != " " and at:
            return at
    return len(pieces)


def _may_break(text: str, before: CellSpan, after: CellSpan) -> bool:
    last, next_one = text[before[1] - 1], text[after[0]]
    if last == " ":
        return True
    wide = 2 in (before[2], after[2])
    return wide and next_one not in _CLINGING and last not in _OPENING


class Selectable(Widget):
    """A widget that draws its rows itself; the mouse selects text in them, by row and character.

    Subclasses pass each row that they draw to `selected`, and then `apply_offsets`.
    """

    count = 0
    """The number of rows."""

    def text_of(self, row: int) -> str:
        """Return the text of a row, as it is drawn."""
        raise NotImplementedError

    def selected(self, strip: Strip, row: int) -> Strip:
        """Return a row with its selected part highlighted."""
        selection = self.text_selection
        span = selection.get_span(row) if selection is not None else None
        if span is None:
            return strip
        text, start = strip.text, max(span[0], 0)
        end = len(text.rstrip()) if span[1] == -1 else min(span[1], len(text))
        if start >= end:
            return strip
        cuts = [cell_len(text[:start]), cell_len(text[:end]), strip.cell_length]
        style = self.screen.get_component_rich_style("screen--selection").background_style
        before, part, after = (strip.crop(*ends) for ends in pairwise([0, *cuts]))
        marked = Strip(Segment.apply_style(part, post_style=style), part.cell_length)
        return Strip.join([before, marked, after])

    def text_select_all(self) -> None:
        """Select nothing on a double click, which opens a row of a list."""

    def get_selection(self, selection: Selection) -> tuple[str, str]:
        """Return the selected text, without the spaces at the end of each row."""
        start, end = selection
        first, last = start.y if start else 0, self.count - 1
        rows = [self.text_of(row) for row in range(first, min(end.y if end else last, last) + 1)]
        if rows and end and end.y <= last:
            rows[-1] = rows[-1][: max(end.x, 0)]
        if rows and start:
            rows[0] = rows[0][max(start.x, 0) :]
        return "\n".join(row.rstrip() for row in rows), "\n"


class LineView(ScrollView, Selectable):
    """A scrollable list of lines, each rendered when it comes into view.

    Subclasses implement `line_at` and call `set_count` with the number of lines.
    """

    DEFAULT_CSS = "LineView { overflow-x: hidden; text-wrap: nowrap; }"

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        # A change of one line redraws all in view: most of them are as they were.
        self._strips: LRUCache[tuple[object, ...], Strip] = LRUCache(_STRIPS)

    def line_at(self, number: int, width: int) -> Content:
        raise NotImplementedError

    def text_of(self, row: int) -> str:
        return self.line_at(row, self.line_width).plain

    @property
    def line_width(self) -> int:
        return self.scrollable_content_region.width

    def set_count(self, count: int, *, follow: bool = True) -> None:
        """Set the number of lines and redraw those in view."""
        at_end = follow and self.scroll_offset.y >= self.max_scroll_y > 0
        self.count = count
        self.virtual_size = Size(0, count)
        if at_end:
            self.scroll_end(animate=False, force=True, immediate=True)
        self.refresh()

    def show_line(self, number: int) -> None:
        """Scroll just far enough to bring this line into view."""
        # `force`: right after the lines changed, the scrollbar does not exist yet.
        top, height = self.scroll_offset.y, self.scrollable_content_region.height
        if number < top:
            self.scroll_to(y=number, animate=False, force=True, immediate=True)
        elif height and number >= top + height:
            self.scroll_to(y=number - height + 1, animate=False, force=True, immediate=True)

    def _size_updated(
        self, size: Size, virtual_size: Size, container_size: Size, layout: bool = True
    ) -> bool:
        # Textual posts none if something asked for a region since the view was shown.
        changed = super()._size_updated(size, virtual_size, container_size, layout)
        if changed:
            self.post_message(Resize(size, virtual_size, container_size))
        return changed

    def render_line(self, y: int) -> Strip:
        number, width = self.scroll_offset.y + y, self.line_width
        if number < self.count and width:  # a scrollbar may leave no room for text
            line, style = self.line_at(number, width), self.visual_style
            key = (line.plain, tuple(line.spans), width, style, self.app.theme)
            if (strip := self._strips.get(key)) is None:
                (strip, *_) = Visual.to_strips(
                    self, line, width, 1, style, apply_selection=False, pad=True
                )
                self._strips[key] = strip
            strip = self.selected(strip, number)
        else:
            strip = Strip.blank(width, self.rich_style)
        return strip.apply_offsets(0, number)


class Rows(Widget):
    """Rows that depend on the width; the widget is as high as they need."""

    DEFAULT_CSS = "Rows { height: auto; }"

    def rows(self, width: int) -> Sequence[Content]:
        raise NotImplementedError

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002
        return len(self.rows(width))

    def render(self) -> Content:
        return Content("\n").join(self.rows(self.size.width))


class Sheet(LineView, can_focus=True):
    """Lines of content, wrapped to the width.

    Subclasses implement `lines_for` and call `redraw` when their lines change.
    """

    DEFAULT_CSS = "Sheet { overflow-y: auto; scrollbar-gutter: stable; }"

    def __init__(self) -> None:
        super().__init__()
        self.lines: Sequence[Content] = ()

    def lines_for(self, width: int) -> Sequence[Content]:
        raise NotImplementedError

    def redraw(self) -> None:
        width = self.line_width - self.show_vertical_scrollbar  # text does not touch it
        if self.is_attached and width > 0:
            self.lines = self.lines_for(width)
            self.set_count(len(self.lines), follow=False)

    on_resize = watch_show_vertical_scrollbar = redraw

    def watch_has_focus(self, has_focus: bool) -> None:
        super().watch_has_focus(has_focus)
        self.redraw()

    def line_at(self, number: int, width: int) -> Content:  # noqa: ARG002
        return self.lines[number]


MUTED = "$muted"
FAINT = "$faint"
KEY = "$text-primary"
SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
"""The pictures of a mark for something that runs."""
RULE = "$line"
CURSOR = "on $cursor"
"""The ground of the row under a cursor."""


def lit(content: Content, style: str = CURSOR) -> Content:
    """Put content on the ground of a cursor; faint text becomes muted, which is legible there."""
    spans = [
        Span(span.start, span.end, span.style.replace(FAINT, MUTED))
        if isinstance(span.style, str)
        else span
        for span in content.spans
    ]
    return Content(content.plain, spans=spans).stylize(style)


def inert(text: str) -> Content:
    """Escape multi-line text: show control characters and mask the environment's secrets."""
    return Content(for_terminal(mask_own(text)).expandtabs(_TAB))


def line(text: str) -> str:
    """Escape text into a single line, with the environment's secrets masked."""
    return for_terminal(mask_own(text), lines=False)


def fit(text: str, width: int, *, right: bool = False) -> str:
    """Escape text and truncate it with … or pad it to exactly `width` cells.

    Example:
        >>> fit("把牛奶放进待办", 8)
        '把牛奶… '
    """
    if width <= 0:
        return ""
    shown = line(text[: 4 * width + 64])
    shown = cut(shown, width)
    padding = " " * (width - cell_len(shown))
    return padding + shown if right else shown + padding


def shown_folder(folder: str | os.PathLike[str]) -> str:
    """Return a path with the person's home folder as ``~``."""
    home, text = os.path.expanduser("~"), os.fspath(folder)
    return "~" + text[len(home) :] if text == home or text.startswith(home + os.sep) else text


def path_end(path: str, width: int) -> str:
    """Return a path without the folders at its beginning for which there is no room.

    Example:
        >>> path_end("~/src/shop/.contextui/config.toml", 24)
        '…/.contextui/config.toml'
    """
    shown = path
    while cell_len(shown) > width and "/" in path:
        path = path.partition("/")[2]
        shown = f"…/{path}"
    return shown


def short(number: float) -> str:
    """Format a number in at most five cells: ``212``, ``6.4k``, ``128k``, ``1.2M``."""
    for size, unit in ((1_000_000, "M"), (1_000, "k")):
        if abs(number) >= size * 0.9995:
            value = number / size
            return f"{value:.0f}{unit}" if abs(value) >= 99.95 else f"{value:.1f}{unit}"
    return f"{number:.0f}"


def spinner() -> str:
    """Return the picture of the spinner at this moment, four a second."""
    return SPINNER[int(time.monotonic() * 4) % len(SPINNER)]


def age(seconds: float) -> str:
    """Format an age in at most four cells: ``4s``, ``12m``, ``3h``, ``9d``."""
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "m")):
        if seconds >= size:
            return f"{seconds // size:.0f}{unit}"
    return f"{max(seconds, 0):.0f}s"
