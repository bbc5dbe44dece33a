"""Brings a conversation back from its log: as it is now, or as it was after a turn."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from contextui.context.item import ContextItem
from contextui.context.manager import ContextManager
from contextui.errors import ContextUIError
from contextui.session.checkpoint import load_checkpoint
from contextui.session.entry import DamagedLineError, Entry, decode
from contextui.session.items import item_of
from contextui.session.reading import Damage, Line, entries, line_at, lines, lines_backwards
from contextui.session.replay import Replay, check_schema
from contextui.session.returning import ReturningWindows
from contextui.windowing.manager import WindowManager

_CHECKPOINT = b'"subtype":"checkpoint"'


class NotASessionError(ContextUIError):
    """A file that holds no session."""


@dataclass(slots=True)
class Loaded:
    """What is known after a log was read.

    Attributes:
        turn: How many turns have ended.
        last_id: The entry that was read last.
        offsets: Where in the log each item stands.
        closings: Where in the log each closed window's last render stands.
        parsed: How many entries were parsed.
        since_checkpoint: How many of them come after the checkpoint.
    """

    turn: int = 0
    last_id: str | None = None
    offsets: dict[str, int] = field(default_factory=dict)
    closings: dict[str, int] = field(default_factory=dict)
    parsed: int = 0
    since_checkpoint: int = 0


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
    """
    with path.open("rb") as file:
        check_first_line(file)
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
        self._loaded = Loaded()
        self._damage: list[Damage] = []

    def run(self, whole: bool) -> Loaded:
        """Read, and bring the windows back at the end."""
        loaded, replay = self._loaded, Replay(self._context, self._returning, self._warn)
        start, checkpoint = (0, None) if whole else self._checkpoint()
        if checkpoint is not None and checkpoint.data is not None:
            load_checkpoint(checkpoint.data, self._context, self._item_at)
            self._returning.load(checkpoint.data)
            for offset in checkpoint.data["closed"]:
                self._note_closing(offset, self._entry_at(offset))
            replay.turn, replay.last_id = checkpoint.data["turn"], checkpoint.uuid
        for offset, entry in entries(lines(self._file, start), self._damage.append):
            loaded.parsed += 1
            loaded.since_checkpoint += 1
            if (item := self._applied(replay, entry)) is not None:
                loaded.offsets[item.id] = offset
            elif entry.subtype == "window_closed":
                self._note_closing(offset, entry)
            if self._until is not None and self._ends_turn(entry, self._until):
                break
        self._returning.come_back(self._windows, self._context, self._warn)
        loaded.turn, loaded.last_id = replay.turn, replay.last_id
        if loaded.parsed == 0 and self._damage:
            raise NotASessionError(f"{self._file.name} holds no session.")
        if self._damage:
            first = self._damage[0]
            self._warn(
                f"{len(self._damage)} damaged lines were left out, the first at byte "
                f"{first.offset}: {first.reason}"
            )
        return loaded

    def _applied(self, replay: Replay, entry: Entry) -> ContextItem | None:
        try:
            return replay.apply(entry)
        except (KeyError, TypeError, ValueError, IndexError) as problem:
            self._damage.append(
                Damage(0, f"entry {entry.uuid}: {type(problem).__name__} {problem}")
            )
            return None

    @staticmethod
    def _ends_turn(entry: Entry, turn: int) -> bool:
        data = entry.data or {}
        return entry.subtype == "turn_end" and not data.get("early") and data.get("turn") == turn

    def _checkpoint(self) -> tuple[int, Entry | None]:
        """The last good checkpoint that is not too new, and where the entries after it begin."""
        for line in self._checkpoint_lines():
            try:
                entry = decode(line.text)
            except DamagedLineError:
                continue
            self._loaded.parsed += 1
            turn = (entry.data or {}).get("turn", 0)
            if entry.subtype == "checkpoint" and (self._until is None or turn <= self._until):
                return line.offset + len(line.text) + 1, entry
        return 0, None

    def _checkpoint_lines(self) -> Iterator[Line]:
        return (line for line in lines_backwards(self._file) if _CHECKPOINT in line.text)

    def _item_at(self, offset: int) -> ContextItem | None:
        """Read one item that a checkpoint names."""
        entry = self._entry_at(offset)
        item = item_of(entry) if entry else None
        if item is not None:
            self._loaded.offsets[item.id] = offset
        return item

    def _entry_at(self, offset: int) -> Entry | None:
        self._loaded.parsed += 1
        try:
            return decode(line_at(self._file, offset).text)
        except DamagedLineError as problem:
            self._damage.append(Damage(offset, str(problem)))
            return None

    def _note_closing(self, offset: int, entry: Entry | None) -> None:
        if entry is not None and entry.data is not None:
            self._loaded.closings[entry.data["windowId"]] = offset
            self._returning.apply("window_closed", entry.data, entry.timestamp)


def check_first_line(file: BinaryIO) -> Entry | None:
    """The header of a log, if it has one.

    Raises:
        NewerSchemaError: A newer program wrote it.
    """
    try:
        header = decode(line_at(file, 0).text)
    except DamagedLineError:
        return None
    if header.subtype == "session":
        check_schema(header.data or {})
    return header
