"""Stacked bars, one a turn: from cache, written to the cache, sent anew, answered."""

from collections.abc import Iterator, Sequence

from contextui.tui.cells import FAINT, fit, short
from contextui.tui.inspector.spending import TurnUsage

COLOURS = ("$primary-muted", "$warning", "$primary", "$accent")
"""What the four parts of a bar are drawn in: opaque, or they would not cover each other."""

TEXTURES = "░▓█▒"
"""The same without any colour."""

AXIS = 5
"""Cells left of the bars."""

_EIGHTHS = " ▁▂▃▄▅▆▇"

Span = tuple[str, str]


def step_of(width: int, count: int) -> int:
    """The cells from one bar to the next."""
    return max(2, min(6, (width - AXIS) // max(count, 1)))


def fitting(turns: Sequence[TurnUsage], width: int) -> Sequence[TurnUsage]:
    """The newest turns, as many as there is room for."""
    return turns[-max((width - AXIS) // 2, 1) :]


def plot(
    turns: Sequence[TurnUsage], width: int, height: int, *, plain: bool = False
) -> list[list[Span]]:
    """The bars with their axes, line by line, as pieces of text and their styles.

    Args:
        turns: What to draw; what does not fit is left out at the beginning.
        width: The cells of a line.
        height: The lines, axis included.
        plain: Draw textures instead of colours.
    """
    shown, rows = fitting(turns, width), height - 1
    top = nice(max((sum(one.parts) for one in shown), default=1))
    step = step_of(width, len(shown))
    marks = {rows - 1: _round(top), (rows - 1) // 2: _round(top / 2), 0: "0"}
    lines: list[list[Span]] = []
    for row in reversed(range(rows)):
        line = [(fit(marks.get(row, ""), AXIS - 1, right=True) + " ", FAINT)]
        for one in shown:
            line += _cell(one, row, rows / top, step, plain)
        lines.append(line)
    return [*lines, [(_axis(shown, step), FAINT)]]


def nice(largest: float) -> int:
    """A round number that is at least this large, and 10 at least.

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
    """The part of one bar that stands in this row, and the gap behind it."""
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
    """How much of this row each part of a bar takes, from below."""
    low = 0.0
    for number, tokens in enumerate(turn.parts):
        high = low + tokens * scale
        share = min(high, row + 1) - max(low, row)
        if share > 0:
            yield share, number
        low = high


def _axis(turns: Sequence[TurnUsage], step: int) -> str:
    line = " " * AXIS
    every = 1 if turns and step > len(str(turns[-1].turn)) else 5
    for number, one in enumerate(turns):
        place = AXIS + number * step
        told = str(one.turn)
        if (not number or one.turn % every == 0) and len(line) <= place:
            line = line.ljust(place) + told + " "
    return line
