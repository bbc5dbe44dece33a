"""Text in lines of a given width, broken between words, exact for double-width characters."""

from collections.abc import Iterator

from rich.cells import cell_len

from contextui.secrets import mask_own
from contextui.text import for_terminal

_TAB = 4


def wrapped(text: str, width: int) -> Iterator[str]:
    """The text in inert lines of at most `width` cells; asked for as far as it is read.

    Example:
        >>> list(wrapped("milk, eggs\\n把牛奶放进待办", 8))
        ['milk,', 'eggs', '把牛奶放', '进待办']
    """
    return (piece for _, piece in numbered(text, width))


def numbered(text: str, width: int) -> Iterator[tuple[int, str]]:
    """The same, each with the number of the line that it is a piece of, from 0 on."""
    for number, line in enumerate(for_terminal(mask_own(text)).split("\n")):
        for piece in folded(line.expandtabs(_TAB), width):
            yield number, piece


def chopped(text: str, width: int) -> Iterator[str]:
    """The text as one inert run of characters, in lines that are full."""
    line, start = for_terminal(mask_own(text), lines=False), 0
    while start < len(line):
        end = _full(line, start, max(width, 2))
        yield line[start:end]
        start = end


def folded(line: str, width: int) -> Iterator[str]:
    """One inert line in pieces of at most `width` cells."""
    width = max(width, 2)
    start = 0
    while True:
        end = _end(line, start, width)
        yield line[start:end]
        if end >= len(line):
            return
        start = end + 1 if line[end] == " " else end


def _end(line: str, start: int, width: int) -> int:
    """Where the piece ends that begins here: at a blank if there is one, else where it is full."""
    full = _full(line, start, width)
    if full >= len(line) or line[full] == " ":
        return full
    blank = line.rfind(" ", start, full)
    if blank <= start or not line[start:blank].strip():
        return full
    # Chinese has no blanks: what follows the last one may be broken anywhere.
    return full if cell_len(line[full - 1]) > 1 or cell_len(line[full]) > 1 else blank


def _full(line: str, start: int, width: int) -> int:
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
