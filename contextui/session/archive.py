"""Items that a session left in its log when it was read from a checkpoint on.

No request shows them, so all of them are hidden. They are read one after the other: a log may be
longer than the memory.
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
    """The items that stand before a checkpoint and are not known, oldest first, as they are now.

    They belong to no context. Reading takes no more memory than the changes that people made to
    them.

    Args:
        path: The log.
        known: The ids of items that are at hand.
        start: Where the checkpoint stands.
        end: Where the last entry stands that counts; by default it is that of the log.

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
                continue  # it was left out when the session was read, too


def _as_it_is(item: ContextItem, entry: Entry, changes: dict[str, Any]) -> ContextItem:
    """An item with its seq, and with all that was done to it."""
    reason = "closed" if item.type is ItemType.WINDOW else item.hidden or "trimmed"
    assign(item, seq=(entry.data or {}).get("seq", 0), hidden=reason)
    assign(item, **{name: value for name, value in changes.items() if value is not None})
    return item


def _marks(file: BinaryIO, known: Container[str], end: int | None) -> _Marks:
    """What people and compactions did to items that are not known, by the items' ids."""
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
                continue  # what nobody says otherwise of is trimmed
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
    """Whether a line may tell of an item; those that do not need no parsing."""
    return _SUBTYPE not in text or any(one in text for one in _ITEMS)


def _ignore(_: Damage) -> None:
    """Damage was reported when the session was read."""


LIMIT, KEPT = 1_000, 800
"""From so many items on, those that are not among the newest leave; and how many stay."""

_UNREADABLE = (OSError, ContextUIError, KeyError, TypeError, ValueError)


class MemoryStore:
    """Lets go of the content of old items; it is read from the log when it is asked for.

    What requests show of them was built before and stays, so a turn reads nothing back.

    Args:
        context: The items.
        offsets: Where in the log each of them stands.
        path: The log.
    """

    def __init__(self, context: ContextManager, offsets: Mapping[str, int], path: Path) -> None:
        self._context, self._offsets, self._path = context, offsets, path
        self._through = 0  # up to this seq all items were looked at
        self._reloaded: dict[str, None] = {}  # older ones whose content is here again
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
        self._context.outlook()  # build what requests show of them while it is at hand
        old = [self._context.get(item_id) for item_id in self._reloaded]
        for item in self._context.get_all().since(self._through + 1):
            if item.seq > newest:
                break
            old.append(item)
            self._through = item.seq
        self._reloaded.clear()
        for item in old:
            # What was edited stands in the log as a change, not where the item stands.
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
        """What requests show of an item, where the log was damaged or removed."""
        shown = self._context.ledger.shown_content(item)
        if shown is None or isinstance(shown, str):
            return shown or item.gist or "", None
        texts = (str(block.get("text", "")) for block in shown if block.get("type") == "text")
        return "\n".join(texts), tuple(shown)
