"""Clean up temporary files that killed saves left behind.

Each process records its temporary files before it creates them, in one file of notes that it keeps
locked while it runs. A later process reads the notes of processes that have ended and removes the
files they name, if their origin is certain: the very file that was created, an empty one, or the
content that was being replaced. Any other file under such a name belongs to another program and
stays.
"""

import fcntl
import json
import os
import secrets
import stat
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

from contextui.files.errors import FileError
from contextui.files.save import content_of
from contextui.files.textfile import Version
from contextui.plain_file import is_temporary, make_private

_MOST_BYTES = 1 << 20  # of notes; above this they are truncated after a save


class Leftovers:
    """Records the temporary files that a process creates.

    Failing to write notes is harmless: saves continue without them.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._path = folder / f"{os.getpid()}-{secrets.token_hex(4)}.jsonl"
        self._lock = threading.Lock()
        self._fd: int | None = None

    def begin(self, folder: str, name: str, replaces: str | None) -> None:
        """Record a file before it is created."""
        self._write({"folder": folder, "name": name, "digest": replaces})

    def made(self, name: str, inode: int) -> None:
        """Record the inode of the created file."""
        self._write({"name": name, "inode": inode})

    def done(self, name: str) -> None:
        """Record that no file of this name is left to remove."""
        self._write({"name": name, "done": True})

    def close(self) -> None:
        """Delete the notes: this process saves nothing more."""
        with self._lock:
            if self._fd is not None:
                with suppress(OSError):
                    self._path.unlink()
                os.close(self._fd)
                self._fd = None

    def _write(self, facts: dict[str, Any]) -> None:
        with self._lock, suppress(OSError, ValueError):
            if self._fd is None:
                make_private(self._folder)
                flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC
                self._fd = os.open(self._path, flags | os.O_NOFOLLOW, 0o600)
                fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if facts.get("done") and os.fstat(self._fd).st_size > _MOST_BYTES:
                os.ftruncate(self._fd, 0)
            os.write(self._fd, json.dumps(facts).encode() + b"\n")


def remove_leftovers(folder: Path) -> list[Path]:
    """Remove the temporary files of processes that have ended; return the removed paths."""
    removed = list[Path]()
    with suppress(OSError):
        for notes in sorted(folder.iterdir()):
            with suppress(OSError):
                removed += _remove_of(notes)
    return removed


def _remove_of(notes: Path) -> list[Path]:
    fd = os.open(notes, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            return []
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)  # fails while its process runs
        left = _left(content_of(fd, notes.name))
        removed = [path for facts in left if (path := _remove(facts)) is not None]
        notes.unlink()
        return removed
    except FileError:
        return []
    finally:
        os.close(fd)


def _left(data: bytes) -> list[dict[str, Any]]:
    """Parse the notes of files that are not done."""
    files: dict[str, dict[str, Any]] = {}
    for line in data.splitlines():
        try:
            facts = json.loads(line)
            name = facts["name"]
        except (ValueError, TypeError, KeyError):
            continue  # torn by the same kill
        if facts.get("done"):
            files.pop(name, None)
        else:
            files.setdefault(name, {}).update(facts)
    return list(files.values())


def _remove(facts: dict[str, Any]) -> Path | None:
    name, where = facts.get("name"), facts.get("folder")
    if not isinstance(name, str) or not isinstance(where, str):
        return None
    if os.sep in name or not is_temporary(name):
        return None
    try:
        folder = os.open(where, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        info = os.stat(name, dir_fd=folder, follow_symlinks=False)
        if not _is_ours(folder, name, info, facts):
            return None
        os.unlink(name, dir_fd=folder)
        return Path(where, name)
    except OSError:
        return None
    finally:
        os.close(folder)


def _is_ours(folder: int, name: str, info: os.stat_result, facts: dict[str, Any]) -> bool:
    if not stat.S_ISREG(info.st_mode) or info.st_uid != os.geteuid():
        return False
    if info.st_size == 0 or info.st_ino == facts.get("inode"):
        return True
    digest = facts.get("digest")
    if digest is None:
        return False
    fd = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    try:
        return bool(Version.of(info, content_of(fd, name)).digest == digest)
    except FileError:  # too large to have been read
        return False
    finally:
        os.close(fd)
