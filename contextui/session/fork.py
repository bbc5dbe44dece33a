"""Fork a session: a new log that continues an earlier one, from its end or from the end of a turn.

The other log is only read, so it may be open elsewhere. Its lines are copied; the header of the
copy names where they come from. Files that windows keep beside the log are copied too, and kept
versions of written files are linked: they never change.
"""

import contextlib
import json
import os
import shutil
import uuid
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from contextui.errors import ContextUIError
from contextui.files.protection import make_private
from contextui.files.save import NEW, flush, link_name, temporary_name
from contextui.plain_file import open_plain
from contextui.session.entry import DamagedLineError, Entry, decode, with_offsets
from contextui.session.items import Stamp, header, system_entry
from contextui.session.paths import SESSION_ID
from contextui.session.recent import Recent
from contextui.session.restore import UnknownTurnError, check_is_session
from contextui.windowing.window import Clock, utc_now

KEPT = ".kept"
"""The folder of kept file versions, beside those of windows; no window id begins with a dot."""

_HIGHEST_TURN = 10**8
_INTERESTING = (
    b'"turn_end"',
    b'"window_',
    b'"file_write"',
    b'"checkpoint"',
    b'"session"',
    b'"title"',
)


class Origin(NamedTuple):
    """Where a fork comes from: the id of the other session, and after which turn.

    The turn is None if everything was copied.
    """

    parent: str
    turn: int | None


def origin_of(entry: Entry) -> Origin | None:
    """Return where a log was forked from, by its header; None if it is no fork."""
    data = entry.data if entry.subtype == "session" and isinstance(entry.data, dict) else {}
    parent, turn = data.get("parent"), data.get("turn")
    if not isinstance(parent, str) or not SESSION_ID.fullmatch(parent):
        return None
    is_turn = type(turn) is int and 0 <= turn <= _HIGHEST_TURN
    return Origin(parent, turn if is_turn else None)


def fork(
    path: Path,
    turn: int | None = None,
    *,
    cwd: str = "",
    clock: Clock = utc_now,
    draft: str | None = None,
) -> str:
    """Copy a session up to the end of a turn; return the id of the copy.

    What the session has not written yet is not copied: `Session.save` it first.

    Args:
        path: The log of the other session.
        turn: The last turn to copy; None for everything, 0 for what was before the first message
            and the first written file.
        cwd: The folder of the session.
        clock: Returns the current time.
        draft: The unsent input of the copy; by default that of the other session at that time.

    Raises:
        UnknownTurnError: The session has no such turn. Nothing was created.
    """
    check_is_session(path)
    new_id = uuid.uuid4().hex
    target = path.with_name(f"{new_id}.jsonl")
    data = target.with_suffix("")
    make_private(target.parent)
    unfinished = target.with_name(temporary_name())
    stamp = Stamp(new_id, cwd, None, clock)
    try:
        with (
            open_plain(path) as source,
            os.fdopen(os.open(unfinished, NEW, 0o600), "wb") as copy,
        ):
            copying = _Copying(path.stem, stamp, Origin(path.stem, turn))
            for line in copying.lines(source, turn):
                copy.write(line)
            if draft is not None:
                copy.write(copying.entry("draft", text=draft))
            copy.flush()
            flush(copy.fileno())
        _copy_files(path.with_suffix(""), data, copying)
        _put_in_place(unfinished, target)
    except BaseException:
        with contextlib.suppress(OSError):
            shutil.rmtree(data)
        raise
    finally:
        with contextlib.suppress(OSError):
            unfinished.unlink()
    Recent(target.parent, new_id).touch()
    return new_id


def _put_in_place(unfinished: Path, target: Path) -> None:
    """Give the copy its name: all of it is there, or nothing."""
    folder = os.open(target.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        link_name(folder, unfinished.name, target.name)
        flush(folder)
    finally:
        os.close(folder)


@dataclass
class _Copying:
    """Copies the lines of a log; offsets in checkpoints are those of the copy.

    Attributes:
        windows: The ids of the windows that are open at the end.
        kept: The names of the kept file versions that entries refer to.
    """

    parent: str
    stamp: Stamp
    origin: Origin
    windows: set[str] = field(default_factory=set)
    kept: set[str] = field(default_factory=set)
    _starts: list[int] = field(default_factory=lambda: [0])  # offsets from which a shift holds
    _shifts: list[int] = field(default_factory=lambda: [0])
    _last_id: str | None = None
    _title: str = ""

    def lines(self, source: BinaryIO, turn: int | None) -> Iterator[bytes]:
        """Yield the lines of the copy."""
        old, new = (f'"sessionId":"{one}"'.encode() for one in (self.parent, self.stamp.session_id))
        has_header, is_reached, offset = False, turn is None, 0
        for line in source:
            if not line.endswith(b"\n"):
                break  # it is being written
            entry = self._entry(line)
            if turn == 0 and entry is not None and _begins_turn(entry):
                is_reached = True
                break
            copied = line.replace(old, new, 1) if len(old) == len(new) else line
            if not has_header:
                has_header = True
                if entry is not None and entry.subtype == "session":
                    copied = self._header(entry.uuid)
                else:  # another program's log
                    yield (first := self._header())
                    self._shift(offset, len(first))
            elif entry is not None and entry.subtype == "checkpoint":
                copied = with_offsets(copied, self._moved)
            yield copied
            offset += len(line)
            self._shift(offset, len(copied) - len(line))
            if entry is not None:
                self._follow(entry)
                if turn and _ends_turn(entry, turn):
                    is_reached = True
                    break
        if not is_reached and turn != 0:
            raise UnknownTurnError(
                "There is no turn {turn} in session {name}.", turn=turn, name=self.parent
            )
        if (title := self._title_in(source)) != self._title:
            yield self.entry("title", text=title)
        # So that lists show when it was made.
        yield self.entry("fork", parent=self.origin.parent, turn=self.origin.turn)

    def entry(self, subtype: str, **data: Any) -> bytes:
        """Return a new entry, which follows the last one."""
        identity, last = uuid.uuid4().hex, self._last_id
        self._last_id = identity
        return self.stamp.entry(system_entry(subtype, **data), identity, last)

    def _title_in(self, rest: BinaryIO) -> str:
        """Return the title of the other session, which may be newer than the turn."""
        title = self._title
        for line in rest:
            if b'"title"' in line and line.endswith(b"\n"):
                with contextlib.suppress(DamagedLineError):
                    entry = decode(line.rstrip(b"\n"))
                    title = entry.data["text"] if entry.subtype == "title" else title
        return title

    def _header(self, identity: str | None = None) -> bytes:
        fields = header()
        fields["data"] |= {"parent": self.origin.parent, "turn": self.origin.turn}
        return self.stamp.entry(fields, identity or uuid.uuid4().hex, None)

    def _entry(self, line: bytes) -> Entry | None:
        """Decode a line that matters here; None for others and damaged ones."""
        if not self._is_interesting(line):
            self._last_id = _id_of(line) or self._last_id
            return None
        try:
            entry = decode(line.rstrip(b"\n"))
        except DamagedLineError:
            return None
        self._last_id = entry.uuid
        return entry

    def _is_interesting(self, line: bytes) -> bool:
        if self.origin.turn == 0 or not self._last_id:
            return True
        return any(one in line for one in _INTERESTING)

    def _follow(self, entry: Entry) -> None:
        data: Any = entry.data or {}
        match entry.subtype:
            case "window_opened" | "window_state":
                self.windows.add(data["windowId"])
            case "window_closed":
                self.windows.discard(data["windowId"])
            case "title":
                self._title = data["text"]
            case "checkpoint":
                self.windows = {one["windowId"] for one in data["windows"]}
            case "file_write" if isinstance(data.get("before"), str):
                self.kept.add(data["before"])

    def _shift(self, offset: int, by: int) -> None:
        """Note that lines from this offset on are so many bytes later in the copy."""
        if by:
            self._starts.append(offset)
            self._shifts.append(self._shifts[-1] + by)

    def _moved(self, offset: int) -> int:
        return offset + self._shifts[bisect_right(self._starts, offset) - 1]


def _begins_turn(entry: Entry) -> bool:
    """Whether the first turn begins: with a message, or with a file that is written before it."""
    return entry.type == "user" or entry.subtype == "file_write"


def _ends_turn(entry: Entry, turn: int) -> bool:
    if entry.subtype != "turn_end":
        return False
    return bool(entry.data["turn"] == turn and not entry.data["early"])


def _id_of(line: bytes) -> str | None:
    """Return the id of an entry that is not decoded; the copy's last entry names it."""
    if line.startswith(b'{"uuid":"'):
        with contextlib.suppress(ValueError, ContextUIError):
            return line[9 : line.index(b'"', 9)].decode("ascii")
    with contextlib.suppress(ValueError, LookupError, TypeError, RecursionError):
        identity = json.loads(line)["uuid"]
        return identity if isinstance(identity, str) else None
    return None


def _copy_files(source: Path, target: Path, copying: _Copying) -> None:
    """Copy the files of open windows, and link kept versions of files. Links are not followed."""
    if not _is_folder(source):
        return
    for window_id in sorted(copying.windows):
        folder = source / window_id
        if _is_folder(folder):
            _copy_folder(folder, target / window_id)
    for name in sorted(copying.kept):
        kept = source / KEPT / name
        if _is_folder(kept.parent) and _is_file(kept):
            make_private(target / KEPT)
            try:
                os.link(kept, target / KEPT / name, follow_symlinks=False)
            except OSError:
                _copy_file(kept, target / KEPT / name)


def _copy_folder(source: Path, target: Path) -> None:
    make_private(target)
    for one in sorted(source.iterdir()):
        if _is_folder(one):
            _copy_folder(one, target / one.name)
        elif _is_file(one):
            _copy_file(one, target / one.name)


def _copy_file(source: Path, target: Path) -> None:
    with open_plain(source) as one, os.fdopen(os.open(target, NEW, 0o600), "wb") as other:
        shutil.copyfileobj(one, other, 1 << 20)


def _is_folder(path: Path) -> bool:
    return os.path.isdir(path) and not os.path.islink(path)


def _is_file(path: Path) -> bool:
    return os.path.isfile(path) and not os.path.islink(path)
