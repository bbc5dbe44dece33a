"""Older items that stay in the log: read on demand, and unloaded from memory.

Items before the checkpoint of a resumed session are not loaded. No request shows them, so all are
hidden. They are read one by one: a log may be larger than the memory.
"""

from collections import deque
from collections.abc import Container, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from contextui.context.changes import UNDO_STEPS, admit
from contextui.context.item import (
    ContextItem,
    ItemType,
    Load,
    Stage,
    assign,
    is_conversation,
    reload,
    unload,
)
from contextui.context.manager import ContextManager
from contextui.errors import ContextUIError
from contextui.events import Event, ItemsChanged, TurnEnded
from contextui.model import Block
from contextui.session.entry import Entry, decode
from contextui.session.items import TWIN, item_of
from contextui.session.logfile import Damage, Line, entries, line_at, lines, open_plain
from contextui.session.restore import in_order
from contextui.session.schema import ChangeFacts

_SUBTYPE = b'"subtype":"'
_ITEMS = (b'"subtype":"prompt"', b'"subtype":"window_item"')
_CHANGES = (b'"subtype":"change"', b'"subtype":"compact_boundary"')

_Marks = dict[str, dict[str, Any]]


def older_items(
    path: Path, known: Container[str], start: int, end: int | None = None
) -> Iterator[ContextItem]:
    """Read the items before a checkpoint that are not loaded, oldest first, as they are now.

    They belong to no context. Reading needs no more memory than the changes made to them.

    Args:
        path: The log.
        known: The ids of items that are loaded.
        start: The offset of the checkpoint.
        end: The offset of the last entry to consider; by default that of the log.

    Raises:
        OSError: The log cannot be read.
    """
    if not start:
        return
    with open_plain(path) as file:
        marks = _marks(file, known, end)
        told = (line for line in _until(file, start) if _tells_of_item(line.text))
        for _, entry in in_order(entries(told, _ignore), 0, _ignore):
            try:
                item = None if entry.uuid in known else item_of(entry)
                if item is not None:
                    admit(item)
                    yield _as_it_is(item, entry, marks.get(item.id, {}))
            except ContextUIError:
                continue  # it was skipped when the session was restored, too


def _as_it_is(item: ContextItem, entry: Entry, changes: dict[str, Any]) -> ContextItem:
    """Apply its seq and all later changes to an item."""
    reason = "closed" if item.type is ItemType.WINDOW else item.hidden or "trimmed"
    assign(item, seq=(entry.data or {}).get("seq", 0), hidden=reason)
    assign(item, **{name: value for name, value in changes.items() if value is not None})
    return item


def _marks(file: BinaryIO, known: Container[str], end: int | None) -> _Marks:
    """Collect the changes of items that are not loaded, by id."""
    marks: _Marks = {}
    steps: deque[_Marks] = deque(maxlen=UNDO_STEPS)
    changes = (line for line in _until(file, end) if any(one in line.text for one in _CHANGES))
    for _, entry in entries(changes, _ignore):
        if entry.subtype == "compact_boundary" and entry.data:
            fields: dict[str, Any] = {"hidden": "compacted"}
        elif entry.subtype == "change":
            facts: ChangeFacts = entry.data
            if facts["operation"] == "undo":
                for item_id, before in (steps.pop() if steps else {}).items():
                    marks[item_id] = before
                continue
            if facts["operation"] == "trim":
                continue  # items without other changes count as trimmed
            fields = dict(facts["fields"])
        else:
            continue
        ids = [one for one in entry.data["itemIds"] if one not in known]
        steps.append({item_id: marks.get(item_id, {}) for item_id in ids})
        for item_id in ids:
            marks[item_id] = {**marks.get(item_id, {}), **fields}
    return marks


def _until(file: BinaryIO, end: int | None) -> Iterator[Line]:
    for line in lines(file):
        if end is not None and line.offset > end:
            return
        yield line


def _tells_of_item(text: bytes) -> bool:
    """Whether a line may contain an item; others need no parsing."""
    return _SUBTYPE not in text or any(one in text for one in _ITEMS)


def _ignore(_: Damage) -> None:
    """Ignore damage: it was reported when the session was restored."""


LIMIT, KEPT = 1_000, 800
"""Number of items above which old ones are unloaded, and how many stay loaded."""

_UNREADABLE = (OSError, ContextUIError, KeyError, TypeError, ValueError)


class MemoryStore:
    """Unloads the content of old items and reads it from the log on demand.

    What requests show of them is cached before, so a turn reads nothing back.

    Args:
        context: The items.
        offsets: The offset in the log of each item.
        path: The log.
    """

    def __init__(self, context: ContextManager, offsets: Mapping[str, int], path: Path) -> None:
        self._context, self._offsets, self._path = context, offsets, path
        self._through = 0  # all items up to this seq were considered
        self._reloaded: dict[str, None] = {}  # older items whose content was loaded again
        context.subscribe(self._hear)

    def _hear(self, event: Event) -> None:
        if isinstance(event, ItemsChanged):
            for item in map(self._context.get, event.item_ids):
                if not item.is_loaded and not item.hidden:
                    reload(item)
                    self._reloaded[item.id] = None
        elif isinstance(event, TurnEnded) and self._context.current_seq > LIMIT:
            self._let_go(self._context.current_seq - KEPT)

    def _let_go(self, newest: int) -> None:
        self._context.outlook()  # cache what requests show of them while it is loaded
        old = [self._context.get(item_id) for item_id in self._reloaded]
        for item in self._context.get_all().since(self._through + 1):
            if item.seq > newest:
                break
            old.append(item)
            self._through = item.seq
        self._reloaded.clear()
        for item in old:
            # An edit is a separate entry in the log, not part of the item's own.
            unchanged = not item.revision and item.held is None and item.stage is Stage.FINAL
            if item.id in self._offsets and unchanged and item.is_loaded and is_conversation(item):
                unload(item, self._reader(item))

    def _reader(self, item: ContextItem) -> Load:
        def read() -> tuple[str, tuple[Block, ...] | None]:
            try:
                with self._path.open("rb") as file:
                    stored = item_of(decode(line_at(file, self._offsets[item.id]).text))
            except _UNREADABLE:
                stored = None
            if stored is not None and stored.id == item.id.partition(TWIN)[0]:
                return stored.content, stored.blocks
            return self._as_shown(item)

        return read

    def _as_shown(self, item: ContextItem) -> tuple[str, tuple[Block, ...] | None]:
        """Return what requests show of an item, if the log was damaged or removed."""
        shown = self._context.ledger.shown_content(item)
        if shown is None or isinstance(shown, str):
            return shown or item.gist or "", None
        texts = (str(block.get("text", "")) for block in shown if block.get("type") == "text")
        return "\n".join(texts), tuple(shown)
