"""The usage page of the inspector: tokens or dollars per turn, as a bar chart and in figures."""

import csv
import io
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import ClassVar, NamedTuple

from rich.cells import cell_len
from textual.binding import Binding
from textual.content import Content

from contextui.session.usage import PlannedRequest, Sweep
from contextui.text import turn_cost
from contextui.tokens import Usage
from contextui.tui.desktop.rowlist import RowList
from contextui.tui.inspector.plot import COLOURS, MONEY, TEXTURES, TOKENS, Bar, plot
from contextui.tui.lines import FAINT, MUTED, fit, short
from contextui.words import Words, msg

_REASONS = {
    "price": msg("keeping it cost more"),
    "cold": msg("the cache had expired"),
    "asked": msg("you asked for it"),
    "room": msg("to make room"),
    "closed": msg("{cause} was closed"),
    "dropped": msg("you dropped {cause}"),
    "edited": msg("you edited {cause}"),
    "restored": msg("you restored {cause}"),
    "compacted": msg("earlier turns were summarized"),
    "trimmed": msg("no room for earlier turns"),
    "lowered": msg("{cause} shows less, to make room"),
    "system": msg("the system prompt changed"),
}


def sweep_of(plan: PlannedRequest | None, seq_of: Callable[[str], int | None]) -> Sweep | None:
    """Return the sweep of a request with the seq of its cause; None if none, or no cache."""
    if plan is None or plan.sweep is None or not plan.uses_cache:
        return None
    seq = seq_of(plan.sweep.cause)
    return plan.sweep if seq is None else replace(plan.sweep, cause=f"{seq:04}")


def time_of(sweep: Sweep) -> str:
    """Return the time at which a sweep was sent, or the day if that was not today."""
    now = datetime.now().astimezone()
    sent = (sweep.sent or now).astimezone()
    return sent.strftime("%H:%M" if sent.date() == now.date() else "%m-%d")


def reason_text(sweep: Sweep, words: Words) -> str:
    """Return why a sweep was made, in words."""
    reason = _REASONS.get(sweep.reason)
    return words(reason, cause=sweep.cause) if reason else sweep.reason


class ContextChange(NamedTuple):
    """A change to an item: the operation and the seq."""

    operation: str
    seq: int


@dataclass(frozen=True, slots=True)
class TurnUsage:
    """The usage of one turn, in the provider's tokens."""

    turn: int
    cached: int = 0  # read from the cache
    written: int = 0  # to the cache
    uncached: int = 0
    answered: int = 0
    cause: ContextChange | None = None  # what invalidated the cache
    is_guess: bool = False  # whether these are our own counts, as the provider reported none
    outdated: int = 0  # sent nevertheless, by our own count
    sweeps: tuple[Sweep, ...] = ()
    cost: float | None = None  # in dollars; None if no price is known
    requests: int = 0

    @property
    def parts(self) -> tuple[int, int, int, int]:
        """The parts of its bar from below: outdated, other cached, not cached, answered."""
        outdated = min(self.outdated, self.sent)
        cached = max(self.cached - outdated, 0)
        return outdated, cached, self.sent - outdated - cached, self.answered

    @property
    def sent(self) -> int:
        return self.cached + self.written + self.uncached

    def dollars(self, cost_of: Callable[[Usage], float | None]) -> tuple[float, ...]:
        """Return its cost, divided as `parts` are."""
        if self.cost is None:
            return 0.0, 0.0, 0.0, 0.0
        read = cost_of(Usage(cache_read_input_tokens=self.cached)) or 0.0
        new = cost_of(Usage(self.uncached, cache_creation_input_tokens=self.written)) or 0.0
        answered = cost_of(Usage(output_tokens=self.answered)) or 0.0
        total = read + new + answered
        if not total:
            return 0.0, 0.0, self.cost, 0.0
        kept, outdated = min(self.outdated, self.cached), self.parts[0]
        old_read = read * kept / max(self.cached, 1)
        old_new = new * (outdated - kept) / max(self.sent - self.cached, 1)
        parts = old_read + old_new, read - old_read, new - old_new, answered
        return tuple(part * self.cost / total for part in parts)


class Spending:
    """Records the usage of a session's turns, and where each ended."""

    def __init__(self, first_turn: int = 1, after: int = 0) -> None:
        self.turns: list[TurnUsage] = []
        self._first, self._after = first_turn, after
        self._ends: list[int] = []
        self._changes: list[ContextChange] = []
        self._outdated, self._sweeps = 0, tuple[Sweep, ...]()

    def note(self, operation: str, seq: int) -> None:
        if operation in _CAUSES:
            self._changes.append(ContextChange(operation, seq))

    def plan(self, plan: PlannedRequest | None, sweep: Sweep | None) -> None:
        """Record how a request was planned; its usage follows, unless it fails."""
        self._outdated = (plan.outdated if plan is not None else None) or 0
        self._sweeps += (sweep,) if sweep is not None else ()

    def spend(self, turn: int, usage: Usage, counted: int) -> None:
        """Record the usage of a request; `counted` is our own count, used if there is no usage."""
        guess = not any(usage.as_dict().values())
        if guess:
            usage = Usage(input_tokens=counted)
        if not self.turns or self.turns[-1].turn != turn:
            self.turns.append(TurnUsage(turn, is_guess=guess))
        old = self.turns[-1]
        cached = old.cached + usage.cache_read_input_tokens
        written = old.written + usage.cache_creation_input_tokens
        self.turns[-1] = replace(
            old,
            cached=cached,
            written=written,
            uncached=old.uncached + usage.input_tokens,
            answered=old.answered + usage.output_tokens,
            cause=self._changes[-1] if self._changes and written > cached else old.cause,
            outdated=old.outdated + self._outdated,
            sweeps=old.sweeps + self._sweeps,
            cost=(Usage(cost=old.cost) + usage).cost,
            requests=old.requests + 1,
        )
        self._changes.clear()
        self._outdated, self._sweeps = 0, ()

    def end_turn(self, through_seq: int) -> None:
        self._ends.append(through_seq)

    def turn_of(self, seq: int) -> int | None:
        return self._first + bisect_left(self._ends, seq) if seq > self._after else None

    def put_before(self, earlier: "Spending") -> None:
        self.turns = [turn for turn in earlier.turns if turn.turn < self._first] + self.turns
        ends = [end for end in earlier._ends if end <= self._after]
        self._ends, self._first, self._after = [*ends, *self._ends], self._first - len(ends), 0


def total_cost(turns: Iterable[TurnUsage]) -> float | None:
    """Return what turns cost together, as far as prices are known; None if none is."""
    known = [turn.cost for turn in turns if turn.cost is not None]
    return sum(known) if known else None


_WIDE = 60  # cells from which whole words fit
_NAMES = (msg("outdated"), msg("cached"), msg("not cached"), msg("answered"))
_PLAIN_NAMES = {2: msg("sent"), 3: "answered"}


class Column(NamedTuple):
    """A column of the table: its name, its figure, and the cells that it has in a wide pane."""

    name: str
    figure: Callable[[TurnUsage], str]
    cells: int


_TURN = Column(msg("turn"), lambda one: str(one.turn), 5)
_CACHED = Column("cached", lambda one: f"{one.cached:,}", 11)
_OUTDATED = Column("outdated", lambda one: f"{one.outdated:,}" if one.outdated else "·", 10)
_UNCACHED = Column(
    msg("uncached"), lambda one: f"{'~' * one.is_guess}{one.sent - one.cached:,}", 11
)
_SENT = Column("sent", lambda one: f"{'~' * one.is_guess}{one.sent:,}", 10)
_ANSWERED = Column("answered", lambda one: f"{one.answered:,}", 10)
_COST = Column(msg("cost"), lambda one: "" if one.cost is None else turn_cost(one.cost), 9)
_HEAD, _LEAST_PLOT, _TABLE = 3, 6, 8  # lines


def fitting_cells(sizes: Sequence[tuple[int, int]], width: int) -> dict[int, int]:
    """Choose the columns of a table that fit, with their cells; no figure is ever cut.

    Columns first become as narrow as their figures. Then they give way from the left, all but the
    first, which names the row.

    Args:
        sizes: For each column, the cells that its figures need, and those that it prefers.
        width: The cells of the table.

    Example:
        >>> fitting_cells([(3, 5), (8, 10), (8, 10)], 21)
        {0: 3, 1: 8, 2: 10}
        >>> fitting_cells([(3, 5), (8, 10), (8, 10)], 15)
        {0: 5, 2: 10}
    """
    chosen = list(range(len(sizes)))
    while len(chosen) > 2 and sum(sizes[at][0] for at in chosen) > width:
        del chosen[1]
    cells = {at: max(sizes[at]) for at in chosen}
    for at in chosen:
        over = max(sum(cells.values()) - width, 0)
        cells[at] = max(cells[at] - over, sizes[at][0])
    return cells


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


def note_of(turn: TurnUsage, words: Words) -> str:
    """Return why the cache was written again in a turn; empty if it was not."""
    if turn.sweeps:
        removed = f"{sum(sweep.saved or 0 for sweep in turn.sweeps):,}"
        reason = reason_text(turn.sweeps[-1], words)
        return words("▼ swept {tokens} outdated: {reason}", tokens=removed, reason=reason)
    if turn.cause is not None:
        return words(_CAUSES[turn.cause.operation], seq=f"{turn.cause.seq:04}")
    return ""


def as_csv(turns: Sequence[TurnUsage], words: Words, *, has_cache: bool = True) -> str:
    """Return the usage of turns as CSV, without a column that has no figure.

    A spreadsheet runs a cell that begins with one of `=+-@` as a formula, and the name of a window
    may begin so: such a text gets an apostrophe.
    """
    rows, has_cost = [], total_cost(turns) is not None
    for turn in turns:
        row: dict[str, object] = {"turn": turn.turn, "requests": turn.requests}
        if has_cache:
            row |= {"cached": turn.cached, "written": turn.written, "uncached": turn.uncached}
            row |= {"outdated": turn.outdated}
        else:
            row |= {"sent": turn.sent}
        row |= {"answered": turn.answered, "estimated": "yes" if turn.is_guess else "no"}
        if has_cost:
            row |= {"usd": "" if turn.cost is None else f"{turn.cost:.6f}"}
        if has_cache:
            note = note_of(turn, words).removeprefix("▼ ")
            row |= {"note": f"'{note}" if note.startswith(("=", "+", "-", "@")) else note}
        rows.append(row)
    file = io.StringIO()
    writer = csv.DictWriter(file, [*rows[0]] if rows else [], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return file.getvalue()


class UsagePage(RowList[Content | TurnUsage]):
    """The turns of a session as a chart and a table, newest first."""

    BINDINGS = [
        Binding("enter", "open", "show request"),
        Binding("t", "measure", "tokens or money"),
        Binding("c", "copy", "copy as CSV"),
    ]
    expands: ClassVar[bool] = False

    def __init__(self, words: Words, open_turn: Callable[[int], object] = lambda _: None) -> None:
        super().__init__(
            self._drawn, lambda row: row.turn if isinstance(row, TurnUsage) else None, id="usage"
        )
        self._words, self._open_turn = words, open_turn
        self._turns: Sequence[TurnUsage] = ()
        self._has_cache = True
        self._full_cost: float | None = None  # by present prices; None if they are not known
        self._cost_of: Callable[[Usage], float | None] = lambda _: None
        self._in_money = False  # whether the bars show dollars instead of tokens
        self._newest = 0  # the turn that is listed first
        self._table: list[tuple[Column, int]] = []  # the columns in view with their cells

    def is_entry(self, row: Content | TurnUsage) -> bool:
        return isinstance(row, TurnUsage)

    def show_turns(
        self,
        turns: Sequence[TurnUsage],
        provider: Callable[[int], int] = lambda own: own,
        *,
        has_cache: bool = True,
        cost_of: Callable[[Usage], float | None] = lambda _: None,
    ) -> None:
        """Show the usage of turns; the cursor stays on its turn."""
        self._has_cache = has_cache or any(turn.cached or turn.written for turn in turns)
        paid = [turn for turn in turns if turn.cost is not None]
        sent, answered = sum(one.sent for one in paid), sum(one.answered for one in paid)
        self._full_cost = cost_of(Usage(sent, answered)) if paid else None
        self._cost_of = cost_of
        count = provider if self._has_cache else lambda _: 0
        self._turns = [
            replace(one, outdated=count(one.outdated)) if one.outdated else one for one in turns
        ]
        self._lay_out()
        self.refresh_bindings()

    def _lay_out(self) -> None:
        height, width, words = self.size.height, self.line_width, self._words
        if not self._turns or width <= 0:
            text = words("Nothing sent yet. Each turn appears here.")
            self.show((), Content.styled(text, FAINT))
            return
        rows = height - _HEAD - (width <= _WIDE) - 2 - min(_TABLE, len(self._turns) + 1)
        plain = self.app.no_color
        scale = MONEY if self._in_money and self._full_cost is not None else TOKENS
        bars = [
            Bar(turn.turn, turn.dollars(self._cost_of) if scale is MONEY else turn.parts,
                is_marked=bool(turn.sweeps))
            for turn in self._turns[-width:]
        ]  # fmt: skip
        lines = plot(bars, width, max(rows, _LEAST_PLOT), scale, plain=plain)
        self._table = self._fitting_columns(width)
        caption = "".join(fit(words(one.name), cells, right=True) for one, cells in self._table)
        if not isinstance(self.row, TurnUsage) or self.row.turn == self._newest:
            self.rows, self._chosen = (), self._turns[-1].turn  # the cursor stays at the newest
        self._newest = self._turns[-1].turn
        self.show(
            [
                Content.styled(self._summary(width), "$foreground"),
                *self._legend(width, plain),
                Content(""),
                *(Content.assemble(*spans) for spans in lines),
                Content(""),
                Content.styled(caption, FAINT),
                *reversed(self._turns),
            ]
        )

    on_resize = _lay_out

    def _fitting_columns(self, width: int) -> list[tuple[Column, int]]:
        is_wide, has_cost = width > _WIDE, total_cost(self._turns) is not None
        columns = [_TURN, _SENT, _ANSWERED]
        if self._has_cache:
            has_outdated = is_wide or not has_cost
            columns = [_TURN, _CACHED, *[_OUTDATED] * has_outdated, _UNCACHED, _ANSWERED]
        columns += [_COST] * has_cost
        sizes = []
        for at, column in enumerate(columns):
            needed = max(len(column.figure(turn)) for turn in self._turns) + (at > 0)
            name = cell_len(self._words(column.name)) + (at > 0)
            sizes.append((needed, column.cells if is_wide else name))
        return [(columns[at], cells) for at, cells in fitting_cells(sizes, width).items()]

    def _summary(self, width: int) -> str:
        words, cost, turns = self._words, total_cost(self._turns), self._turns
        if self._has_cache and cost is not None:
            return self._money(cost, width)
        sent, answered = sum(one.sent for one in turns), short(sum(one.answered for one in turns))
        shown = "~" * any(turn.is_guess for turn in turns) + short(sent)
        parts = []
        if width > _WIDE or not self._has_cache:
            parts.append(words.plural(len(turns), "1 turn", "{count} turns"))
        if self._has_cache and sent:
            cached = sum(turn.cached for turn in turns)
            parts.append(words("{percent}% cached", percent=f"{100 * cached / sent:.0f}"))
        parts.append(words("{sent} sent   {answered} answered", sent=shown, answered=answered))
        parts += [] if cost is None else [f"${cost:,.2f}"]
        return "   ".join(parts) + self._sweeps(width)

    def _money(self, cost: float, width: int) -> str:
        """Return what the turns cost, and what they would have cost without the cache."""
        words, full = self._words, self._full_cost
        is_wide, count = width > _WIDE, len(self._turns)
        text = words.plural(
            count, "${cost} for 1 turn", "${cost} for {count} turns", cost=f"{cost:,.2f}"
        )
        if full is None or full <= cost:
            return text + self._sweeps(width)
        saved = str(round(100 - 100 * cost / full))
        if not is_wide:
            return text + words(", {saved}% saved", saved=saved)
        rest = msg("   ${full} without the cache   {saved}% saved")
        return text + words(rest, full=f"{full:,.2f}", saved=saved) + self._sweeps(width)

    def _sweeps(self, width: int) -> str:
        count = sum(len(turn.sweeps) for turn in self._turns)
        if not count or width <= _WIDE:
            return ""
        return f"   {self._words.plural(count, '1 sweep', '{count} sweeps')}"

    def _legend(self, width: int, plain: bool) -> list[Content]:
        names = [
            Content.assemble(
                (f"{TEXTURES[number]} ", "") if plain else ("■ ", COLOURS[number]),
                (fit(self._words(_NAMES[number] if self._has_cache else _PLAIN_NAMES[number]), 13),
                 MUTED),
            )
            for number in reversed(range(len(_NAMES)))
            if self._has_cache or number in _PLAIN_NAMES
        ]  # fmt: skip
        step = len(names) if width > _WIDE else 2
        return [Content("").join(names[at : at + step]) for at in range(0, len(names), step)]

    # --- actions -----------------------------------------------------------------------

    def _show_cursor(self) -> None:
        """Keep the cursor in view, and at the newest turn the chart."""
        is_newest = not self._turns or self.row is self._turns[-1]
        self.show_line(0 if is_newest else self.cursor)

    def opens(self, place: int, clicks: int) -> bool:  # noqa: ARG002
        return clicks == 2

    def action_measure(self) -> None:
        self._in_money = not self._in_money
        self._lay_out()

    def action_copy(self) -> None:
        text = as_csv(self._turns, self._words, has_cache=self._has_cache)
        self.app.copy_to_clipboard(text)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "measure":
            return self._full_cost is not None
        if action == "copy":
            return bool(self._turns)
        return super().check_action(action, parameters)

    def action_open(self) -> None:
        if isinstance(self.row, TurnUsage):
            self._open_turn(self.row.turn)

    def _drawn(self, turn: Content | TurnUsage, width: int) -> Content:
        if isinstance(turn, Content):
            return turn
        row = "".join(fit(one.figure(turn), cells, right=True) for one, cells in self._table)
        notes, note_style = [""], "$text-warning"
        if self._has_cache and (turn.sweeps or turn.cause) and width > _WIDE:
            notes = [note_of(turn, self._words)]
            notes += [f"▼ {reason_text(sweep, self._words)}" for sweep in turn.sweeps[-1:]]
        elif turn.requests > 1:
            notes = [self._words("{count} requests", count=turn.requests), ""]
            note_style = FAINT
        is_newest = turn is self._turns[-1]
        style, room = "$foreground" if is_newest else MUTED, width - len(row)
        note = next((one for one in notes if cell_len(one) + 2 <= room), notes[-1])
        after = fit(f"  {note}", room) if note else " " * max(room, 0)
        return Content.assemble((row, style), (after, note_style))
