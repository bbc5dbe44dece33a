"""The append-only log of a session: locked, written in whole lines, and retried.

Other programs may delete, move, replace, link, truncate or change the file at any time. What is in
its place is kept aside, and a new file continues the log: a copy of the open file if that still has
the content that this process knows, and otherwise an empty one, to be filled from memory.

Each folder has a list of its sessions, in the order in which their logs were written last.
"""

import contextlib
import errno
import os
import secrets
import stat
import threading
from collections import deque
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Literal

from filelock import FileLock, Timeout

from contextui.errors import DISK_PROBLEMS, ContextUIError, os_reason
from contextui.files.save import exchange, link_name
from contextui.plain_file import make_private, write_all, write_private
from contextui.session.entry import decode
from contextui.session.lines import RECENT, DamagedLineError, lines_backwards, recent_ids
from contextui.text import shown_path
from contextui.words import Lang, Message, Words, msg

Difference = Literal["gone", "changed"]
"""What another program did to the file: deleted or moved it, or replaced or changed it."""

Written = Callable[[int], None]
"""Callback with the offset of a line, once it is in the file."""

Pending = tuple[bytes, Written | None]

_SAMPLE = 1 << 16  # bytes of earlier runs that are compared, at their end
_CHUNK = 1 << 20
_OPEN = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_MOST = 1_000  # sessions in the list of recent ones
_PATIENCE = 0.2  # seconds to wait for another process
_DIFFERENCES: dict[Difference, str] = {
    "gone": msg("The log of this session was deleted or moved."),
    "changed": msg("Another program changed the log of this session."),
}
_BUSY = msg("another process has opened this session")
_CHANGED = msg("the log was changed by another program")


class SessionLockedError(ContextUIError):
    """Another process has locked this session."""


class LogFile:
    """A log open for appending; created if missing, never opened through a link."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.fd = _open_regular(path)
        self._is_torn = False  # whether the file may contain a part of a failed line
        self.begin(0)

    def begin(self, size: int) -> None:
        """Accept the first `size` bytes as the file's valid content."""
        self.size, self._start = size, max(size - _SAMPLE, 0)
        # The stat after our last write; any difference is another program's change.
        self._last_state = _state_of(os.fstat(self.fd))
        # Of what this process wrote, and of the end of what was there before.
        self._digest = sha256(os.pread(self.fd, size - self._start, self._start))

    def close(self) -> None:
        """Close the file descriptor."""
        os.close(self.fd)

    def write(self, line: bytes) -> int:
        """Append a line, completely or not at all; return the offset at which it starts."""
        try:
            write_all(self.fd, line)
        except OSError:
            self._is_torn = True
            self._rollback()
            raise
        offset, self.size = self.size, self.size + len(line)
        self._digest.update(line)
        # By fstat, so that the next lstat shows whether the path is another file.
        self._last_state = _state_of(os.fstat(self.fd), self.size)
        return offset

    def _rollback(self) -> bool:
        """Remove a partial write; if that fails, it is retried before the next write."""
        try:
            os.ftruncate(self.fd, self.size)
        except OSError:
            return False
        self._is_torn = False
        self._last_state = _state_of(os.fstat(self.fd))
        return True

    def _reopen(self) -> None:
        """Reopen the same file, if its descriptor fails."""
        fd = _open_regular(self._path)
        if _state_of(os.fstat(fd))[:2] != self._last_state[:2]:
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
            now = _state_of(os.lstat(self._path))
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

        Return the name under which what was in its place is kept; empty if nothing was there. If it
        fails, the old file stays open for a retry.
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


def _state_of(info: os.stat_result, size: int | None = None) -> tuple[int, ...]:
    """Identify a file's version: device, inode, size and time."""
    return (info.st_dev, info.st_ino, info.st_size if size is None else size, info.st_mtime_ns)


def _open_regular(path: Path) -> int:
    fd = os.open(path, _OPEN, 0o600)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise OSError(errno.EINVAL, msg("the log is not a regular file"))
    return fd


class SessionLog:
    """Appends lines to a log that only this process writes to.

    A line is acknowledged when the system has accepted all of it. If that fails (full disk,
    read-only folder), the partial write is rolled back, the line is queued, and every later append
    retries the queue first, in order. So the file never contains a partial line, and the
    conversation can continue.

    Before each append the file is compared with its last known state (one `lstat`). If it was
    deleted, replaced or changed, a new file continues the log; whatever is in its place is moved
    aside, never overwritten.

    Attributes:
        rebuild: Puts the lines of a new log before those that are queued, from memory; used when
            another program has changed the content of the file.
    """

    def __init__(
        self, path: Path, notify: Callable[[str], None], lang: Lang = "en", *, lazy: bool = False
    ) -> None:
        self.path, self._notify, self._words = path, notify, Words(lang)
        self.rebuild: Callable[[deque[Pending]], object] | None = None
        self._pending: deque[Pending] = deque()
        self._guard = threading.RLock()
        self._file: LogFile | None = None
        self._expected: int | None = None
        self._is_confirmed = True
        self._is_closed = False
        self.is_displaced = False
        """Whether the log is lost: it is not in its place and cannot be rewritten."""
        self.problem: OSError | None = None
        """Why saving currently fails."""
        # The session may be closed on any thread, so the lock must not be thread-local.
        self._lock_path = path.with_suffix(".lock")
        self._lock = FileLock(str(self._lock_path), timeout=0, mode=0o600, thread_local=False)
        self._lock_inode = 0
        if lazy:
            return
        try:
            self._acquire()
        except Timeout:
            raise SessionLockedError(
                "Session {name} is open in another process. Use --fork to continue in a copy.",
                name=path.stem,
            ) from None
        except OSError as problem:
            self._fail(problem)
        self._open()

    @property
    def fd(self) -> int | None:
        """The file descriptor while the file is open."""
        return self._file.fd if self._file is not None else None

    @property
    def unsaved(self) -> int:
        """How many lines are queued; at least one if the log is lost."""
        return len(self._pending) or int(self.is_displaced)

    @property
    def is_open(self) -> bool:
        """Whether the file is open for writing."""
        return self._file is not None

    def expect(self, size: int) -> None:
        """Append only after this many bytes, which were read while the file was not open."""
        self._expected = size

    def append(self, line: bytes, written: Written | None = None) -> bool:
        """Append a line; `written` gets its offset once it is in the file."""
        with self._guard:
            self._pending.append((line, written))
            return self._write_pending()

    def retry(self) -> bool:
        """Check the file and retry queued lines; return whether everything is written."""
        with self._guard:
            return self._write_pending()

    def sync(self) -> None:
        """Flush everything to the disk itself."""
        with self._guard:
            if not self._write_pending() or self._file is None:
                return
            try:
                os.fdatasync(self._file.fd)
            except OSError as problem:
                # The system may have dropped what it could not write, so a later success proves
                # nothing.
                if self._is_confirmed:
                    self._is_confirmed = False
                    self._notify(
                        self._words(
                            "Written, but the disk did not confirm it: {reason}. "
                            "The newest entries may be missing after a power cut.",
                            reason=os_reason(problem),
                        )
                    )
                return
            if not self._is_confirmed:
                self._is_confirmed = True
                self._notify(
                    self._words(
                        "The disk confirms again what is written. What was written before that may "
                        "still be missing after a power cut."
                    )
                )

    def close(self) -> None:
        """Retry queued lines a last time and release the session."""
        with self._guard:
            self.sync()
            self._is_closed = True
            if self._file is not None:
                self._file.close()
                self._file = None
            self._lock.release()

    # --- writing -----------------------------------------------------------------------

    def _write_pending(self) -> bool:
        is_unused = self._file is None and not self._pending and self.problem is None
        if self._is_closed or is_unused:  # released to others, or not created yet
            return not self._pending
        try:
            if self._file is None and not self._open():
                return False
            assert self._file is not None
            if (what := self._file.difference()) is not None:
                self._recover(self._file, what)
            while self._pending:
                line, written = self._pending[0]
                offset = self._file.write(line)
                self._pending.popleft()
                if written is not None:
                    written(offset)
        except OSError as problem:
            self._fail(problem)
            return False
        if self.problem is not None:
            self.problem = None
            self._notify(
                self._words(
                    "Saving has resumed; nothing was lost."
                    if self._is_confirmed
                    else "Saving has resumed."
                )
            )
        return True

    def _recover(self, file: LogFile, what: Difference) -> None:
        """Continue in a new file: with the content of the open one, or with what is in memory."""
        self.is_displaced = True
        if self._lock_has_changed():
            self._lock.release()
            self._acquire()
        is_intact, queue = file.is_intact(), self._pending.copy()
        if not is_intact and self.rebuild is not None:
            self.rebuild(queue)  # before the file is replaced: it may have content that it needs
        aside = file.replace(file.size if is_intact else 0)
        self.is_displaced, self._pending = False, queue
        path = shown_path(self.path)
        parts = [
            self._words(_DIFFERENCES[what]),
            self._words("It continues in a new file: {path}.", path=path),
        ]
        if not is_intact:
            parts.append(
                self._words(
                    "Earlier turns were not in memory: only what is still in the context is kept."
                )
            )
        if aside:
            parts.append(self._words("What was in its place is kept as {name}.", name=aside))
        self._notify(" ".join(parts))

    # --- opening -----------------------------------------------------------------------

    def _acquire(self) -> None:
        make_private(self.path.parent)
        self._lock.acquire()
        self._lock_inode = os.stat(self._lock_path).st_ino

    def _lock_has_changed(self) -> bool:
        try:
            return os.stat(self._lock_path).st_ino != self._lock_inode
        except OSError:
            return True

    def _open(self) -> bool:
        file = None
        try:
            if not self._lock.is_locked:
                self._acquire()
            file = LogFile(self.path)
            size = repair_end(file.fd, self._notify, self._words.lang)
            if self._expected is not None and size != self._expected:
                raise OSError(errno.EIO, _CHANGED)
            file.begin(size)
        except OSError as problem:  # includes Timeout
            if file is not None:
                file.close()
            self._fail(problem)
            return False
        self._file = file
        return True

    # --- messages ----------------------------------------------------------------------

    def _fail(self, problem: OSError) -> None:
        is_new = self.problem is None
        self.problem = problem
        if isinstance(problem, Timeout):
            self.problem = OSError(errno.EBUSY, _BUSY)
        if is_new:
            unknown = ("", msg("The folder is {folder}."))
            _, advice = DISK_PROBLEMS.get(self.problem.errno or 0, unknown)
            self._notify(
                self._words(
                    "Not saved: {reason}. {advice} Saving is retried until it succeeds.",
                    reason=os_reason(self.problem),
                    advice=Message(advice, {"folder": shown_path(self.path.parent)}),
                )
            )


def repair_end(fd: int, notify: Callable[[str], None], lang: Lang = "en") -> int:
    """Cut off a last line that a crash has torn, or add its missing newline."""
    size = os.fstat(fd).st_size
    if size == 0 or os.pread(fd, 1, size - 1) == b"\n":
        return size
    with open(os.dup(fd), "rb") as file:
        torn = next(lines_backwards(file))
    try:
        decode(torn.text)
    except DamagedLineError:
        os.ftruncate(fd, torn.offset)
        removed = Message(
            "The incomplete last line was removed ({count} bytes).", {"count": size - torn.offset}
        )
        notify(removed.text(lang))
        return torn.offset
    return size + os.write(fd, b"\n")


class Recent:
    """Keeps the list of recently written sessions, and moves this one to its end."""

    def __init__(self, folder: Path, session_id: str) -> None:
        self._folder, self._session_id = folder, session_id
        self._seen: tuple[int, ...] | None = None  # the file in which this session is the last

    def touch(self) -> None:
        """Move the session to the end. A failure is retried with the next entry."""
        path = self._folder / RECENT
        try:
            if self._seen is not None and self._seen == _state_of(os.stat(path)):
                return
            lock = FileLock(str(self._folder / f"{RECENT}.lock"), timeout=_PATIENCE, mode=0o600)
            with lock:
                ids = recent_ids(self._folder)
                if ids[-1:] != [self._session_id]:
                    rest = [one for one in ids if one != self._session_id]
                    text = "\n".join([*rest[1 - _MOST :], self._session_id, ""])
                    self._seen = _state_of(write_private(path, text.encode(), sync=False))
                else:
                    self._seen = _state_of(os.stat(path))
        except (OSError, Timeout):
            self._seen = None
