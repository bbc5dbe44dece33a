"""The catalogue of sessions: found without reading their logs, each read when it is shown."""

import os
import uuid
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from glob import escape
from itertools import takewhile
from pathlib import Path
from stat import S_ISREG
from typing import Any, NamedTuple

from contextui.errors import ContextUIError, os_reason
from contextui.files.diff import DiffCounts, count_diff, diff_text
from contextui.files.textfile import TextFile
from contextui.plain_file import open_plain, read_plain
from contextui.session.entry import Entry, Stamp, is_message, system_entry, text_of
from contextui.session.lines import Line, Origin, lines_backwards
from contextui.session.log import SessionLog
from contextui.session.paths import SESSION_ID, contextui_home, escape_project_path
from contextui.session.reader import entries, of_kinds
from contextui.session.store import read_info
from contextui.session.usage import cost_of_session
from contextui.session.versions import Versions, digest_of
from contextui.text import one_line
from contextui.windowing.window import utc_now

LONGEST_TITLE = 120
"""Characters of a title."""

_TAIL = 1 << 20  # bytes at the end of a log that are searched
_WORDS = 2_000  # characters of a message in a preview
_AFTER_FORK = 40  # entries searched for the first message of a fork
_MOST_FILES = 50
_COUNTED = 9  # files whose lines are counted
_LARGEST = 1_000_000  # bytes of such a file
_Write = tuple[Any, Any, Any]  # the hashes before and after, and whether the former was kept


class Place(NamedTuple):
    """A session's log, found by its name, and when it was last written."""

    path: Path
    used: float
    size: int

    @property
    def id(self) -> str:
        """The id of the session."""
        return self.path.stem


@dataclass(frozen=True, slots=True)
class Head:
    """What a list shows of a session; its title was given, or else it is its first message."""

    place: Place
    cwd: str = ""
    title: str = ""
    turns: int | None = None
    origin: Origin | None = None
    since_fork: str = ""
    is_empty: bool = False
    cost: float | None = None
    problem: OSError | None = None


@dataclass(frozen=True, slots=True)
class Preview:
    """What a session contains, by the end of its log; None for counts that are not known."""

    windows: tuple[tuple[str, str], ...] = ()
    files: tuple[str, ...] = ()
    counts: tuple[DiffCounts | None, ...] = ()
    said: str = ""
    answered: str = ""
    branch: str = ""
    model: str = ""
    draft: str = ""


@dataclass
class Catalogue:
    """The sessions of a home folder."""

    home: Path = field(default_factory=contextui_home)
    _heads: dict[Place, Head] = field(default_factory=dict)

    def places(self, cwd: str | Path | None = None) -> list[Place]:
        """Return the logs of a folder's sessions, or of all, newest first; none is read."""
        folder = "*" if cwd is None else escape(escape_project_path(cwd))
        found = list[Place]()
        for path in self.home.glob(f"projects/{folder}/*.jsonl"):
            with suppress(OSError):
                status = path.stat()
                if SESSION_ID.fullmatch(path.stem) and S_ISREG(status.st_mode) and status.st_size:
                    found.append(Place(path, status.st_mtime, status.st_size))
        return sorted(found, key=lambda place: (place.used, place.id), reverse=True)

    def head(self, place: Place) -> Head:
        """Read what a list shows of a session; again only if its log has changed."""
        if place not in self._heads:
            self._heads[place] = _head(place)
        return self._heads[place]

    def known(self, place: Place) -> Head | None:
        """Return what `head` has read already."""
        return self._heads.get(place)

    def preview(self, place: Place) -> Preview:
        """Read what a session contains."""
        try:
            return _preview(
                _newest_lines(place.path), place.path.with_suffix(""), self.head(place).cwd
            )
        except OSError as error:
            raise ContextUIError("It cannot be read: {reason}", reason=os_reason(error)) from error

    def rename(self, place: Place, title: str) -> Place:
        """Write a title into a session's log; the time of its last use stays."""
        head, path = self.head(place), place.path
        if not path.exists():
            raise ContextUIError("This session was deleted.")
        stamp = Stamp(place.id, head.cwd, None, utc_now)
        _, last = next(entries(_newest_lines(path)), (0, None))
        log = SessionLog(path, lambda _: None)
        try:
            text = one_line(title, LONGEST_TITLE)
            parent = last.uuid if last is not None else None
            log.append(stamp.entry(system_entry("title", text=text), uuid.uuid4().hex, parent))
            if log.unsaved:
                reason = os_reason(log.problem) if log.problem is not None else ""
                raise ContextUIError("Not renamed: {reason}.", reason=reason)
        finally:
            log.close()
        os.utime(path, (place.used, place.used))
        return place._replace(size=path.stat().st_size)


def _head(place: Place) -> Head:
    try:
        info = read_info(place.path)
        newest = _newest_lines(place.path)
    except OSError as error:
        return Head(place, problem=error)
    turn = _newest(newest, "turn_end") or _newest(newest, "checkpoint")
    is_whole = not newest or newest[-1].offset == 0
    return Head(
        place,
        info.cwd,
        _title(newest) or info.first_words,
        turn.data.get("turn") if turn is not None else 0 if is_whole else None,
        info.origin,
        _since_fork(newest) if info.origin is not None else "",
        info.is_empty,
        cost_of_session(place.path) if any(b'"cost_usd"' in line.text for line in newest) else None,
    )


def _title(newest: Sequence[Line]) -> str:
    entry = _newest(newest, "title")
    return one_line(entry.data["text"], LONGEST_TITLE) if entry is not None else ""


def _since_fork(newest: Sequence[Line]) -> str:
    """Return the title given since a fork was made, or else the first message since."""
    for at, line in enumerate(newest):
        if any(of_kinds([line], "fork")):
            since = newest[:at]
            oldest = entries(of_kinds(since[::-1][:_AFTER_FORK], "user"))
            said = (one_line(text_of(entry), 60) for _, entry in oldest if is_message(entry))
            return _title(since) or next(said, "")
    return ""


def _newest_lines(path: Path) -> list[Line]:
    """Read the end of a log; its last line comes first."""
    with open_plain(path) as file:
        start = os.fstat(file.fileno()).st_size - _TAIL
        return [*takewhile(lambda line: line.offset >= start, lines_backwards(file))]


def _newest(newest: Sequence[Line], kind: str) -> Entry | None:
    """Return the last valid entry of a kind; only lines that may be one are decoded."""
    found = (entry for _, entry in entries(of_kinds(newest, kind)))
    return next((entry for entry in found if entry.subtype == kind), None)


def _preview(newest: Sequence[Line], data_folder: Path, cwd: str) -> Preview:
    """Collect backwards what a preview shows; a checkpoint has the windows before it."""
    windows: dict[str, str] = {}
    closed, files = set[str](), dict[str, tuple[_Write, _Write]]()  # the first write and the last
    found: dict[str, str] = {}
    has_windows = False
    for _, entry in entries(newest):
        data: Any = entry.data if isinstance(entry.data, dict) else {}
        if entry.git_branch:
            found.setdefault("branch", entry.git_branch)
        match entry.subtype:
            case "draft":
                found.setdefault("draft", data["text"])
            case "file_write" if isinstance(data.get("path"), str):
                write = data.get("before"), data.get("after"), data.get("kept")
                files[data["path"]] = write, files.get(data["path"], (write, write))[1]
            case "window_closed":
                closed.add(data["windowId"])
            case "window_opened" | "window_state" if not has_windows:
                _see(windows, closed, data)
            case "checkpoint" if not has_windows:
                for one in data["windows"]:
                    _see(windows, closed, one)
                has_windows = True
            case None:
                _hear(found, entry)
        if has_windows and "said" in found and "answered" in found and len(files) > _MOST_FILES:
            break
    versions, shown = Versions(data_folder, lambda *_: None), [*files][:_MOST_FILES]
    return Preview(
        tuple((window, one_line(windows[window], 200)) for window in sorted(windows)),
        tuple(one_line(path, 300) for path in shown),
        tuple(
            _counts(versions, Path(cwd, path), files[path]) if number < _COUNTED else None
            for number, path in enumerate(shown)
        ),
        found.get("said", ""),
        found.get("answered", ""),
        one_line(found.get("branch", ""), 80),
        one_line(found.get("model", ""), 80),
        found.get("draft", ""),
    )


def _counts(versions: Versions, path: Path, writes: tuple[_Write, _Write]) -> DiffCounts | None:
    """Compare a file before the first write with what the last one left, if that is still there."""
    (before, _, kept), (_, after, _) = writes
    try:
        old = b"" if kept == "absent" else versions.read(before or "")
        new = b"" if after is None else read_plain(path, _LARGEST)
        if len(old) > _LARGEST or (after is not None and digest_of(new) != after):
            return None
        return count_diff(diff_text(TextFile.from_bytes(old), TextFile.from_bytes(new), "a", "b"))
    except (OSError, ContextUIError):
        return None


def _see(windows: dict[str, str], closed: set[str], data: dict[str, Any]) -> None:
    window_id = data["windowId"]
    if window_id not in closed and window_id not in windows:
        state = data.get("state") or {}
        shown = next((state[one] for one in ("path", "command", "title", "query")
                      if isinstance(state.get(one), str)), "")  # fmt: skip
        windows[window_id] = shown


def _hear(found: dict[str, str], entry: Entry) -> None:
    if is_message(entry):
        if text := text_of(entry).strip():
            found.setdefault("said", text[:_WORDS])
    elif entry.type == "assistant":
        if text := text_of(entry).strip():
            found.setdefault("answered", text[:_WORDS])
        if entry.model:
            found.setdefault("model", entry.model)
