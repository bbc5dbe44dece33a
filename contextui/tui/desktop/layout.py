"""Window layout: the places of frames, and lines for windows that do not fit.

A main window takes the whole width. Below it stand other windows that want a wide place, and a
shelf of small windows side by side. Each takes the rows that its content needs. Of the windows
that do not fit, each gets one line: those used least recently.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from rich.cells import cell_len
from textual import events
from textual.content import Content
from textual.geometry import Region, Size
from textual.widget import Widget

from contextui.tui.desktop.order import Order
from contextui.tui.desktop.shared import Setting, facts_of, name_of
from contextui.tui.lines import FAINT, KEY, MUTED, age, fit, line, spinner
from contextui.windowing.runtime import runtime_of
from contextui.windowing.window import Window

Mode = Literal["stack", "single", "zoomed"]
"""Main window and shelf; one window with lines; one window alone."""

NOWHERE = Region()

SMALL = 26
"""Cells of a window on the shelf, if three of them share 78."""
WIDE = 60
"""Cells that a window with code needs."""
LEAST_ROWS = 5
"""Rows of the smallest frame that is readable: its border and three rows of text."""

_SMALLEST = 3  # rows of a frame with one row of text
_SHELF = 3  # windows side by side
_SHELF_ROWS = 9
_WIDE_LEAST, _WIDE_FEW = 8, 16  # rows of a wide window: at least, and before the main one has its
_EACH = 12  # rows of the area for each wide window
_TALL = 40  # rows of an area with room for more than one shelf
_LINES = 5  # one line for every so many rows
_LINES_SINGLE = 3  # the same where one window has the rest


@dataclass(frozen=True, slots=True)
class Wish:
    """The size that a window wants."""

    is_wide: bool = False
    rows: int = LEAST_ROWS


Wishes = Callable[[str], Wish]


@dataclass(frozen=True, slots=True)
class Arrangement:
    """The positions of all windows."""

    frames: tuple[tuple[str, Region], ...] = ()  # in order
    lines: tuple[str, ...] = ()  # windows shown as one line each, by number
    more: int = 0  # windows without even a line
    place: Region = NOWHERE  # of the lines; the last one shows `more`, if it is not 0
    rows: int = 0  # in use

    @property
    def shown(self) -> list[str]:
        return [one for one, _ in self.frames]


def arrange(
    order: Order,
    size: Size,
    mode: Mode,
    wishes: Wishes = lambda _: Wish(),
    *,
    columns: int = 1,
    fills: bool = False,
    fresh: str | None = None,
) -> Arrangement:
    """Decide which windows have frames, and where; the others become lines."""
    whole = Region(0, 0, max(size.width, 0), max(size.height, 0))
    if order.current is None or not whole.area:
        return Arrangement()
    if mode == "zoomed":
        return Arrangement(((order.current, whole),), rows=whole.height)
    if mode == "single" or whole.width < 2 * SMALL or whole.height < 2 * _SMALLEST:
        return _single(order, whole)
    return _Stack(order, whole, wishes, columns, fresh).arrange(fills)


def _single(order: Order, whole: Region) -> Arrangement:
    """Show the current window, and lines for the others within a share of the height."""
    assert order.current is not None
    others = sorted((one for one in order.ids if one != order.current), key=order.number)
    room = min(whole.height // _LINES_SINGLE, whole.height - _SMALLEST)
    top, bottom = whole.split_horizontal(whole.height - max(min(len(others), room), 0))
    frames = ((order.current, top),) if top.height >= _SMALLEST else ()
    if not frames:
        others, bottom = sorted(order.ids, key=order.number), whole
    lines, more = _listed(others, _near(others, order), bottom.height)
    return Arrangement(frames, lines, more, bottom, whole.height)


@dataclass(frozen=True, slots=True)
class _Row:
    """Windows side by side."""

    ids: tuple[str, ...]
    wanted: int
    is_wide: bool
    is_main: bool = False


class _Stack:
    """Chooses the windows that get frames, and places them in one or more columns."""

    def __init__(
        self,
        order: Order,
        whole: Region,
        wishes: Wishes,
        columns: int,
        fresh: str | None,
    ) -> None:
        self._order, self._whole = order, whole
        self._columns = columns if whole.width >= columns * WIDE else 1
        self._wishes: dict[str, Wish] = {}
        self._ask = wishes
        forced = dict.fromkeys((order.current, fresh))
        self._forced = [one for one in forced if one is not None and one in order.numbers]

    def _wish(self, window_id: str) -> Wish:
        if window_id not in self._wishes:
            self._wishes[window_id] = self._ask(window_id)
        return self._wishes[window_id]

    def _is_wide(self, window_id: str) -> bool:
        is_main = self._order.is_pinned and window_id == self._order.main
        return is_main or self._wish(window_id).is_wide

    def arrange(self, fills: bool) -> Arrangement:
        order, whole, listed = self._order, self._whole, 0
        # Each window that must be seen may have a row of its own.
        most = min(max(whole.height // _LINES, 1), whole.height - _SMALLEST * len(self._forced))
        while True:
            chosen = self._choose(whole.height - listed)
            needed = min(len(order.ids) - len(chosen), most)
            if needed <= listed:
                break
            listed = needed
        frames, used = self._place(chosen, whole.height - listed, fills)
        seen = set(chosen)
        hidden = sorted((one for one in order.ids if one not in seen), key=order.number)
        lines, more = _listed(hidden, _near(hidden, order), listed)
        place = Region(0, used, whole.width, listed)
        return Arrangement(frames, lines, more, place, used + listed)

    def _choose(self, height: int) -> list[str]:
        chosen = list(self._forced)
        full = set[bool]()
        for one in self._order.by_need():
            if len(full) == 2:  # no room for wide ones, nor for small ones
                break
            if one in chosen or self._is_wide(one) in full:
                continue
            columns, is_wide = self._split([*chosen, one]), self._is_wide(one)
            if all(self._fits(rows, height, is_wide) for rows in columns):
                chosen.append(one)
            else:
                full.add(is_wide)
        return chosen

    def _fits(self, rows: Sequence[_Row], height: int, adds_wide: bool) -> bool:
        wide = [row for row in rows if row.is_wide]
        shelves = len(rows) - len(wide)
        is_pinned = self._order.is_pinned and any(row.is_main for row in wide)
        if adds_wide and len(wide) > max(height // _EACH, 1) + is_pinned:
            return False
        if shelves > 1 and wide and height < _TALL:
            return False
        return sum(map(_least, rows)) <= height

    def _split(self, chosen: Sequence[str]) -> list[list[_Row]]:
        """Return the rows of each column: wide windows in turn, small ones under the fewest."""
        order = self._order
        place = {one: at for at, one in enumerate(order.ids)}
        by_place = sorted(chosen, key=lambda one: (one != order.main, place[one]))
        wide = [one for one in by_place if self._is_wide(one)]
        small = [one for one in by_place if not self._is_wide(one)]
        columns = [
            [
                _Row((one,), max(self._wish(one).rows, LEAST_ROWS), True, one == order.main)
                for one in wide[number :: self._columns]
            ]
            for number in range(self._columns)
        ]
        lowest = min(range(self._columns), key=lambda number: (len(columns[number]), -number))
        if not wide and len(small) > _SHELF and self._columns > 1:
            half = (len(small) + 1) // 2
            return [self._shelves(small[:half]), self._shelves(small[half:])]
        columns[lowest] += self._shelves(small)
        return columns

    def _shelves(self, small: Sequence[str]) -> list[_Row]:
        each = min(max(self._whole.width // self._columns // SMALL, 1), _SHELF)
        count = -(-len(small) // each)
        rows, start = list[_Row](), 0
        for length in _shares(len(small), count) if count else ():
            ids = tuple(small[start : start + length])
            wanted = max(*(self._wish(one).rows for one in ids), LEAST_ROWS)
            rows.append(_Row(ids, wanted, is_wide=False))
            start += length
        return rows

    def _place(
        self, chosen: Sequence[str], height: int, fills: bool
    ) -> tuple[tuple[tuple[str, Region], ...], int]:
        columns = [one for one in self._split(chosen) if one]
        frames, used, x = list[tuple[str, Region]](), 0, 0
        for rows, width in zip(columns, _shares(self._whole.width, len(columns)), strict=True):
            y = 0
            grown = self._order.grown
            more = [max((grown.get(one, 0) for one in row.ids), key=abs) for row in rows]
            heights = _grow(_heights(rows, height), more, height)
            if fills:
                heights[max(range(len(rows)), key=more.__getitem__)] += height - sum(heights)
            for row, tall in zip(rows, heights, strict=True):
                left = x
                for one, wide in zip(row.ids, _shares(width, len(row.ids)), strict=True):
                    frames.append((one, Region(left, y, wide, tall)))
                    left += wide
                y += tall
            used, x = max(used, y), x + width
        return tuple(frames), used


def _least(row: _Row) -> int:
    return min(row.wanted, _WIDE_LEAST) if row.is_wide else LEAST_ROWS


def _heights(rows: Sequence[_Row], height: int) -> list[int]:
    """Share the height: each row gets its least, then what it wants, small windows first."""
    found = [_least(row) for row in rows]
    if sum(found) > height:
        found = [min(one, max(height // len(rows), 1)) for one in found]
    wide = sum(row.is_wide for row in rows)
    shelves = sum(row.wanted for row in rows if not row.is_wide)
    share = max((height - min(shelves, _SHELF_ROWS)) // max(wide, 1), _WIDE_LEAST)

    def most(row: _Row, turn: int) -> int:
        if not row.is_wide:
            few = _SHELF_ROWS if wide else height // len(rows)
            return few if turn < 2 or (wide and height < _TALL) else height
        if turn == 0:
            return 0 if row.is_main else min(_WIDE_FEW, share)
        return height

    for turn in range(3):
        for at, row in enumerate(rows):
            wanted = min(row.wanted, most(row, turn)) - found[at]
            found[at] += max(min(wanted, height - sum(found)), 0)
    return found


def _grow(heights: list[int], more: Sequence[int], height: int) -> list[int]:
    """Give rows of windows more lines, of those that are free or from the highest others."""
    found = list(heights)
    for at, by in enumerate(more):
        if by < 0:
            found[at] = max(found[at] + by, min(_SMALLEST, found[at]))
    for at, by in sorted(enumerate(more), key=lambda one: one[1]):
        for _ in range(by):
            others = [other for other in range(len(found)) if other != at]
            highest = max(others, key=lambda other: found[other], default=at)
            if sum(found) >= height:
                if highest == at or found[highest] <= _SMALLEST:
                    break
                found[highest] -= 1
            found[at] += 1
    return found


def _shares(total: int, parts: int) -> list[int]:
    share, rest = divmod(total, parts)
    return [share + (part < rest) for part in range(parts)]


def _near(hidden: Sequence[str], order: Order) -> int:
    """Return where the lines start, so that those near the current window are seen."""
    current = order.numbers.get(order.current or "", 0)
    return sum(order.number(one) < current for one in hidden)


def _listed(hidden: Sequence[str], begin: int, rows: int) -> tuple[tuple[str, ...], int]:
    if len(hidden) <= rows:
        return tuple(hidden), 0
    room = max(rows - 1, 0)
    begin = max(min(begin, len(hidden) - room), 0)
    return tuple(hidden[begin : begin + room]), len(hidden) - room


_FACTS = 50  # cells from which a line also shows actor and tokens


class WindowLines(Widget):
    """One line per window: number, name and gist."""

    DEFAULT_CSS = "WindowLines { padding: 0 2; }"

    def __init__(
        self, setting: Setting, go: Callable[[str], object], list_all: Callable[[], object]
    ) -> None:
        super().__init__()
        self._setting, self._go, self._list_all = setting, go, list_all
        self._windows: Sequence[tuple[int, Window]] = ()
        self._more = 0
        self._drawn = Content("")

    def show(self, windows: Sequence[tuple[int, Window]], more: int) -> None:
        self._windows, self._more = windows, more
        self.redraw()

    def redraw(self) -> None:
        drawn = self._lines(self.size.width)
        if not drawn.is_same(self._drawn):
            self._drawn = drawn
            self.refresh()

    on_resize = redraw

    def render(self) -> Content:
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
        facts = facts_of(window, setting, width // 2) if width >= _FACTS else Content("")
        if jobs := runtime_of(window).jobs.running():
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
        at = event.y - self.gutter.top
        if at < len(self._windows):
            self._go(self._windows[at][1].id)
        elif self._more:
            self._list_all()
