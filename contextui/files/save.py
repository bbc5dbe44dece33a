"""Save files atomically: afterwards a file is the old one or the new one, never a mix.

The new content is written to a temporary file beside the old one, synced to disk, and renamed over
it. Just before the rename, the old file is read once more to detect a concurrent change. That
leaves a race between this check and the rename. Where the system can exchange two names atomically,
the race is closed too: the replaced file is checked after the exchange and restored if it is not
the expected one. Two cases remain undetectable: a program that has the old file open and keeps
writing to it, and a third program that reads and replaces the file between such an exchange and its
rollback.
"""

import ctypes
import dataclasses
import errno
import os
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from typing import Any

from contextui.errors import os_reason
from contextui.files.diff import diff_bytes
from contextui.files.errors import (
    ExistingFileError,
    FileChangedError,
    FileDeletedError,
    FileError,
    FileTooLargeError,
    SaveError,
    saving_failed,
    shown,
)
from contextui.files.paths import Found, SafePath, check_regular_file
from contextui.files.textfile import Version
from contextui.plain_file import NEW, flush, is_temporary, temporary_name, write_all
from contextui.words import msg

TEXT_LIMIT = 16 * 1024 * 1024
"""The largest file that is loaded as a whole: for editing, diffs and outlines."""

_CHUNK = 1024 * 1024


def found(spot: SafePath, limit: int = TEXT_LIMIT) -> Found:
    """What is at a path now, for a `WriteKeeper`; no guard is asked, as nobody reads it here."""
    if spot.info is None:
        return Found(None, 0, None)
    size, mode = spot.info.st_size, stat.S_IMODE(spot.info.st_mode)
    try:
        with dataclasses.replace(spot, guard=None).opened() as descriptor:
            data = content_of(descriptor, spot.path, limit)
    except (FileError, OSError):
        return Found(None, size, mode)
    return Found(data, len(data), mode)


def content_of(descriptor: int, path: str, limit: int = TEXT_LIMIT) -> bytes:
    """Read a whole file, up to a size limit."""
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


def copy_attributes(source: int, target: int) -> None:
    """Copy owner, mode and extended attributes to another file, where permitted."""
    old, new = os.fstat(source), os.fstat(target)
    mode = old.st_mode & 0o7777
    try:
        if (old.st_uid, old.st_gid) != (new.st_uid, new.st_gid):
            os.fchown(target, old.st_uid, old.st_gid)
    except PermissionError:
        mode &= 0o1777  # another user's set-uid bit must not become ours
    if hasattr(os, "listxattr"):
        with suppress(OSError):
            for name in os.listxattr(source):
                with suppress(OSError):
                    os.setxattr(target, name, os.getxattr(source, name))
    os.fchmod(target, mode)


_NO_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK}


class StrandedError(SaveError):
    """Another program's content is under the temporary name and must not be removed."""


@contextmanager
def temporary_file(
    spot: SafePath,
    data: bytes,
    *,
    like: bool = False,
    replaces: str | None = None,
    mode: int | None = None,
) -> Iterator[tuple[str, Version]]:
    """Write content to a temporary file, which is removed on exit.

    Args:
        like: Whether to copy owner, mode and attributes of the existing file.
        replaces: The hash of the content that it will replace.
        mode: The permissions of a new file; by default those that new files have.
    """
    temporary, keep = temporary_name(), False
    if spot.notes is not None:
        spot.notes.begin(spot.where, temporary, replaces)
    # Private until it has the old file's mode; a new file gets the default mode.
    is_private = like or mode is not None
    descriptor = os.open(temporary, NEW, 0o600 if is_private else 0o666, dir_fd=spot.folder)
    try:
        try:
            if spot.notes is not None:
                spot.notes.made(temporary, os.fstat(descriptor).st_ino)
            write_all(descriptor, data)
            if like:
                with spot.opened() as old:
                    copy_attributes(old, descriptor)
            elif mode is not None:
                os.fchmod(descriptor, mode & 0o777)
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
            remove_name(spot, temporary)
        if spot.notes is not None:
            spot.notes.done(temporary)


def remove_name(spot: SafePath, name: str) -> None:
    """Remove a name beside the file, if it exists."""
    with suppress(OSError):
        os.unlink(name, dir_fd=spot.folder)


def link_name(folder: int, temporary: str, name: str) -> None:
    """Link the finished file to its name, unless that exists: a link never replaces anything."""
    folders = {"src_dir_fd": folder, "dst_dir_fd": folder}
    try:
        os.link(temporary, name, **folders, follow_symlinks=False)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        # A file system without links: create the name first, at the risk that a crash right here
        # leaves an empty file.
        os.close(os.open(name, NEW, 0o600, dir_fd=folder))
        os.replace(temporary, name, **folders)


def remove_leftover_names(spot: SafePath, info: os.stat_result) -> int:
    """Remove a second name that a crash during naming may have left; return how many remain."""
    with os.scandir(spot.folder) as entries:
        leftovers = [
            entry.name
            for entry in entries
            if is_temporary(entry.name)
            and entry.name != spot.name  # never the file that is being saved
            and entry.inode() == info.st_ino
        ]
    for name in leftovers:
        remove_name(spot, name)
    return info.st_nlink - len(leftovers)


_CALL, _FLAG = ("renameatx_np", 2) if sys.platform == "darwin" else ("renameat2", 2)
_UNSUPPORTED = {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EPERM}


def exchange(folder: int, one: str, other: str) -> bool:
    """Atomically exchange two names in a folder; return False if that is not supported."""
    call = _system_call()
    if call is None:
        return False
    if call(folder, os.fsencode(one), folder, os.fsencode(other), _FLAG) == 0:
        return True
    code = ctypes.get_errno()
    if code in _UNSUPPORTED:
        return False
    raise OSError(code, os.strerror(code))


@cache
def _system_call() -> Any:
    try:
        call = getattr(ctypes.CDLL(None, use_errno=True), _CALL)
    except (OSError, AttributeError):
        return None
    call.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint]
    call.restype = ctypes.c_int
    return call


def check_unchanged(spot: SafePath, expected: Version, data: bytes) -> os.stat_result:
    """Raise unless the file still has the content that was read, and is writable."""
    try:
        info = os.stat(spot.name, dir_fd=spot.folder, follow_symlinks=False)
    except FileNotFoundError as error:
        raise deleted(spot) from error
    if not info.st_mode & 0o222:  # also for root, whom the system would allow to write
        raise _read_only(spot)
    try:
        with spot.opened(os.O_RDWR) as descriptor:
            info, content = os.fstat(descriptor), content_of(descriptor, spot.path)
    except FileError as error:
        cause = error.__cause__
        if isinstance(cause, OSError) and cause.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
            raise _read_only(spot) from error
        raise
    if not Version.of(info, content).same_content(expected):
        raise FileChangedError(spot.path, diff_bytes(content, data, spot.path))
    return info


def deleted(spot: SafePath) -> FileDeletedError:
    """The error for a file that no longer exists."""
    return FileDeletedError(
        spot.path, "{name} was deleted since it was read. Save it as a new file."
    )


def _read_only(spot: SafePath) -> SaveError:
    return SaveError(spot.path, "{name} is read-only, so it was not saved. Save it elsewhere.")


BACKUP_SUFFIX = ".contextui-backup"


def write_in_place(spot: SafePath, data: bytes, expected: Version) -> Version:
    """Overwrite the content of the file itself, with a backup, if it is still unchanged."""
    backup = spot.name + BACKUP_SUFFIX
    with spot.opened(os.O_RDWR) as descriptor:
        old = content_of(descriptor, spot.path)
        _write_backup(spot, backup, old)
        try:
            info = check_unchanged(spot, expected, data)
            if not os.path.samestat(info, os.fstat(descriptor)):  # same content, another file
                raise FileChangedError(spot.path, "")
        except BaseException:
            remove_name(spot, backup)
            raise
        try:
            _overwrite(descriptor, data)
        except BaseException:
            _restore_old(spot, descriptor, old, backup)
            raise
        remove_name(spot, backup)
        return Version.of(os.fstat(descriptor), data)


def _overwrite(descriptor: int, data: bytes) -> None:
    write_all(descriptor, data, at=0)
    os.ftruncate(descriptor, len(data))
    flush(descriptor)


def _write_backup(spot: SafePath, backup: str, old: bytes) -> None:
    with temporary_file(spot, old, like=True) as (temporary, _):
        try:
            link_name(spot.folder, temporary, backup)
        except FileExistsError as error:
            raise SaveError(
                spot.path,
                "An earlier save of {name} was interrupted: {backup} beside it has the content "
                "from before. Compare the two and remove that one first.",
                backup=shown(backup),
            ) from error
        flush(spot.folder)


def _restore_old(spot: SafePath, descriptor: int, old: bytes, backup: str) -> None:
    try:
        _overwrite(descriptor, old)
    except OSError as error:
        raise SaveError(
            spot.path,
            "{name} was only partly written. {backup} beside it has the content from before.",
            backup=shown(backup),
        ) from error
    remove_name(spot, backup)


def create(spot: SafePath, data: bytes, *, mode: int | None = None) -> Version:
    """Create a new file; never overwrite an existing one."""
    if spot.info is not None:
        raise _already_exists(spot)
    with _as_save_errors(spot), temporary_file(spot, data, mode=mode) as (temporary, version):
        try:
            link_name(spot.folder, temporary, spot.name)
        except FileExistsError as error:
            raise _already_exists(spot) from error
        remove_name(spot, temporary)
        _sync_folder(spot)
    return version


def replace(spot: SafePath, data: bytes, expected: Version, *, keep_links: bool) -> Version:
    """Replace the content of a file that was read."""
    if spot.info is not None:
        check_regular_file(spot.path, spot.info)
    with _as_save_errors(spot):
        old = check_unchanged(spot, expected, data)
        names = remove_leftover_names(spot, old) if old.st_nlink > 1 else 1
        if names > 1:
            if keep_links:
                return write_in_place(spot, data, expected)
            raise SaveError(
                spot.path,
                "{name} is one file under {count} names (hard links), and saving would separate "
                "it from the others. Save with keep_links to write into all of them.",
                count=names,
            )
        beside = temporary_file(spot, data, like=True, replaces=expected.digest)
        with beside as (temporary, version):
            check_unchanged(spot, expected, data)
            _swap_in(spot, temporary, expected, data)
            _sync_folder(spot)
    return version


def remove(spot: SafePath, expected: Version) -> None:
    """Delete a file that was read, if it is still unchanged.

    It is renamed first, then checked: a change that comes in between is put back.
    """
    if spot.info is not None:
        check_regular_file(spot.path, spot.info)
    with _as_save_errors(spot):
        check_unchanged(spot, expected, b"")
        temporary = temporary_name()
        if spot.notes is not None:
            spot.notes.begin(spot.where, temporary, expected.digest)
        _take_away(spot, temporary, expected)
        remove_name(spot, temporary)
        if spot.notes is not None:
            spot.notes.done(temporary)
        _sync_folder(spot)


def _take_away(spot: SafePath, temporary: str, expected: Version) -> None:
    """Rename a file to a temporary name; put it back if it is not the expected one."""
    try:
        os.rename(spot.name, temporary, src_dir_fd=spot.folder, dst_dir_fd=spot.folder)
    except FileNotFoundError as error:
        raise deleted(spot) from error
    stranded = msg(
        "{name} was changed on disk while it was being deleted. What it held is in {temporary} "
        "beside it."
    )
    _check_old(spot, temporary, expected, b"", _put_back, stranded=stranded)


def _check_old(
    spot: SafePath,
    temporary: str,
    expected: Version,
    data: bytes,
    put_back: Callable[[SafePath, str], None],
    *,
    stranded: str,
) -> None:
    """Check the old file, which has a temporary name now; put it back if it had changed."""
    try:
        info = os.lstat(temporary, dir_fd=spot.folder)
        old = SafePath(spot.path, spot.folder, temporary, spot.real, info)
        check_unchanged(old, expected, data)
    except BaseException:
        try:
            put_back(spot, temporary)
        except OSError as error:
            raise StrandedError(spot.path, stranded, temporary=shown(temporary)) from error
        raise


def _put_back(spot: SafePath, temporary: str) -> None:
    info = os.lstat(temporary, dir_fd=spot.folder)
    if stat.S_ISDIR(info.st_mode):  # it cannot be linked, and never replaces a file
        os.rename(temporary, spot.name, src_dir_fd=spot.folder, dst_dir_fd=spot.folder)
        return
    link_name(spot.folder, temporary, spot.name)
    remove_name(spot, temporary)


def _swap_in(spot: SafePath, temporary: str, expected: Version, data: bytes) -> None:
    """Rename the new file over the old one, and roll back if the old one had changed."""
    try:
        exchanged = exchange(spot.folder, temporary, spot.name)
    except FileNotFoundError as error:
        raise deleted(spot) from error
    if not exchanged:
        _rename(spot, temporary)
        return
    stranded = msg(
        "{name} was changed on disk while it was being saved. What it held is in {temporary} "
        "beside it."
    )
    _check_old(spot, temporary, expected, data, _rename, stranded=stranded)


def _rename(spot: SafePath, temporary: str) -> None:
    os.replace(temporary, spot.name, src_dir_fd=spot.folder, dst_dir_fd=spot.folder)


def _sync_folder(spot: SafePath) -> None:
    """Sync the new name to disk; the file is saved even if this fails."""
    try:
        flush(spot.folder)
    except OSError as error:
        raise SaveError(
            spot.path,
            "{name} was saved, but the disk did not confirm it: {why}.",
            why=os_reason(error),
        ) from error


def _already_exists(spot: SafePath) -> ExistingFileError:
    return ExistingFileError(
        spot.path, "There is a {name} already; a new file does not overwrite it."
    )


@contextmanager
def _as_save_errors(spot: SafePath) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise saving_failed(spot.path, error) from error
