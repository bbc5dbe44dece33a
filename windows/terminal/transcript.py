"""Transcript of a command: its output as plain lines, bounded in memory, whole in a file.

`Transcript` interprets output as a person would see it: a carriage return overwrites, a progress
bar that moves the cursor up replaces its lines. It keeps the first and the last lines. `Spool`
keeps the bytes, up to a limit, and returns them by page.
"""

import os
import re
from bisect import bisect_right
from collections import deque
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO, Literal

from contextui.plain_file import open_plain
from contextui.text import for_terminal
from contextui.windows.terminal.emulator import TOKEN, numbers

HEAD, TAIL = 200, 400
"""Lines kept in memory: the first and the last."""

LONGEST = 2_000
"""Characters kept of one line."""

SPOOL_LIMIT = 64 * 1024 * 1024
"""Bytes kept of one command's output."""

SPOOLED = 256 * 1024 * 1024
"""Bytes kept of all commands; the oldest are removed."""

SPOOL_NAME = re.compile(r"[0-9a-f]{16}-\d{1,9}\.out", re.ASCII)
"""Names of the files of spools."""

_IN_MEMORY = 64 * 1024
_HEAD_CHARACTERS = 100_000
_INDEX_STEP = 64 * 1024

Who = Literal["person", "model"]


class Transcript:
    """Output as plain lines: the first, the last, and how many are between them.

    Args:
        rows: Rows of the screen; the cursor does not move further up than that.
        columns: Columns of the screen; a carriage return goes to the start of a wrapped row.
    """

    def __init__(self, rows: int, columns: int) -> None:
        self.head = list[str]()
        self.left_out = 0
        self._tail = deque[str](maxlen=TAIL)
        self._rows, self._columns = max(rows, 1), max(columns, 1)
        self._lines, self._cut = [""], [0]
        self._row = self._column = self._head_size = 0
        self._skipped = False

    @property
    def head_full(self) -> bool:
        """Whether further lines no longer go to the head."""
        full = len(self.head) >= HEAD or self._head_size >= _HEAD_CHARACTERS
        return full or self._skipped

    @property
    def tail(self) -> list[str]:
        """The last lines, with those that may still change."""
        live = [_finished(*one) for one in zip(self._lines, self._cut, strict=True)]
        while live and not live[-1]:
            live.pop()
        return [*self._tail, *live]

    @property
    def lines(self) -> int:
        """How many lines there are, with those left out."""
        return len(self.head) + self.left_out + len(self.tail)

    def output(self) -> str:
        """Return the head and the tail as one text, with a line for what was left out."""
        between = [f"… {self.left_out} lines …"] if self.left_out else []
        return "\n".join([*self.head, *between, *self.tail])

    @property
    def ready(self) -> bool:
        """Whether the cursor is at the start of a new line, the last."""
        return self._row == len(self._lines) - 1 and not self._lines[-1] and not self._column

    def take_lines(self, lines: Sequence[str]) -> None:
        """Take whole lines of printable ASCII, when `ready`."""
        self._commit(len(self._lines) - 1)
        *gone, last = [one.rstrip(" ") for one in lines]
        while gone and not self.head_full:
            self.head.append(gone[0])
            self._head_size += len(gone.pop(0))
        self.left_out += max(0, len(self._tail) + len(gone) - TAIL)
        self._tail.extend(gone)
        self._lines, self._cut, self._row = [last, ""], [0, 0], 1

    def text(self, text: str) -> None:
        """Write printable text at the cursor."""
        at, line = self._column, self._lines[self._row]
        self._column = at + len(text)
        if at >= LONGEST:
            self._cut[self._row] = max(self._cut[self._row], self._column - LONGEST)
            return
        if at == len(line):
            line += text
        else:
            line = line[:at].ljust(at) + text + line[self._column :]
        if len(line) > LONGEST:
            self._cut[self._row] = max(self._cut[self._row], len(line) - LONGEST)
            line = line[:LONGEST]
        self._lines[self._row] = line

    def control(self, char: str) -> None:
        """Take a control character; one without a meaning here is shown as its picture."""
        if char == "\n":
            self._down()
        elif char == "\r":
            self._column = max(0, self._column - 1) // self._columns * self._columns
        elif char == "\b":
            self._column = max(0, self._column - 1)
        elif char == "\t":
            if self._column == len(self._lines[self._row]):
                self.text("\t")
            else:
                self._column = (self._column // 8 + 1) * 8
        elif char not in "\x00\x07\x0e\x0f\x7f":  # a terminal does not show these either
            self.text(for_terminal(char))

    def sequence(self, final: str, numbers: Sequence[int]) -> None:
        """Take a CSI sequence: a move of the cursor, or a change to what is written."""
        if not numbers:
            return
        first, count = numbers[0], numbers[0] or 1
        line, at = self._lines[self._row], self._column
        match final:
            case "A" | "F":
                self._up(count)
            case "B" | "E":
                for _ in range(min(count, self._rows)):
                    self._down()
            case "C":
                self._column = min(at + count, LONGEST)
            case "D":
                self._column = max(0, at - count)
            case "G" | "`":
                self._column = at // self._columns * self._columns + count - 1
            case "H" | "f" | "d":
                self._move_to(count - 1, at if final == "d" else max(1, *numbers[1:2], 1) - 1)
            case "K" if first == 0:
                self._lines[self._row] = line[:at]
            case "K" if first == 1:
                self._lines[self._row] = " " * min(at + 1, len(line)) + line[at + 1 :]
            case "K":
                self._lines[self._row] = ""
            case "J" if first == 0:
                self._lines[self._row] = line[:at]
                del self._lines[self._row + 1 :], self._cut[self._row + 1 :]
            case "J" if first >= 2:  # a person no longer sees it; the model may still read it
                while self._lines and not self._lines[-1]:
                    self._lines.pop()
                self._commit(len(self._lines))
                self._lines, self._cut, self._row, self._column = [""], [0], 0, 0
            case "P":
                self._lines[self._row] = line[:at] + line[at + count :]
            case "@":
                self._lines[self._row] = (line[:at] + " " * count + line[at:])[:LONGEST]
            case "X":
                end = min(at + count, len(line))
                self._lines[self._row] = line[:at] + " " * (end - at) + line[end:]
        if final in "EF":
            self._column = 0

    def skip(self, lines: int) -> None:
        """Leave lines out, after all that were taken so far."""
        if self._lines[-1]:
            lines = max(0, lines - 1)  # the rest of this line is left out
            self._commit(len(self._lines))
        else:
            self._commit(len(self._lines) - 1)
        self._skipped = True
        self.left_out += len(self._tail) + lines
        self._tail.clear()
        self._lines, self._cut, self._row, self._column = [""], [0], 0, 0

    def _down(self) -> None:
        self._row += 1
        self._column %= self._columns  # of a line that wraps, only its last row counts
        if self._row == len(self._lines):
            self._lines.append("")
            self._cut.append(0)
            if len(self._lines) > self._rows:
                self._commit(len(self._lines) - self._rows)

    def _up(self, count: int) -> None:
        column = self._column % self._columns
        row = self._column // self._columns
        for _ in range(min(count, self._rows)):
            if row > 0:
                row -= 1
            elif self._row > 0:
                self._row -= 1
                row = max(0, len(self._lines[self._row]) - 1) // self._columns
        self._column = row * self._columns + column

    def _move_to(self, row: int, column: int) -> None:
        """Move to a place on the screen, whose first row is the first that can still change."""
        row = min(row, self._rows - 1)
        while len(self._lines) <= row:
            self._lines.append("")
            self._cut.append(0)
        self._row, self._column = row, min(column, self._columns - 1)

    def _commit(self, count: int) -> None:
        for text, cut in zip(self._lines[:count], self._cut[:count], strict=True):
            line = _finished(text, cut)
            if not self.head_full:
                self.head.append(line)
                self._head_size += len(line)
            else:
                self.left_out += len(self._tail) == TAIL
                self._tail.append(line)
        del self._lines[:count], self._cut[:count]
        self._row = max(0, self._row - count)


def _finished(line: str, cut: int) -> str:
    line = for_terminal(line.rstrip(" "))
    return f"{line} … {cut} more characters" if cut else line


def plain_line(data: bytes) -> str:
    """Return one line of raw output as a person would see it."""
    text = data.decode("utf-8", "replace").rstrip("\r")
    if text.isprintable() and len(text) <= LONGEST:
        return text
    line = Transcript(1, LONGEST * 10)
    for match in TOKEN.finditer(text):
        if match.lastindex == 1:
            line.text(match[1])
        elif match.lastindex == 8:
            line.control(match[8])
        elif match.lastindex == 4 and not match[3] and match[2][:1] not in ("?", "<", "=", ">"):
            line.sequence(match[4], () if match[4] in "mJHfd" else numbers(match[2]))
    return " ".join([*line.head, *line.tail])


class Spool:
    """The bytes that a command printed, in memory while they are few, then in a file.

    Args:
        path: The file; it is created when needed and must not exist.
        limit: Bytes kept; what follows is only counted.

    Attributes:
        lines: How many lines it keeps.
        left_out: Bytes that were not kept.
        error: Why the file could not be written, or "".
        is_removed: Whether what it kept was removed.
    """

    def __init__(self, path: Path, limit: int = SPOOL_LIMIT) -> None:
        self.path, self.limit = path, limit
        self.size = self.lines = self.left_out = 0
        self.error, self.is_removed = "", False
        self._memory = bytearray()
        self._file = -1  # while it is written
        self._filed = False
        self._starts, self._first_lines = [0], [0]  # where a part starts, and with which line

    @classmethod
    def kept(cls, path: Path) -> "Spool":
        """Return what an earlier shell kept in a file.

        Raises:
            OSError: The file is not there, or is not a plain file.
        """
        spool = cls(path)
        spool._filed = True
        with spool._opened() as file:
            while data := file.read(_INDEX_STEP):
                spool._index(data)
        return spool

    @classmethod
    def of(cls, lines: Sequence[str]) -> "Spool":
        """Return a spool of few lines, in memory."""
        spool = cls(Path())
        spool._memory += "".join(f"{one}\n" for one in lines).encode()
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
        kept = data[: max(0, self.limit - self.size)]
        self.left_out += len(data) - len(kept)
        if not kept or self.error:
            self.left_out += len(kept) if self.error else 0
            return
        try:
            if not self._filed and self.size + len(kept) > _IN_MEMORY:
                self._open()
            if self._filed:
                _write_all(self._file, kept)
            else:
                self._memory += kept
        except OSError as error:
            self.error = error.strerror or str(error)
            self.left_out += len(kept)
            return
        for at in range(0, len(kept), _INDEX_STEP):
            self._index(kept[at : at + _INDEX_STEP])

    def _index(self, part: bytes) -> None:
        """Note where lines are."""
        self.lines += part.count(b"\n")
        self.size += len(part)
        if self.size - self._starts[-1] >= _INDEX_STEP:
            self._starts.append(self.size)
            self._first_lines.append(self.lines)

    def page(self, start: int, count: int) -> list[str]:
        """Return lines by number; 0 is the first."""
        return [line for _, line in zip(range(count), self._read(max(0, start)), strict=False)]

    def find(self, text: str, most: int = 100) -> list[tuple[int, str]]:
        """Return the first lines that contain a text, with their numbers."""
        numbered = enumerate(self._read(0))
        found = ((at, line) for at, line in numbered if text in line)
        return [one for one, _ in zip(found, range(most), strict=False)]

    def finish(self) -> None:
        """Close the file: nothing more is written."""
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
        _write_all(self._file, bytes(self._memory))
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
            if len(rest) > 16 * LONGEST:  # a line without end: what is far behind is not shown
                rest = rest[: 16 * LONGEST]
        if rest and number >= start:
            yield plain_line(rest)

    def _opened(self) -> BinaryIO:
        return open_plain(self.path)

    def _bytes(self, at: int, count: int) -> bytes:
        if self._filed:
            with self._opened() as file:
                file.seek(at)
                return file.read(count)
        return bytes(self._memory[at : at + count])


def tidy(folder: Path, kept: Sequence[str]) -> None:
    """Remove files of spools from a folder: those not to be kept, then the oldest if too large.

    Args:
        folder: The folder.
        kept: The names of the files to keep, oldest first.
    """
    sizes = {one.name: one.stat().st_size for one in folder.glob("*.out")}
    total, left = 0, set[str]()
    for name in reversed(kept):
        total += sizes.get(name, 0)
        if total <= SPOOLED:
            left.add(name)
    for name in sizes.keys() - left:
        (folder / name).unlink(missing_ok=True)


def _write_all(file: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(file, view) :]


class Command:
    """One command that ran in a shell, or still runs.

    Attributes:
        number: Its place among the shell's commands; the first is 1.
        text: What was typed.
        who: Who typed it.
        folder: The shell's folder when it started.
        started: When it started.
        ended: When it ended, or None.
        status: Its exit status, or None while it runs or if the shell did not report it.
        full_screen: Whether it used the whole screen, as an editor does: that is not output.
        job: The number of the window's job that watches it; 0 if there is none yet.
        transcript: Its first and last lines.
        spool: All its lines.
    """

    def __init__(
        self,
        number: int,
        text: str,
        who: Who,
        *,
        folder: str,
        transcript: Transcript,
        spool: Spool,
    ) -> None:
        self.number, self.text, self.who, self.folder = number, text, who, folder
        self.transcript, self.spool = transcript, spool
        self.started = datetime.now(UTC)
        self.ended: datetime | None = None
        self.status: int | None = None
        self.full_screen, self.job = False, 0

    @property
    def running(self) -> bool:
        """Whether it has not ended."""
        return self.ended is None

    @property
    def age(self) -> float:
        """Seconds since it started."""
        return (datetime.now(UTC) - self.started).total_seconds()

    @property
    def output(self) -> str:
        """Its output as plain text: the first and the last lines."""
        return self.transcript.output()

    def restart(self, rows: int, columns: int) -> None:
        """Forget the output so far."""
        self.transcript = Transcript(rows, columns)
        self.spool.remove()
        self.spool = Spool(self.spool.path, self.spool.limit)

    def end(self, status: int | None) -> None:
        """Note that it ended."""
        self.status, self.ended = status, datetime.now(UTC)
        self.spool.finish()

    def page(self, start: int, lines: int) -> list[str]:
        """Return lines of the whole output by number; 0 is the first."""
        return self.spool.page(start, lines)
