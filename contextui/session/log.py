"""The log of a session: one writer, whole lines, nothing lost that was acknowledged."""

import contextlib
import errno
import os
import stat
import threading
from collections import deque
from collections.abc import Callable
from pathlib import Path

from filelock import FileLock, Timeout

from contextui.errors import ContextUIError
from contextui.files.private import make_private
from contextui.session.entry import DamagedLineError, decode
from contextui.session.reading import lines_backwards
from contextui.text import shown_path


class SessionLockedError(ContextUIError):
    """Another process writes to this session."""


class SessionLog:
    """Appends lines to a log that this process alone writes to.

    A line is acknowledged when it was handed to the system whole. When that fails (the disk is
    full, the folder read-only) what was written of it is taken back, the line waits, and every
    later append tries again first, in order. So the file never holds half a line of ours, and the
    conversation goes on meanwhile.

    Args:
        path: The file; it and its folder are made, readable by the owner alone.
        told: Hears in words when saving fails, resumes, or a torn line was cut off.
        lazy: Make the file with the first line, and nothing before that.

    Raises:
        SessionLockedError: Another process holds the session.
    """

    def __init__(self, path: Path, told: Callable[[str], None], *, lazy: bool = False) -> None:
        self.path, self._told = path, told
        self._waiting: deque[tuple[bytes, Callable[[int], None] | None]] = deque()
        self._guard = threading.RLock()
        self._fd: int | None = None
        self._failing = False
        # Whoever closes the session, on whichever thread, lets go of the lock.
        lock = str(path.with_suffix(".lock"))
        self._lock = FileLock(lock, timeout=0, mode=0o600, thread_local=False)
        self._size = 0
        self._expected: int | None = None
        self._ours = False  # whether all that is in the file since it was opened is from here
        if lazy:
            return
        try:
            make_private(path.parent)
            self._lock.acquire()
        except Timeout:
            raise SessionLockedError(
                f"Session {path.stem} is open in another process. Use --fork to go on in a copy."
            ) from None
        except OSError as problem:
            self._fail(problem)
        self._open()

    @property
    def unsaved(self) -> int:
        """How many lines wait to be written."""
        return len(self._waiting)

    @property
    def is_open(self) -> bool:
        """Whether the file could be opened for writing."""
        return self._fd is not None

    def expect(self, size: int) -> None:
        """Write behind so many bytes and nowhere else: they were read while it was not open."""
        self._expected = size

    def append(self, line: bytes, written: Callable[[int], None] | None = None) -> bool:
        """Write a line; `written` hears at which offset, as soon as it is.

        Returns:
            Whether it is written; if not, it waits and is tried again.
        """
        with self._guard:
            self._waiting.append((line, written))
            return self._write_waiting()

    def sync(self) -> None:
        """Have everything on the disk itself."""
        with self._guard:
            if self._write_waiting() and self._fd is not None:
                try:
                    os.fdatasync(self._fd)
                except OSError as problem:
                    self._fail(problem)

    def close(self) -> None:
        """Write what waits, once more, and let others have the session."""
        with self._guard:
            self.sync()
            if self._fd is not None:
                os.close(self._fd)
                self._fd = None
            self._lock.release()

    def _open(self) -> bool:
        """Open the file and cut off what a crash left of a last line."""
        try:
            if not self._lock.is_locked:
                make_private(self.path.parent)
                self._lock.acquire()
            flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK
            self._fd = os.open(self.path, flags, 0o600)
            if not stat.S_ISREG(os.fstat(self._fd).st_mode):
                raise OSError(errno.EINVAL, "the log is no plain file")
            self._size = self._agreed_size(self._fd)
        except (OSError, Timeout) as problem:
            if self._fd is not None:
                os.close(self._fd)
                self._fd = None
            self._fail(problem)
            return False
        return True

    def _agreed_size(self, fd: int) -> int:
        """How long the file is: as it was left if it was open before, else as it was found."""
        if self._ours:
            if os.fstat(fd).st_size > self._size:
                os.ftruncate(fd, self._size)  # what is left of a line that failed
            size = os.fstat(fd).st_size
            expected: int | None = self._size
        else:
            size, expected = mend_end(fd, self._told), self._expected
        if expected is not None and size != expected:
            raise OSError(errno.EIO, "the log was changed by another program")
        self._ours = True
        return size

    def _write_waiting(self) -> bool:
        while self._waiting:
            if self._fd is None and not self._open():
                return False
            line, written = self._waiting[0]
            if not self._write(line):
                return False
            self._waiting.popleft()
            offset, self._size = self._size, self._size + len(line)
            if written is not None:
                written(offset)
        if self._failing:
            self._failing = False
            self._told("Saving has resumed; nothing was lost.")
        return True

    def _write(self, line: bytes) -> bool:
        assert self._fd is not None
        done = 0
        try:
            while done < len(line):
                done += os.write(self._fd, line[done:])
        except OSError as problem:
            self._take_back()
            self._fail(problem)
            return False
        return True

    def _take_back(self) -> None:
        """Remove what was written of a line; if even that fails, open anew and recover then."""
        assert self._fd is not None
        try:
            os.ftruncate(self._fd, self._size)
        except OSError:
            with contextlib.suppress(OSError):
                os.close(self._fd)
            self._fd = None

    def _fail(self, problem: Exception) -> None:
        if not self._failing:
            self._failing = True
            reason = problem.strerror if isinstance(problem, OSError) else None
            where = f"Not saved in {shown_path(self.path.parent)}"
            again = "It is tried again with all that follows."
            self._told(f"{where}: {reason or problem}. {again}")


def mend_end(fd: int, told: Callable[[str], None]) -> int:
    """Cut off what a crash left of a last line, or give it the end that it lacks.

    Returns:
        How many bytes the file holds then.
    """
    size = os.fstat(fd).st_size
    if size == 0 or os.pread(fd, 1, size - 1) == b"\n":
        return size
    with open(os.dup(fd), "rb") as file:
        torn = next(lines_backwards(file))
    try:
        decode(torn.text)
    except DamagedLineError:
        os.ftruncate(fd, torn.offset)
        told(f"The last line was torn and is cut off ({size - torn.offset} bytes).")
        return torn.offset
    return size + os.write(fd, b"\n")
