"""Read pages of files of any size, block by block, without loading the file.

For each block, the index stores how many lines end before it. So any page that was passed once is
found again by reading one block, whether paging forward or backward.
"""

import codecs
import os
import re
from array import array
from bisect import bisect_left
from collections.abc import Iterator
from itertools import islice
from threading import Lock

from contextui.files.textfile import LINE_LIMIT, PAGE_LINES, Encoding, Page, Version, detect

BLOCK = 256 * 1024
HEAD = 8 * 1024
"""The number of first bytes that are used to detect text and its encoding."""
COUNTED = 4 * 1024 * 1024
"""Up to this size, the lines of a file are counted when its first page is read."""
PAGE_BYTES = 8 * 1024 * 1024
"""A page ends at this size, even within its lines: a file may be a single line of 1 GB."""


class LineIndex:
    """An index of the lines of one version of a file, as far as it was read."""

    def __init__(self, descriptor: int, path: str) -> None:
        info = os.fstat(descriptor)
        self.version = Version.of(info)
        self._size = info.st_size
        head = os.pread(descriptor, HEAD, 0)
        self.encoding: Encoding = detect(head, path, whole=len(head) >= self._size)
        self._breaks = _LineBreaks(self.encoding)
        # For each block: its offset, and how many lines end before it.
        self._places, self._ended = array("q", [len(self.encoding.bom)]), array("q", [0])
        self._scanned = len(self.encoding.bom)
        self._complete = False  # whether all blocks are indexed
        self.total: int | None = None
        self._lock = Lock()
        if self._size <= COUNTED:
            while not self._complete:
                self._scan(descriptor)

    def page(self, descriptor: int, start: int = 1, count: int = PAGE_LINES) -> Page:
        """The lines from number `start` on; none if the file ends before."""
        start, count = max(start, 1), max(count, 0)
        with self._lock:
            # One more than is shown, to see whether the file ends here.
            shown = tuple(islice(self._lines_from(descriptor, start), count + 1))[:count]
        ended = self.total is not None and start - 1 + len(shown) >= self.total
        return Page(start, shown, self.total, more=not ended)

    # --- locating ------------------------------------------------------------------------

    def _scan(self, descriptor: int) -> None:
        """Add one more block to the index."""
        block = self._block(descriptor, self._scanned)
        ended = self._ended[-1] + self._breaks.count(block)
        self._scanned += len(block)
        if not block or self._scanned >= self._size:
            # Anything after the last line end is a line too.
            tail = bool(self._scanned > self._places[0] and not self._breaks.closes(block))
            self.total, self._complete = ended + tail, True
        else:
            self._places.append(self._scanned)
            self._ended.append(ended)

    def _block(self, descriptor: int, place: int) -> bytes:
        """The block at this offset; it never splits a CRLF."""
        block = os.pread(descriptor, BLOCK, place)
        if len(block) == BLOCK and block.endswith(self._breaks.carriage_return):
            return block[: -self.encoding.unit]
        return block

    def _place_of(self, descriptor: int, line: int) -> int | None:
        """The byte offset of a line, or None if there are fewer lines."""
        to_pass = line - 1
        if to_pass == 0:
            return self._places[0]
        while not self._complete and self._ended[-1] < to_pass:
            self._scan(descriptor)
        if self.total is not None and line > self.total:
            return None
        number = bisect_left(self._ended, to_pass) - 1  # the block in which the line before ends
        block = self._block(descriptor, self._places[number])
        ends = islice(self._breaks.ends(block), to_pass - self._ended[number] - 1, None)
        end = next(ends, None)
        return None if end is None else self._places[number] + end

    # --- reading ------------------------------------------------------------------------

    def _lines_from(self, descriptor: int, start: int) -> Iterator[str]:
        place = self._place_of(descriptor, start)
        if place is None:
            return
        line, read, number = _LongLine(self.encoding), 0, start
        while read < PAGE_BYTES:
            block = self._block(descriptor, place)
            begin = 0
            for end in self._breaks.ends(block):
                line.add(block[begin : end - self._breaks.length(block, end)])
                yield line.take()
                number += 1
                begin = end
            line.add(block[begin:])
            place += len(block)
            read += len(block)
            if not block or place >= self._size:
                self.total = number if line.size else number - 1
                break
        if line.size:
            yield line.take(open_end=place < self._size)


class _LongLine:
    """A line read in pieces, of which only the displayed part is kept."""

    def __init__(self, encoding: Encoding) -> None:
        self._decode = codecs.getincrementaldecoder(encoding.codec)
        self._limit = 4 * (LINE_LIMIT + 1)
        self._kept, self.size = bytearray(), 0

    def add(self, piece: bytes) -> None:
        self._kept += piece[: self._limit - len(self._kept)]
        self.size += len(piece)

    def take(self, *, open_end: bool = False) -> str:
        """Return the line so far, truncated if it is very long, and start the next one."""
        cut = self.size > len(self._kept)
        text = self._decode("replace").decode(bytes(self._kept), final=not cut)
        if open_end:
            text = f"{text[:LINE_LIMIT]} … (this line goes on for more than {self.size:,} bytes)"
        elif cut:
            text = f"{text[:LINE_LIMIT]} … (this line has {self.size:,} bytes)"
        elif len(text) > LINE_LIMIT:
            rest = len(text) - LINE_LIMIT
            text = f"{text[:LINE_LIMIT]} … ({rest:,} more characters in this line)"
        self._kept, self.size = bytearray(), 0
        return text


class _LineBreaks:
    """Finds line ends in encoded bytes."""

    def __init__(self, encoding: Encoding) -> None:
        self._unit = encoding.unit
        crlf, self._line_feed, self.carriage_return = (
            end.encode(encoding.codec) for end in ("\r\n", "\n", "\r")
        )
        ends = (crlf, self._line_feed, self.carriage_return)
        self._crlf = crlf
        self._pattern = re.compile(b"|".join(map(re.escape, ends)))

    def ends(self, block: bytes) -> Iterator[int]:
        """Yield the offset after each line end in the block. Blocks begin at a whole code unit."""
        for match in self._pattern.finditer(block):
            if match.start() % self._unit == 0:  # the bytes of two adjacent units may look like one
                yield match.end()

    def count(self, block: bytes) -> int:
        if self._unit > 1:
            return sum(1 for _ in self.ends(block))
        # Several times as fast as a pattern, and most of the work on a huge file.
        returns = block.count(b"\r")
        return block.count(b"\n") + returns - (block.count(b"\r\n") if returns else 0)

    def length(self, block: bytes, end: int) -> int:
        """The number of bytes of the line end before `end`."""
        return len(self._crlf) if block.endswith(self._crlf, 0, end) else self._unit

    def closes(self, block: bytes) -> bool:
        return block.endswith((self._line_feed, self.carriage_return))
