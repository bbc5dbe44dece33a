"""Items that a session left in its log when it was read from a checkpoint on.

No request shows them, so all of them are hidden. They are read one after the other: a log may be
longer than the memory.
"""

from collections import deque
from collections.abc import Container, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from contextui.context.admission import admit
from contextui.context.changes import UNDO_STEPS
from contextui.context.item import ContextItem, ItemType, assign
from contextui.errors import ContextUIError
from contextui.session.entry import Entry
from contextui.session.facts import ChangeFacts
from contextui.session.items import item_of
from contextui.session.loading import in_order
from contextui.session.reading import Damage, Line, entries, lines, open_plain

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
