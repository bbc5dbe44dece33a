"""Small files from outside: read only if they are plain files, and only up to a limit."""

import os
import stat
from pathlib import Path


def read_plain(path: Path, limit: int) -> bytes:
    """All of a plain file that has at most `limit` bytes.

    Nothing here waits: opening a pipe in the file's place would.

    Raises:
        OSError: It cannot be read, is not a plain file, or is larger.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(None, "it is not a file")
        data = file.read(limit + 1)  # its size may be untrue: files in /proc have none
    if len(data) > limit:
        raise OSError(None, f"it has more than {limit:,} bytes")
    return data
