"""The request page of the inspector: outline, raw lines, and the diff to the last request."""

import threading
from typing import NamedTuple

from rich.cells import cell_len
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Container
from textual.content import Content
from textual.events import Click
from textual.message import Message
from textual.widget import Widget

from contextui.text import one_line
from contextui.tokens import TokenCounter
from contextui.tui.inspector.detail import WholeText, copy_text
from contextui.tui.inspector.draft import Draft, Drafting, Order
from contextui.tui.inspector.parts import Part
from contextui.tui.lines import FAINT, MUTED, CursorView, LineView, chopped, fit, lit, short
from contextui.windowing.error_text import reason_of
from contextui.words import Words, msg

MARKS = {" ": "", "+": "$text-success", "~": "$text-warning"}
"""Styles of the marks for new and changed parts."""

_NAME, _TOKENS = 13, 6  # cells


class Outline(CursorView):
    """All parts of the request, in order; the cursor stays on its part."""

    BINDINGS = [Binding("up", "step(-1)", "part", key_display="↑↓")]

    class Chosen(Message):
        """Posted when the cursor moves to another part."""

    def __init__(self, words: Words) -> None:
        super().__init__(id="outline")
        self._words = words
        self._draft: Draft | None = None
        self._counter: TokenCounter | None = None

    @property
    def part(self) -> Part | None:
        """The part under the cursor."""
        parts = self._draft.parts if self._draft is not None else []
        return parts[self.cursor] if self.cursor < len(parts) else None

    def show(self, draft: Draft, counter: TokenCounter) -> None:
        """Show a request."""
        key = self.part.key if self.part is not None else None
        self._draft, self._counter = draft, counter
        keys = [part.key for part in draft.parts]
        if key is None:
            self.cursor = max(len(keys) - 1, 0)
        elif key in keys:
            self.cursor = keys.index(key)
        self.cursor = min(self.cursor, max(len(keys) - 1, 0))
        self.set_count(len(keys) + self._has_rule)
        self.show_line(self._line_of(self.cursor))

    @property
    def _has_rule(self) -> bool:
        return self._draft is not None and 0 < self._draft.cached < len(self._draft.parts)

    def _line_of(self, part: int) -> int:
        is_behind = self._has_rule and self._draft is not None and part >= self._draft.cached
        return part + is_behind

    def choose(self, place: int, step: int = 1) -> None:  # noqa: ARG002  (all can be chosen)
        """Move the cursor to a part."""
        last = len(self._draft.parts) - 1 if self._draft is not None else 0
        self.cursor = max(min(place, last), 0)
        self.show_line(self._line_of(self.cursor))
        self.refresh()
        self.post_message(self.Chosen())

    def on_resize(self) -> None:
        """Keep the cursor in view."""
        self.show_line(self._line_of(self.cursor))

    def on_click(self, event: Click) -> None:
        """Select the clicked part."""
        line = event.y + self.scroll_offset.y
        if self._draft is None or line >= self.count:
            return
        if self._has_rule and line >= self._draft.cached:
            line = max(line - 1, self._draft.cached)
        self.choose(line)

    def line_at(self, number: int, width: int) -> Content:
        """Return the line of a part, or the rule where the cache ends."""
        draft = self._draft
        if draft is None:
            return Content("")
        if self._has_rule and number == draft.cached:
            return self._rule(draft, width)
        place = number - (self._has_rule and number > draft.cached)
        part = draft.parts[place]
        line = Content.assemble(
            (f"{part.mark} ", MARKS[part.mark]),
            (fit(part.name, _NAME), MUTED),
            (fit(part.text, width - 2 - _NAME - _TOKENS), "$foreground"),
            (fit(self._shown_tokens(part.tokens), _TOKENS, right=True), MUTED),
        )
        return lit(line) if place == self.cursor else line

    def _rule(self, draft: Draft, width: int) -> Content:
        name, tokens = (
            f" {self._words('cache ends here')} ",
            f" {self._shown_tokens(draft.cached_tokens)}",
        )
        rest = max(width - 1 - cell_len(name) - len(tokens), 0)
        return Content.assemble(
            ("─", "$warning 60%"), (name, "$text-warning"),
            ("─" * rest, "$warning 60%"), (tokens, "$text-warning"),
        )  # fmt: skip

    def _shown_tokens(self, tokens: int) -> str:
        return short(self._counter.calibrated(tokens)) if self._counter is not None else ""


_WIDE, _BESIDE = 60, 90  # cells for one line, and for outline and lines side by side
_OUTLINE = 40  # cells of the outline beside the lines


class RequestHead(Widget):
    """The headline of the request page, in two lines if narrow."""

    def __init__(self, words: Words) -> None:
        super().__init__(id="request-head")
        self._words = words
        self._draft: Draft | None = None
        self._reason = ""

    def show(self, draft: Draft) -> None:
        """Show the headline of a request."""
        self._draft, self._reason = draft, ""
        self.refresh()

    def show_reason(self, reason: str) -> None:
        """Show why there is no request."""
        self._reason = one_line(reason, 400)
        self.refresh()

    def render(self) -> Content:
        """Render the headline."""
        if self._draft is None or self._reason:
            return Content.styled(self._reason, "$text-error")
        draft, width = self._draft, self.size.width
        parts = self._words("{count} parts", count=len(draft.parts))
        parts = fit(parts, _OUTLINE) if width >= _BESIDE else f"{parts}   "
        between = "   " if width >= _WIDE else "\n"
        size = f"{draft.size / 1_000:,.1f} kB"
        summary = f"{parts}{self._turn(draft)}{between}{size}"
        return Content.assemble((summary, MUTED), *self._marks(draft, width))

    def _turn(self, draft: Draft) -> str:
        words, is_sent = self._words, draft.is_sent or draft.order.is_earlier
        state = msg("sent") if is_sent else msg("not sent yet")
        return words("turn {turn}", turn=draft.order.turn) + words(", ") + words(state)

    def _marks(self, draft: Draft, width: int) -> list[tuple[str, str]]:
        if not draft.is_compared:
            return []
        legend = msg("changed since the last request") if width >= _BESIDE else msg("changed")
        return [
            ("   + ", "$text-success"), (self._words("new"), MUTED),
            ("  ~ ", "$text-warning"), (self._words(legend), MUTED),
        ]  # fmt: skip


_MANY, _FIRST, _LAST = 40, 14, 4  # lines from which a part is folded, and how many then stay
_GROUNDS = {" ": "", "+": " on $success 12%", "~": " on $warning 12%"}


class Line(NamedTuple):
    """One line of the request, or a fold that replaces several.

    Attributes:
        part: The index of its part; -1 where the cache ends.
        number: Its line number in the whole request.
        text: Its text.
        mark: Whether it is new or changed.
        folded: The number of lines that it replaces.
    """

    part: int
    number: int = 0
    text: str = ""
    mark: str = " "
    folded: int = 0


def lines_of(draft: Draft, unfolded: set[str]) -> list[Line]:
    """Return the lines of a request; long parts are folded unless unfolded by the person."""
    lines: list[Line] = []
    number = 1
    for place, part in enumerate(draft.parts):
        if place == draft.cached > 0:
            lines.append(Line(-1))
        lines += _part_lines(place, part, number, part.key in unfolded)
        number += len(part.lines)
    return lines


def _part_lines(place: int, part: Part, number: int, is_whole: bool) -> list[Line]:
    pairs = zip(part.lines, part.marks, strict=True)
    lines = [Line(place, number + n, text, mark) for n, (text, mark) in enumerate(pairs)]
    if is_whole or len(lines) <= _MANY:
        return lines
    hidden = len(lines) - _FIRST - _LAST
    return [*lines[:_FIRST], Line(place, folded=hidden), *lines[-_LAST:]]


class Bytes(LineView, can_focus=False):
    """The lines of the request; a click selects their part."""

    class Clicked(Message):
        """Posted when a line is clicked, with its part and whether it is a fold."""

        def __init__(self, part: int, is_fold: bool) -> None:
            super().__init__()
            self.part, self.is_fold = part, is_fold

    def __init__(self, words: Words) -> None:
        super().__init__(id="bytes")
        self._words = words
        self._lines: list[Line] = []
        self._part = 0
        self._draft: Draft | None = None
        self._counter: TokenCounter | None = None

    def show(self, draft: Draft, unfolded: set[str], counter: TokenCounter) -> None:
        """Show a request, with these parts unfolded."""
        self._draft, self._counter = draft, counter
        self._lines = lines_of(draft, unfolded)
        self.set_count(len(self._lines))

    def show_part(self, part: int) -> None:
        """Scroll to the start of a part, with some lines above it."""
        self._part = part
        place = next((n for n, line in enumerate(self._lines) if line.part == part), 0)
        above = min(5, self.size.height // 4)
        self.scroll_to(y=max(place - above, 0), animate=False, force=True, immediate=True)

    def on_resize(self) -> None:
        """Keep the current part in view."""
        self.show_part(self._part)

    def on_click(self, event: Click) -> None:
        """Select the clicked part."""
        place = event.y + self.scroll_offset.y
        if place < len(self._lines) and self._lines[place].part >= 0:
            line = self._lines[place]
            self.post_message(self.Clicked(line.part, line.folded > 0))

    def line_at(self, number: int, width: int) -> Content:
        """Return one line."""
        line = self._lines[number]
        if line.part < 0:
            return self._rule(width)
        if line.folded:
            note = self._words("{count} lines hidden   Enter expands", count=line.folded)
            return Content.assemble(("       …  ", FAINT), (note, MUTED))
        ground = _GROUNDS[line.mark]
        return Content.assemble(
            (f"{line.number:>4} ", FAINT),
            (f"{line.mark} ", MARKS[line.mark] + ground if ground else ""),
            (fit(line.text.expandtabs(4), max(width - 7, 1)), "$foreground" + ground),
        )

    def _rule(self, width: int) -> Content:
        words = self._words
        name, note = f" {words('cache ends here')} ", ""
        if self._draft is not None and self._counter is not None:
            uncached = short(self._counter.calibrated(self._draft.uncached_tokens))
            note = f" {words('{tokens} below at full price', tokens=uncached)}"
            if 6 + cell_len(name) + cell_len(note) > width:
                note = f" {uncached}"
        rest = max(width - 5 - cell_len(name) - cell_len(note), 0)
        return Content.assemble(
            ("─────", "$warning 60%"), (name, "$text-warning"),
            ("─" * rest, "$warning 60%"), (note, "$text-warning"),
        )  # fmt: skip


class RequestPage(Container):
    """The request that would be sent now, byte by byte, with what is new marked."""

    BINDINGS = [
        Binding("enter", "unfold", "unfold"),
        Binding("x", "raw", "raw bytes"),
        Binding("c", "copy", "copy"),
    ]

    class Drawn(Message):
        """Posted when a request is built."""

        def __init__(self, draft: Draft) -> None:
            super().__init__()
            self.draft = draft

    class NotDrawn(Message):
        """Posted when a request could not be built."""

        def __init__(self, reason: str, order: Order) -> None:
            super().__init__()
            self.reason, self.order = reason, order

    def __init__(self, words: Words) -> None:
        super().__init__(id="request")
        self._words = words
        self._drafting: Drafting | None = None
        self._counter: TokenCounter | None = None
        self._draft: Draft | None = None
        self._order: Order | None = None
        self._is_drawing = False
        self._unfolded: set[str] = set()

    def compose(self) -> ComposeResult:
        """Compose the headline, the outline and the lines."""
        yield RequestHead(self._words)
        with Container(id="request-body"):
            yield Outline(self._words)
            yield Bytes(self._words)

    @property
    def outline(self) -> Outline:
        """The outline of the parts."""
        return self.query_one(Outline)

    def take_focus(self, may: bool) -> None:
        """Set whether the page can take the focus; only the visible page can."""
        self.outline.can_focus = may

    def attach(self, drafting: Drafting, counter: TokenCounter) -> None:
        """Set how requests are built and counted."""
        self._drafting, self._counter = drafting, counter

    # --- rendering ---------------------------------------------------------------------

    def show(self, order: Order) -> None:
        """Build and show a request on a thread; the newest order is built next."""
        if self._drafting is None:
            return  # not attached yet
        known, self._order = self._order, order
        is_new = known is None or known.stamp != order.stamp
        if is_new and not self._is_drawing:
            self._draw(order)

    def _draw(self, order: Order) -> None:
        self._is_drawing = True
        # A daemon: quitting does not wait for it.
        threading.Thread(target=self._drawing, args=(order,), daemon=True).start()

    def _drawing(self, order: Order) -> None:
        assert self._drafting is not None, "show starts no thread before attach"
        try:
            self.post_message(self.Drawn(self._drafting.draft(order)))
        except Exception as error:  # whatever a session holds, the inspector must not fail
            self.post_message(self.NotDrawn(reason_of(error), order))

    @on(Drawn)
    def _show_drawn(self, message: Drawn) -> None:
        first = self._draft is None
        self._draft = message.draft
        self._show_draft()
        if first:
            self.outline.choose(self.outline.cursor)
        self._draw_next(message.draft.order)

    @on(NotDrawn)
    def _show_reason(self, message: NotDrawn) -> None:
        self.query_one(RequestHead).show_reason(message.reason)
        self._draw_next(message.order)

    def _draw_next(self, drawn: Order) -> None:
        self._is_drawing = False
        if self._order is not None and self._order.stamp != drawn.stamp:
            self._draw(self._order)

    def _show_draft(self) -> None:
        if self._draft is not None and self._counter is not None:
            self.outline.show(self._draft, self._counter)
            self.query_one(Bytes).show(self._draft, self._unfolded, self._counter)
            self.query_one(RequestHead).show(self._draft)

    # --- actions -----------------------------------------------------------------------

    @on(Outline.Chosen)
    def _show_part(self) -> None:
        self.query_one(Bytes).show_part(self.outline.cursor)

    @on(Bytes.Clicked)
    def _choose_clicked(self, message: Bytes.Clicked) -> None:
        self.outline.choose(message.part)
        if message.is_fold:
            self.action_unfold()

    def action_unfold(self) -> None:
        """Fold or unfold the selected part."""
        part = self.outline.part
        if part is not None:
            self._unfolded ^= {part.key}
            self._show_draft()
            self.query_one(Bytes).show_part(self.outline.cursor)

    def action_raw(self) -> None:
        """Show the whole request exactly as it is sent."""
        if self._draft is not None:
            name = self._words("raw bytes")
            self.app.push_screen(WholeText(self._words, name, self._draft.exact, chopped))

    def action_copy(self) -> None:
        """Copy the selected part exactly as it is sent."""
        part = self.outline.part
        if part is not None:
            copy_text(self, part.exact, self._words)
