"""Window layout: order and geometry of frames, and lines for windows that do not fit.

Windows have an order. The first is the main window (master); the next ones form the stack, as many
as there is room for; each of the rest gets one line.
"""

import time
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
from contextui.tui.lines import FAINT, KEY, MUTED, age, fit, line, spinner
from contextui.windowing.host import running_jobs
from contextui.windowing.window import Window

Mode = Literal["side", "below", "single", "zoomed"]
"""Stack beside or below the main window; one window with lines; one window alone."""

LEAST = Size(28, 6)
"""The smallest frame in cells: its border, a row of actions, and three rows of text."""

NOWHERE = Region()

_SMALLEST = 3  # rows of an empty frame
_STACK = 30 / 78  # share of the width, measured on 18 rows beside a conversation of 78 cells
_STACK_MOST = 46
_MASTER_BELOW = 0.6  # share of the height
_LINES = 1 / 3  # maximum share of the height


@dataclass(slots=True)
class Order:
    """The order of the windows, and the current one.

    Attributes:
        ids: The ids of the windows, the main one first.
        current: The window that the person used last.
    """

    ids: list[str] = field(default_factory=list)
    current: str | None = None

    def follow(self, open_ids: Iterable[str]) -> None:
        """Append opened windows and remove closed ones."""
        there = list(open_ids)
        at = self.ids.index(self.current) if self.current in self.ids else 0
        known, still = set(self.ids), set(there)
        self.ids = [one for one in self.ids if one in still]
        self.ids += [one for one in there if one not in known]
        if self.current not in still:
            self.current = self.ids[min(at, len(self.ids) - 1)] if self.ids else None

    def number(self, window_id: str) -> int:
        """Return a window's number, counted from 1."""
        return self.ids.index(window_id) + 1

    def step(self, by: int) -> str | None:
        """Return the window this many places after the current one, if any."""
        if self.current is None:
            return None
        at = self.ids.index(self.current) + by
        return self.ids[at] if 0 <= at < len(self.ids) else None

    def promote(self) -> None:
        """Make the current window the main one."""
        if self.current is not None:
            self.ids.remove(self.current)
            self.ids.insert(0, self.current)

    def move(self, by: int) -> None:
        """Swap the current window with the previous or next one."""
        if (other := self.step(by)) is not None and self.current is not None:
            here, there = self.ids.index(self.current), self.ids.index(other)
            self.ids[here], self.ids[there] = other, self.current


@dataclass(frozen=True, slots=True)
class Arrangement:
    """The positions of all windows.

    Attributes:
        frames: The windows shown in frames, each with its region, in order.
        lines: The windows shown as one line each, in order.
        more: The number of windows without even a line.
        place: The region of the lines; the last line shows `more`, if it is not 0.
        first: The first visible window of the stack, counted from 0.
    """

    frames: tuple[tuple[str, Region], ...] = ()
    lines: tuple[str, ...] = ()
    more: int = 0
    place: Region = NOWHERE
    first: int = 0


def arrange(order: Order, size: Size, mode: Mode, first: int = 0) -> Arrangement:
    """Arrange the windows.

    Args:
        order: The windows.
        size: The available size.
        mode: The layout mode.
        first: The previous start of the visible part of the stack; it changes only to keep the
            current window visible.
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
    """Show the current window, and lines for the others within a share of the height."""
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
    """Fit as many frames as possible, from the previous start, with lines below them."""
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
    """Split the area into rows of equal height, each into columns of equal width."""
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
    """Split a number into parts that differ by at most one, larger ones first."""
    share, rest = divmod(total, parts)
    return [share + (part < rest) for part in range(parts)]


def _listed(hidden: Sequence[str], begin: int, rows: int) -> tuple[tuple[str, ...], int]:
    """Return the windows that get a line, and the number of those that do not."""
    if len(hidden) <= rows:
        return tuple(hidden), 0
    room = max(rows - 1, 0)
    begin = max(min(begin, len(hidden) - room), 0)
    return tuple(hidden[begin : begin + room]), len(hidden) - room


_WIDE = 50  # cells from which a line also shows actor and tokens


class WindowLines(Widget):
    """One line per window: number, name and gist."""

    DEFAULT_CSS = "WindowLines { padding: 0 2; }"

    class Chosen(Message):
        """Posted when a line is clicked."""

        def __init__(self, window_id: str) -> None:
            super().__init__()
            self.window_id = window_id

    class MoreChosen(Message):
        """Posted when the line about more windows is clicked."""

    def __init__(self, setting: Setting) -> None:
        super().__init__()
        self._setting = setting
        self._windows: Sequence[tuple[int, Window]] = ()
        self._more = 0
        self._drawn = Content("")

    def show(self, windows: Sequence[tuple[int, Window]], more: int) -> None:
        """Show these windows with their numbers, and the count of further ones."""
        self._windows, self._more = windows, more
        self.redraw()

    def redraw(self) -> None:
        """Refresh if the lines changed."""
        drawn = self._lines(self.size.width)
        if not drawn.is_same(self._drawn):
            self._drawn = drawn
            self.refresh()

    def on_resize(self) -> None:
        """Fit the lines to the new width."""
        self.redraw()

    def render(self) -> Content:
        """Render all lines."""
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
            facts = facts_of(window, setting.last_actions, tokens, setting.words).within(
                width // 2, setting.words
            )
        if jobs := running_jobs(window):
            passed = age(max(time.monotonic() - jobs[-1].started, 0))
            now = Content.assemble((f"{spinner()} ", "$text-warning"), (passed, MUTED))
            facts = Content.assemble(now, "   ", facts) if facts.plain else now
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
        """Post which line was clicked."""
        at = event.y - self.gutter.top
        if at < len(self._windows):
            self.post_message(self.Chosen(self._windows[at][1].id))
        elif self._more:
            self.post_message(self.MoreChosen())
