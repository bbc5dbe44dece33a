"""Where sessions are kept (S2.3)."""

import os
import re
from pathlib import Path

from contextui.errors import ContextUIError
from contextui.text import quote

SESSION_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,79}", re.ASCII)
_LONGEST_NAME = 200  # bytes that a folder's name may have on any file system, with some to spare


class InvalidSessionIdError(ContextUIError):
    """Something that cannot be the id of a session."""


def contextui_home(home: Path | str | None = None) -> Path:
    """The folder of all that lasts: the one given, ``CONTEXTUI_HOME``, or ``~/.contextui``."""
    chosen = home or os.environ.get("CONTEXTUI_HOME")
    return Path(chosen).expanduser().absolute() if chosen else Path.home() / ".contextui"


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
