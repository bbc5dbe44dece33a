"""`SessionStore`: find, create, list, open, fork and view sessions."""

import os
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from heapq import merge
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from contextui.errors import ContextUIError, os_reason
from contextui.plain_file import open_plain
from contextui.session.lines import (
    DamagedLineError,
    Line,
    Origin,
    fields_of,
    label,
    lines,
    lines_backwards,
    message_of,
    moment,
    origin_of,
    recent_ids,
)
from contextui.session.paths import (
    check_session_id,
    contextui_home,
    escape_project_path,
)
from contextui.text import for_model, one_line, quote
from contextui.words import Message, msg

if TYPE_CHECKING:
    from contextui.context.item import ContextItem
    from contextui.context.manager import ContextManager
    from contextui.session.restore import Loaded
    from contextui.session.session import Session, SessionOptions
    from contextui.windowing.manager import WindowManager

_REPLACED = "\ufffd"  # replaces what is not valid UTF-8
_FIRST_LINES = 60  # searched for the first user message
_LAST_LINES = 3  # searched for the time of the last write: any one may be invalid
_NO_SESSION = Message("it is damaged, or not a session")


class UnknownSessionError(ContextUIError):
    """No session id starts like this, or more than one does."""


@dataclass(frozen=True, slots=True)
class SessionInfo:
    """One session in a list of sessions, by the start and the end of its log."""

    id: str
    cwd: str
    path: Path
    first_words: str
    started: str
    updated: str
    size: int
    is_empty: bool = False
    odd_entries: int = 0
    origin: Origin | None = None


class Unreadable(NamedTuple):
    """A file or folder of sessions that cannot be read, and why."""

    path: Path
    reason: Message


class Survey(NamedTuple):
    """The sessions found, newest first, and the files that cannot be read."""

    sessions: tuple[SessionInfo, ...]
    unreadable: tuple[Unreadable, ...]

    @property
    def latest(self) -> SessionInfo | None:
        """The session that was written last; an empty one only if all are."""
        nonempty = (session for session in self.sessions if not session.is_empty)
        return next(nonempty, self.sessions[0] if self.sessions else None)


class SessionView(NamedTuple):
    """A session opened read-only."""

    info: SessionInfo
    windows: "WindowManager"
    context: "ContextManager"
    notices: list[str]
    loaded: "Loaded"
    """The result of reading its log."""

    def items(self) -> "Iterator[ContextItem]":
        """Iterate over all items by seq, including those left in the log."""
        from contextui.session.restore import older_items  # noqa: PLC0415  (see the class)

        here, loaded = self.context.get_all(), self.loaded
        items = self.context.items
        older = older_items(self.info.path, items, loaded.start, loaded.end)
        return merge(older, here, key=lambda item: item.seq)

    def close(self) -> None:
        """Stop its windows and close the workspace."""
        self.windows.shut_down()
        if self.windows.workspace is not None:
            self.windows.workspace.close()


class SessionStore:
    """All sessions in one home folder.

    Args:
        home: The folder of persistent data; by default ``CONTEXTUI_HOME`` or ``~/.contextui``.
        options: Settings for the contexts and windows of sessions.

    Example:
        >>> store = SessionStore(options=SessionOptions(classes=[TodoWindow]))
        >>> with store.create(Path.cwd()) as session:
        ...     session.context.add(ContextItem(ItemType.USER, "hello"))
        >>> store.latest(Path.cwd()).first_words
        'hello'
    """

    def __init__(
        self, home: Path | str | None = None, options: "SessionOptions | None" = None
    ) -> None:
        self.home = contextui_home(home)
        self._given = options

    @property
    def _options(self) -> "SessionOptions":
        from contextui.session.session import SessionOptions  # noqa: PLC0415  (heavy)

        return self._given or SessionOptions()

    def create(self, cwd: str | Path, *, lazy: bool = False) -> "Session":
        """Start a new session in this folder.

        Args:
            cwd: The folder.
            lazy: Create its log only when something happens, so that a session that is only opened
                and closed leaves no file.
        """
        from contextui.session.session import Session  # noqa: PLC0415  (heavy; lists need none)

        folder = os.path.abspath(cwd)
        session_id = uuid.uuid4().hex
        path = self.home / "projects" / escape_project_path(folder) / f"{session_id}.jsonl"
        return Session(session_id, folder, path, self._options, lazy=lazy)

    def open(self, session_id: str) -> "Session":
        """Resume a session, by its id or a unique prefix of it.

        Raises:
            UnknownSessionError: There is none, or there are several.
            SessionLockedError: Another process has it open.
            NewerSchemaError: A newer program wrote it; the file is not changed.
            NotASessionError: The file is not a session; it is not changed.
        """
        from contextui.session.session import Session  # noqa: PLC0415  (heavy)

        info = self.find(session_id)
        return Session(info.id, info.cwd, info.path, self._options)

    def find(self, session_id: str) -> SessionInfo:
        """Return the session with this id, or the only one whose id starts with it.

        Raises:
            UnknownSessionError: There is none, or there are several.
            InvalidSessionIdError: The id is invalid.
        """
        check_session_id(session_id)
        found = sorted(self.home.glob(f"projects/*/{session_id}*.jsonl"))
        exact = [path for path in found if path.stem == session_id]
        chosen = exact or found
        if len(chosen) != 1:
            if not found:
                raise UnknownSessionError("There is no session {name}.", name=quote(session_id))
            ids = ", ".join(path.stem for path in found[:5])
            raise UnknownSessionError(
                "Several sessions begin with {name}: {ids}.", name=session_id, ids=ids
            )
        path = chosen[0]
        try:
            return read_info(path)
        except OSError as error:
            raise UnknownSessionError(
                "Session {name} cannot be read: {why}.", name=path.stem, why=os_reason(error)
            ) from error

    def latest(self, cwd: str | Path) -> SessionInfo | None:
        """Return the session of this folder that was written last; an empty one only if all are."""
        return self.survey(cwd).latest

    def list(self, cwd: str | Path | None = None) -> list[SessionInfo]:
        """List the sessions of this folder, last written first; or of all folders, by time."""
        return [*self.survey(cwd).sessions]

    def survey(self, cwd: str | Path | None = None) -> Survey:
        """List sessions, and the files among them that cannot be read."""
        folder = None if cwd is None else escape_project_path(cwd)
        found, unreadable = list[SessionInfo](), list[Unreadable]()
        for path in _logs(self.home / "projects", folder, unreadable.append):
            try:
                info = read_info(path)
            except FileNotFoundError:
                continue  # it was just removed, or is a dangling link
            except OSError as error:
                unreadable.append(Unreadable(path, os_reason(error)))
                continue
            if not info.started:
                unreadable.append(Unreadable(path, _NO_SESSION))
            elif cwd is None or info.cwd == os.path.abspath(cwd):
                found.append(info)
        recent = recent_ids(self.home / "projects" / folder) if folder is not None else []
        ranks = {session_id: rank for rank, session_id in enumerate(recent)}
        oldest = datetime.min.replace(tzinfo=UTC)
        found.sort(
            key=lambda info: (ranks.get(info.id, -1), moment(info.updated) or oldest), reverse=True
        )
        return Survey(tuple(found), tuple(unreadable))

    def fork(self, session_id: str, turn: int | None = None) -> "Session":
        """Start a new session as a copy of another one, complete or up to the end of a turn.

        The other one may be open elsewhere: it is only read.
        """
        return self.open(self.make_fork(session_id, turn))

    def make_fork(self, session_id: str, turn: int | None = None) -> str:
        """Create a fork without opening it; return its id. See `contextui.session.fork`."""
        from contextui.session.fork import fork  # noqa: PLC0415  (heavy)

        info = self.find(session_id)
        return fork(info.path, turn, cwd=info.cwd, clock=self._options.clock)

    def view(
        self,
        session_id: str,
        turn: int | None = None,
        *,
        whole: bool = False,
        as_sent: bool = False,
    ) -> SessionView:
        """Open a session read-only, as it is now or as it was after a turn.

        With `as_sent`, open it as it was when the last request of that turn was sent. With `whole`,
        items that no request shows any more are loaded too.
        """
        from contextui.session.restore import load  # noqa: PLC0415  (heavy)

        info = self.find(session_id)
        notices = list[str]()
        windows, context = self._options.make(info.id, info.cwd, is_live=False)
        loaded = load(
            info.path, context, windows, notices.append, turn, whole=whole, as_sent=as_sent
        )
        return SessionView(info, windows, context, notices, loaded)


def _logs(
    projects: Path, folder: str | None, report: Callable[[Unreadable], None]
) -> Iterator[Path]:
    for project in _children(projects, report):
        if folder in (None, project.name):
            yield from (path for path in _children(project, report) if path.suffix == ".jsonl")


def _children(folder: Path, report: Callable[[Unreadable], None]) -> Iterator[Path]:
    try:
        yield from sorted(folder.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        report(Unreadable(folder, os_reason(error)))


def _local_name(cwd: str) -> str:
    """Restore the name of a session's folder.

    A log cannot hold a name that is not UTF-8; if the current folder matches, use its name.
    """
    if _REPLACED not in cwd:
        return cwd
    try:
        here = os.getcwd()
    except FileNotFoundError:
        return cwd
    return here if for_model(here) == cwd else cwd


def model_of(path: Path) -> str:
    """Return the model that a log names last, or in an older one what answered; may be empty."""
    from contextui.session.reader import entries, of_kinds  # noqa: PLC0415  (heavy)

    answered, kinds = "", ("model", "checkpoint", "assistant")
    with suppress(OSError), open_plain(path) as file:
        for _, entry in entries(of_kinds(lines_backwards(file), *kinds)):
            if entry.subtype == "model":
                return str(entry.data["text"])
            if entry.subtype == "checkpoint" and answered:
                break  # the name follows each checkpoint
            answered = answered or entry.model
    return f"anthropic/{answered}" if answered.startswith("claude-") else answered


def read_info(path: Path) -> SessionInfo:
    """Read the start and the end of a session's log."""
    odd: set[int] = set()

    def entries(found: Iterable[Line]) -> Iterator[dict[str, Any]]:
        for offset, text in found:
            try:
                yield fields_of(text)
            except DamagedLineError:
                if text.strip():
                    odd.add(offset)

    with open_plain(path) as file:
        first: list[dict[str, Any]] = []
        for entry in entries(lines(file)):
            first.append(entry)
            if message_of(entry) is not None or len(first) == _FIRST_LINES:
                break
        newest = [*islice(entries(lines_backwards(file)), _LAST_LINES)]
        if not (size := file.seek(0, os.SEEK_END)):
            raise OSError(None, msg("it is empty"))
    started = _time(first, path) if first else ""
    said = [text for one in first if (text := message_of(one)) is not None]
    kinds = [one.get("subtype") for one in first]
    drafts = [one.get("data") for one in first if one.get("subtype") == "draft"]
    return SessionInfo(
        id=path.stem,
        cwd=_local_name(_cwd(path, [*first, *newest])),
        path=path,
        first_words=one_line(next(iter(said), ""), 60),
        started=started,
        updated=_time(newest, path) if newest else started,
        size=size,
        is_empty=not said
        and "window_opened" not in kinds
        and not any(one and one.get("text") for one in drafts[-1:]),
        odd_entries=len(odd),
        origin=origin_of(first[0]) if first else None,
    )


def _time(found: Iterable[Mapping[str, Any]], path: Path) -> str:
    """Return the first valid timestamp of the entries, or else the file's."""
    for entry in found:
        if moment(label(entry, "timestamp")) is not None:
            return label(entry, "timestamp")
    return datetime.fromtimestamp(path.stat().st_mtime, UTC).isoformat()


def _cwd(path: Path, found: Iterable[Mapping[str, Any]]) -> str:
    """Return the folder that most entries name, and that fits the log if any does: one may be
    wrong.
    """
    named = Counter(cwd for one in found if (cwd := label(one, "cwd")))
    fitting = [cwd for cwd in named if escape_project_path(cwd) == path.parent.name]
    return max(fitting or named, key=lambda cwd: named[cwd], default="")
