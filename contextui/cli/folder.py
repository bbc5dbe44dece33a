"""The working folder: its settings, AGENTS.md and earlier sessions."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from contextui.cli.arguments import Arguments
from contextui.cli.flags import UsageError
from contextui.cli.settings import here
from contextui.session.store import SessionInfo, SessionStore, UnknownSessionError, Unreadable
from contextui.text import shown_path
from contextui.words import t

NAME = "AGENTS.md"
_LARGEST = 1_000_000  # bytes; far more than any prompt has room for


class Guide(NamedTuple):
    """The text of AGENTS.md, and notices about it."""

    text: str = ""
    notices: tuple[str, ...] = ()


def read_guide(folder: Path) -> Guide:
    """Read a folder's AGENTS.md; if that fails, return a notice instead."""
    # Lists of sessions need none of these.
    from contextui.agent.prompt import LONGEST_GUIDE  # noqa: PLC0415
    from contextui.files.errors import FileError, MissingFileError  # noqa: PLC0415
    from contextui.files.textfile import TextFile  # noqa: PLC0415
    from contextui.files.workspace import Workspace  # noqa: PLC0415

    try:
        with Workspace(folder) as workspace:
            data = workspace.for_model().read_bytes(NAME, limit=_LARGEST)
            text = TextFile.from_bytes(data, NAME).text
    except MissingFileError:
        return Guide()
    except FileError as error:
        return Guide(notices=(t("{file} is ignored. {error}", file=NAME, error=error),))
    count = len(text.strip())
    cut = t(
        "{file} has {count} characters; the model gets the first {most}.",
        file=NAME,
        count=f"{count:,}",
        most=f"{LONGEST_GUIDE:,}",
    )
    return Guide(text, (cut,) if count > LONGEST_GUIDE else ())


_MOST = 3  # unreadable sessions that are named


class Earlier(NamedTuple):
    """An earlier session, and notices about the choice."""

    info: SessionInfo
    notices: tuple[str, ...] = ()


def find_earlier(arguments: Arguments) -> Earlier | None:
    """Return the session to resume, if one was requested."""
    if arguments.resume is not None:
        return Earlier(_named(arguments.resume))
    return _newest() if arguments.newest else None


def session_of(arguments: Arguments) -> Earlier:
    """Return the session that was named, or the newest one of this folder."""
    return _newest() if arguments.session is None else Earlier(_named(arguments.session))


def unreadable_notices(unreadable: Sequence[Unreadable]) -> tuple[str, ...]:
    """Format a notice about unreadable session files and folders."""
    if not unreadable:
        return ()
    named = [f"{shown_path(path)}: {t(why)}" for path, why in unreadable[:_MOST]]
    which = "; ".join([*named, *(["…"] if len(unreadable) > _MOST else [])])
    return (t("Some sessions cannot be read: {which}.", which=which),)


def _named(session_id: str) -> SessionInfo:
    store = SessionStore()
    try:
        return store.find(session_id)
    except UnknownSessionError as error:
        # It may be in an unreadable folder.
        folders = [one for one in store.survey().unreadable if one.path.suffix != ".jsonl"]
        listed = t("See contextui sessions --all.")
        raise UsageError(" ".join([t(error), *unreadable_notices(folders), listed])) from error


def _newest() -> Earlier:
    folder = here()
    survey = SessionStore().survey(folder)
    if survey.latest is not None:
        return Earlier(survey.latest, unreadable_notices(survey.unreadable))
    shown = shown_path(folder)
    if survey.unreadable:
        none = t("No session of {folder} can be read.", folder=shown)
        raise UsageError(" ".join([none, *unreadable_notices(survey.unreadable)]))
    raise UsageError(
        "There is no session of {folder} yet. contextui or contextui -p PROMPT starts one.",
        folder=shown,
    )
