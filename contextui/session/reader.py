"""The one reader of logs: their lines, forwards, backwards and by kind, and the entries in them."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import accumulate
from pathlib import Path
from typing import BinaryIO, NamedTuple

from contextui.context.item import Load
from contextui.errors import ContextUIError
from contextui.model import Block
from contextui.plain_file import open_plain
from contextui.session.entry import TWIN, DamagedLineError, Entry, decode, item_of

LOST = "[This was only in the log, which another program damaged.]"
"""Replaces the text of an old item that can no longer be read."""

Content = tuple[str, tuple[Block, ...] | None]
"""The text of an item and its blocks."""

_BLOCK = 1 << 16
_LONGEST_LINE = 1 << 26  # bytes: no entry is longer, and damage must not fill the memory
_UNREADABLE = (OSError, ContextUIError, KeyError, TypeError, ValueError)


class Line(NamedTuple):
    """A line without its newline, and its offset in the file."""

    offset: int
    text: bytes


class Damage(NamedTuple):
    """A line that cannot be read."""

    offset: int
    reason: str


def lines(file: BinaryIO, start: int = 0) -> Iterator[Line]:
    """Yield all lines from an offset on, including a last one without a newline."""
    file.seek(start)
    offset = start
    while line := file.readline(_LONGEST_LINE):
        length = len(line)
        while not line.endswith(b"\n") and (rest := file.readline(_LONGEST_LINE)):
            length += len(rest)  # too long for an entry: only its start is kept
            line = line if not rest.endswith(b"\n") else line + b"\n"
        yield Line(offset, line.rstrip(b"\n"))
        offset += length


def lines_backwards(file: BinaryIO) -> Iterator[Line]:
    """Yield all lines, last one first, reading only as far as needed."""
    end = file.seek(0, os.SEEK_END)
    rest: list[bytes] = []  # pieces of the incomplete line, last piece first
    while end > 0:
        start = max(0, end - _BLOCK)
        file.seek(start)
        block = file.read(end - start)
        end = start
        if b"\n" not in block:
            rest.append(block)
            if len(rest) * _BLOCK > _LONGEST_LINE:  # not an entry: only its start matters
                del rest[:-1]
            continue
        parts = (block + b"".join(reversed(rest))).split(b"\n")
        # The first part may have started in the block before.
        rest = [parts[0]]
        ends = accumulate((len(part) + 1 for part in parts), initial=start)
        for position, part in reversed(list(zip(ends, parts, strict=False))[1:]):
            if part:
                yield Line(position, part)
    if any(rest):
        yield Line(0, b"".join(reversed(rest)))


def line_at(file: BinaryIO, offset: int) -> Line:
    """Return the line that starts at an offset."""
    file.seek(offset)
    return Line(offset, file.readline(_LONGEST_LINE).rstrip(b"\n"))


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
