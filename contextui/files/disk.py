"""The few things done with an open file's descriptor, each whole or an error."""

import errno
import fcntl
import os
from contextlib import suppress

from contextui.files.errors import FileTooLargeError

TEXT_LIMIT = 16 * 1024 * 1024
"""The largest file that is held whole: to be edited, compared, outlined."""

_FULL_SYNC: int | None = getattr(fcntl, "F_FULLFSYNC", None)
_NO_SYNC = {errno.EINVAL, errno.ENOTSUP}
_CHUNK = 1024 * 1024


def content_of(descriptor: int, path: str, limit: int = TEXT_LIMIT) -> bytes:
    """All of a file, if that is not too much."""
    size = os.fstat(descriptor).st_size
    if size > limit:
        raise FileTooLargeError(path, size, limit)
    pieces, place = [], 0
    while piece := os.pread(descriptor, _CHUNK, place):
        pieces.append(piece)
        place += len(piece)
        if place > limit:  # it grows while it is read
            raise FileTooLargeError(path, place, limit)
    return b"".join(pieces)


def write_all(descriptor: int, data: bytes, *, at: int | None = None) -> None:
    """Write to the last byte; the system may take less at a time."""
    place, rest = at, memoryview(data)
    while rest:
        if place is None:
            taken = os.write(descriptor, rest)
        else:
            taken = os.pwrite(descriptor, rest, place)
            place += taken
        rest = rest[taken:]


def flush(descriptor: int) -> None:
    """Force a file, or a folder's names, onto the disk."""
    if _FULL_SYNC is not None:  # macOS: fsync alone leaves it in the drive's cache
        with suppress(OSError):
            fcntl.fcntl(descriptor, _FULL_SYNC)
            return
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in _NO_SYNC:  # some file systems have none for folders
            raise


def copy_attributes(source: int, target: int) -> None:
    """Give a file the owner, the mode and the extended attributes of another, where allowed."""
    old, new = os.fstat(source), os.fstat(target)
    mode = old.st_mode & 0o7777
    try:
        if (old.st_uid, old.st_gid) != (new.st_uid, new.st_gid):
            os.fchown(target, old.st_uid, old.st_gid)
    except PermissionError:
        mode &= 0o1777  # another's set-uid must not become ours
    if hasattr(os, "listxattr"):
        with suppress(OSError):
            for name in os.listxattr(source):
                with suppress(OSError):
                    os.setxattr(target, name, os.getxattr(source, name))
    os.fchmod(target, mode)
