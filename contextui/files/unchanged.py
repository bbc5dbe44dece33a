"""The look at a file before it is replaced: is it still what was read?"""

import errno
import os

from contextui.files.descent import Spot
from contextui.files.diff import diff_bytes
from contextui.files.disk import content_of
from contextui.files.errors import (
    FileChangedError,
    FileDeletedError,
    FileError,
    ReadOnlyFileError,
    shown,
)
from contextui.files.version import Version


def check_unchanged(spot: Spot, expected: Version, data: bytes) -> os.stat_result:
    """Raise unless the file has the content that was read, and may be written to.

    Args:
        spot: The file.
        expected: What was read.
        data: What is to be saved, for the diff.
    """
    try:
        info = os.stat(spot.name, dir_fd=spot.folder, follow_symlinks=False)
    except FileNotFoundError as error:
        raise deleted(spot) from error
    if not info.st_mode & 0o222:  # also for root, whom the system would let pass
        raise _read_only(spot)
    try:
        descriptor = spot.open(os.O_RDWR)
    except FileError as error:
        cause = error.__cause__
        if isinstance(cause, OSError) and cause.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
            raise _read_only(spot) from error
        raise
    try:
        info, content = os.fstat(descriptor), content_of(descriptor, spot.path)
    finally:
        os.close(descriptor)
    if not Version.of(info, content).same_content(expected):
        raise FileChangedError(spot.path, diff_bytes(content, data, spot.path))
    return info


def deleted(spot: Spot) -> FileDeletedError:
    """The error for a file that is no longer there."""
    return FileDeletedError(
        spot.path,
        f"{shown(spot.path)} was deleted since it was read. Save it as a new file.",
        f"{shown(spot.path)} 在读取之后被删除。请存为新文件。",
    )


def _read_only(spot: Spot) -> ReadOnlyFileError:
    return ReadOnlyFileError(
        spot.path,
        f"{shown(spot.path)} is read-only, so it was not saved. Save it elsewhere.",
        f"{shown(spot.path)} 是只读的，没有保存。请存到别处。",
    )
