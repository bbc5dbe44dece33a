"""A page of a text: some of its lines, and what there is around them."""

from collections.abc import Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

PAGE_LINES = 100
LINE_LIMIT = 2_000
"""Characters of one line that are shown; a minified file may have millions in one."""


@dataclass(frozen=True, slots=True)
class Page:
    """Some lines of a file.

    Attributes:
        start: The number of the first line, from 1.
        lines: The lines without their ends; a very long one is cut and says so.
        total: How many lines there are; None if nobody has looked that far yet.
        more: Whether lines follow.
    """

    start: int
    lines: tuple[str, ...]
    total: int | None
    more: bool

    @property
    def end(self) -> int:
        """The number of the last line here; `start - 1` if there is none."""
        return self.start + len(self.lines) - 1

    def numbered(self) -> str:
        """The lines with their numbers, as an editor shows them."""
        width = len(str(self.end))
        return "\n".join(
            f"{number:>{width}} {line}" for number, line in enumerate(self.lines, self.start)
        )


def shorten(line: str, limit: int = LINE_LIMIT) -> str:
    """A line for a page, cut if it is very long."""
    if len(line) <= limit:
        return line
    return f"{line[:limit]} … ({len(line) - limit:,} more characters in this line)"


def split(lines: Sequence[str], room: int, most: int = PAGE_LINES) -> list[range]:
    """Which lines, counted from 0, stand on which page; none of them is too long to be read.

    Args:
        lines: All lines.
        room: What the lines of one page may cost: about two letters for a token, at worst.
        most: How many they may be.

    Returns:
        One page at least. Each has one line at least, whatever that costs, if there are any.
    """
    starts, left = [0], room
    for at, line in enumerate(lines):
        # Letters beyond ASCII, Chinese above all, take more tokens than their bytes tell; XML
        # adds its own.
        cost = len(escape(line)) + 2 * (len(line.encode(errors="replace")) - len(line)) + 1
        if at > starts[-1] and (cost > left or at - starts[-1] == most):
            starts.append(at)
            left = room
        left -= cost
    return [range(*ends) for ends in zip(starts, [*starts[1:], len(lines)], strict=True)]
