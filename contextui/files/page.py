"""A page of a text: some of its lines, and what there is around them."""

from dataclasses import dataclass

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
