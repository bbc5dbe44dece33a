"""Reading small untrusted files: only regular files, and only up to a size limit."""

import os
import stat
from pathlib import Path


def read_plain(path: Path, limit: int) -> bytes:
    """Read a regular file of at most `limit` bytes.

    Never blocks, even if the path is a pipe.

    Raises:
        OSError: It cannot be read, is not a regular file, or is larger.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(None, "it is not a file")
        data = file.read(limit + 1)  # its size may be wrong: files in /proc report 0
    if len(data) > limit:
        raise OSError(None, f"it has more than {limit:,} bytes")
    return data
