"""The open file of a log: append whole lines, notice changes by other programs, start a new file.

Other programs may delete, move, replace, link, truncate or change the file at any time. What is in
its place is kept aside, and a new file continues the log: a copy of the open file if that still has
the content that this process knows, and otherwise an empty one, to be filled from memory.
"""

import contextlib
import errno
import os
import secrets
import stat
from hashlib import sha256
from pathlib import Path
from typing import Literal, NamedTuple

from contextui.files.save import exchange, link_name
from contextui.plain_file import make_private, write_all
from contextui.words import msg

_SAMPLE = 1 << 16  # bytes of earlier runs that are compared, at their end
_CHUNK = 1 << 20
_OPEN = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC

Difference = Literal["gone", "changed"]
"""What another program did to the file: deleted or moved it, or replaced or changed it."""


class _FileState(NamedTuple):
    """The stat of the file after our last write; any difference is another program's change."""

    device: int
    inode: int
    size: int
    mtime: int

    @classmethod
    def of(cls, info: os.stat_result) -> "_FileState":
        return cls(info.st_dev, info.st_ino, info.st_size, info.st_mtime_ns)


class LogFile:
    """A log open for appending; created if missing, never opened through a link.

    Attributes:
        size: How many bytes this process knows to be in it.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.fd = _open_regular(path)
        self._is_torn = False  # whether the file may contain a part of a failed line
        self.begin(0)

    def begin(self, size: int) -> None:
        """Accept the first `size` bytes as the file's valid content."""
        self.size, self._start = size, max(size - _SAMPLE, 0)
        self._last_state = _FileState.of(os.fstat(self.fd))
        # Of what this process wrote, and of the end of what was there before.
        self._digest = sha256(os.pread(self.fd, size - self._start, self._start))

    def close(self) -> None:
        """Close the file descriptor."""
        os.close(self.fd)

    def write(self, line: bytes) -> int:
        """Append a line, completely or not at all.

        Returns:
            The offset at which it starts.
        """
        try:
            write_all(self.fd, line)
        except OSError:
            self._is_torn = True
            self._rollback()
            raise
        offset, self.size = self.size, self.size + len(line)
        self._digest.update(line)
        # By fstat, so that the next lstat shows whether the path is another file.
        self._last_state = _FileState.of(os.fstat(self.fd))._replace(size=self.size)
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

    # --- changes by other programs -----------------------------------------------------

    def difference(self) -> Difference | None:
        """Compare the file with its last known state; one `lstat` if it is unchanged."""
        if self._is_torn and not self._rollback():
            self._reopen()
        try:
            now = _FileState.of(os.lstat(self._path))
        except (FileNotFoundError, NotADirectoryError):
            return "gone"
        except OSError:
            return None  # no access to the path, but the open file can be written to
        if now == self._last_state:
            return None
        if now[:3] != self._last_state[:3] or not self.is_intact():
            return "changed"
        self._last_state = now  # touched, not changed
        return None

    def is_intact(self) -> bool:
        """Whether the open file still begins with what this process knows to be in it."""
        digest = sha256()
        for start in range(self._start, self.size, _CHUNK):
            digest.update(os.pread(self.fd, min(_CHUNK, self.size - start), start))
        return digest.digest() == self._digest.digest()

    def replace(self, size: int) -> str:
        """Put a new file in the place of the log, with the first `size` bytes of the open one.

        Returns:
            The name under which what was in its place is kept; empty if nothing was there.

        Raises:
            OSError: That failed. The old file stays open for a retry.
        """
        make_private(self._path.parent)
        folder = os.open(self._path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        new = f"{self._path.name}.{secrets.token_hex(8)}.new"
        try:
            fd = os.open(new, _OPEN | os.O_EXCL, 0o600, dir_fd=folder)
            try:
                for start in range(0, size, _CHUNK):
                    write_all(fd, os.pread(self.fd, min(_CHUNK, size - start), start))
                os.fsync(fd)
                aside = self._put_in_place(folder, new)
            except BaseException:
                os.close(fd)
                with contextlib.suppress(OSError):
                    os.unlink(new, dir_fd=folder)
                raise
        finally:
            os.close(folder)
        os.close(self.fd)
        self.fd, self._is_torn = fd, False
        self.begin(size)
        return aside

    def _put_in_place(self, folder: int, new: str) -> str:
        """Rename the new file to the log's name; return the name the old file was moved to."""
        name, there = self._path.name, {"src_dir_fd": folder, "dst_dir_fd": folder}
        aside = f"{name}.{secrets.token_hex(4)}.found"
        try:
            if exchange(folder, new, name):
                os.rename(new, aside, **there)
                return aside
            os.rename(name, aside, **there)
        except FileNotFoundError:
            aside = ""
        link_name(folder, new, name)
        with contextlib.suppress(OSError):
            os.unlink(new, dir_fd=folder)
        return aside


def _open_regular(path: Path) -> int:
    fd = os.open(path, _OPEN, 0o600)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise OSError(errno.EINVAL, msg("the log is not a regular file"))
    return fd
