"""The file of a log while it is open: what was written to it, and whether that is still there.

Other programs may delete, move, replace, link, truncate or change the file at any time. The open
descriptor still leads to what was in it, and the newest lines are kept in memory, so that it can be
written again in its place.
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
from contextui.files.save import exchange, give_name
from contextui.session.entry import DamagedLineError, Entry, decode

KEPT_BYTES = 1 << 24
"""How much of what was written last stays in memory, to write it again if the file is damaged."""

_SAMPLE = 1 << 12  # bytes of what was in the file before, by which it is known again
_CHUNK = 1 << 20
_OPEN = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_CHANGED = "the log was changed by another program"

Difference = Literal["gone", "replaced", "shrunk", "grown", "altered"]
"""What another program did to the file."""


class _Sighting(NamedTuple):
    """The file as this process left it; any difference is the work of another program."""

    device: int
    inode: int
    size: int
    mtime: int

    @classmethod
    def of(cls, info: os.stat_result) -> "_Sighting":
        return cls(info.st_dev, info.st_ino, info.st_size, info.st_mtime_ns)


class Recovery(NamedTuple):
    """How a file was put back.

    Attributes:
        size: How many bytes of it were intact, in whole lines.
        missing: The lines behind these; None if they are not known here.
        aside: The name that was given to what stood in its place; empty if there was nothing.
    """

    size: int
    missing: list[bytes] | None
    aside: str


class LogFile:
    """A log that is open for appending. It is opened never through a link, and made if missing.

    Args:
        path: The file.

    Attributes:
        fd: Its descriptor.
        size: How many bytes this process knows to be in it.

    Raises:
        OSError: It cannot be opened, or is no plain file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.fd = _opened(path)
        self.size = 0
        self._left = _Sighting.of(os.fstat(self.fd))
        self._found = 0  # bytes that another run wrote
        self._samples: list[tuple[int, bytes]] = []  # of these bytes, with their offsets
        self._kept: deque[tuple[int, bytes]] = deque()  # lines of this run, with their offsets
        self._kept_bytes = 0
        self._is_torn = False  # whether a part of a failed line may be in the file

    def begin(self, size: int) -> None:
        """Take what is in the file, so many bytes, for its good content."""
        self.size = self._found = size
        self._left = _Sighting.of(os.fstat(self.fd))
        self._kept.clear()
        self._kept_bytes = 0
        ends = {min(_SAMPLE, size), size}
        starts = [(max(end - _SAMPLE, 0), end) for end in sorted(ends)]
        self._samples = [(start, os.pread(self.fd, end - start, start)) for start, end in starts]

    def close(self) -> None:
        """Let go of it."""
        os.close(self.fd)

    def write(self, line: bytes) -> int:
        """Append a line, whole or not at all.

        Returns:
            The offset at which it begins.

        Raises:
            OSError: It could not be written.
        """
        done = 0
        try:
            while done < len(line):
                done += os.write(self.fd, line[done:])
        except OSError:
            self._is_torn = True
            self._take_back()
            raise
        offset, self.size = self.size, self.size + len(line)
        # By fstat, so that the next look at the name shows whether that is another file.
        self._left = _Sighting.of(os.fstat(self.fd))._replace(size=self.size)
        self._kept.append((offset, line))
        self._kept_bytes += len(line)
        while self._kept_bytes > KEPT_BYTES and len(self._kept) > 1:
            self._kept_bytes -= len(self._kept.popleft()[1])
        return offset

    def _take_back(self) -> bool:
        """Remove what was written of a line; if that fails, it is tried again before the next."""
        try:
            os.ftruncate(self.fd, self.size)
        except OSError:
            return False
        self._is_torn = False
        self._left = _Sighting.of(os.fstat(self.fd))
        return True

    # --- what another program did to it ------------------------------------------------

    def difference(self) -> Difference | None:
        """Compare the file with how it was left: one `lstat`, if nothing was done to it.

        Raises:
            OSError: What a failed write left cannot be removed.
        """
        if self._is_torn and not self._take_back():
            self._reopen()
        try:
            now = _Sighting.of(os.lstat(self._path))
        except (FileNotFoundError, NotADirectoryError):
            return "gone"
        except OSError:
            return None  # it cannot be looked at, but what is open can be written to
        what: Difference | None = None
        if now[:2] != self._left[:2]:
            what = "replaced"
        elif now.size != self._left.size:
            what = "shrunk" if now.size < self._left.size else "grown"
        elif now != self._left:
            if self._intact() < self.size:
                what = "altered"
            else:  # touched, not changed
                self._left = now
        return what

    def _reopen(self) -> None:
        """Open the same file once more, if the descriptor does not do what it should."""
        fd = _opened(self._path)
        if _Sighting.of(os.fstat(fd))[:2] != self._left[:2]:
            os.close(fd)  # it is another file: `difference` says so
            return
        os.close(self.fd)
        self.fd = fd
        if not self._take_back():
            raise OSError(errno.EIO, "a failed write cannot be removed")

    def _intact(self) -> int:
        """How many bytes of the open file, in whole lines, are as this process knows them."""
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

    # --- putting it back ---------------------------------------------------------------

    def recover(self) -> Recovery:
        """Have a new file in its place, with what is intact; the rest is still to be written.

        Raises:
            OSError: That failed. The old file stays open, so that it can be tried again.
        """
        intact, end = self._intact(), self.size
        make_private(self._path.parent)
        folder = os.open(self._path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            fd, aside = self._written_again(folder, intact)
        finally:
            os.close(folder)
        os.close(self.fd)
        self.fd, self.size, self._is_torn = fd, intact, False
        self._left = _Sighting.of(os.fstat(fd))
        missing = [(offset, line) for offset, line in self._kept if offset >= intact]
        if intact < end and (not missing or missing[0][0] > intact):
            self.begin(intact)
            return Recovery(intact, None, aside)
        while self._kept and self._kept[-1][0] >= intact:
            self._kept_bytes -= len(self._kept.pop()[1])
        return Recovery(intact, [line for _, line in missing], aside)

    def _written_again(self, folder: int, size: int) -> tuple[int, str]:
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
        """Give the new file the log's name; what has that name is moved aside, and to which."""
        name = self._path.name
        there = {"src_dir_fd": folder, "dst_dir_fd": folder}
        try:
            info = os.stat(name, dir_fd=folder, follow_symlinks=False)
        except FileNotFoundError:
            give_name(folder, new, name)
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
        """Whether a file holds nothing but what is intact, and a piece of the line behind that."""
        ours = os.fstat(self.fd)
        if (info.st_dev, info.st_ino) != (ours.st_dev, ours.st_ino):
            return False
        rest = os.pread(self.fd, _CHUNK, size)
        if not rest:
            return True
        line = next((line for offset, line in self._kept if offset == size), b"")
        return info.st_size - size == len(rest) and line.startswith(rest)


def _opened(path: Path) -> int:
    fd = os.open(path, _OPEN, 0o600)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise OSError(errno.EINVAL, "the log is no plain file")
    return fd


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
