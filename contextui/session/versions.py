"""Kept versions of files: what was there before each write of a session, and a record of writes.

A copy is kept before the file is written, and the log names it before and after that: a crash in
between leaves a copy that is not needed, never a write without one. Copies are private, named by
the hash of their content, and checked against it when they are read.
"""

import hashlib
import os
import stat
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Literal

from contextui.errors import ContextUIError
from contextui.files.paths import Found
from contextui.files.save import TEXT_LIMIT
from contextui.plain_file import is_temporary, make_private, read_plain, write_private
from contextui.session.entry import system_entry
from contextui.session.fork import KEPT

MOST_KEPT = 1 << 30
"""Bytes of copies that one session keeps."""

Kept = Literal["kept", "absent", "large", "failed"]
"""Whether a copy was kept: there was nothing to keep, it is too large, or that failed."""

_PRIVATE = 0o700


class KeptVersionError(ContextUIError):
    """A kept version is missing, damaged, or not ours."""


def digest_of(data: bytes) -> str:
    """Return the name of a content."""
    return hashlib.sha256(data).hexdigest()


class Versions:
    """Keeps what was at a path before each write, see `WriteKeeper`."""

    def __init__(self, folder: Path, write: Callable[[dict[str, Any], str], object]) -> None:
        self._folder, self._write = folder / KEPT, write
        self._lock = threading.Lock()
        self._total: int | None = None
        self._marks: dict[int, str] = {}  # rewinds under way, by thread

    @contextmanager
    def marked(self, rewind: str) -> Iterator[None]:
        """Mark the writes of this thread as parts of a rewind."""
        thread = threading.get_ident()
        self._marks[thread] = rewind
        try:
            yield
        finally:
            del self._marks[thread]

    def begin(self, path: str, found: Found, new: bytes | None) -> Callable[[], None]:
        """Keep what is there, and log what will be written. Never raises."""
        with self._lock:
            kept = self._keep(found)
        identity, rewind = uuid.uuid4().hex, self._marks.get(threading.get_ident())
        before = digest_of(found.data) if found.data is not None else None
        facts = {
            "path": path,
            "before": before,
            "after": digest_of(new) if new is not None else None,
            "size": found.size,
            "mode": found.mode,
            "kept": kept,
            **({"rewind": rewind} if rewind else {}),
        }
        self._write(system_entry("file_write", **facts), identity)

        def written() -> None:
            self._write(system_entry("file_written", of=identity), uuid.uuid4().hex)

        return written

    def read(self, digest: str) -> bytes:
        """Read a kept version."""
        try:
            check_private(self._folder)
            path = self._folder / digest
            if not stat.S_ISREG(os.lstat(path).st_mode):
                raise OSError
            data = read_plain(path, TEXT_LIMIT)
        except OSError as error:
            raise KeptVersionError("The kept copy cannot be read.") from error
        if digest_of(data) != digest:
            raise KeptVersionError("The kept copy was changed by another program.")
        return data

    def _keep(self, found: Found) -> Kept:
        if found.mode is None:
            return "absent"
        if found.data is None:
            return "large" if found.size > TEXT_LIMIT else "failed"
        digest = digest_of(found.data)
        try:
            with suppress(KeptVersionError):
                self.read(digest)
                return "kept"
            make_private(self._folder)
            check_private(self._folder)
            if self._total is None:
                self._total = self._tidy()
            if self._total + found.size > MOST_KEPT:
                return "large"
            write_private(self._folder / digest, found.data)
            self._total += found.size
        except OSError:
            return "failed"
        return "kept"

    def _tidy(self) -> int:
        """Remove what a crash left of unfinished copies; return the bytes of all others.

        Only one process has the session open.
        """
        total = 0
        with os.scandir(self._folder) as there:
            for one in there:
                if is_temporary(one.name):
                    os.unlink(one.path)
                else:
                    total += one.stat(follow_symlinks=False).st_size
        return total


def check_private(folder: Path) -> None:
    """Check that the folder of kept versions is a real one, of this person alone."""
    for one in (folder.parent, folder):
        info = os.lstat(one)
        is_ours = stat.S_ISDIR(info.st_mode) and info.st_uid == os.geteuid()
        if not is_ours or stat.S_IMODE(info.st_mode) & ~_PRIVATE:
            raise PermissionError(str(one))
