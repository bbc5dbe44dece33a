"""Which earlier session is meant."""

from collections.abc import Sequence
from typing import NamedTuple

from contextui.cli.arguments import Arguments
from contextui.cli.place import here
from contextui.cli.usage import UsageError
from contextui.cli.words import in_ours, words
from contextui.session.store import SessionInfo, SessionStore, UnknownSessionError, Unreadable
from contextui.text import one_line, shown_path

_MOST = 3  # that are named of those that cannot be read


class Earlier(NamedTuple):
    """A session to go on with or to look at, and what to know about the choice."""

    info: SessionInfo
    notices: tuple[str, ...] = ()


def find_earlier(arguments: Arguments) -> Earlier | None:
    """The session that was asked to be gone on with.

    Raises:
        UsageError: There is none of that id, or none in this folder yet.
    """
    if arguments.resume is not None:
        return Earlier(_named(arguments.resume))
    return _newest() if arguments.newest else None


def session_of(arguments: Arguments) -> Earlier:
    """The session that was named, or else the newest one of this folder.

    Raises:
        UsageError: There is none of that id, or none in this folder yet.
    """
    return _newest() if arguments.session is None else Earlier(_named(arguments.session))


def unread(unreadable: Sequence[Unreadable]) -> tuple[str, ...]:
    """What to know about files and folders that should hold sessions, in at most one line."""
    if not unreadable:
        return ()
    named = [f"{one_line(str(path), 300)}: {in_ours(why)}" for path, why in unreadable[:_MOST]]
    which = "; ".join([*named, *(["…"] if len(unreadable) > _MOST else [])])
    return (words("There are sessions that cannot be read: {which}.", which=which),)


def _named(session_id: str) -> SessionInfo:
    store = SessionStore()
    try:
        return store.find(session_id)
    except UnknownSessionError as error:
        # It may be where nobody can look.
        folders = [one for one in store.survey().unreadable if one.path.suffix != ".jsonl"]
        listed = words("contextui sessions --all lists those there are.")
        raise UsageError(" ".join([in_ours(str(error)), *unread(folders), listed])) from error


def _newest() -> Earlier:
    folder = here()
    survey = SessionStore().survey(folder)
    if survey.latest is not None:
        return Earlier(survey.latest, unread(survey.unreadable))
    shown = shown_path(folder)
    if survey.unreadable:
        none = words("No session of {folder} can be read.", folder=shown)
        raise UsageError(" ".join([none, *unread(survey.unreadable)]))
    raise UsageError(
        "There is no session of {folder} yet; contextui alone, or with -p, begins one.",
        folder=shown,
    )
