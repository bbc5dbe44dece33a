"""A scrollable list of entries, of which only those near the view are widgets."""

import re
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.content import Content
from textual.geometry import Region, Size
from textual.layout import DockArrangeResult
from textual.scrollbar import ScrollBar
from textual.widget import Widget
from textual.widgets import Static

from contextui.events import TurnFinished
from contextui.tui.conversation.entries import (
    Called,
    CallLine,
    Entry,
    FoldedLine,
    ModelWords,
    TurnLine,
    YourWords,
)
from contextui.tui.conversation.shell import CommandLine
from contextui.words import Words

_PAGE = 30  # entries that become widgets at once, and stay: each layout visits all; see `append`
_FIRST = 2  # index after the welcome and the line about earlier entries
_FOUND = "on $warning 40%"
_HIGH = 3  # a hit is shown at this part of the height


class EntryList(VerticalScroll):
    """Entries, the newest at the bottom; pages of others are added as the view gets near them.

    What is in view stays where it is, whatever changes above it. The newest stay widgets while
    the view is far above, as they may still change.

    Args:
        make: Returns the widget of an entry.
    """

    BINDINGS = [
        Binding("ctrl+home", "scroll_home", show=False),
        Binding("ctrl+end", "scroll_end", show=False),
    ]

    def __init__(self, words: Words, make: Callable[[Entry], Widget], *, id: str) -> None:  # noqa: A002
        super().__init__(id=id)
        self._words, self._make = words, make
        self.before: list[Entry] = []
        """The entries above the widgets, for which the line `earlier` stands."""
        self.after: list[Entry] = []
        """The entries between the widgets around a hit and the newest; `later` stands for them."""
        self.earlier = Static(id="earlier", markup=False)
        self.later = Static(id="later", markup=False)
        self._regions: dict[Widget, Region] = {}
        self._read: tuple[Widget, int] | None = None  # the last widget at the end, and its height
        self._hit = 0  # hits from the newest
        self._left: tuple[int, int] | None = None  # where a search began: entry and row
        self._marked: list[tuple[Static, Any, Any]] = []  # a hit: what it shows, and showed

    def compose(self) -> ComposeResult:
        for one in (self.earlier, self.later):
            one.display = False
            yield one

    @property
    def _widgets(self) -> list[Widget]:
        # Removed ones stay among the children for a moment, but are not displayed.
        there = self.children[_FIRST:]
        return [one for one in there if one.display and one is not self.later]

    @property
    def _all(self) -> list[Any]:
        """The entries in order; those that are widgets as such."""
        at = self.children.index(self.later)
        above, below = (
            [one for one in part if one.display and hasattr(one, "entry")]
            for part in (self.children[:at], self.children[at:])
        )
        return [*self.before, *above, *self.after, *below]

    @property
    def entries(self) -> list[Entry]:
        return [getattr(one, "entry", one) for one in self._all]  # thinking is no entry

    # --- the end -----------------------------------------------------------------------

    @property
    def follows(self) -> bool:
        return self._anchored and not self._anchor_released

    @property
    def new_below(self) -> int:
        """How many lines came since the view left the end, and are below it."""
        region = self._regions.get(self._read[0]) if self._read is not None else None
        if self._read is None or region is None or self.follows:
            return 0
        heights = [one.height for one in self._regions.values() if one.y >= region.y]
        came = sum(heights) - self._read[1]
        return max(min(came, int(self.max_scroll_y - self.scroll_y)), 0)

    def append(self, widget: Widget) -> None:
        _space(self.children[-1], widget)
        self.mount(widget)
        if self.follows and len(self._widgets) > 2 * _PAGE:
            self._fold()

    def release_anchor(self) -> None:
        """Keep the scroll position, unless the person scrolled to the bottom."""
        super().release_anchor()
        self.call_after_refresh(self._follow_at_bottom)

    def _follow_at_bottom(self) -> None:
        if min(self.scroll_y, self.scroll_target_y) >= self.max_scroll_y:
            self.anchor()

    # --- what is near ------------------------------------------------------------------

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        if not self.follows:
            self._fill()

    def _scroll_to(self, *place: Any, **how: Any) -> bool:
        # An animation would go on to where the place was before a page was added above it.
        return super()._scroll_to(*place, **{**how, "animate": False})

    def _fill(self) -> None:
        """Add the pages that the view is near to."""
        height, gap = self.size.height, self._regions.get(self.later)
        if not height:
            return
        if self.before and self.scroll_y < height:
            self.show_earlier()
        elif gap is not None and -height < gap.y - self.scroll_y < 2 * height:
            self._show_later()

    @on(events.Click, "#earlier")
    def show_earlier(self) -> None:
        if self.is_attached:
            page, self.before = self.before[-_PAGE:], self.before[:-_PAGE]
            self._mount(page, after=self.earlier)

    @on(events.Click, "#later")
    def _show_later(self) -> None:
        if self._regions.get(self.later, Region()).y < self.scroll_y:  # the view is below
            page, self.after = self.after[-_PAGE:], self.after[:-_PAGE]
            self._mount(page, after=self.later)
        else:
            page, self.after = self.after[:_PAGE], self.after[_PAGE:]
            self._mount(page, before=self.later)

    def action_scroll_home(self) -> None:
        self._go_to(0) if self._all else super().action_scroll_home()

    def offer_earlier(self) -> None:
        for one, entries in ((self.earlier, self.before), (self.later, self.after)):
            count = len(entries)
            one.update(self._words("↑ {count} earlier: Home or click to show", count=count))
            one.display = bool(count)

    def _mount(self, page: Iterable[Entry], **place: Widget) -> list[Widget]:
        widgets = [self._make(entry) for entry in page]
        for before, widget in pairwise(widgets):
            _space(before, widget)
        self.offer_earlier()
        self.mount_all(widgets, **place)
        return widgets

    def _fold(self) -> None:
        """Remove all widgets but the newest; their entries join the earlier ones."""
        kept = self._widgets[-_PAGE:]
        self.before = [getattr(one, "entry", one) for one in self._all if one not in kept]
        self.after = []
        self.remove_children([one for one in self._widgets if one not in kept])
        self.offer_earlier()

    def arrange(self, size: Size, optimal: bool = False) -> DockArrangeResult:
        """Keep what is in view where it is, whatever changes above it."""
        found = super().arrange(size, optimal)
        before, widgets = self._regions, {*self._widgets, self.later}
        self._regions = {
            one.widget: one.region for one in found.placements if one.widget in widgets
        }
        if self.follows:
            last = next(reversed(self._regions), None)
            self._read = (last, self._regions[last].height) if last is not None else None
            return found
        there = (one for one in before if before[one].bottom > self.scroll_y)
        if (held := next((one for one in there if one in self._regions), None)) is not None:
            self._shift(self._regions[held].y - before[held].y)
        return found

    def _shift(self, rows: int) -> None:
        # As the compositor does for the anchor: watchers would ask for another layout.
        if rows:
            place = max(self.scroll_y + rows, 0)
            self.set_reactive(Widget.scroll_y, place)
            self.set_reactive(Widget.scroll_target_y, place)
            self.vertical_scrollbar.set_reactive(ScrollBar.position, place)
            self.call_after_refresh(self._fill)

    # --- search ------------------------------------------------------------------------

    def find(self, query: str, step: int = 0) -> tuple[int, int]:
        """Go to the newest entry with a text, or `step` hits further up.

        Returns:
            Which hit it is, counted from 1, and how many there are.
        """
        if self._left is None:
            self._left = self._place()
        self._unmark()
        sought = re.compile(re.escape(query), re.IGNORECASE)
        found = [at for at, one in enumerate(self.entries) if query and sought.search(_text(one))]
        self._hit = (self._hit + step) % max(len(found), 1) if step else 0
        if found:
            self._go_to(found[-1 - self._hit], sought=sought)
        return self._hit + bool(found), len(found)

    def end_search(self, *, stays: bool) -> None:
        """Stay at the hit, or return to where the search began."""
        self._unmark()
        left, self._left = self._left, None
        if left is not None and not stays:
            self._go_to(*left) if left[0] >= 0 else self.anchor()

    def _place(self) -> tuple[int, int]:
        """Return the entry at the top and how many of its rows are above; -1 at the end."""
        for at, one in enumerate(self._all if not self.follows else ()):
            region = self._regions.get(one) if isinstance(one, Widget) else None
            if region is not None and region.bottom > self.scroll_y:
                return at, int(self.scroll_y) - region.y
        return -1, 0

    def _go_to(self, at: int, row: int = 0, sought: re.Pattern[str] | None = None) -> None:
        self.call_after_refresh(self._show, self._widget_at(at), row, sought)

    def _widget_at(self, at: int) -> Widget:
        """Return the widget of an entry; if there is none, show those around it."""
        if isinstance(there := self._all[at], Widget):
            return there
        self._fold()
        start = max(at - _PAGE // 2, 0)
        page, self.after = self.before[start : start + _PAGE], self.before[start + _PAGE :]
        self.before = self.before[:start]
        self.move_child(self.later, after=self.earlier)
        self._regions.clear()  # what was in view is not what stays there
        return self._mount(page, after=self.earlier)[at - start]

    def _show(
        self, widget: Widget, row: int, sought: re.Pattern[str] | None, tries: int = 20
    ) -> None:
        if tries and not self._regions.get(widget, Region()).height:  # it is not drawn yet
            self.call_after_refresh(self._show, widget, row, sought, tries - 1)
            return
        if sought is not None:
            row = self._mark(widget, sought) - self.size.height // _HIGH
        if widget in self._regions:
            self.scroll_to(y=max(self._regions[widget].y + row, 0), immediate=True)

    def _mark(self, widget: Widget, sought: re.Pattern[str]) -> int:
        """Highlight a text in a widget; return the row of its first occurrence."""
        widget.add_class("-found")
        if isinstance(widget, CallLine) and not widget.is_open:
            if not sought.search(widget.head().plain):
                widget.toggle()
        elif isinstance(widget, YourWords) and not sought.search(str(widget.content)):
            widget.on_click()  # it shows all
        first: Static | None = None
        for one in [widget, *widget.query(Static)]:
            text = one.content if isinstance(one, Static) else ""
            if isinstance(one, Static) and isinstance(text, Content) and sought.search(text.plain):
                first = first or one
                marked = text.highlight_regex(sought, style=_FOUND)
                self._marked.append((one, text, marked))
                one.update(marked)
        if first is None or (place := sought.search(str(first.content))) is None:
            return 0
        above = Content(str(first.content)[: place.start()])
        row = above.get_height({}, max(first.size.width, 1)) - 1
        return first.region.y - widget.region.y + row

    def _unmark(self) -> None:
        for widget, text, marked in self._marked:
            if widget.content is marked:  # else it was drawn again
                widget.update(text)
        self._marked.clear()
        self.query(".-found").remove_class("-found")


def _text(entry: Entry) -> str:
    match entry:
        case Called():
            result = entry.end.text if entry.end is not None else ""
            return f"{entry.title} {entry.what} {result}"
        case TurnFinished():
            return ""
    return entry.text


def _space(before: Widget, widget: Widget) -> None:
    after_call = isinstance(before, FoldedLine) and not isinstance(widget, FoldedLine)
    widget.set_class(after_call or isinstance(before, CommandLine), "-after-call")
    if isinstance(before, ModelWords):
        before.set_class(isinstance(widget, TurnLine), "-ended")
