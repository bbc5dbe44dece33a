"""Where windows stand: pure geometry, without a widget in sight.

Windows have an order. The first is the master; the others are the stack, as many of them as
there is room for; each of the rest is one line.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from rich.cells import cell_len
from textual import events
from textual.content import Content
from textual.geometry import Region, Size
from textual.message import Message
from textual.widget import Widget

from contextui.tui.desktop.shared import Setting, facts_of, name_of
from contextui.tui.lines import FAINT, KEY, MUTED, fit, line
from contextui.windowing.window import Window

Mode = Literal["side", "below", "single", "zoomed"]
"""The stack stands at the master's side or below it; one window and lines; one window alone."""

LEAST = Size(28, 6)
"""Cells of the smallest frame: its border, a row of actions, and three rows to read."""

NOWHERE = Region()

_SMALLEST = 3  # rows: a frame with nothing in it
_STACK = 30 / 78  # of the width, as 18 rows beside a conversation of 78 cells were drawn
_STACK_MOST = 46
_MASTER_BELOW = 0.6  # of the height
_LINES = 1 / 3  # of the height, at most


@dataclass(slots=True)
class Order:
    """The windows in the order in which they stand, and which of them is the present one.

    Attributes:
        ids: The ids of the windows, the master first.
        current: The one that the person used last.
    """

    ids: list[str] = field(default_factory=list)
    current: str | None = None

    def follow(self, open_ids: Iterable[str]) -> None:
        """Take in what was opened, at the end, and let go of what was closed."""
        there = list(open_ids)
        at = self.ids.index(self.current) if self.current in self.ids else 0
        known, still = set(self.ids), set(there)
        self.ids = [one for one in self.ids if one in still]
        self.ids += [one for one in there if one not in known]
        if self.current not in still:
            self.current = self.ids[min(at, len(self.ids) - 1)] if self.ids else None

    def number(self, window_id: str) -> int:
        """The number that a window has, from 1."""
        return self.ids.index(window_id) + 1

    def step(self, by: int) -> str | None:
        """The window that stands so many places further than the present one, if any."""
        if self.current is None:
            return None
        at = self.ids.index(self.current) + by
        return self.ids[at] if 0 <= at < len(self.ids) else None

    def promote(self) -> None:
        """Make the present window the master."""
        if self.current is not None:
            self.ids.remove(self.current)
            self.ids.insert(0, self.current)

    def move(self, by: int) -> None:
        """Let the present window change places with the one before or after it."""
        if (other := self.step(by)) is not None and self.current is not None:
            here, there = self.ids.index(self.current), self.ids.index(other)
            self.ids[here], self.ids[there] = other, self.current


@dataclass(frozen=True, slots=True)
class Arrangement:
    """Which windows are shown where.

    Attributes:
        frames: The windows that are shown, each with its place, in their order.
        lines: The windows that are one line each, in their order.
        more: How many windows there is not even a line for.
        place: Where the lines stand; the last is that which tells of more, if there are any.
        first: The first window of the stack that is shown, counted from 0.
    """

    frames: tuple[tuple[str, Region], ...] = ()
    lines: tuple[str, ...] = ()
    more: int = 0
    place: Region = NOWHERE
    first: int = 0


def arrange(order: Order, size: Size, mode: Mode, first: int = 0) -> Arrangement:
    """Give each window its place.

    Args:
        order: The windows.
        size: The room for all of them.
        mode: How they share it.
        first: Where the visible part of the stack began last time; it moves only if the present
            window would not be seen otherwise.
    """
    whole = Region(0, 0, max(size.width, 0), max(size.height, 0))
    if order.current is None or not whole.area:
        return Arrangement()
    if mode == "zoomed":
        return Arrangement(((order.current, whole),))
    if mode == "single" or whole.width < 2 * LEAST.width or whole.height < 2 * _SMALLEST:
        return _single(order, whole)
    master, *stack = order.ids
    if not stack:
        return Arrangement(((master, whole),))
    if mode == "side":
        width = max(min(round(whole.width * _STACK), _STACK_MOST), LEAST.width)
        places = whole.split_vertical(whole.width - width)
    else:
        places = whole.split_horizontal(round(whole.height * _MASTER_BELOW))
    rest = _stack(stack, places[1], order.current, first)
    return Arrangement(
        ((master, places[0]), *rest.frames), rest.lines, rest.more, rest.place, rest.first
    )


def _single(order: Order, whole: Region) -> Arrangement:
    """The present window, and lines for the others, as long as it keeps the most of the room."""
    assert order.current is not None
    others = [one for one in order.ids if one != order.current]
    room = min(int(whole.height * _LINES), whole.height - _SMALLEST)
    top, bottom = whole.split_horizontal(whole.height - max(min(len(others), room), 0))
    frames = ((order.current, top),) if top.height >= _SMALLEST else ()
    if not frames:
        others, bottom = order.ids, whole
    lines, more = _listed(others, order.ids.index(order.current), bottom.height)
    return Arrangement(frames, lines, more, bottom)


def _stack(stack: Sequence[str], area: Region, current: str, first: int) -> Arrangement:
    """As many frames as there is room for, beginning where they began, and lines below them."""
    columns = max(area.width // LEAST.width, 1)
    most = int(area.height * _LINES)
    count = len(stack)
    while count > 1 and not _fits(count, len(stack) - count, area, columns, most):
        count -= 1
    at = stack.index(current) if current in stack else first
    first = min(max(first, at - count + 1), at, len(stack) - count)
    first = max(first, 0)
    seen = stack[first : first + count]
    hidden = [one for one in stack if one not in seen]
    top, bottom = area.split_horizontal(area.height - min(len(hidden), most))
    frames = tuple(zip(seen, _tiles(top, count, columns), strict=True))
    lines, more = _listed(hidden, first, bottom.height)
    return Arrangement(frames, lines, more, bottom, first)


def _fits(count: int, hidden: int, area: Region, columns: int, most: int) -> bool:
    rows = -(-count // columns)
    return rows * LEAST.height + min(hidden, most) <= area.height


def _tiles(area: Region, count: int, columns: int) -> list[Region]:
    """The area in rows of equal height, each in columns of equal width."""
    rows = -(-count // columns)
    tiles = list[Region]()
    for row, height in enumerate(_shares(area.height, rows)):
        y = area.y + sum(_shares(area.height, rows)[:row])
        in_row = _shares(count, rows)[row]
        x = area.x
        for width in _shares(area.width, in_row):
            tiles.append(Region(x, y, width, height))
            x += width
    return tiles


def _shares(total: int, parts: int) -> list[int]:
    """A number in whole parts that differ by one at most, the larger ones first."""
    share, rest = divmod(total, parts)
    return [share + (part < rest) for part in range(parts)]


def _listed(hidden: Sequence[str], begin: int, rows: int) -> tuple[tuple[str, ...], int]:
    """Those that get a line, from a place on, and how many do not."""
    if len(hidden) <= rows:
        return tuple(hidden), 0
    room = max(rows - 1, 0)
    begin = max(min(begin, len(hidden) - room), 0)
    return tuple(hidden[begin : begin + room]), len(hidden) - room


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
