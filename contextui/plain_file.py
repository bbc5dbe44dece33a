"""Files of contextui's own: read up to a limit, private to the person, replaced atomically."""

import errno
import fcntl
import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from contextui.words import msg

_PREFIX, _SUFFIX = ".contextui-", ".tmp"
NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
"""Flags to create a file that must not exist yet."""

_FULL_SYNC: int | None = getattr(fcntl, "F_FULLFSYNC", None)
_NO_SYNC = {errno.EINVAL, errno.ENOTSUP}


def read_plain(path: Path, limit: int) -> bytes:
    """Read a regular file of at most `limit` bytes.

    Never blocks, even if the path is a pipe.
    """
    with open_plain(path) as file:
        data = file.read(limit + 1)  # its size may be wrong: files in /proc report 0
    if len(data) > limit:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
    return data


def open_plain(path: Path) -> BinaryIO:
    """Open a regular file for reading; anything else might block."""
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise OSError(errno.EINVAL, msg("it is not a file"))
    return os.fdopen(fd, "rb")


def write_all(descriptor: int, data: bytes, *, at: int | None = None) -> None:
    """Write all bytes; a single system call may write fewer."""
    place, rest = at, memoryview(data)
    while rest:
        if place is None:
            taken = os.write(descriptor, rest)
        else:
            taken = os.pwrite(descriptor, rest, place)
            place += taken
        rest = rest[taken:]


def flush(descriptor: int) -> None:
    """Sync a file, or a folder's entries, to disk."""
    if _FULL_SYNC is not None:  # macOS: fsync alone leaves it in the drive's cache
        with suppress(OSError):
            fcntl.fcntl(descriptor, _FULL_SYNC)
            return
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in _NO_SYNC:  # some file systems do not support fsync for folders
            raise


def temporary_name() -> str:
    """A unique name for an unfinished file."""
    return f"{_PREFIX}{os.urandom(8).hex()}{_SUFFIX}"


def is_temporary(name: str) -> bool:
    """Whether this name belongs to a save in progress, or to what a crash left of one."""
    return name.startswith(_PREFIX) and name.endswith(_SUFFIX)


def make_private(folder: Path) -> None:
    """Create a folder, and missing parents, with access for the owner only."""
    if not folder.is_dir():
        make_private(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)


def write_private(
    path: Path, data: bytes, *, sync: bool = True, mode: int = 0o600
) -> os.stat_result:
    """Write a private file atomically; sync it to disk unless losing it costs little."""
    temporary = path.with_name(temporary_name())
    descriptor = os.open(temporary, NEW, 0o600)
    try:
        os.fchmod(descriptor, mode)
        write_all(descriptor, data)
        if sync:
            flush(descriptor)
        written = os.fstat(descriptor)
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    finally:
        os.close(descriptor)
    if not sync:
        return written
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        flush(folder)
    finally:
        os.close(folder)
    return written
