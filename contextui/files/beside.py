"""The new content beside the old file, under a name of its own until it is finished."""

import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from contextui.files.descent import Spot
from contextui.files.disk import copy_attributes, flush, write_all
from contextui.files.errors import SaveError
from contextui.files.version import Version

_PREFIX, _SUFFIX = ".contextui-", ".tmp"
NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
"""How a file is opened that must not be there yet."""

_NO_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK}


class StrandedError(SaveError):
    """Another's content stands under the temporary name and must not be removed."""


def temporary_name() -> str:
    """A name that nothing else has, for what is not finished."""
    return f"{_PREFIX}{secrets.token_hex(8)}{_SUFFIX}"


def is_temporary(name: str) -> bool:
    """Whether this is a save under way, or what a crash left of one; never content."""
    return name.startswith(_PREFIX) and name.endswith(_SUFFIX)


@contextmanager
def written_beside(
    spot: Spot, data: bytes, *, like: bool = False, replaces: str | None = None
) -> Iterator[tuple[str, Version]]:
    """A finished file with this content, whose name is gone in the end.

    Args:
        spot: Where it is to be saved later.
        data: The content.
        like: Whether it gets owner, mode and attributes of the file that stands there.
        replaces: The hash of the content in whose place it will be put.
    """
    temporary, keep = temporary_name(), False
    if spot.notes is not None:
        spot.notes.begin(spot.where, temporary, replaces)
    # Nobody else may read it before it has the old file's mode; a new file gets the usual one.
    descriptor = os.open(temporary, NEW, 0o600 if like else 0o666, dir_fd=spot.folder)
    try:
        try:
            if spot.notes is not None:
                spot.notes.made(temporary, os.fstat(descriptor).st_ino)
            write_all(descriptor, data)
            if like:
                _make_alike(spot, descriptor)
            flush(descriptor)
            version = Version.of(os.fstat(descriptor), data)
        finally:
            os.close(descriptor)
        yield temporary, version
    except StrandedError:
        keep = True
        raise
    finally:
        if not keep:
            forget(spot, temporary)
        if spot.notes is not None:
            spot.notes.done(temporary)


def _make_alike(spot: Spot, descriptor: int) -> None:
    old = spot.open()
    try:
        copy_attributes(old, descriptor)
    finally:
        os.close(old)


def forget(spot: Spot, name: str) -> None:
    """Remove a name beside the file, if it is there."""
    with suppress(OSError):
        os.unlink(name, dir_fd=spot.folder)


def give_name(folder: int, temporary: str, name: str) -> None:
    """Name the finished file, unless the name is taken: a link never replaces anything."""
    folders = {"src_dir_fd": folder, "dst_dir_fd": folder}
    try:
        os.link(temporary, name, **folders, follow_symlinks=False)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        # A file system without links: take the name first, at the risk that a crash right
        # here leaves an empty file.
        os.close(os.open(name, NEW, 0o600, dir_fd=folder))
        os.replace(temporary, name, **folders)


def part_from_litter(spot: Spot, info: os.stat_result) -> int:
    """Remove the second name that a crash while naming may have left; how many names remain."""
    with os.scandir(spot.folder) as entries:
        litter = [
            entry.name
            for entry in entries
            if is_temporary(entry.name)
            and entry.name != spot.name  # never the file that is being saved
            and entry.inode() == info.st_ino
        ]
    for name in litter:
        forget(spot, name)
    return info.st_nlink - len(litter)
