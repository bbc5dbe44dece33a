"""Which earlier session is meant."""

from typing import NamedTuple

from contextui.cli.arguments import Arguments
from contextui.cli.parsers import UsageError
from contextui.cli.place import here
from contextui.cli.words import counted, words
from contextui.session.store import SessionInfo, SessionStore, Survey
from contextui.text import one_line

_MOST = 3  # that are named of those that cannot be read


class Earlier(NamedTuple):
    """A session to go on with or to look at, and what to know about the choice."""

    info: SessionInfo
    notices: tuple[str, ...] = ()


def find_earlier(arguments: Arguments) -> Earlier | None:
    """The session that was asked to be gone on with.

    Raises:
        UsageError: There is none in this folder yet.
        UnknownSessionError: There is none of that id.
    """
    if arguments.resume is not None:
        return Earlier(SessionStore().find(arguments.resume))
    return _newest() if arguments.newest else None


def session_of(arguments: Arguments) -> Earlier:
    """The session that was named, or else the newest one of this folder.

    Raises:
        UsageError: There is none in this folder yet.
        UnknownSessionError: There is none of that id.
    """
    if arguments.session is None:
        return _newest()
    return Earlier(SessionStore().find(arguments.session))


def unread(survey: Survey) -> tuple[str, ...]:
    """What to know about files that should hold sessions, in at most one line."""
    found = survey.unreadable
    if not found:
        return ()
    which = "; ".join(f"{one_line(str(one.path), 300)}: {one.reason}" for one in found[:_MOST])
    more = "; …" if len(found) > _MOST else ""
    many = counted(
        len(found), "{count} session cannot be read:", "{count} sessions cannot be read:"
    )
    return (f"{many} {which}{more}.",)


def _newest() -> Earlier:
    folder = here()
    survey = SessionStore().survey(folder)
    if survey.latest is None:
        said = words("There is no session of {folder} yet.", folder=one_line(str(folder), 160))
        raise UsageError(" ".join([said, *unread(survey)]))
    return Earlier(survey.latest, unread(survey))
