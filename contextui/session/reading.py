"""Reading a log: forwards as a stream, backwards from the end, or single lines.

A damaged line costs that line. Lines end at ``\\n`` and nowhere else.
"""

import errno
import os
import stat
from collections.abc import Callable, Iterator
from itertools import accumulate
from pathlib import Path
from typing import BinaryIO, NamedTuple

from contextui.session.entry import DamagedLineError, Entry, decode

_BLOCK = 1 << 16
_LONGEST_LINE = 1 << 26  # bytes: no entry is longer, and no damage may fill the memory


class Line(NamedTuple):
    """A line without its end, and where in the file it begins."""

    offset: int
    text: bytes


class Damage(NamedTuple):
    """A line that could not be read."""

    offset: int
    reason: str


def open_plain(path: Path) -> BinaryIO:
    """Open a file for reading, if it is a plain one: nothing else may keep us waiting.

    Raises:
        OSError: It is not, or it cannot be opened.
    """
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise OSError(errno.EINVAL, "it is no plain file")
    return os.fdopen(fd, "rb")


def lines(file: BinaryIO, start: int = 0) -> Iterator[Line]:
    """All lines from an offset on; the last one even if its end is missing."""
    file.seek(start)
    offset = start
    while line := file.readline(_LONGEST_LINE):
        length = len(line)
        while not line.endswith(b"\n") and (rest := file.readline(_LONGEST_LINE)):
            length += len(rest)  # too long to be an entry: only its beginning is kept
            line = line if not rest.endswith(b"\n") else line + b"\n"
        yield Line(offset, line.rstrip(b"\n"))
        offset += length


def lines_backwards(file: BinaryIO) -> Iterator[Line]:
    """All lines, the last one first, reading only as far as they are asked for."""
    end = file.seek(0, os.SEEK_END)
    rest: list[bytes] = []  # of the line that is not whole yet, the last piece first
    while end > 0:
        start = max(0, end - _BLOCK)
        file.seek(start)
        block = file.read(end - start)
        end = start
        if b"\n" not in block:
            rest.append(block)
            if len(rest) * _BLOCK > _LONGEST_LINE:  # no entry: only its beginning matters
                del rest[:-1]
            continue
        parts = (block + b"".join(reversed(rest))).split(b"\n")
        # The first part may have begun in the block before; it waits for that one.
        rest = [parts[0]]
        ends = accumulate((len(part) + 1 for part in parts), initial=start)
        for position, part in reversed(list(zip(ends, parts, strict=False))[1:]):
            if part:
                yield Line(position, part)
    if any(rest):
        yield Line(0, b"".join(reversed(rest)))


def line_at(file: BinaryIO, offset: int) -> Line:
    """The one line that begins here."""
    file.seek(offset)
    return Line(offset, file.readline(_LONGEST_LINE).rstrip(b"\n"))


def begins_line(file: BinaryIO, offset: int) -> bool:
    """Whether a line begins here."""
    file.seek(max(offset - 1, 0))
    return offset == 0 or file.read(1) == b"\n"


def entries(found: Iterator[Line], report: Callable[[Damage], None]) -> Iterator[tuple[int, Entry]]:
    """The entries of lines, with their offsets; damaged ones are reported and left out."""
    for offset, text in found:
        if not text.strip():
            continue
        try:
            yield offset, decode(text)
        except DamagedLineError as problem:
            report(Damage(offset, str(problem)))
