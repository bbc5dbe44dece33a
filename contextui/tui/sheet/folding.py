"""Long lines in several rows: at spaces where there are any, and between Chinese characters."""

from collections.abc import Iterator, Sequence

from rich.cells import CellSpan, cell_len, split_graphemes
from textual.content import Content

from contextui.secrets import mask_own
from contextui.text import for_terminal

_TAB = 4
_CLINGING = frozenset("，。、；：？！）》」』】”’…,.;:?!)]}%")  # never first in a row
_OPENING = frozenset("（《「『【“‘([{")  # never last
_MARKS = 8  # characters that one cell may be made of, and the row is still looked at as a whole


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


def wrapped(text: str, width: int) -> Iterator[str]:
    """The text in inert rows of at most `width` cells; asked for as far as it is read.

    Example:
        >>> list(wrapped("milk, eggs\\n把牛奶放进待办", 8))
        ['milk,', 'eggs', '把牛奶放', '进待办']
    """
    return (row for _, row in numbered(text, width))


def numbered(text: str, width: int) -> Iterator[tuple[int, str]]:
    """The same, each with the number of the line that it is a row of, from 0 on."""
    for number, one in enumerate(for_terminal(mask_own(text)).split("\n")):
        line, start = one.expandtabs(_TAB), 0
        for cut in _cuts(line, max(width, 2)):
            yield number, line[start:cut].rstrip(" ")
            start = cut
        yield number, _within(line[start:], max(width, 2))


def chopped(text: str, width: int) -> Iterator[str]:
    """The text as one inert run of characters, in rows that are full."""
    line, start = for_terminal(mask_own(text), lines=False), 0
    while start < len(line):
        end = _filled(line, start, max(width, 2))
        yield line[start:end]
        start = end


def _within(row: str, width: int) -> str:
    """A row without the spaces that stand beyond."""
    return row if cell_len(row) <= width else row.rstrip(" ")


def _cuts(text: str, width: int, later: int | None = None) -> Iterator[int]:
    """Where rows begin, but for the first."""
    end, room = _row_end(text, 0, width), width if later is None else later
    while end < len(text):
        yield end
        end = _row_end(text, end, room)


def _row_end(text: str, start: int, room: int) -> int:
    """Where the row ends that begins here."""
    head = text[start : start + room + 1]
    if len(head) <= room and head.isascii():
        return len(text)
    if head.isascii():
        return _plain_end(text, start, start + room)
    # Only so much of it as could fill the row: a line may be megabytes long.
    some = text[start : start + _MARKS * room]
    pieces = split_graphemes(some)[0]
    full = _full(some, pieces, room)
    if full == len(pieces):
        return start + len(some)
    good = full
    while good and not _may_break(some, pieces[good - 1], pieces[good]):
        good -= 1
    return start + pieces[good or full][0]


def _plain_end(text: str, start: int, full: int) -> int:
    """The same where each character has one cell, and the row is full here."""
    if text[full] == " ":
        while full < len(text) and text[full] == " ":
            full += 1
        return full
    blank = text.rfind(" ", start, full)
    return blank + 1 if blank > start and text[start:blank].strip() else full


def _full(text: str, pieces: Sequence[CellSpan], room: int) -> int:
    """The first piece that does not fit into a row any more; one at least does."""
    for at, (start, _, size) in enumerate(pieces):
        room -= size
        if room < 0 and text[start] != " " and at:
            return at
    return len(pieces)


def _may_break(text: str, before: CellSpan, after: CellSpan) -> bool:
    """Whether a row may end between two pieces."""
    last, next_one = text[before[1] - 1], text[after[0]]
    if last == " ":
        return True
    wide = 2 in (before[2], after[2])
    return wide and next_one not in _CLINGING and last not in _OPENING


def _filled(line: str, start: int, width: int) -> int:
    """How far `width` cells reach; always beyond at least one character."""
    head = line[start : start + width]
    if head.isascii() or (len(head) < width and cell_len(head) <= width):
        return start + len(head)
    cells = 0
    for position in range(start, min(start + 4 * width, len(line))):
        cells += cell_len(line[position])
        if cells > width:
            return max(position, start + 1)
    return min(start + 4 * width, len(line))
