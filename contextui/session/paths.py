"""Where sessions are kept (S2.3)."""

import os
import pwd
import re
from pathlib import Path

from filelock import FileLock, Timeout

from contextui.errors import ContextUIError
from contextui.files.save import write_all
from contextui.session.logfile import open_plain
from contextui.text import quote

SESSION_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,79}", re.ASCII)
_LONGEST_NAME = 200  # bytes that a folder's name may have on any file system, with some to spare


class InvalidSessionIdError(ContextUIError):
    """Something that cannot be the id of a session."""


class NoHomeError(ContextUIError):
    """A user without a folder of their own, where nothing can be kept."""


def contextui_home(home: Path | str | None = None) -> Path:
    """The folder of all that lasts: the one given, ``CONTEXTUI_HOME``, or ``~/.contextui``.

    Raises:
        NoHomeError: The system knows no home of this user.
    """
    chosen = home or os.environ.get("CONTEXTUI_HOME")
    return Path(chosen).expanduser().absolute() if chosen else _users_home() / ".contextui"


def _users_home() -> Path:
    """The user's own folder. An empty ``HOME`` says nothing; Python would take it for the root."""
    try:
        found = os.environ.get("HOME") or pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:
        found = ""
    if not found:
        raise NoHomeError("You have no home folder. Name one with the variable CONTEXTUI_HOME.")
    return Path(found).absolute()


def escape_project_path(path: str | Path) -> str:
    """A folder's path as one name: ``/Users/foo/project`` becomes ``-Users-foo-project``.

    Different folders may share a name (``/a-b/c`` and ``/a/b-c``); the cwd that each session
    stores decides whose it is. A path too long for a name keeps its end, which tells most.
    """
    name = os.path.abspath(path).replace("/", "-").replace("\0", "-")
    raw = name.encode("utf-8", "surrogateescape")
    return raw[-_LONGEST_NAME:].decode("utf-8", "ignore") if len(raw) > _LONGEST_NAME else name


def check_session_id(session_id: str) -> str:
    """The id itself, if it is one.

    Raises:
        InvalidSessionIdError: It is none, and might lead out of the folder.
    """
    if not SESSION_ID.fullmatch(session_id):
        raise InvalidSessionIdError(f"{quote(session_id)} cannot be the id of a session.")
    return session_id


_NAME = "recent"
_MOST = 1_000  # sessions that are remembered
_LONGEST = 1 << 17  # bytes that are read; so many ids have less
_PATIENCE = 0.2  # seconds to wait for another process


class Recent:
    """Notes that a session was written, whenever another one was written since.

    Args:
        folder: The folder that holds the logs of one project.
        session_id: The session that is written here.
    """

    def __init__(self, folder: Path, session_id: str) -> None:
        self._folder, self._session_id = folder, session_id
        self._seen: tuple[int, ...] | None = None  # the file that has this session at its end

    def touch(self) -> None:
        """Put the session at the end. What fails is tried again with the next entry."""
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
                    self._seen = _identity(_replace(path, text.encode()))
                else:
                    self._seen = _identity(os.stat(path))
        except (OSError, Timeout):
            self._seen = None


def _replace(path: Path, data: bytes) -> os.stat_result:
    """Put a file in the place of another. Losing it costs little, so no disk is waited for."""
    new = path.with_suffix(".new")  # what a crash leaves of it is overwritten
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    descriptor = os.open(new, flags, 0o600)
    try:
        write_all(descriptor, data)
        os.replace(new, path)
        return os.fstat(descriptor)
    finally:
        os.close(descriptor)


def recent_ids(folder: Path) -> list[str]:
    """The sessions of a folder that are known to have been written, the last one at the end."""
    try:
        with open_plain(folder / _NAME) as file:
            data = file.read(_LONGEST + 1)
    except OSError:
        return []
    if len(data) > _LONGEST:
        return []  # we never wrote that
    found = data.decode("ascii", "replace").split("\n")
    return list(dict.fromkeys(one for one in found if SESSION_ID.fullmatch(one)))


def _identity(status: os.stat_result) -> tuple[int, ...]:
    return (status.st_ino, status.st_size, status.st_mtime_ns)
