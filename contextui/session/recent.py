"""The list of recent sessions of a folder."""

import os
from pathlib import Path

from filelock import FileLock, Timeout

from contextui.plain_file import open_plain, write_private
from contextui.session.paths import SESSION_ID

_NAME = "recent"
_MOST = 1_000  # sessions in the list
_LONGEST = 1 << 17  # bytes that are read; the list is always shorter
_PATIENCE = 0.2  # seconds to wait for another process


class Recent:
    """Keeps the list of recently written sessions, and moves this one to its end."""

    def __init__(self, folder: Path, session_id: str) -> None:
        self._folder, self._session_id = folder, session_id
        self._seen: tuple[int, ...] | None = None  # the file in which this session is the last

    def touch(self) -> None:
        """Move the session to the end. A failure is retried with the next entry."""
        path = self._folder / _NAME
        try:
            if self._seen is not None and self._seen == _identity(os.stat(path)):
                return
            lock = FileLock(str(self._folder / f"{_NAME}.lock"), timeout=_PATIENCE, mode=0o600)
            with lock:
                ids = recent_ids(self._folder)
                if ids[-1:] != [self._session_id]:
                    rest = [one for one in ids if one != self._session_id]
                    text = "\n".join([*rest[1 - _MOST :], self._session_id, ""])
                    self._seen = _identity(write_private(path, text.encode(), sync=False))
                else:
                    self._seen = _identity(os.stat(path))
        except (OSError, Timeout):
            self._seen = None


def recent_ids(folder: Path) -> list[str]:
    """Return the recently written sessions of a folder, last one at the end."""
    try:
        with open_plain(folder / _NAME) as file:
            data = file.read(_LONGEST + 1)
    except OSError:
        return []
    if len(data) > _LONGEST:
        return []  # not written by us
    found = data.decode("ascii", "replace").split("\n")
    return list(dict.fromkeys(one for one in found if SESSION_ID.fullmatch(one)))


def _identity(status: os.stat_result) -> tuple[int, ...]:
    return (status.st_ino, status.st_size, status.st_mtime_ns)
