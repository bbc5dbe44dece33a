"""Long lines in several rows: at spaces where there are any, and between Chinese characters."""

from collections.abc import Iterator, Sequence

from rich.cells import CellSpan, split_graphemes
from textual.content import Content

_CLINGING = frozenset("，。、；：？！）》」』】”’…,.;:?!)]}%")  # never first in a row
_OPENING = frozenset("（《「『【“‘([{")  # never last


def fold(content: Content, width: int, hanging: int = 0) -> list[Content]:
    """One line of content in rows of at most `width` cells; spaces may stand beyond.

    Args:
        content: One line.
        width: The room.
        hanging: Cells by which all rows but the first are moved in.
    """
    width = max(width, 2)
    if content.cell_length <= width:
        return [content]
    hanging = hanging if hanging < width // 2 else 0
    first, *rest = content.divide(list(_cuts(content.plain, width, width - hanging)))
    return [first, *(Content(" " * hanging) + row for row in rest)]


def _cuts(text: str, width: int, later_width: int) -> Iterator[int]:
    """Where rows begin, but for the first."""
    pieces = split_graphemes(text)[0]
    begin, room = 0, width
    while (full := _full(text, pieces, begin, room)) < len(pieces):
        good = full
        while good > begin and not _may_break(text, pieces[good - 1], pieces[good]):
            good -= 1
        begin, room = good if good > begin else full, later_width
        yield pieces[begin][0]


def _full(text: str, pieces: Sequence[CellSpan], begin: int, room: int) -> int:
    """The first piece that does not fit into a row any more; one at least does."""
    for at in range(begin, len(pieces)):
        start, _, size = pieces[at]
        room -= size
        if room < 0 and text[start] != " " and at > begin:
            return at
    return len(pieces)


def _may_break(text: str, before: CellSpan, after: CellSpan) -> bool:
    """Whether a row may end between two pieces."""
    last, next_one = text[before[1] - 1], text[after[0]]
    if last == " ":
        return True
    wide = 2 in (before[2], after[2])
    return wide and next_one not in _CLINGING and last not in _OPENING
