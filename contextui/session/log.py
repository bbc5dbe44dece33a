"""The append-only log of a session: locked, written in whole lines, retried and repaired."""

import errno
import os
import threading
from collections import deque
from collections.abc import Callable, Iterable
from pathlib import Path

from filelock import FileLock, Timeout

from contextui.config.settings import Lang
from contextui.errors import ContextUIError
from contextui.files.protection import make_private
from contextui.session.entry import DamagedLineError, decode
from contextui.session.logfile import Difference, LogFile, lines_backwards
from contextui.text import shown_path

Written = Callable[[int], None]
"""Callback with the offset of a line, once it is in the file."""

Pending = tuple[bytes, Written | None]

_WORDS: dict[Lang, dict[str, str]] = {
    "en": {
        "failed": "Not saved: {reason}. {advice} It is tried again until it works.",
        "space": "Free some space on the disk of {folder}.",
        "writable": "Make {folder} writable.",
        "other": "The folder is {folder}.",
        "resumed": "Saving has resumed; nothing was lost.",
        "resumed_unconfirmed": "Saving has resumed.",
        "unconfirmed": (
            "Written, but the disk did not confirm it: {reason}. "
            "The newest entries may be missing after a power cut."
        ),
        "confirmed": (
            "The disk confirms again what is written. What was written before that may still be "
            "missing after a power cut."
        ),
        "torn": "The last line was torn and is cut off ({count} bytes).",
        "gone": "The log of this session was deleted or moved.",
        "replaced": "The log of this session was replaced by something else.",
        "shrunk": "The log of this session was truncated.",
        "grown": "Another program wrote into the log of this session.",
        "altered": "Another program changed the log of this session.",
        "again": "It was written again: {path}.",
        "aside": "What stood there is kept as {name}.",
        "rebuilt": "Earlier turns were not in memory: only what is still in the context is kept.",
    },
    "zh": {
        "failed": "未能保存：{reason}。{advice}会一直重试，直到成功。",
        "space": "请在 {folder} 所在的磁盘上腾出空间。",
        "writable": "请使 {folder} 可写。",
        "other": "文件夹是 {folder}。",
        "resumed": "已恢复保存；没有丢失任何内容。",
        "resumed_unconfirmed": "已恢复保存。",
        "unconfirmed": "已写入，但磁盘没有确认：{reason}。断电后最新的内容可能会缺失。",
        "confirmed": "磁盘又能确认写入的内容。此前写入的内容在断电后仍可能缺失。",
        "torn": "最后一行不完整，已截去（{count} 字节）。",
        "gone": "这个会话的日志被删除或移走了。",
        "replaced": "这个会话的日志被换成了别的东西。",
        "shrunk": "这个会话的日志被截短了。",
        "grown": "另一个程序向这个会话的日志写入了内容。",
        "altered": "另一个程序改动了这个会话的日志。",
        "again": "已重新写入：{path}。",
        "aside": "原处的内容保留为 {name}。",
        "rebuilt": "较早的轮次不在内存中：只保留了上下文中仍有的内容。",
    },
}
_ADVICE = {
    errno.ENOSPC: "space",
    errno.EDQUOT: "space",
    errno.EROFS: "writable",
    errno.EACCES: "writable",
    errno.EPERM: "writable",
}
_REASONS_ZH = {
    "No space left on device": "磁盘已满",
    "Read-only file system": "文件系统只读",
    "Permission denied": "没有权限",
    "another process has opened this session": "另一个进程打开了这个会话",
}


class SessionLockedError(ContextUIError):
    """Another process has locked this session."""


class SessionLog:
    """Appends lines to a log that only this process writes to.

    A line is acknowledged when the system has accepted all of it. If that fails (full disk,
    read-only folder), the partial write is rolled back, the line is queued, and every later append
    retries the queue first, in order. So the file never contains a partial line, and the
    conversation can continue.

    Before each append the file is compared with its last known state (one `lstat`). If it was
    deleted, replaced, truncated or changed, it is rewritten from the open file and from memory;
    whatever is in its place is moved aside, never overwritten.

    Args:
        path: The file; it and its folder are created with owner-only permissions.
        told: Callback for a message when saving fails, resumes, or the file was repaired.
        lang: The language of these messages.
        lazy: Create the file with the first line, and nothing before.

    Attributes:
        rebuild: Returns the lines missing after the first so many bytes of the log; used when they
            are neither in the file nor in memory here.

    Raises:
        SessionLockedError: Another process has locked the session.
    """

    def __init__(
        self, path: Path, told: Callable[[str], None], lang: Lang = "en", *, lazy: bool = False
    ) -> None:
        self.path, self._told, self._words = path, told, _WORDS[lang]
        self.rebuild: Callable[[int], Iterable[Pending]] | None = None
        self._waiting: deque[Pending] = deque()
        self._guard = threading.RLock()
        self._file: LogFile | None = None
        self._expected: int | None = None
        self._is_confirmed = True
        self._is_closed = False
        self._is_displaced = False  # whether the log is lost and cannot be rewritten
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
                f"Session {path.stem} is open in another process. Use --fork to go on in a copy."
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
        return len(self._waiting) or int(self._is_displaced)

    @property
    def is_open(self) -> bool:
        """Whether the file is open for writing."""
        return self._file is not None

    @property
    def is_displaced(self) -> bool:
        """Whether the log is lost: it is not in its place and cannot be rewritten."""
        return self._is_displaced

    def expect(self, size: int) -> None:
        """Append only after this many bytes, which were read while the file was not open."""
        self._expected = size

    def append(self, line: bytes, written: Written | None = None) -> bool:
        """Append a line; `written` gets its offset once it is in the file.

        Returns:
            Whether it is written; if not, it is queued for a retry.
        """
        with self._guard:
            self._waiting.append((line, written))
            return self._write_waiting()

    def retry(self) -> bool:
        """Check the file and retry queued lines; return whether everything is written."""
        with self._guard:
            return self._write_waiting()

    def sync(self) -> None:
        """Flush everything to the disk itself."""
        with self._guard:
            if not self._write_waiting() or self._file is None:
                return
            try:
                os.fdatasync(self._file.fd)
            except OSError as problem:
                # The system may have dropped what it could not write, so a later success proves
                # nothing.
                if self._is_confirmed:
                    self._is_confirmed = False
                    self._tell("unconfirmed", reason=self._reason(problem))
                return
            if not self._is_confirmed:
                self._is_confirmed = True
                self._tell("confirmed")

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

    def _write_waiting(self) -> bool:
        is_unused = self._file is None and not self._waiting and self.problem is None
        if self._is_closed or is_unused:  # released to others, or not created yet
            return not self._waiting
        try:
            if self._file is None and not self._open():
                return False
            assert self._file is not None
            if (what := self._file.difference()) is not None:
                self._recover(self._file, what)
            while self._waiting:
                line, written = self._waiting[0]
                offset = self._file.write(line)
                self._waiting.popleft()
                if written is not None:
                    written(offset)
        except OSError as problem:
            self._fail(problem)
            return False
        if self.problem is not None:
            self.problem = None
            self._tell("resumed" if self._is_confirmed else "resumed_unconfirmed")
        return True

    def _recover(self, file: LogFile, what: Difference) -> None:
        """Rewrite the log: the intact part of the open file, then the lines known in memory."""
        self._is_displaced = True
        if self._lock_has_changed():
            self._lock.release()
            self._acquire()
        size, missing, aside = file.recover()
        self._is_displaced = False
        parts = [self._words[what], self._words["again"].format(path=shown_path(self.path))]
        if missing is None:
            parts.append(self._words["rebuilt"])
            lines = list(self.rebuild(size)) if self.rebuild is not None else []
        else:
            lines = [(line, None) for line in missing]
        self._waiting.extendleft(reversed(lines))
        parts += [self._words["aside"].format(name=aside)] if aside else []
        self._told(" ".join(parts))

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
        """Open the file and cut off a line torn by a crash."""
        file = None
        try:
            if not self._lock.is_locked:
                self._acquire()
            file = LogFile(self.path)
            size = mend_end(file.fd, self._told, self._words)
            if self._expected is not None and size != self._expected:
                raise OSError(errno.EIO, "the log was changed by another program")
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
            self.problem = OSError(errno.EBUSY, "another process has opened this session")
        if is_new:
            advice = self._words[_ADVICE.get(self.problem.errno or 0, "other")]
            folder = shown_path(self.path.parent)
            self._tell(
                "failed", reason=self._reason(self.problem), advice=advice.format(folder=folder)
            )

    def _reason(self, problem: OSError) -> str:
        reason = problem.strerror or str(problem)
        return _REASONS_ZH.get(reason, reason) if self._words is _WORDS["zh"] else reason

    def _tell(self, phrase: str, **values: object) -> None:
        self._told(self._words[phrase].format(**values))


def mend_end(fd: int, told: Callable[[str], None], words: dict[str, str] = _WORDS["en"]) -> int:
    """Cut off a last line that a crash has torn, or add its missing newline.

    Returns:
        The size of the file afterwards.
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
        told(words["torn"].format(count=size - torn.offset))
        return torn.offset
    return size + os.write(fd, b"\n")
