"""Where sessions are kept (S2.3)."""

import os
import pwd
import re
from pathlib import Path

from contextui.errors import ContextUIError
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
