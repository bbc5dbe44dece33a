"""Small files: read untrusted ones only up to a size limit, and replace one atomically."""

import errno
import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from contextui.words import msg


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


def replace_plain(path: Path, data: bytes, mode: int = 0o600) -> None:
    """Replace a file; at no time is half of it there, or can anyone read it who should not."""
    new = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    try:
        with os.fdopen(descriptor, "wb") as file:
            os.fchmod(descriptor, mode)
            file.write(data)
            file.flush()
            os.fsync(descriptor)
        os.replace(new, path)
    except OSError:
        with suppress(OSError):
            new.unlink()
        raise
