"""Paths of sessions: the home folder, and names of project folders."""

import os
import pwd
import re
from pathlib import Path

from contextui.errors import ContextUIError
from contextui.text import quote

SESSION_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,79}", re.ASCII)
_LONGEST_NAME = 200  # bytes that any file system allows in a folder's name, with some margin


class InvalidSessionIdError(ContextUIError):
    """The string is not a valid session id."""


class NoHomeError(ContextUIError):
    """The user has no home folder, so nothing can be saved."""


def contextui_home(home: Path | str | None = None) -> Path:
    """Return the home of persistent data: given, ``CONTEXTUI_HOME``, or ``~/.contextui``."""
    chosen = home or os.environ.get("CONTEXTUI_HOME")
    return Path(chosen).expanduser().absolute() if chosen else _users_home() / ".contextui"


def _users_home() -> Path:
    """Return the user's home. Ignores an empty ``HOME``, which Python would take for the root."""
    try:
        found = os.environ.get("HOME") or pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:
        found = ""
    if not found:
        raise NoHomeError("You have no home folder. Name one with the variable CONTEXTUI_HOME.")
    return Path(found).absolute()


def escape_project_path(path: str | Path) -> str:
    """Convert a folder's path to one name: ``/Users/foo/project`` to ``-Users-foo-project``.

    Different folders may get the same name (``/a-b/c`` and ``/a/b-c``); the cwd stored in each
    session distinguishes them. A path too long for a name is truncated to its end.
    """
    name = os.path.abspath(path).replace("/", "-").replace("\0", "-")
    raw = name.encode("utf-8", "surrogateescape")
    return raw[-_LONGEST_NAME:].decode("utf-8", "ignore") if len(raw) > _LONGEST_NAME else name


def check_session_id(session_id: str) -> str:
    """Validate a session id and return it."""
    if not SESSION_ID.fullmatch(session_id):
        raise InvalidSessionIdError("{name} cannot be the id of a session.", name=quote(session_id))
    return session_id
