"""Older items that stay in the log: read on demand, and unloaded from memory.

Items before the checkpoint of a resumed session are not loaded. No request shows them, so all are
hidden. They are read one by one: a log may be larger than the memory.
"""

from collections import deque
from collections.abc import Container, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from contextui.context.item import (
    ContextItem,
    ItemType,
    Stage,
    admit,
    assign,
    is_conversation,
    reload,
    unload,
)
from contextui.context.ledger import UNDO_STEPS
from contextui.context.manager import ContextManager
from contextui.errors import ContextUIError
from contextui.events import Event, ItemsChanged, TurnEnded
from contextui.plain_file import open_plain
from contextui.session.entry import Entry
from contextui.session.items import Content, item_of, stored
from contextui.session.reader import Line, entries, ignore, lines, of_kinds
from contextui.session.restore import in_order
from contextui.session.schema import ChangeFacts

_ITEMS = ("prompt", "window_item")  # the system entries with an item
_ItemChanges = dict[str, dict[str, Any]]


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
        candidates = (line for line in _until(file, start) if _may_be_item(line))
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
    for _, entry in entries(of_kinds(_until(file, end), "change", "compact_boundary")):
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


def _may_be_item(line: Line) -> bool:
    """Whether a line may contain an item; others need no parsing."""
    return b'"subtype":"' not in line.text or any(of_kinds([line], *_ITEMS))


LIMIT, KEPT = 1_000, 800
"""Number of items above which old ones are unloaded, and how many stay loaded."""


class MemoryStore:
    """Unloads the content of old items and reads it from the log on demand.

    What requests show of them is cached before, so a turn reads nothing back.
    """

    def __init__(self, context: ContextManager, offsets: Mapping[str, int], path: Path) -> None:
        self._context, self._offsets, self._path = context, offsets, path
        self._through = 0  # all items up to this seq were considered
        self._reloaded: dict[str, None] = {}  # older items whose content was loaded again
        context.subscribe(self._on_event)

    def _on_event(self, event: Event) -> None:
        if isinstance(event, ItemsChanged):
            for item in map(self._context.get, event.item_ids):
                if not item.is_loaded and not item.hidden:
                    reload(item)
                    self._reloaded[item.id] = None
        elif isinstance(event, TurnEnded) and self._context.current_seq > LIMIT:
            self._unload_old(self._context.current_seq - KEPT)

    def _unload_old(self, newest: int) -> None:
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
            unchanged = not item.revision and item.stage is Stage.FINAL
            if item.id in self._offsets and unchanged and item.is_loaded and is_conversation(item):
                shown = partial(self._as_shown, item)
                unload(item, stored(self._path, self._offsets, item.id, fallback=shown))

    def _as_shown(self, item: ContextItem) -> Content:
        """Return what requests show of an item, if the log was damaged or removed."""
        shown = self._context.shown_content(item)
        if shown is None or isinstance(shown, str):
            return shown or item.gist or "", None
        texts = (str(block.get("text", "")) for block in shown if block.get("type") == "text")
        return "\n".join(texts), tuple(shown)
