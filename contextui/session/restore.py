"""Restore a conversation from its log, as it is now or as it was after a turn.

Items before the checkpoint that it starts from are not loaded. No request shows them, so all are
hidden. They are read one by one: a log may be larger than the memory.
"""

import os
from collections import deque
from collections.abc import Callable, Container, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from contextui.context.item import SUMMARY, ContextItem, ItemType, admit, assign, unload
from contextui.context.ledger import UNDO_STEPS
from contextui.context.manager import ContextManager
from contextui.errors import ContextUIError
from contextui.plain_file import open_plain
from contextui.session.checkpoint import load_checkpoint
from contextui.session.entry import TWIN, Entry, decode, item_of
from contextui.session.lines import DamagedLineError, Line, lines, lines_backwards
from contextui.session.reader import (
    Damage,
    begins_line,
    entries,
    ignore,
    line_at,
    of_kinds,
    stored,
    whole_size,
)
from contextui.session.replay import NewerSchemaError, Replay, WindowReplay, check_schema
from contextui.windowing.manager import WindowManager
from contextui.words import Words

_CHECKPOINT = b'"subtype":"checkpoint"'
_OUR_FIRST_BYTES = b'{"uuid":"'
_DAMAGED_LINES = 100  # at the start of a file, after which it is not considered a log
_MUCH = 1 << 26  # bytes after a checkpoint that are held in memory at once
_RECENT = 100  # items whose content stays in memory, hidden or not
_LOOK_AHEAD = 32  # entries
_NEIGHBOURS = 8  # items among them that decide whether a seq is invalid
_FARTHEST = 10_000  # largest gap to the next seq that needs no confirmation by others
_CHANGES = ("change", "compact_boundary")
_ITEMS = ("prompt", "window_item")  # the system entries with an item
_ItemChanges = dict[str, dict[str, Any]]


class NotASessionError(ContextUIError):
    """The file is not the log of a session."""


class UnknownTurnError(ContextUIError):
    """The session has no such turn."""


@dataclass(slots=True)
class Loaded:
    """The result of reading a log; `start` is the offset of the checkpoint that it begins with."""

    turn: int = 0
    last_id: str | None = None
    offsets: dict[str, int] = field(default_factory=dict)
    closings: dict[str, int] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    absent: list[dict[str, Any]] = field(default_factory=list)
    start: int = 0
    end: int = 0
    texts: dict[str, str] = field(default_factory=dict)
    parsed: int = 0
    since_checkpoint: int = 0
    checkpoint_size: int = 0


class _Start(NamedTuple):
    """A usable checkpoint: the items it refers to, and the entries after it."""

    offset: int
    checkpoint: Entry
    items: dict[int, ContextItem]
    closings: list[tuple[int, Entry]]
    rest: list[tuple[int, Entry]]
    damage: list[Damage]


def load(
    path: Path,
    context: ContextManager,
    windows: WindowManager,
    warn: Callable[[str], None],
    turn: int | None = None,
    *,
    whole: bool = False,
    as_sent: bool = False,
) -> Loaded:
    """Read a log into an empty context and its windows.

    With a turn, stop when it has ended, or with `as_sent` at its last request; `whole` reads from
    the beginning, to include items that no request shows. `warn` is called with messages about
    damage and windows that were not restored.

    Raises:
        NotASessionError: It is not the log of a session.
        NewerSchemaError: A newer program wrote it.
        UnknownTurnError: The session has no such turn.
    """
    check_is_session(path)
    with path.open("rb") as file:
        loading = _Loading(file, context, windows, warn, turn)
        if as_sent and turn is not None:
            loading.last_request = _last_request(file, turn)
        return loading.run(whole)


def _last_request(file: BinaryIO, turn: int) -> int | None:
    last = None
    for offset, entry in entries(of_kinds(lines(file), "request", "turn_end")):
        if entry.subtype == "request":
            last = offset
        elif entry.subtype == "turn_end":
            if entry.data["turn"] >= turn:
                break
            last = None
    return last


class _Loading:
    def __init__(
        self,
        file: BinaryIO,
        context: ContextManager,
        windows: WindowManager,
        warn: Callable[[str], None],
        turn: int | None,
    ) -> None:
        self._path = Path(file.name)
        self._file, self._context, self._windows = file, context, windows
        self._warn, self._until = warn, turn
        self.last_request: int | None = None
        """Where to stop, before the end of the turn."""
        self._window_replay = WindowReplay()
        self._replay = Replay(context, self._window_replay)
        self._loaded = Loaded()
        self._damage: list[Damage] = []
        self._damaged = 0
        self._whole = whole_size(file)

    def run(self, whole: bool) -> Loaded:
        """Read the log, then restore the windows."""
        start = None if whole else self._start()
        if start is None:
            reached = self._apply_all(self._counted(entries(lines(self._file), self._set_aside)))
        else:
            self._load_start(start)
            reached = self._apply_all(iter(start.rest))
        if self._until is not None and not reached:
            raise UnknownTurnError(
                "There is no turn {turn}. Turns so far: {turns}.",
                turn=self._until,
                turns=self._replay.turn,
            )
        loaded = self._loaded
        loaded.versions = self._window_replay.versions
        self._window_replay.restore(self._windows, self._context, self._warn)
        loaded.absent = self._window_replay.absent
        loaded.turn, loaded.last_id = self._replay.turn, self._replay.last_id
        loaded.texts = self._replay.texts
        if self._damage:
            words = Words(self._windows.lang)
            self._warn(
                words(
                    "Left out as damaged: {count}, the first at byte {place}: {why}",
                    count=words.plural(self._damaged, "{count} line", "{count} lines"),
                    place=self._damage[0].offset,
                    why=self._damage[0].reason,
                )
            )
        return loaded

    def _set_aside(self, damage: Damage) -> None:
        """Count an entry that cannot be read or replayed; only the first is described."""
        if damage.offset >= self._whole:  # another process is writing it
            return
        self._damaged += 1
        self._replay.left_out += 1
        if not self._damage:
            self._damage.append(damage)

    def _apply_all(self, found: Iterator[tuple[int, Entry]]) -> bool:
        for offset, entry in in_order(found, self._context.current_seq, self._set_aside):
            self._loaded.since_checkpoint += 1
            self._loaded.end = offset
            try:
                item = self._replay.apply(entry)
            except NewerSchemaError:
                raise
            except Exception as problem:  # an invalid entry may cause anything; only it is lost
                self._set_aside(Damage(offset, _reason(problem)))
                continue
            if item is not None:
                self._loaded.offsets[item.id] = offset
            elif entry.subtype == "window_closed":
                self._loaded.closings[entry.data["windowId"]] = offset
            elif entry.subtype in _CHANGES and entry.data:
                self._unload_hidden(entry.data["itemIds"])
            if self._ends_turn(entry) or offset == self.last_request:
                return True
        return False

    def _unload_hidden(self, item_ids: list[str]) -> None:
        """Unload the content of hidden items: a long log would fill the memory."""
        context, offsets = self._context, self._loaded.offsets
        for item in (context.items[one] for one in item_ids if one in context.items):
            is_old = item.seq + _RECENT < context.current_seq and item.id in offsets
            if item.hidden and is_old and not item.revision and item.is_loaded:
                unload(item, stored(self._path, offsets, item.id))

    def _ends_turn(self, entry: Entry) -> bool:
        if entry.subtype != "turn_end" or self._until is None:
            return False
        return not entry.data["early"] and self._replay.turn == self._until

    # --- checkpoints -------------------------------------------------------------------

    def _start(self) -> _Start | None:
        """Return the last usable checkpoint before the requested turn, with its items."""
        behind: list[Line] = []
        size = 0
        for line in lines_backwards(self._file):
            size += len(line.text)
            if size > _MUCH:
                break  # reading everything line by line takes less memory
            if _CHECKPOINT not in line.text:
                behind.append(line)
            elif (start := self._usable(line, behind)) is not None:
                return start
        return None

    def _usable(self, line: Line, behind: list[Line]) -> _Start | None:
        """Return the checkpoint if it is old enough and everything it needs is readable."""
        damage: list[Damage] = []
        try:
            checkpoint = decode(line.text)
        except DamagedLineError:
            checkpoint = None
        if checkpoint is None or checkpoint.subtype != "checkpoint":
            behind.append(line)  # it is reported with the others, or only contains the text
            return None
        data = checkpoint.data
        # A checkpoint of this very turn may have been written after the turn's end.
        is_too_new = self._until is not None and data["turn"] >= self._until
        is_too_new |= self.last_request is not None and line.offset > self.last_request
        if is_too_new:
            return None
        try:
            items = self._items_at(data, damage)
            closings = [(offset, self._closing_at(offset)) for offset in data["closed"]]
            rest = list(self._counted(entries(iter(reversed(behind)), damage.append)))
        except Exception:  # unusable: fall back to an earlier one
            return None
        known = {item.id for item in items.values()} | {entry.uuid for _, entry in rest}
        changes = (entry.data["itemIds"] for _, entry in rest if entry.subtype == "change")
        if not damage and not known.issuperset(chain.from_iterable(changes)):
            return None
        self._loaded.parsed += 1
        self._loaded.checkpoint_size = len(line.text)
        return _Start(line.offset, checkpoint, items, closings, rest, damage)

    def _load_start(self, start: _Start) -> None:
        data = start.checkpoint.data
        self._loaded.start = self._loaded.end = start.offset
        for damage in start.damage:
            self._set_aside(damage)
        load_checkpoint(data, self._context, start.items)
        self._loaded.offsets.update((item.id, offset) for offset, item in start.items.items())
        self._window_replay.load(data)
        for offset, closing in start.closings:
            self._loaded.closings[closing.data["windowId"]] = offset
            self._window_replay.apply("window_closed", closing.data, closing.timestamp)
        self._replay.turn, self._replay.last_id = data["turn"], start.checkpoint.uuid
        self._replay.texts["draft"] = data.get("draft", "")

    def _items_at(self, data: Mapping[str, Any], damage: list[Damage]) -> dict[int, ContextItem]:
        """Read the items that a checkpoint refers to, by offset, except for invalid ones."""
        items: dict[int, ContextItem] = {}
        for offset, facts in data["items"]:
            try:
                items[offset] = self._item_at(offset, facts["id"])
            except ContextUIError as problem:
                if facts["id"].startswith(SUMMARY) or not begins_line(self._file, offset):
                    raise  # its items become visible again, or the lines have moved
                damage.append(Damage(offset, _reason(problem)))
        return items

    def _item_at(self, offset: int, item_id: str) -> ContextItem:
        self._loaded.parsed += 1
        entry = decode(line_at(self._file, offset).text)
        item = item_of(entry)
        if item is None or entry.uuid != item_id.partition(TWIN)[0]:
            raise KeyError(item_id)  # something before it was edited by hand
        admit(item)
        return item

    def _closing_at(self, offset: int) -> Entry:
        closing = decode(line_at(self._file, offset).text)
        if closing.subtype != "window_closed":
            raise KeyError(offset)
        return closing

    def _counted(self, found: Iterator[tuple[int, Entry]]) -> Iterator[tuple[int, Entry]]:
        for one in found:
            self._loaded.parsed += 1
            yield one


def _reason(problem: Exception) -> str:
    if isinstance(problem, ContextUIError):
        return str(problem)
    return f"{type(problem).__name__}: {problem}"


def in_order(
    found: Iterator[tuple[int, Entry]], last: int, report: Callable[[Damage], None]
) -> Iterator[tuple[int, Entry]]:
    """Yield entries, except for items whose seq does not fit those of their neighbours.

    Seqs increase in a log. One that is not the successor of the last is invalid if it does not
    increase, or if most of the items after it have a lower one. `last` is the seq before them.
    """
    ahead: deque[tuple[int, Entry]] = deque()
    while True:
        one = ahead.popleft() if ahead else next(found, None)
        if one is None:
            return
        offset, entry = one
        seq = _seq(entry)
        if seq is not None and seq != last + 1:
            ahead.extend(islice(found, _LOOK_AHEAD - len(ahead)))
            later = [other for _, one in ahead if (other := _seq(one)) is not None][:_NEIGHBOURS]
            higher = sum(other > seq for other in later)
            if seq <= last or 2 * higher < len(later) or (not later and seq > last + _FARTHEST):
                report(Damage(offset, f"data.seq: {seq} does not follow {last}"))
                continue
        last = last if seq is None else seq
        yield offset, entry


def _seq(entry: Entry) -> int | None:
    if entry.type == "system" and entry.subtype not in ("prompt", "window_item"):
        return None
    return (entry.data or {}).get("seq")


def check_is_session(path: Path) -> None:
    """Check that a file is a session's log, without changing it. An empty log is valid."""
    with open_plain(path) as file:
        damaged = 0
        for line in lines(file):
            is_last = file.tell() == os.fstat(file.fileno()).st_size
            if line.text.startswith(_OUR_FIRST_BYTES) and damaged == 0 and is_last:
                return  # a header torn by a crash
            try:
                header = decode(line.text)
            except DamagedLineError:
                damaged += 1
                if damaged == _DAMAGED_LINES:
                    break
                continue
            if header.subtype == "session":
                with suppress(DamagedLineError):
                    check_schema(header)
            return
    if damaged:
        raise NotASessionError("{file} is not a session. It was not changed.", file=path.name)


# --- items that are not loaded -------------------------------------------------------------


def older_items(
    path: Path, known: Container[str], start: int, end: int | None = None
) -> Iterator[ContextItem]:
    """Read the items before a checkpoint that are not loaded, oldest first, as they are now.

    They belong to no context. Reading needs no more memory than the changes made to them.
    """
    if not start:
        return
    with open_plain(path) as file:
        marks = _changes_by_item(file, known, end)
        # Lines without a subtype, and those of prompts and windows; others need no parsing.
        candidates = (
            line
            for line in _until(file, start)
            if b'"subtype":"' not in line.text or any(of_kinds([line], *_ITEMS))
        )
        for _, entry in in_order(entries(candidates), 0, ignore):
            try:
                item = None if entry.uuid in known else item_of(entry)
                if item is not None:
                    admit(item)
                    yield _with_changes(item, entry, marks.get(item.id, {}))
            except ContextUIError:
                continue  # it was skipped when the session was restored, too


def _with_changes(item: ContextItem, entry: Entry, changes: dict[str, Any]) -> ContextItem:
    reason = "closed" if item.type is ItemType.WINDOW else item.hidden or "trimmed"
    assign(item, seq=(entry.data or {}).get("seq", 0), hidden=reason)
    assign(item, **{name: value for name, value in changes.items() if value is not None})
    return item


def _changes_by_item(file: BinaryIO, known: Container[str], end: int | None) -> _ItemChanges:
    marks: _ItemChanges = {}
    steps: deque[_ItemChanges] = deque(maxlen=UNDO_STEPS)
    for _, entry in entries(of_kinds(_until(file, end), *_CHANGES)):
        facts = entry.data
        if entry.subtype not in _CHANGES or facts is None:  # or it is another program's
            continue
        operation, fields = facts.get("operation"), facts.get("fields", {"hidden": "compacted"})
        if operation == "undo" and steps:
            marks.update(steps.pop())
        if operation in ("undo", "trim"):
            continue  # items without other changes count as trimmed
        ids = [one for one in facts["itemIds"] if one not in known]
        if fields.get("hidden") != "replaced":
            steps.append({item_id: marks.get(item_id, {}) for item_id in ids})
        for item_id in ids:
            marks[item_id] = {**marks.get(item_id, {}), **fields}
    return marks


def _until(file: BinaryIO, end: int | None) -> Iterator[Line]:
    for line in lines(file):
        if end is not None and line.offset > end:
            return
        yield line
