"""Brings a conversation back from its log: as it is now, or as it was after a turn."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from contextui.context.item import ContextItem
from contextui.context.manager import ContextManager
from contextui.errors import ContextUIError
from contextui.session.checkpoint import check_checkpoint, load_checkpoint
from contextui.session.entry import DamagedLineError, Entry, decode
from contextui.session.items import item_of
from contextui.session.reading import (
    Damage,
    Line,
    entries,
    line_at,
    lines,
    lines_backwards,
    open_plain,
)
from contextui.session.replay import NewerSchemaError, Replay, check_schema
from contextui.session.returning import ReturningWindows
from contextui.text import counted
from contextui.windowing.manager import WindowManager

_CHECKPOINT = b'"subtype":"checkpoint"'
_OUR_FIRST_BYTES = b'{"uuid":"'
_DAMAGED_LINES = 100  # at the beginning of a file, after which it is taken for something else
_MUCH = 1 << 26  # bytes behind a checkpoint that are held in memory at once
_UNREADABLE = (KeyError, TypeError, ValueError, IndexError, AttributeError, ContextUIError)


class NotASessionError(ContextUIError):
    """A file that holds no session."""


class UnknownTurnError(ContextUIError):
    """A turn that the session has not had."""


@dataclass(slots=True)
class Loaded:
    """What is known after a log was read.

    Attributes:
        turn: How many turns have ended.
        last_id: The entry that was read last.
        offsets: Where in the log each item stands.
        closings: Where in the log each closed window's last render stands.
        versions: The version of each open window that the log knows.
        absent: What is known of windows whose class is not there.
        parsed: How many entries were parsed.
        since_checkpoint: How many of them come after the checkpoint.
    """

    turn: int = 0
    last_id: str | None = None
    offsets: dict[str, int] = field(default_factory=dict)
    closings: dict[str, int] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    absent: list[dict[str, Any]] = field(default_factory=list)
    parsed: int = 0
    since_checkpoint: int = 0


class _Start(NamedTuple):
    """A checkpoint that can be used: its items, and the entries behind it."""

    checkpoint: Entry
    items: dict[int, ContextItem]
    rest: list[tuple[int, Entry]]


def load(
    path: Path,
    context: ContextManager,
    windows: WindowManager,
    warn: Callable[[str], None],
    turn: int | None = None,
    *,
    whole: bool = False,
) -> Loaded:
    """Read a log into an empty context and its windows.

    Args:
        path: The log.
        context: The context to fill; it must not be recorded yet.
        windows: The windows of that context, with the classes that are known.
        warn: Hears in words what was damaged or could not be brought back.
        turn: Stop when this turn has ended, and show things as they were then.
        whole: Read from the beginning, so that items which no request shows are there too.

    Raises:
        NotASessionError: It is no log of a session.
        NewerSchemaError: A newer program wrote it.
        UnknownTurnError: The session has not had this turn.
    """
    check_is_session(path)
    with path.open("rb") as file:
        return _Loading(file, context, windows, warn, turn).run(whole)


class _Loading:
    def __init__(
        self,
        file: BinaryIO,
        context: ContextManager,
        windows: WindowManager,
        warn: Callable[[str], None],
        turn: int | None,
    ) -> None:
        self._file, self._context, self._windows = file, context, windows
        self._warn, self._until = warn, turn
        self._returning = ReturningWindows()
        self._replay = Replay(context, self._returning, warn)
        self._loaded = Loaded()
        self._damage: list[Damage] = []

    def run(self, whole: bool) -> Loaded:
        """Read, and bring the windows back at the end."""
        start = None if whole else self._start()
        if start is None:
            rest = entries(lines(self._file), self._damage.append)
            reached = self._apply_all(self._counted(rest))
        else:
            self._take(start)
            reached = self._replay.turn == self._until or self._apply_all(iter(start.rest))
        if self._until is not None and not reached:
            raise UnknownTurnError(
                f"There is no turn {self._until}. How many have ended: {self._replay.turn}."
            )
        loaded = self._loaded
        loaded.versions = self._returning.versions
        self._returning.come_back(self._windows, self._context, self._warn)
        loaded.absent = self._returning.absent
        loaded.turn, loaded.last_id = self._replay.turn, self._replay.last_id
        if self._damage:
            first = self._damage[0]
            self._warn(
                f"Left out as damaged: {counted(len(self._damage), 'line')}, the first at byte "
                f"{first.offset}: {first.reason}"
            )
        return loaded

    def _apply_all(self, found: Iterator[tuple[int, Entry]]) -> bool:
        """Have the entries happen again; whether the turn that was asked for has ended."""
        for offset, entry in found:
            self._loaded.since_checkpoint += 1
            try:
                item = self._replay.apply(entry)
                if item is not None:
                    self._loaded.offsets[item.id] = offset
                elif entry.subtype == "window_closed" and entry.data is not None:
                    self._loaded.closings[entry.data["windowId"]] = offset
            except NewerSchemaError:
                raise
            except _UNREADABLE as problem:
                self._damage.append(Damage(offset, f"{type(problem).__name__}: {problem}"))
            if self._ends_turn(entry):
                return True
        return False

    def _ends_turn(self, entry: Entry) -> bool:
        data = entry.data or {}
        ended = entry.subtype == "turn_end" and not data.get("early")
        return ended and self._until is not None and data.get("turn") == self._until

    # --- checkpoints -------------------------------------------------------------------

    def _start(self) -> _Start | None:
        """The last checkpoint that can be used and is not too new, with all that it names."""
        behind: list[Line] = []
        size = 0
        for line in lines_backwards(self._file):
            size += len(line.text)
            if size > _MUCH:
                break  # reading it all, one line after the other, takes less memory
            if _CHECKPOINT not in line.text:
                behind.append(line)
            elif (start := self._usable(line, behind)) is not None:
                return start
        return None

    def _usable(self, line: Line, behind: list[Line]) -> _Start | None:
        """The checkpoint, if it is not too new and all that it and the rest speak of is there."""
        damage: list[Damage] = []
        try:
            checkpoint = decode(line.text)
            data = checkpoint.data or {}
            if self._until is not None and data["turn"] > self._until:
                return None
            check_checkpoint(data)
            items = {offset: self._item_at(offset, facts["id"]) for offset, facts in data["items"]}
            rest = list(self._counted(entries(iter(reversed(behind)), damage.append)))
        except _UNREADABLE:
            return None
        known = {item.id for item in items.values()} | {entry.uuid for _, entry in rest}
        if checkpoint.subtype != "checkpoint" or not known.issuperset(_named(rest)):
            return None
        self._loaded.parsed += 1
        self._damage += damage
        return _Start(checkpoint, items, rest)

    def _take(self, start: _Start) -> None:
        data = start.checkpoint.data or {}
        load_checkpoint(data, self._context, start.items)
        self._loaded.offsets.update((item.id, offset) for offset, item in start.items.items())
        self._returning.load(data)
        for offset in data["closed"]:
            closing = decode(line_at(self._file, offset).text)
            if closing.data is not None:
                self._loaded.closings[closing.data["windowId"]] = offset
                self._returning.apply("window_closed", closing.data, closing.timestamp)
        self._replay.turn, self._replay.last_id = data["turn"], start.checkpoint.uuid

    def _item_at(self, offset: int, item_id: str) -> ContextItem:
        self._loaded.parsed += 1
        item = item_of(decode(line_at(self._file, offset).text))
        if item is None or item.id != item_id:
            raise KeyError(item_id)  # something before it was changed by hand
        return item

    def _counted(self, found: Iterator[tuple[int, Entry]]) -> Iterator[tuple[int, Entry]]:
        for one in found:
            self._loaded.parsed += 1
            yield one


def _named(rest: list[tuple[int, Entry]]) -> set[str]:
    """The items that entries speak of."""
    named: set[str] = set()
    for _, entry in rest:
        data = entry.data or {}
        if entry.subtype == "change":
            named.update(data["itemIds"])
        elif entry.subtype == "request" and data["carrierId"]:
            named.add(data["carrierId"])
    return named


def check_is_session(path: Path) -> None:
    """See that a file is a session's log, without touching it. A log that is still empty is one.

    Raises:
        NotASessionError: It is something else.
        NewerSchemaError: A newer program wrote it.
    """
    with open_plain(path) as file:
        damaged = 0
        for line in lines(file):
            if line.text.startswith(_OUR_FIRST_BYTES) and damaged == 0 and _is_last(file):
                return  # a header that a crash cut short
            try:
                header = decode(line.text)
            except DamagedLineError:
                damaged += 1
                if damaged == _DAMAGED_LINES:
                    break
                continue
            if header.subtype == "session":
                check_schema(header.data or {})
            return
    if damaged:
        raise NotASessionError(f"{path.name} holds no session. It is left as it is.")


def _is_last(file: BinaryIO) -> bool:
    here = file.tell()
    ended = not file.read(1)
    file.seek(here)
    return ended
