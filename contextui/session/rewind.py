"""Go back to an earlier turn: the files that a session wrote since, and how to restore them.

Only files that this session wrote are considered, and only if they still have the content that it
wrote: a file that someone else changed since is never touched. Restoring is itself a write of the
session, so what it replaces is kept, and it can be undone.
"""

import contextlib
import uuid
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from contextui.errors import ContextUIError
from contextui.files.diff import DiffCounts, count_diff, diff_text
from contextui.files.errors import FileError, NotAFileError
from contextui.files.textfile import TextFile, Version
from contextui.plain_file import open_plain
from contextui.session.entry import Entry, is_message, item_of
from contextui.session.lines import lines, moment
from contextui.session.reader import entries, of_kinds
from contextui.session.versions import Kept, KeptVersionError, Versions, digest_of
from contextui.words import Message

if TYPE_CHECKING:
    from contextui.files.workspace import Workspace
    from contextui.session.session import Session

_KINDS = ("user", "turn_end", "file_write", "file_written", "model")
_HELD = 64 << 20  # bytes of file contents that a plan holds, now and then


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn of a session; turn 0 is the start, before the first message.

    It can be gone back to if it has ended. `when` it ended, or began if it has not. The model that
    answered may be unknown.
    """

    number: int
    message: str
    when: datetime | None
    has_ended: bool
    files: int = 0
    model: str = ""


@dataclass(frozen=True, slots=True)
class Write:
    """One write of a file, as the log has it, with hashes of what was there and what was written.

    It is done if the log says so; after a crash it may have been done anyway.
    """

    path: str
    turn: int
    before: str | None
    after: str | None
    kept: Kept
    mode: int | None
    is_done: bool = False
    rewind: str = ""

    def found(self, digest: str | None) -> bool:
        """Whether this content was there before it."""
        if digest is None:
            return self.kept == "absent"
        return digest == self.before


@dataclass(slots=True)
class Record:
    """What a log says about turns and files, and the file that it begins with before a message."""

    turns: list[Turn] = field(default_factory=list)
    writes: list[Write] = field(default_factory=list)
    begins_with: str = ""


def read_record(path: Path, is_own: Callable[[str], bool] = lambda _: True) -> Record:
    """Read the turns and the writes of a log."""
    reading = _Reading(is_own)
    with open_plain(path) as file:
        relevant = (
            line for line in lines(file) if reading.is_first or any(of_kinds([line], *_KINDS))
        )
        for _, entry in entries(relevant):
            reading.take(entry)
    return reading.result()


class _Reading:
    def __init__(self, is_own: Callable[[str], bool]) -> None:
        self._is_own = is_own
        self.is_first = True
        self._started: datetime | None = None
        self._turn = 0  # how many turns have ended
        self._message: tuple[str, datetime | None] | None = None
        self._turns: list[Turn] = []
        self._writes: dict[str, Write] = {}
        self._begins_with: str | None = None
        self._model = ""

    def take(self, entry: Entry) -> None:
        if self.is_first:
            self.is_first, self._started = False, moment(entry.timestamp)
        data: Any = entry.data
        if self._begins_with is None and (entry.type == "user" or entry.subtype == "file_write"):
            self._begins_with = data["path"] if entry.subtype == "file_write" else ""
        match entry.subtype:
            case "turn_end" if not data["early"]:
                self._end(data["turn"], moment(entry.timestamp), has_ended=True)
                self._turn = data["turn"]
            case "model":
                self._model = data["text"]
            case "file_write":
                names = ("path", "before", "after", "kept")
                facts = {name: data[name] for name in names}
                more = {"mode": data.get("mode"), "rewind": data.get("rewind", "")}
                self._writes[entry.uuid] = Write(turn=self._turn + 1, **facts, **more)
            case "file_written" if data["of"] in self._writes:
                write = self._writes[data["of"]]
                self._writes[data["of"]] = replace(write, is_done=True)
            case None if is_message(entry) and self._message is None:
                self._take_message(entry)

    def _take_message(self, entry: Entry) -> None:
        with contextlib.suppress(ContextUIError):
            item = item_of(entry)
            if item is not None and self._is_own(item.content):
                self._message = item.content, moment(entry.timestamp)

    def _end(self, number: int, when: datetime | None, *, has_ended: bool) -> None:
        if self._message is not None:
            message, began = self._message
            self._turns.append(Turn(number, message, when or began, has_ended, 0, self._model))
        self._message = None

    def result(self) -> Record:
        self._end(self._turn + 1, None, has_ended=False)
        writes = list(self._writes.values())
        start = Turn(0, "", self._started, has_ended=True)
        turns = list(_counted([start, *self._turns], writes))
        return Record(turns, writes, self._begins_with or "")


def _counted(turns: Sequence[Turn], writes: Iterable[Write]) -> Iterable[Turn]:
    """Yield the turns with the number of files; writes of a skipped turn count with the next."""
    written: dict[int, set[str]] = {}
    for write in writes:
        if not write.rewind:
            number = next((turn.number for turn in turns if turn.number >= write.turn), -1)
            written.setdefault(number, set()).add(write.path)
    for turn in turns:
        yield replace(turn, files=len(written.get(turn.number, ())))


# --- the plan --------------------------------------------------------------------------

Fate = Literal["restore", "create", "delete", "stays"]
"""What is offered: the content as it was, a file that was deleted, deleting a new one; or nothing,
as the file is left alone."""

CHANGED = Message("changed by someone else, stays")
GONE = Message("deleted by someone else, stays")
NO_FILE = Message("no longer a plain file, stays")
UNREADABLE = Message("cannot be read, stays")
NOT_KEPT = Message("what was there was not kept, stays")
TOO_LARGE = Message("too large to keep, stays")


@dataclass(frozen=True, slots=True)
class FileChange:
    """What going back means for one file: its content now and then, None where there is no file.

    It is mixed if someone else also changed it, between two writes of the session.
    """

    path: str
    fate: Fate
    reason: Message | None = None
    now: bytes | None = field(default=None, repr=False)
    then: bytes | None = field(default=None, repr=False)
    version: Version | None = None
    mode: int | None = None
    is_mixed: bool = False

    @property
    def is_offered(self) -> bool:
        """Whether the person can choose it."""
        return self.fate != "stays"

    def diff(self) -> str:
        """Return the whole change as a unified diff, now to then; a sentence for binary files."""
        if not self.is_offered:
            return ""
        try:
            now, then = (
                TextFile.from_bytes(one or b"", self.path) for one in (self.now, self.then)
            )
        except FileError:
            return ""
        return diff_text(now, then, self.path, self.path)

    def counts(self) -> DiffCounts | None:
        """Return the lines that restoring adds and removes; None for a binary file."""
        diff = self.diff()
        return count_diff(diff) if diff.startswith("--- ") else None


@dataclass(frozen=True, slots=True)
class RewindPlan:
    """What going back to a turn means for files; those that are as they were are only counted."""

    turn: int
    files: tuple[FileChange, ...]
    same: int = 0

    @property
    def offered(self) -> list[FileChange]:
        """The files that can be restored or deleted."""
        return [file for file in self.files if file.is_offered]

    @property
    def chosen_first(self) -> set[str]:
        """The paths that are chosen unless the person says otherwise."""
        sure = (file for file in self.files if file.fate in ("restore", "create"))
        return {one.path for one in sure if not one.is_mixed}


def plan(session: "Session", turn: int, record: Record | None = None) -> RewindPlan:
    """Compare the files that the session wrote since a turn with what they were. Thread-safe."""
    record = record or read_record(session.path)
    writes = [write for write in record.writes if write.turn > turn]
    files = _changes(session, writes)
    return RewindPlan(turn, files, len({write.path for write in writes}) - len(files))


def undo_plan(session: "Session", rewind: str) -> RewindPlan:
    """Compare the files that a rewind of this session wrote with what they were before it."""
    writes = [write for write in read_record(session.path).writes if write.rewind == rewind]
    return RewindPlan(session.turn, _changes(session, writes))


def _changes(session: "Session", writes: Iterable[Write]) -> tuple[FileChange, ...]:
    workspace = session.windows.workspace
    if workspace is None:
        return ()
    by_path: dict[str, list[Write]] = {}
    for write in writes:
        by_path.setdefault(write.path, []).append(write)
    changes, held = list[FileChange](), 0
    for path, ours in by_path.items():
        change = _change(workspace, session.versions, path, ours)
        if change is None:
            continue
        held += len(change.now or b"") + len(change.then or b"")
        if held > _HELD and change.is_offered:
            change = FileChange(path, "stays", TOO_LARGE)
        changes.append(change)
    return tuple(changes)


def _change(
    workspace: "Workspace", versions: Versions, path: str, writes: list[Write]
) -> FileChange | None:
    """Judge one file; None if it is as it was, or was not written after all."""
    try:
        found = workspace.found(path)
    except FileError as problem:
        is_other = isinstance(problem, NotAFileError)
        return FileChange(path, "stays", NO_FILE if is_other else UNREADABLE)
    now, version = found if found is not None else (None, None)
    digest = digest_of(now) if now is not None else None
    ours = _ours(writes, digest)
    if writes[0].found(digest) or ours == []:
        return None
    if ours is None:
        return FileChange(path, "stays", GONE if found is None else CHANGED)
    first = ours[0]
    try:
        if first.kept in ("large", "failed"):
            raise KeptVersionError("It was not kept.")
        then = versions.read(first.before) if first.before is not None else None
    except KeptVersionError:
        return FileChange(path, "stays", TOO_LARGE if first.kept == "large" else NOT_KEPT)
    fate: Fate = "delete" if then is None else "restore" if now is not None else "create"
    mode = next((one.mode for one in ours if one.mode is not None), None)
    is_mixed = any(not other.found(one.after) for one, other in pairwise(ours))
    return FileChange(path, fate, None, now, then, version, mode, is_mixed)


def _ours(writes: list[Write], digest: str | None) -> list[Write] | None:
    """Return the writes that led to this content; None if another one did.

    A write that is not done was prevented by a crash, unless what it wrote was found later.
    """
    ours = [
        one
        for one, other in zip(writes, [*writes[1:], None], strict=True)
        if one.is_done or (other.found(one.after) if other else one.after == digest)
    ]
    last = ours[-1] if ours else None
    if last is None or last.after != digest:
        is_untouched = not writes[-1].is_done and writes[-1].found(digest)
        return [] if last is None and is_untouched else None
    return ours


# --- going back ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Restored:
    """The result of restoring files; by its id, empty if no file was written, it can be undone."""

    rewind: str = ""
    restored: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
    left: tuple[tuple[str, ContextUIError], ...] = ()

    @property
    def count(self) -> int:
        """How many files were written or deleted."""
        return len(self.restored) + len(self.deleted)


def restore(session: "Session", plan: RewindPlan, chosen: Collection[str]) -> Restored:
    """Restore the chosen files. One that has changed since the plan was made is left alone.

    Each file is written as a whole or not at all. Each write is logged in this session with what
    it replaces: `undo_plan` finds them.
    """
    workspace, rewind = session.windows.workspace, uuid.uuid4().hex
    restored, deleted, left = list[str](), list[str](), list[tuple[str, ContextUIError]]()
    if workspace is None:
        return Restored()
    with session.versions.marked(rewind):
        for change in plan.offered:
            if change.path not in chosen:
                continue
            try:
                workspace.restore(
                    change.path, change.then, expected=change.version, mode=change.mode
                )
            except FileError as problem:
                left.append((change.path, problem))
            else:
                (deleted if change.then is None else restored).append(change.path)
    is_any = bool(restored or deleted)
    return Restored(rewind if is_any else "", tuple(restored), tuple(deleted), tuple(left))
