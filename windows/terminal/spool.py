"""Spool of a command: all bytes that it printed, up to a limit, read by page."""

import os
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from contextui.plain_file import open_plain, write_all
from contextui.windows.terminal.emulator import Emulator
from contextui.windows.terminal.transcript import LONGEST, Transcript, finished

SPOOL_LIMIT = 64 * 1024 * 1024  # bytes kept of one command's output
SPOOLED = 256 * 1024 * 1024  # bytes kept of all commands; the oldest are removed
SPOOL_NAME = re.compile(r"[0-9a-f]{16}-\d{1,9}\.out", re.ASCII)  # names of the files of spools
_IN_MEMORY = 64 * 1024
_INDEX_STEP = 64 * 1024
_LONGEST_RAW = 16 * LONGEST  # bytes of a line that are interpreted


def plain_line(data: bytes) -> str:
    """Return one line of raw output as a person would see it."""
    text = data.decode("utf-8", "replace").rstrip("\r")
    if text.isprintable():
        return finished(text)
    screen, transcript = Emulator(2, _LONGEST_RAW), Transcript()
    screen.record(transcript)
    screen.feed(text)
    return " ".join(transcript.tail)


class Spool:
    """The bytes that a command printed, in memory while they are few, then in a file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.size = self.lines = self.left_out = 0  # left out: bytes that were not kept
        self.error, self.is_removed = "", False  # the error: why the file could not be written
        self._memory = bytearray()
        self._file = -1  # while it is written
        self._filed = False
        self._starts, self._first_lines = [0], [0]  # where a part starts, and with which line

    @classmethod
    def kept(cls, path: Path) -> "Spool":
        """Return what an earlier shell kept in a file."""
        spool = cls(path)
        spool._filed = True
        with open_plain(path) as file:
            while data := file.read(_INDEX_STEP):
                spool._index(data)
        return spool

    @classmethod
    def of(cls, lines: Sequence[str]) -> "Spool":
        spool = cls(Path())
        spool._memory += "".join(f"{line}\n" for line in lines).encode()
        spool._index(bytes(spool._memory))
        return spool

    def keep(self) -> str:
        """Put what is in memory into the file; return the file's name, or "" without one."""
        if not self._filed and self._memory and not self.error:
            try:
                self._open()
            except OSError as error:
                self.error = error.strerror or str(error)
            finally:
                self.finish()
        return self.path.name if self._filed and not self.error else ""

    def write(self, data: bytes) -> None:
        """Add bytes. A file that cannot be written ends the spool, not the command."""
        kept = data[: max(0, SPOOL_LIMIT - self.size)]
        self.left_out += len(data) - len(kept)
        if not kept or self.error:
            self.left_out += len(kept) if self.error else 0
            return
        try:
            if not self._filed and self.size + len(kept) > _IN_MEMORY:
                self._open()
            if self._filed:
                write_all(self._file, kept)
            else:
                self._memory += kept
        except OSError as error:
            self.error = error.strerror or str(error)
            self.left_out += len(kept)
            return
        for at in range(0, len(kept), _INDEX_STEP):
            self._index(kept[at : at + _INDEX_STEP])

    def _index(self, part: bytes) -> None:
        self.lines += part.count(b"\n")
        self.size += len(part)
        if self.size - self._starts[-1] >= _INDEX_STEP:
            self._starts.append(self.size)
            self._first_lines.append(self.lines)

    def page(self, start: int, count: int) -> list[str]:
        return list(islice(self._read(max(0, start)), count))

    def find(self, text: str, most: int = 100) -> list[tuple[int, str]]:
        found = ((at, line) for at, line in enumerate(self._read(0)) if text in line)
        return list(islice(found, most))

    def finish(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def remove(self) -> None:
        self.finish()
        if self._filed:
            self.path.unlink(missing_ok=True)
        self._filed, self.is_removed = False, True
        self._memory.clear()
        self.left_out += self.size
        self.size = self.lines = 0

    def _open(self) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._file = os.open(self.path, flags, 0o600)
        self._filed = True
        write_all(self._file, bytes(self._memory))
        self._memory.clear()

    def _read(self, start: int) -> Iterator[str]:
        part = bisect_right(self._first_lines, start) - 1
        # A part may start within a line: that line belongs to the part before.
        while part and self._first_lines[part] >= start:
            part -= 1
        number, at, rest = self._first_lines[part], self._starts[part], b""
        while at < self.size:
            data = self._bytes(at, min(_INDEX_STEP, self.size - at))
            at += len(data)
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                if number >= start:
                    yield plain_line(line)
                number += 1
            if len(rest) > _LONGEST_RAW:  # a line without end: what is far behind is not shown
                rest = rest[:_LONGEST_RAW]
        if rest and number >= start:
            yield plain_line(rest)

    def _bytes(self, at: int, count: int) -> bytes:
        if self._filed:
            with open_plain(self.path) as file:
                file.seek(at)
                return file.read(count)
        return bytes(self._memory[at : at + count])


def tidy(folder: Path, kept: Sequence[str]) -> None:
    """Remove files of spools from a folder: those not to be kept, then the oldest if too large."""
    sizes = {one.name: one.stat().st_size for one in folder.glob("*.out")}
    total, left = 0, set[str]()
    for name in reversed(kept):
        total += sizes.get(name, 0)
        if total <= SPOOLED:
            left.add(name)
    for name in sizes.keys() - left:
        (folder / name).unlink(missing_ok=True)
