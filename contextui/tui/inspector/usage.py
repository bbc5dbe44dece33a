"""The usage page of the inspector: tokens per turn, as a bar chart and in figures."""

import threading
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from rich.cells import cell_len
from textual.binding import Binding
from textual.content import Content
from textual.events import Click
from textual.message import Message

from contextui.tokens import Usage
from contextui.tui.inspector.items import CURSOR
from contextui.tui.inspector.sweeps import Sweep, reason_text
from contextui.tui.lines import FAINT, MUTED, LineView, fit, short
from contextui.words import Words, msg

_CACHE_BREAKERS = ("drop", "restore", "edit", "fold", "unfold", "undo", "trim", "compact")
READ_PRICE, WRITE_PRICE = 0.1, 1.25
"""Price factors of tokens read from and written to the cache; an uncached token costs 1."""


class ContextChange(NamedTuple):
    """A change to an item: the operation and the seq."""

    operation: str
    seq: int


@dataclass(frozen=True, slots=True)
class TurnUsage:
    """The usage of one turn, in the provider's tokens.

    Attributes:
        turn: Its number.
        cached: Tokens read from the cache.
        written: Tokens written to the cache.
        uncached: Uncached tokens.
        answered: Output tokens.
        cause: The change that invalidated the cache.
        is_guess: Whether these are our own counts, as the provider reported none.
        outdated: Tokens sent although they were outdated, by our own count.
        sweeps: The sweeps made with its requests.
    """

    turn: int
    cached: int = 0
    written: int = 0
    uncached: int = 0
    answered: int = 0
    cause: ContextChange | None = None
    is_guess: bool = False
    outdated: int = 0
    sweeps: tuple[Sweep, ...] = ()

    @property
    def parts(self) -> tuple[int, int, int, int]:
        """The parts of its bar from below: outdated, other cached, not cached, answered."""
        outdated = min(self.outdated, self.sent)
        cached = max(self.cached - outdated, 0)
        return outdated, cached, self.sent - outdated - cached, self.answered

    @property
    def sent(self) -> int:
        """All input tokens."""
        return self.cached + self.written + self.uncached

    @property
    def paid(self) -> int:
        """The cost of the input, in tokens at full price."""
        return round(READ_PRICE * self.cached + WRITE_PRICE * self.written + self.uncached)

    def plus(self, usage: Usage) -> "TurnUsage":
        """Return the usage with one more request added."""
        return replace(
            self,
            cached=self.cached + usage.cache_read_input_tokens,
            written=self.written + usage.cache_creation_input_tokens,
            uncached=self.uncached + usage.input_tokens,
            answered=self.answered + usage.output_tokens,
        )


class Spending:
    """Records the usage of a session's turns, and where each ended.

    Args:
        first_turn: The number of the first turn to record.
        after: The seq of the last item before that.

    Attributes:
        turns: The usage of each turn, in order; turns without usage are missing.
    """

    def __init__(self, first_turn: int = 1, after: int = 0) -> None:
        self.turns: list[TurnUsage] = []
        self._first, self._after = first_turn, after
        self._ends: list[int] = []
        self._changes: list[ContextChange] = []
        self._outdated, self._sweeps = 0, tuple[Sweep, ...]()
        self._lock = threading.Lock()  # earlier turns are prepended on another thread

    def note(self, operation: str, seq: int) -> None:
        """Record a change to an item if it invalidates the cache."""
        if operation in _CACHE_BREAKERS:
            self._changes.append(ContextChange(operation, seq))

    def plan(self, outdated: int, sweep: Sweep | None) -> None:
        """Record how a request was planned; its usage follows, unless it fails."""
        self._outdated = outdated
        self._sweeps += (sweep,) if sweep is not None else ()

    def spend(self, turn: int, usage: Usage, counted: int) -> None:
        """Record the usage of a request; `counted` is our own count, used if there is no usage."""
        guess = not any(usage.as_dict().values())
        if guess:
            usage = Usage(input_tokens=counted)
        with self._lock:
            if not self.turns or self.turns[-1].turn != turn:
                self.turns.append(TurnUsage(turn, is_guess=guess))
            total = self.turns[-1].plus(usage)
            if self._changes and total.written > total.cached:
                total = replace(total, cause=self._changes[-1])
            self.turns[-1] = replace(
                total,
                outdated=total.outdated + self._outdated,
                sweeps=total.sweeps + self._sweeps,
            )
            self._changes.clear()
            self._outdated, self._sweeps = 0, ()

    def end_turn(self, through_seq: int) -> None:
        """Record that a turn ended with this seq."""
        with self._lock:
            self._ends.append(through_seq)

    def turn_of(self, seq: int) -> int | None:
        """Return the turn of an item by its seq, or None if unknown."""
        with self._lock:
            return self._first + bisect_left(self._ends, seq) if seq > self._after else None

    def put_before(self, earlier: "Spending") -> None:
        """Prepend the usage of earlier turns."""
        with self._lock:
            self.turns = [one for one in earlier.turns if one.turn < self._first] + self.turns
            ends = [end for end in earlier._ends if end <= self._after]
            self._ends, self._first, self._after = [*ends, *self._ends], self._first - len(ends), 0


def usage_of(figures: Mapping[str, Any]) -> Usage:
    """Parse usage from a log entry; missing or invalid figures count as 0."""

    def figure(name: str) -> int:
        value = figures.get(name)
        return int(value) if isinstance(value, int | float) else 0

    return Usage(
        figure("input_tokens"),
        figure("output_tokens"),
        figure("cache_read_input_tokens"),
        figure("cache_creation_input_tokens"),
    )


COLOURS = ("$outdated", "$primary-muted", "$primary", "$accent")
"""Colors of the four parts of a bar; opaque, because they cover each other."""

TEXTURES = "▒░█▓"
"""Textures of the four parts, for displays without color."""

AXIS = 5
"""Cells left of the bars."""

_EIGHTHS = " ▁▂▃▄▅▆▇"

Span = tuple[str, str]


def step_of(width: int, count: int) -> int:
    """Return the cells from one bar to the next."""
    return max(2, min(6, (width - AXIS) // max(count, 1)))


def fitting(turns: Sequence[TurnUsage], width: int) -> Sequence[TurnUsage]:
    """Return the newest turns that fit."""
    return turns[-max((width - AXIS) // 2, 1) :]


def plot(
    turns: Sequence[TurnUsage], width: int, height: int, *, plain: bool = False
) -> list[list[Span]]:
    """Return the bars with their axes, line by line, as styled spans.

    Args:
        turns: The turns; the oldest are dropped if they do not fit.
        width: The cells of a line.
        height: The lines, axis included.
        plain: Draw textures instead of colors.
    """
    shown, rows = fitting(turns, width), height - 1
    has_sweeps = any(one.sweeps for one in shown)
    rows -= has_sweeps
    top = nice(max((sum(one.parts) for one in shown), default=1))
    step = step_of(width, len(shown))
    marks = {rows - 1: _round(top), (rows - 1) // 2: _round(top / 2), 0: "0"}
    lines: list[list[Span]] = []
    if has_sweeps:
        over = "".join(("▼" if one.sweeps else " ").ljust(step) for one in shown)
        lines.append([(" " * AXIS + over, "$text-warning")])
    for row in reversed(range(rows)):
        line = [(fit(marks.get(row, ""), AXIS - 1, right=True) + " ", FAINT)]
        for one in shown:
            line += _cell(one, row, rows / top, step, plain)
        lines.append(line)
    return [*lines, [(_axis(shown, step), FAINT)]]


def nice(largest: float) -> int:
    """Return a round number that is at least this large, and at least 10.

    Example:
        >>> nice(12_430)
        14000
    """
    size = 10
    while size * 10 <= largest:
        size *= 10
    for factor in (1, 1.2, 1.4, 1.6, 2, 3, 4, 5, 6, 8, 10):
        if factor * size >= largest:
            return round(factor * size)
    return size * 10


def _round(tokens: float) -> str:
    return short(tokens).replace(".0", "")


def _cell(turn: TurnUsage, row: int, scale: float, step: int, plain: bool) -> Iterator[Span]:
    """Yield the part of one bar in this row, and the gap after it."""
    bar = step - 1 - (step > 4)
    parts = list(_parts(turn, row, scale))
    gap = (" " * (step - bar), "")
    if not parts:
        yield (" " * step, "")
        return
    (share, part), rest = parts[0], parts[1:]
    if plain:
        largest = max(parts)
        filled = sum(one for one, _ in parts) >= 0.5
        yield ((TEXTURES[largest[1]] if filled else " ") * bar, "")
    elif round(share * 8) >= 8:
        yield (" " * bar, f"on {COLOURS[part]}")
    else:
        above = max(rest, default=(0.0, 0))
        ground = f" on {COLOURS[above[1]]}" if above[0] > 0.06 else ""
        yield (_EIGHTHS[round(share * 8)] * bar, COLOURS[part] + ground)
    yield gap


def _parts(turn: TurnUsage, row: int, scale: float) -> Iterator[tuple[float, int]]:
    """Yield the share of this row that each part of a bar takes, from below."""
    low = 0.0
    for number, tokens in enumerate(turn.parts):
        high = low + tokens * scale
        share = min(high, row + 1) - max(low, row)
        if share > 0:
            yield share, number
        low = high


def _axis(turns: Sequence[TurnUsage], step: int) -> str:
    line, end = " " * AXIS, AXIS + len(turns) * step
    every = 1 if turns and step > len(str(turns[-1].turn)) else 5
    for number, one in enumerate(turns):
        number_text = str(one.turn)
        place = min(AXIS + number * step, end - len(number_text))  # the last one is whole, too
        if (not number or one.turn % every == 0) and len(line) <= place:
            line = line.ljust(place) + number_text + " "
    return line


_WIDE = 60  # cells from which whole words fit
_NAMES = (msg("outdated"), msg("from cache"), msg("uncached"), msg("answered"))
_COLUMNS = (
    (msg("turn"), 5),
    (msg("from cache"), 11),
    (msg("outdated"), 10),
    (msg("uncached"), 10),
    (msg("answered"), 10),
    (msg("full price"), 11),
)
_NARROW = (
    ("turn", 4),
    (msg("cache"), 7),
    ("outdated", 9),
    ("uncached", 9),
    (msg("answered"), 9),
)
_HEAD, _LEAST_PLOT, _TABLE = 3, 6, 8  # lines
_CAUSES = {
    "drop": msg("{seq} dropped: cache rewritten"),
    "restore": msg("{seq} restored: cache rewritten"),
    "edit": msg("{seq} edited: cache rewritten"),
    "unfold": msg("{seq} unfolded: cache rewritten"),
    "fold": msg("{seq} folded: cache rewritten"),
    "undo": msg("{seq} undone: cache rewritten"),
    "trim": msg("trimmed to fit: cache rewritten"),
    "compact": msg("compacted: cache rewritten"),
}


class UsagePage(LineView, can_focus=True, inherit_bindings=False):
    """The turns of a session as a chart and a table, newest first."""

    BINDINGS = [
        Binding("up", "step(-1)", "move", key_display="↑↓"),
        Binding("down", "step(1)", show=False),
        Binding("home", "edge(-1)", show=False),
        Binding("pageup", "step(-10)", show=False),
        Binding("pagedown", "step(10)", show=False),
        Binding("enter", "open", "show request"),
    ]

    class Opened(Message):
        """Posted when the person wants to see the request of a turn."""

        def __init__(self, turn: int) -> None:
            super().__init__()
            self.turn = turn

    def __init__(self, words: Words) -> None:
        super().__init__(id="usage")
        self._words = words
        self._turns: Sequence[TurnUsage] = ()
        self._cursor = 0
        self._above: list[Content] = []

    def take_focus(self, may: bool) -> None:
        """Set whether the page can take the focus; only the visible page can."""
        self.can_focus = may

    def show(
        self, turns: Sequence[TurnUsage], provider: Callable[[int], int] = lambda own: own
    ) -> None:
        """Show the usage of turns; the cursor stays on its turn.

        Args:
            turns: The turns, in order.
            provider: Estimates the provider's count from our own.
        """
        here = self._turns[-1 - self._cursor].turn if self._turns and self._cursor else None
        self._turns = [
            replace(one, outdated=provider(one.outdated)) if one.outdated else one for one in turns
        ]
        if here is not None:
            place = [one.turn for one in reversed(self._turns)]
            self._cursor = place.index(here) if here in place else 0
        self._draw()

    def on_resize(self) -> None:
        """Redraw for the new size."""
        self._draw()

    def _draw(self) -> None:
        """Draw the part above the table; table rows are rendered when in view."""
        height = self.size.height
        # A scroll bar appears as soon as there are many turns, and must not cover anything.
        width = min(self.line_width, self.size.width - self.styles.scrollbar_size_vertical)
        if not self._turns or width <= 0:
            self._above = []
            self.set_count(1)
            return
        words = self._words
        rows = height - _HEAD - (width <= _WIDE) - 2 - min(_TABLE, len(self._turns) + 1)
        plain = self.app.no_color
        bars = plot(self._turns, width, max(rows, _LEAST_PLOT), plain=plain)
        columns = _COLUMNS if width > _WIDE else _NARROW
        caption = "".join(fit(words(name), cells, right=True) for name, cells in columns)
        self._above = [
            Content.styled(self._summary(width), "$foreground"),
            *self._legend(width, plain),
            Content(""),
            *(Content.assemble(*spans) for spans in bars),
            Content(""),
            Content.styled(caption, FAINT),
        ]
        self.set_count(len(self._above) + len(self._turns))

    def _summary(self, width: int) -> str:
        paid, sent = sum(one.paid for one in self._turns), sum(one.sent for one in self._turns)
        saved = round(100 - 100 * paid / sent) if sent else 0
        template = msg("{turns} turns   {paid} paid for {sent} sent   {saved}% saved by the cache")
        if width <= _WIDE:
            template = msg("{paid} paid for {sent} sent, {saved}% saved")
        guess = "~" if any(one.is_guess for one in self._turns) else ""
        figures = {"paid": guess + short(paid), "sent": guess + short(sent), "saved": saved}
        text = self._words(template, turns=len(self._turns), **figures)
        count = sum(len(one.sweeps) for one in self._turns)
        if not count or width <= _WIDE:
            return text
        some = self._words("1 sweep") if count == 1 else self._words("{count} sweeps", count=count)
        return f"{text}   {some}"

    def _legend(self, width: int, plain: bool) -> list[Content]:
        """Return the names of the parts, from the top; in two lines if narrow."""
        names = [
            Content.assemble(
                (f"{TEXTURES[number]} ", "") if plain else ("■ ", COLOURS[number]),
                (fit(self._words(_NAMES[number]), 13), MUTED),
            )
            for number in reversed(range(len(_NAMES)))
        ]
        step = len(names) if width > _WIDE else 2
        return [Content("").join(names[at : at + step]) for at in range(0, len(names), step)]

    # --- actions -----------------------------------------------------------------------

    def action_step(self, step: int) -> None:
        """Move the cursor."""
        self._cursor = max(min(self._cursor + step, len(self._turns) - 1), 0)
        self.show_line(len(self._above) + self._cursor if self._cursor else 0)
        self.refresh()

    def action_edge(self, step: int) -> None:
        """Move the cursor to the newest turn."""
        self.action_step(step * len(self._turns))

    def on_click(self, event: Click) -> None:
        """Select the clicked turn; a double click shows its request."""
        place = event.y + self.scroll_offset.y - len(self._above)
        if 0 <= place < len(self._turns):
            self.action_step(place - self._cursor)
            if event.chain == 2:
                self.action_open()

    def action_open(self) -> None:
        """Show the request of the selected turn."""
        if self._turns:
            self.post_message(self.Opened(self._turns[-1 - self._cursor].turn))

    # --- rendering ---------------------------------------------------------------------

    def line_at(self, number: int, width: int) -> Content:
        """Return a line of the chart, or a turn in figures."""
        if not self._turns:
            return Content.styled(self._words("Nothing sent yet. Each turn appears here."), FAINT)
        if number < len(self._above):
            return self._above[number]
        place = number - len(self._above)
        line = self._row(self._turns[-1 - place], width, place == 0)
        return line.stylize(CURSOR) if place == self._cursor and self.has_focus else line

    def _row(self, turn: TurnUsage, width: int, is_newest: bool) -> Content:
        columns = _COLUMNS if width > _WIDE else _NARROW
        guess = "~" if turn.is_guess else ""
        outdated, uncached = f"{turn.outdated:,}" if turn.outdated else "·", turn.sent - turn.cached
        figures = [
            *(str(turn.turn), f"{turn.cached:,}", outdated, f"{guess}{uncached:,}"),
            *(f"{turn.answered:,}", f"{turn.paid:,}"),
        ]
        row = "".join(
            fit(figure, cells, right=True)
            for figure, (_, cells) in zip(figures, columns, strict=False)
        )
        notes = [""]
        if turn.sweeps and width > _WIDE:
            removed = f"{sum(one.removed for one in turn.sweeps):,}"
            reason = reason_text(turn.sweeps[-1], self._words)
            swept = msg("▼ swept {tokens} outdated: {reason}")
            notes = [self._words(swept, tokens=removed, reason=reason), f"▼ {reason}"]
        elif turn.cause is not None and width > _WIDE:
            notes = [self._words(_CAUSES[turn.cause.operation], seq=f"{turn.cause.seq:04}")]
        style, room = "$foreground" if is_newest else MUTED, width - len(row)
        note = next((one for one in notes if cell_len(one) + 2 <= room), notes[-1])
        return Content.assemble((row, style), (fit(f"  {note}", room), "$text-warning"))
