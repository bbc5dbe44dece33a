"""Which earlier session is meant."""

from contextui.cli.arguments import Arguments
from contextui.cli.parsers import UsageError
from contextui.cli.place import here
from contextui.session.store import SessionInfo, SessionStore
from contextui.text import one_line


def find_earlier(arguments: Arguments) -> SessionInfo | None:
    """The session that was asked to be gone on with.

    Raises:
        UsageError: There is none in this folder yet.
        UnknownSessionError: There is none of that id.
    """
    if arguments.resume is not None:
        return SessionStore().find(arguments.resume)
    return newest_session() if arguments.newest else None


def newest_session() -> SessionInfo:
    """The newest session of this folder.

    Raises:
        UsageError: There is none yet.
    """
    folder = here()
    found = SessionStore().latest(folder)
    if found is None:
        raise UsageError(f"There is no session of {one_line(str(folder), 160)} yet.")
    return found
