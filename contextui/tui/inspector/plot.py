"""Stacked bars, one for each turn, with their axes."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from contextui.tui.lines import FAINT, fit, short

COLOURS = ("$outdated", "$primary-muted", "$primary", "$accent")
"""Colors of the four parts of a bar; opaque, because they cover each other."""

TEXTURES = "▒░█▓"
"""Textures of the four parts, for displays without color."""

_EIGHTHS = " ▁▂▃▄▅▆▇"

Span = tuple[str, str]


class Bar(NamedTuple):
    """The tokens of one turn, as parts of a stacked bar."""

    turn: int
    parts: Sequence[float]
    is_marked: bool = False


class Scale(NamedTuple):
    """The axis at the left."""

    label: Callable[[float], str]
    unit: float = 1  # a tenth of the smallest axis


def _tokens(size: float) -> str:
    return short(size).replace(".0", "")


def _dollars(size: float) -> str:
    cents = f"{size:,.2f}"
    exact = f"{size:,.5f}".rstrip("0")
    return f"${max(cents, exact, key=len)}" if size else "0"


TOKENS = Scale(_tokens)
MONEY = Scale(_dollars, 0.00001)
_LEAST_LEFT = 5  # cells left of the bars


def plot(
    bars: Sequence[Bar], width: int, height: int, scale: Scale = TOKENS, *, plain: bool = False
) -> list[list[Span]]:
    """Return the bars with their axes, line by line, as styled spans."""
    largest = max((sum(bar.parts) for bar in bars[-width // 2 :]), default=1)
    top = nice(largest / scale.unit) * scale.unit
    labels = scale.label(top), scale.label(top / 2)
    left = max(_LEAST_LEFT, *(len(label) + 1 for label in labels))
    room = width - left
    shown = bars[-max(room // 2, 1) :]
    has_marks = any(one.is_marked for one in shown)
    rows = height - 1 - has_marks
    step = max(2, min(6, room // max(len(shown), 1)))
    marks = {rows - 1: labels[0], (rows - 1) // 2: labels[1], 0: "0"}
    lines: list[list[Span]] = []
    if has_marks:
        over = "".join(("▼" if one.is_marked else " ").ljust(step) for one in shown)
        lines.append([(" " * left + over, "$text-warning")])
    for row in reversed(range(rows)):
        line = [(fit(marks.get(row, ""), left - 1, right=True) + " ", FAINT)]
        for one in shown:
            line += _cell(one, row, rows / top, step, plain)
        lines.append(line)
    return [*lines, [(_axis(shown, step, left), FAINT)]]


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


def _cell(turn: Bar, row: int, scale: float, step: int, plain: bool) -> Iterator[Span]:
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


def _parts(turn: Bar, row: int, scale: float) -> Iterator[tuple[float, int]]:
    """Yield the share of this row that each part of a bar takes, from below."""
    low = 0.0
    for number, size in enumerate(turn.parts):
        high = low + size * scale
        share = min(high, row + 1) - max(low, row)
        if share > 0:
            yield share, number
        low = high


def _axis(turns: Sequence[Bar], step: int, left: int) -> str:
    line, end = " " * left, left + len(turns) * step
    every = 1 if turns and step > len(str(turns[-1].turn)) else 5
    for number, one in enumerate(turns):
        number_text = str(one.turn)
        place = min(left + number * step, end - len(number_text))  # the last one is whole, too
        if (not number or one.turn % every == 0) and len(line) <= place:
            line = line.ljust(place) + number_text + " "
    return line
