"""`contextui sessions`: the sessions of this folder, or of all."""

from dataclasses import asdict
from datetime import datetime
from pathlib import Path

from contextui.cli import status
from contextui.cli.arguments import Arguments
from contextui.cli.earlier import unread
from contextui.cli.place import here
from contextui.cli.speaking import say, say_json, say_table, tell
from contextui.cli.words import words
from contextui.session.store import SessionInfo, SessionStore
from contextui.text import one_line

_SHORT_ID = 8


def run(arguments: Arguments) -> int:
    """List the sessions, the newest first."""
    survey = SessionStore().survey(None if arguments.everywhere else here())
    found = survey.sessions
    for notice in unread(survey):
        tell(notice)
    if arguments.json:
        say_json([{**asdict(info), "path": str(info.path)} for info in found])
    elif found:
        folder = [words("folder")] if arguments.everywhere else []
        heads = ["id", words("last entry"), *folder, words("first words")]
        rows = [_session_row(info, everywhere=arguments.everywhere) for info in found]
        say_table([heads, *rows])
    else:
        none_here = words(
            "There are no sessions of this folder yet; --all lists those of all folders."
        )
        say(words("There are no sessions yet.") if arguments.everywhere else none_here)
    return status.DONE


def _session_row(info: SessionInfo, *, everywhere: bool) -> list[str]:
    said = info.first_words or words("(nothing was said)")
    row = [info.id[:_SHORT_ID], _local(info.updated)]
    if not everywhere:
        return [*row, one_line(said, 50)]
    return [*row, one_line(Path(info.cwd).name or info.cwd, 20), one_line(said, 28)]


def _local(timestamp: str) -> str:
    try:
        return datetime.fromisoformat(timestamp).astimezone().strftime("%Y-%m-%d %H:%M")
    except ValueError:
        return "?"
