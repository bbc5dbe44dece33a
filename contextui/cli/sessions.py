"""`contextui sessions`: list the sessions of this folder, or of all."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict

from contextui.cli import flags
from contextui.cli.arguments import Arguments
from contextui.cli.console import cut_before, say, say_json, say_table, terminal_columns, warn
from contextui.cli.folder import unreadable_notices
from contextui.cli.settings import here
from contextui.session.lines import moment
from contextui.session.store import SessionInfo, SessionStore
from contextui.text import cut, one_line, width
from contextui.words import t

_SHORT_ID = 8
_MOST = 5  # sessions that are named in a notice


def run(arguments: Arguments) -> int:
    """List the sessions, newest first."""
    survey = SessionStore().survey(None if arguments.everywhere else here())
    found = survey.sessions
    warn(*unreadable_notices(survey.unreadable), *_odd(found))
    if arguments.json:
        say_json([{**asdict(info), "path": str(info.path)} for info in found])
    elif not found and survey.unreadable:
        say(t("None can be read."))
    elif found:
        folder = [t("folder")] if arguments.everywhere else []
        heads = ["id", t("updated"), *folder, t("first prompt")]
        rows = [_session_row(info, everywhere=arguments.everywhere) for info in found]
        say_table(_fitting([heads, *rows]))
    else:
        none_here = t("There are no sessions of this folder yet; --all lists those of all folders.")
        say(t("There are no sessions yet.") if arguments.everywhere else none_here)
    return flags.DONE


def _odd(found: Sequence[SessionInfo]) -> Iterator[str]:
    odd = [f"{info.id[:_SHORT_ID]} ({info.odd_entries})" for info in found if info.odd_entries]
    which = ", ".join([*odd[:_MOST], *(["…"] if len(odd) > _MOST else [])])
    if odd:
        yield t(
            "Some entries of these sessions cannot be read and are skipped: {which}.", which=which
        )


def _session_row(info: SessionInfo, *, everywhere: bool) -> list[str]:
    prompt = one_line(info.first_words or t("(no prompt)"), 50)
    prompt = info.origin.titled(prompt, t) if info.origin is not None else prompt
    folder = [one_line(_from_home(info.cwd), 1_000)] if everywhere else []
    return [info.id[:_SHORT_ID], _local(info.updated), *folder, prompt]


def _from_home(path: str) -> str:
    home = os.path.expanduser("~")
    inside = path == home or path.startswith(home.rstrip("/") + "/")
    return f"~{path[len(home.rstrip('/')) :]}" if inside and home != "/" else path


def _fitting(rows: list[list[str]]) -> list[list[str]]:
    """Truncate the rows to the terminal's width: of a folder, the end is kept."""
    columns = terminal_columns()
    if columns is None:
        return rows
    room = columns - sum(width(cell) + 2 for cell in rows[-1][:2])
    if len(rows[0]) == 3:
        return [[*row[:2], cut(row[2], room)] for row in rows]
    folder = min(max(width(row[2]) for row in rows), room // 2)
    return [[*row[:2], cut_before(row[2], folder), cut(row[3], room - folder - 2)] for row in rows]


def _local(timestamp: str) -> str:
    try:
        when = moment(timestamp)
        return when.astimezone().strftime("%Y-%m-%d %H:%M") if when is not None else "?"
    except OverflowError:  # the first or last representable day, in another time zone
        return "?"
