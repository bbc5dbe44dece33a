"""The one reader of logs: their lines, forwards, backwards and by kind, and the entries in them."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import BinaryIO, NamedTuple

from contextui.context.item import Load
from contextui.errors import ContextUIError
from contextui.model import Block
from contextui.plain_file import open_plain
from contextui.session.entry import TWIN, Entry, decode, item_of
from contextui.session.lines import LONGEST_LINE, DamagedLineError, Line, lines_backwards

LOST = "[This was only in the log, which another program damaged.]"
"""Replaces the text of an old item that can no longer be read."""

Content = tuple[str, tuple[Block, ...] | None]
"""The text of an item and its blocks."""

_UNREADABLE = (OSError, ContextUIError, KeyError, TypeError, ValueError)


class Damage(NamedTuple):
    """A line that cannot be read."""

    offset: int
    reason: str


def line_at(file: BinaryIO, offset: int) -> Line:
    """Return the line that starts at an offset."""
    file.seek(offset)
    return Line(offset, file.readline(LONGEST_LINE).rstrip(b"\n"))


def begins_line(file: BinaryIO, offset: int) -> bool:
    """Whether a line starts at an offset."""
    file.seek(max(offset - 1, 0))
    return offset == 0 or file.read(1) == b"\n"


def whole_size(file: BinaryIO) -> int:
    """Return the size of a log without a last line that is being written, or that is torn."""
    size = file.seek(0, os.SEEK_END)
    torn = None if begins_line(file, size) else next(lines_backwards(file), None)
    return size if torn is None else torn.offset


def of_kinds(found: Iterable[Line], *kinds: str) -> Iterator[Line]:
    """Yield the lines that may be entries of these types or subtypes; none is decoded."""
    marks = marks_of(kinds)
    return (line for line in found if any(mark in line.text for mark in marks))


def marks_of(kinds: Iterable[str]) -> list[bytes]:
    """Return what is in the line of an entry of these types or subtypes."""
    return [f'type":"{kind}"'.encode() for kind in kinds]


def ignore(_: Damage) -> None:
    """Ignore damage that is reported elsewhere."""


def entries(
    found: Iterable[Line], report: Callable[[Damage], None] = ignore
) -> Iterator[tuple[int, Entry]]:
    """Yield the entries of lines, with their offsets; damaged ones are reported and skipped."""
    for offset, text in found:
        if not text.strip():
            continue
        try:
            yield offset, decode(text)
        except DamagedLineError as problem:
            report(Damage(offset, str(problem)))


def stored(
    path: Path, offsets: Mapping[str, int], item_id: str, fallback: Load = lambda: (LOST, None)
) -> Load:
    """Return a function that reads an item's content from its log on demand."""

    def read() -> Content:
        try:
            with open_plain(path) as file:
                entry = decode(line_at(file, offsets[item_id]).text)
            item = item_of(entry) if item_id.partition(TWIN)[0] == entry.uuid else None
        except _UNREADABLE:
            item = None
        return (item.content, item.blocks) if item is not None else fallback()

    return read
