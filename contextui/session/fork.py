"""Fork a session: a new log that continues an earlier one, from its end or from the end of a turn.

The other log is only read, so it may be open elsewhere. Its lines are copied; the header of the
copy names where they come from. Files that windows keep beside the log are copied too, and kept
versions of written files are linked: they never change.
"""

import contextlib
import os
import shutil
import uuid
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path
from typing import Any, BinaryIO

from contextui.files.save import link_name
from contextui.plain_file import NEW, flush, make_private, open_plain, temporary_name
from contextui.session.entry import Entry, Stamp, header, system_entry, with_offsets
from contextui.session.lines import Line, Origin, lines
from contextui.session.log import Recent
from contextui.session.reader import entries, of_kinds, whole_size
from contextui.session.restore import UnknownTurnError, check_is_session
from contextui.windowing.window import Clock, utc_now

KEPT = ".kept"
"""The folder of kept file versions, beside those of windows; no window id begins with a dot."""

_NAMES = ("title", "model")
_INTERESTING = (
    *("turn_end", "window_opened", "window_state", "window_closed"),
    *("file_write", "checkpoint", *_NAMES),
)


def fork(
    path: Path,
    turn: int | None = None,
    *,
    cwd: str = "",
    clock: Clock = utc_now,
    draft: str | None = None,
) -> str:
    """Copy a session up to the end of a turn; return the id of the copy.

    What the session has not written yet is not copied: `Session.save` it first. Without a turn,
    everything is copied; with turn 0, what was before the first message and the first written file.
    The draft is by default that of the other session at that time.

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
    """Copies the lines of a log; offsets in checkpoints are those of the copy."""

    parent: str
    stamp: Stamp
    origin: Origin
    windows: set[str] = field(default_factory=set)
    kept: set[str] = field(default_factory=set)
    _starts: list[int] = field(default_factory=lambda: [0])  # offsets from which a shift holds
    _shifts: list[int] = field(default_factory=lambda: [0])
    _last_id: str | None = None
    _named: dict[str, str] = field(default_factory=dict)  # the title and the model

    def lines(self, source: BinaryIO, turn: int | None) -> Iterator[bytes]:
        """Yield the lines of the copy."""
        old, new = (f'"sessionId":"{one}"'.encode() for one in (self.parent, self.stamp.session_id))
        is_reached, written, end = turn is None, 0, whole_size(source)
        found = takewhile(lambda line: line.offset < end, lines(source))
        last: list[Line] = []
        for line in found:
            entry = self._entry(line)
            # The first turn begins with a message, or with a file that is written before it.
            begins = entry is not None and (entry.type == "user" or entry.subtype == "file_write")
            if turn == 0 and begins:
                is_reached = True
                break
            copied = line.text.replace(old, new, 1) if len(old) == len(new) else line.text
            copied += b"\n"
            if line.offset == 0 and entry is not None and entry.subtype == "session":
                copied = self._header(entry.uuid)
            elif line.offset == 0:  # another program's log
                yield (first := self._header())
                written = len(first)
            elif entry is not None and entry.subtype == "checkpoint":
                copied = with_offsets(copied, self._moved)
            if (shift := written - line.offset) != self._shifts[-1]:
                self._starts.append(line.offset)
                self._shifts.append(shift)
            yield copied
            written, last = written + len(copied), [line]
            if entry is not None:
                self._follow(entry)
                if turn and _ends_turn(entry, turn):
                    is_reached = True
                    break
        if not is_reached and turn != 0:
            raise UnknownTurnError(
                "There is no turn {turn} in session {name}.", turn=turn, name=self.parent
            )
        self._last_id = next((entry.uuid for _, entry in entries(last)), None)
        # The names in the other session may be newer than the turn.
        later = {entry.subtype: entry.data["text"] for _, entry in entries(of_kinds(found, *_NAMES))
                 if entry.subtype in _NAMES}  # fmt: skip
        for kind, text in later.items():
            if text != self._named.get(kind):
                yield self.entry(kind, text=text)
        # So that lists show when it was made.
        yield self.entry("fork", parent=self.origin.parent, turn=self.origin.turn)

    def entry(self, subtype: str, **data: Any) -> bytes:
        """Return a new entry, which follows the last one."""
        identity, last = uuid.uuid4().hex, self._last_id
        self._last_id = identity
        return self.stamp.entry(system_entry(subtype, **data), identity, last)

    def _header(self, identity: str | None = None) -> bytes:
        fields = header()
        fields["data"] |= {"parent": self.origin.parent, "turn": self.origin.turn}
        return self.stamp.entry(fields, identity or uuid.uuid4().hex, None)

    def _entry(self, line: Line) -> Entry | None:
        """Decode a line that matters here; None for others and damaged ones."""
        if line.offset and self.origin.turn != 0 and not any(of_kinds([line], *_INTERESTING)):
            return None
        return next((entry for _, entry in entries([line])), None)

    def _follow(self, entry: Entry) -> None:
        data: Any = entry.data or {}
        match entry.subtype:
            case "window_opened" | "window_state":
                self.windows.add(data["windowId"])
            case "window_closed":
                self.windows.discard(data["windowId"])
            case "title" | "model" as kind:
                self._named[kind] = data["text"]
            case "checkpoint":
                self.windows = {one["windowId"] for one in data["windows"]}
            case "file_write" if isinstance(data.get("before"), str):
                self.kept.add(data["before"])

    def _moved(self, offset: int) -> int:
        return offset + self._shifts[bisect_right(self._starts, offset) - 1]


def _ends_turn(entry: Entry, turn: int) -> bool:
    if entry.subtype != "turn_end":
        return False
    return bool(entry.data["turn"] == turn and not entry.data["early"])


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
