"""Deleted sessions: kept for thirty days in a folder from which they can be restored."""

import os
import re
import secrets
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from filelock import FileLock, Timeout

from contextui.errors import ContextUIError, os_reason
from contextui.plain_file import make_private
from contextui.session.log import SessionLockedError

KEPT_DAYS = 30
"""Days after which deleted sessions are removed for good."""

_FOLDER = "trash"
_NAME = re.compile(r"(\d{1,12})-[0-9a-f]{8}", re.ASCII)
_DAY = 86_400


class Deleted(NamedTuple):
    """A deleted session: where it was, and where its files are now."""

    path: Path
    kept: Path


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Lock a session's log, so that no other process opens or writes it."""
    lock = FileLock(str(path.with_suffix(".lock")), timeout=0, mode=0o600, thread_local=False)
    try:
        lock.acquire()
    except Timeout:
        raise SessionLockedError("Open in another terminal.") from None
    try:
        yield
    finally:
        lock.release()


def delete(path: Path, home: Path) -> Deleted:
    """Move a session, its log and the files of its windows, to the trash."""
    folder = home / _FOLDER / f"{int(time.time())}-{secrets.token_hex(4)}"
    try:
        if not path.exists():
            raise FileNotFoundError(2, os.strerror(2))
        with locked(path):
            make_private(folder)
            _move(path, folder / path.name)
    except OSError as error:
        with suppress(OSError):
            folder.rmdir()
        raise ContextUIError("Not deleted: {reason}.", reason=os_reason(error)) from error
    with suppress(OSError):
        path.with_suffix(".lock").unlink()
    return Deleted(path, folder / path.name)


def restore(deleted: Deleted) -> None:
    """Move a deleted session back to where it was."""
    try:
        if os.path.lexists(deleted.path):
            raise FileExistsError(17, os.strerror(17))
        make_private(deleted.path.parent)
        _move(deleted.kept, deleted.path)
    except OSError as error:
        raise ContextUIError("Not restored: {reason}.", reason=os_reason(error)) from error
    with suppress(OSError):
        deleted.kept.parent.rmdir()


def empty_trash(home: Path, clock: Callable[[], float] = time.time) -> int:
    """Remove sessions that were deleted more than `KEPT_DAYS` ago; return how many."""
    count = 0
    with suppress(OSError):
        for folder in (home / _FOLDER).iterdir():
            name = _NAME.fullmatch(folder.name)
            if name and clock() - int(name[1]) > KEPT_DAYS * _DAY and not folder.is_symlink():
                shutil.rmtree(folder, ignore_errors=True)
                count += not folder.exists()
    return count


def _move(log: Path, target: Path) -> None:
    """Move a log and the folder of its windows' files; the log last, as it makes the session."""
    data, moved = log.with_suffix(""), target.with_suffix("")
    has_data = data.is_dir() and not data.is_symlink()
    if has_data:
        os.rename(data, moved)
    try:
        os.rename(log, target)
    except OSError:
        if has_data:
            os.rename(moved, data)
        raise
