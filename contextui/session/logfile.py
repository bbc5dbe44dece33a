"""The open log file: appending, detecting changes by other programs, recovery, reading lines.

Other programs may delete, move, replace, link, truncate or change the file at any time. The open
descriptor still has its content, and the newest lines are kept in memory, so that it can be
rewritten in place.
"""

import contextlib
import errno
import os
import secrets
import stat
from collections import deque
from collections.abc import Callable, Iterator
from itertools import accumulate
from pathlib import Path
from typing import BinaryIO, Literal, NamedTuple

from contextui.files.protection import make_private
from contextui.files.save import exchange, link_name
from contextui.session.entry import DamagedLineError, Entry, decode
from contextui.words import msg

KEPT_BYTES = 1 << 24
"""Bytes of the newest lines kept in memory, to rewrite them if the file is damaged."""

_SAMPLE = 1 << 12  # bytes of earlier content, to detect changes
_CHUNK = 1 << 20
_OPEN = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_CHANGED = msg("the log was changed by another program")

Difference = Literal["gone", "replaced", "shrunk", "grown", "altered"]
"""What another program did to the file."""


class _FileState(NamedTuple):
    """The stat of the file after our last write; any difference is another program's change."""

    device: int
    inode: int
    size: int
    mtime: int

    @classmethod
    def of(cls, info: os.stat_result) -> "_FileState":
        return cls(info.st_dev, info.st_ino, info.st_size, info.st_mtime_ns)


class Recovery(NamedTuple):
    """The result of a recovery.

    Attributes:
        size: How many bytes were intact, in whole lines.
        missing: The lines after these; None if they are not in memory.
        aside: The name under which the file in its place was kept; empty if there was none.
    """

    size: int
    missing: list[bytes] | None
    aside: str


class LogFile:
    """A log open for appending; created if missing, never opened through a link.

    Args:
        path: The file.

    Attributes:
        fd: Its descriptor.
        size: How many bytes this process knows to be in it.

    Raises:
        OSError: It cannot be opened, or is not a regular file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.fd = _open_regular(path)
        self.size = 0
        self._last_state = _FileState.of(os.fstat(self.fd))
        self._found = 0  # bytes written by earlier runs
        self._samples: list[tuple[int, bytes]] = []  # samples of these bytes, with their offsets
        self._kept: deque[tuple[int, bytes]] = deque()  # lines of this run, with their offsets
        self._kept_bytes = 0
        self._is_torn = False  # whether the file may contain a part of a failed line

    def begin(self, size: int) -> None:
        """Accept the first `size` bytes as the file's valid content."""
        self.size = self._found = size
        self._last_state = _FileState.of(os.fstat(self.fd))
        self._kept.clear()
        self._kept_bytes = 0
        ends = {min(_SAMPLE, size), size}
        starts = [(max(end - _SAMPLE, 0), end) for end in sorted(ends)]
        self._samples = [(start, os.pread(self.fd, end - start, start)) for start, end in starts]

    def close(self) -> None:
        """Close the file descriptor."""
        os.close(self.fd)

    def write(self, line: bytes) -> int:
        """Append a line, completely or not at all.

        Returns:
            The offset at which it starts.

        Raises:
            OSError: It could not be written.
        """
        done = 0
        try:
            while done < len(line):
                done += os.write(self.fd, line[done:])
        except OSError:
            self._is_torn = True
            self._rollback()
            raise
        offset, self.size = self.size, self.size + len(line)
        # By fstat, so that the next lstat shows whether the path is another file.
        self._last_state = _FileState.of(os.fstat(self.fd))._replace(size=self.size)
        self._kept.append((offset, line))
        self._kept_bytes += len(line)
        while self._kept_bytes > KEPT_BYTES and len(self._kept) > 1:
            self._kept_bytes -= len(self._kept.popleft()[1])
        return offset

    def _rollback(self) -> bool:
        """Remove a partial write; if that fails, it is retried before the next write."""
        try:
            os.ftruncate(self.fd, self.size)
        except OSError:
            return False
        self._is_torn = False
        self._last_state = _FileState.of(os.fstat(self.fd))
        return True

    # --- changes by other programs -----------------------------------------------------

    def difference(self) -> Difference | None:
        """Compare the file with its last known state; one `lstat` if it is unchanged.

        Raises:
            OSError: The rest of a failed write cannot be removed.
        """
        if self._is_torn and not self._rollback():
            self._reopen()
        try:
            now = _FileState.of(os.lstat(self._path))
        except (FileNotFoundError, NotADirectoryError):
            return "gone"
        except OSError:
            return None  # no access to the path, but the open file can be written to
        what: Difference | None = None
        if now[:2] != self._last_state[:2]:
            what = "replaced"
        elif now.size != self._last_state.size:
            what = "shrunk" if now.size < self._last_state.size else "grown"
        elif now != self._last_state:
            if self._intact() < self.size:
                what = "altered"
            else:  # touched, not changed
                self._last_state = now
        return what

    def _reopen(self) -> None:
        """Reopen the same file, if its descriptor fails."""
        fd = _open_regular(self._path)
        if _FileState.of(os.fstat(fd))[:2] != self._last_state[:2]:
            os.close(fd)  # another file: `difference` reports it
            return
        os.close(self.fd)
        self.fd = fd
        if not self._rollback():
            raise OSError(errno.EIO, msg("a failed write cannot be removed"))

    def _intact(self) -> int:
        """Return how many bytes of the open file, in whole lines, are unchanged."""
        size = os.fstat(self.fd).st_size
        for offset, sample in self._samples:
            if os.pread(self.fd, len(sample), offset) != sample[: max(size - offset, 0)]:
                return 0
        known = self._kept[0][0] if self._kept else self._found
        if size < known:
            return self._last_line_end(size)
        for offset, line in self._kept:
            if os.pread(self.fd, len(line), offset) != line:
                break
            known = offset + len(line)
        return known

    def _last_line_end(self, size: int) -> int:
        while size > 0:
            start = max(size - _CHUNK, 0)
            found = os.pread(self.fd, size - start, start).rfind(b"\n")
            if found >= 0:
                return start + found + 1
            size = start
        return 0

    # --- recovery ----------------------------------------------------------------------

    def recover(self) -> Recovery:
        """Create a new file in its place with the intact content; the rest is still to be written.

        Raises:
            OSError: That failed. The old file stays open for a retry.
        """
        intact, end = self._intact(), self.size
        make_private(self._path.parent)
        folder = os.open(self._path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            fd, aside = self._rewrite(folder, intact)
        finally:
            os.close(folder)
        os.close(self.fd)
        self.fd, self.size, self._is_torn = fd, intact, False
        self._last_state = _FileState.of(os.fstat(fd))
        missing = [(offset, line) for offset, line in self._kept if offset >= intact]
        if intact < end and (not missing or missing[0][0] > intact):
            self.begin(intact)
            return Recovery(intact, None, aside)
        while self._kept and self._kept[-1][0] >= intact:
            self._kept_bytes -= len(self._kept.pop()[1])
        return Recovery(intact, [line for _, line in missing], aside)

    def _rewrite(self, folder: int, size: int) -> tuple[int, str]:
        new = f"{self._path.name}.{secrets.token_hex(8)}.new"
        fd = os.open(new, _OPEN | os.O_EXCL, 0o600, dir_fd=folder)
        try:
            self._copy_to(fd, size)
            os.fsync(fd)
            return fd, self._put_in_place(folder, new, size)
        except BaseException:
            os.close(fd)
            with contextlib.suppress(OSError):
                os.unlink(new, dir_fd=folder)
            raise

    def _copy_to(self, fd: int, size: int) -> None:
        done = 0
        while done < size:
            chunk = os.pread(self.fd, min(_CHUNK, size - done), done)
            if not chunk:
                raise OSError(errno.EIO, _CHANGED)
            while chunk:
                written = os.write(fd, chunk)
                done, chunk = done + written, chunk[written:]

    def _put_in_place(self, folder: int, new: str, size: int) -> str:
        """Rename the new file to the log's name; return the name the old file was moved to."""
        name = self._path.name
        there = {"src_dir_fd": folder, "dst_dir_fd": folder}
        try:
            info = os.stat(name, dir_fd=folder, follow_symlinks=False)
        except FileNotFoundError:
            link_name(folder, new, name)
            with contextlib.suppress(OSError):
                os.unlink(new, dir_fd=folder)
            return ""
        if self._is_only_ours(info, size):
            os.replace(new, name, **there)
            return ""
        aside = f"{name}.{secrets.token_hex(4)}.found"
        if exchange(folder, new, name):
            os.rename(new, aside, **there)
        else:
            os.rename(name, aside, **there)
            os.rename(new, name, **there)
        return aside

    def _is_only_ours(self, info: os.stat_result, size: int) -> bool:
        """Whether a file contains only the intact part and a piece of the next line."""
        ours = os.fstat(self.fd)
        if (info.st_dev, info.st_ino) != (ours.st_dev, ours.st_ino):
            return False
        rest = os.pread(self.fd, _CHUNK, size)
        if not rest:
            return True
        line = next((line for offset, line in self._kept if offset == size), b"")
        return info.st_size - size == len(rest) and line.startswith(rest)


def _open_regular(path: Path) -> int:
    fd = os.open(path, _OPEN, 0o600)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise OSError(errno.EINVAL, msg("the log is not a regular file"))
    return fd


_BLOCK = 1 << 16
_LONGEST_LINE = 1 << 26  # bytes: no entry is longer, and damage must not fill the memory


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


def entries(found: Iterator[Line], report: Callable[[Damage], None]) -> Iterator[tuple[int, Entry]]:
    """Yield the entries of lines, with their offsets; damaged ones are reported and skipped."""
    for offset, text in found:
        if not text.strip():
            continue
        try:
            yield offset, decode(text)
        except DamagedLineError as problem:
            report(Damage(offset, str(problem)))
