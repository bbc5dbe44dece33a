"""The request page of the inspector: outline, raw lines, and the diff to the last request."""

from collections.abc import Callable
from functools import partial
from typing import ClassVar, NamedTuple

from rich.cells import cell_len
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Container
from textual.content import Content
from textual.events import Click
from textual.widget import Widget

from contextui.agent.controller import InteractionController
from contextui.text import one_line
from contextui.tokens import TokenCounter
from contextui.tui.desktop.rowlist import RowList
from contextui.tui.dialogs.whole_text import WholeText
from contextui.tui.inspector.draft import Draft, Drafting, Order
from contextui.tui.inspector.parts import Part
from contextui.tui.lines import FAINT, MUTED, LineView, fit, short
from contextui.windowing.error_text import reason_of
from contextui.windowing.worker import in_daemon_thread
from contextui.words import Words, msg

MARKS = {" ": "", "+": "$text-success", "~": "$text-warning"}
"""Styles of the marks for new and changed parts."""

_NAME, _TOKENS = 13, 6  # cells


def cache_rule(words: Words, width: int, start: int, *notes: str) -> Content:
    """Return the line where the cache ends, with the first of the notes that fits."""
    name = f" {words('cache ends here')} "
    room = width - start - cell_len(name)
    note = next((one for one in notes if cell_len(one) < room), notes[-1])
    rest = max(room - cell_len(note), 0)
    return Content.assemble(
        ("─" * start, "$warning 60%"), (name, "$text-warning"),
        ("─" * rest, "$warning 60%"), (note, "$text-warning"),
    )  # fmt: skip


class Outline(RowList[Part | None]):
    """All parts of the request, in order, and a rule where the cache ends."""

    BINDINGS = [
        Binding("up", "step(-1)", "part", key_display="↑↓"),
        Binding("enter", "open", "unfold"),
    ]
    expands: ClassVar[bool] = False
    opens_by_click: ClassVar[bool] = False
    shows_cursor: ClassVar[bool] = True

    def __init__(self, words: Words, counter: TokenCounter) -> None:
        super().__init__(self._draw, lambda part: part and part.key, id="outline")
        self._words, self._counter = words, counter
        self._cached = 0  # tokens before the rule

    def is_entry(self, row: Part | None) -> bool:
        return row is not None

    @property
    def number(self) -> int:
        return sum(part is not None for part in self.rows[: self.cursor])

    def show_draft(self, draft: Draft) -> None:
        is_first = not self.rows
        self._cached = sum(part.tokens for part in draft.parts[: draft.cached])
        rows: list[Part | None] = [*draft.parts]
        if 0 < draft.cached < len(rows):
            rows.insert(draft.cached, None)
        self.show(rows, at=draft.parts[-1].key if is_first and draft.parts else None)

    def choose_part(self, number: int) -> None:
        places = [place for place, part in enumerate(self.rows) if part is not None]
        self.choose(places[number])

    def on_resize(self) -> None:
        self.show_line(self.cursor)

    def _draw(self, part: Part | None, width: int) -> Content:
        if part is None:
            return cache_rule(self._words, width, 1, f" {self._shown_tokens(self._cached)}")
        name = max(_NAME, cell_len(part.name) + 1)
        return Content.assemble(
            (f"{part.mark} ", MARKS[part.mark]),
            (fit(part.name, name), MUTED),
            (fit(part.text, width - 2 - name - _TOKENS), "$foreground"),
            (fit(self._shown_tokens(part.tokens), _TOKENS, right=True), MUTED),
        )

    def _shown_tokens(self, tokens: int) -> str:
        return short(self._counter.calibrated(tokens))


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
        self._draft, self._reason = draft, ""
        self.refresh()

    def show_reason(self, reason: str) -> None:
        self._reason = one_line(reason, 400)
        self.refresh()

    def render(self) -> Content:
        if self._draft is None or self._reason:
            return Content.styled(self._reason, "$text-error")
        draft, width = self._draft, self.size.width
        parts = self._words("{count} parts", count=len(draft.parts))
        parts = fit(parts, _OUTLINE) if width >= _BESIDE else f"{parts}   "
        between = "   " if width >= _WIDE else "\n"
        words, is_sent = self._words, draft.is_sent or draft.order.is_earlier
        state = words(msg("sent") if is_sent else msg("not sent yet"))
        turn = words("turn {turn}", turn=draft.order.turn) + words(", ") + state
        summary = f"{parts}{turn}{between}{draft.size / 1_000:,.1f} kB"
        return Content.assemble((summary, MUTED), *self._marks(draft, width))

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
    """One line of the request, or a fold that replaces several."""

    part: int  # index of its part; -1 where the cache ends
    number: int = 0  # in the whole request
    text: str = ""
    mark: str = " "  # whether it is new or changed
    folded: int = 0  # how many lines it replaces


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

    def __init__(
        self, words: Words, counter: TokenCounter, choose: Callable[[int, bool], object]
    ) -> None:
        super().__init__(id="bytes")
        self._words, self._counter, self._choose = words, counter, choose
        self._lines: list[Line] = []
        self._part = 0
        self._uncached = 0  # tokens below the rule

    def show(self, draft: Draft, unfolded: set[str]) -> None:
        self._lines = lines_of(draft, unfolded)
        self._uncached = sum(part.tokens for part in draft.parts[draft.cached :])
        self.set_count(len(self._lines))

    def show_part(self, part: int) -> None:
        self._part = part
        place = next((n for n, line in enumerate(self._lines) if line.part == part), 0)
        above = min(5, self.size.height // 4)
        self.scroll_to(y=max(place - above, 0), animate=False, force=True, immediate=True)

    def on_resize(self) -> None:
        self.show_part(self._part)

    def on_click(self, event: Click) -> None:
        place = event.y + self.scroll_offset.y
        if place < len(self._lines) and self._lines[place].part >= 0:
            line = self._lines[place]
            self._choose(line.part, line.folded > 0)

    def line_at(self, number: int, width: int) -> Content:
        line = self._lines[number]
        if line.part < 0:
            uncached = short(self._counter.calibrated(self._uncached))
            note = self._words("{tokens} below at full price", tokens=uncached)
            return cache_rule(self._words, width, 5, f" {note}", f" {uncached}")
        if line.folded:
            note = self._words("{count} lines hidden   Enter expands", count=line.folded)
            return Content.assemble(("       …  ", FAINT), (note, MUTED))
        ground = _GROUNDS[line.mark]
        return Content.assemble(
            (f"{line.number:>4} ", FAINT),
            (f"{line.mark} ", MARKS[line.mark] + ground if ground else ""),
            (fit(line.text.expandtabs(4), max(width - 7, 1)), "$foreground" + ground),
        )


class RequestPage(Container):
    """The request that would be sent now, byte by byte, with what is new marked."""

    BINDINGS = [
        Binding("x", "raw", "raw bytes"),
        Binding("c", "copy", "copy"),
    ]

    def __init__(self, words: Words, controller: InteractionController) -> None:
        super().__init__(id="request")
        self._words, self._drafting = words, Drafting(controller, words)
        counter = controller.context.counter
        self._head = RequestHead(words)
        self._outline = Outline(words, counter)
        self._bytes = Bytes(words, counter, self._choose)
        self._draft: Draft | None = None
        self._order: Order | None = None
        self._drawn: object = None  # the stamp of the last order that was drawn
        self._is_drawing = False
        self._unfolded: set[str] = set()

    def compose(self) -> ComposeResult:
        yield self._head
        with Container(id="request-body"):
            yield self._outline
            yield self._bytes

    # --- rendering ---------------------------------------------------------------------

    def show(self, order: Order) -> None:
        self._order = order
        if not self._is_drawing:
            self._is_drawing = True
            self._draw()

    @work
    async def _draw(self) -> None:
        while self._order is not None and self._order.stamp != self._drawn:
            order, self._drawn = self._order, self._order.stamp
            try:
                draft = await in_daemon_thread(partial(self._drafting.draft, order))
            except Exception as error:  # whatever a session holds, the inspector must not fail
                self._head.show_reason(reason_of(error))
                continue
            is_first, self._draft = self._draft is None, draft
            self._show_draft(draft)
            if is_first:
                self._show_part()
        self._is_drawing = False

    def _show_draft(self, draft: Draft) -> None:
        self._outline.show_draft(draft)
        self._bytes.show(draft, self._unfolded)
        self._head.show(draft)

    # --- actions -----------------------------------------------------------------------

    @on(Outline.Moved)
    def _show_part(self) -> None:
        self._bytes.show_part(self._outline.number)

    def _choose(self, part: int, is_fold: bool) -> None:
        self._outline.choose_part(part)
        if is_fold:
            self._unfold()

    @on(Outline.Opened)
    def _unfold(self) -> None:
        part = self._outline.row
        if part is not None and self._draft is not None:
            self._unfolded ^= {part.key}
            self._show_draft(self._draft)
            self._show_part()

    def action_raw(self) -> None:
        if self._draft is not None:
            name = self._words("raw bytes")
            self.app.push_screen(WholeText(self._words, name, self._draft.exact))

    def action_copy(self) -> None:
        part = self._outline.row
        if part is not None:
            self.app.copy_to_clipboard(part.exact)
