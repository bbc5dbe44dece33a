"""Reads entries back into a context and its windows, so that both stand as they stood."""

import math
import re
from collections.abc import Iterable
from typing import NamedTuple, get_args

from contextui.context.admission import admit, check_text
from contextui.context.changes import items_of
from contextui.context.item import Carried, ContextItem, ItemType, assign
from contextui.context.manager import ContextManager
from contextui.errors import ContextUIError, DuplicateItemError, InvalidItemError
from contextui.events import Trigger
from contextui.session.entry import SCHEMA, Entry
from contextui.session.facts import (
    BoundaryFacts,
    ChangeFacts,
    OddEntryError,
    RequestFacts,
    TurnFacts,
)
from contextui.session.foreign import gist_of_read
from contextui.session.items import TWIN, as_text, item_of
from contextui.session.returning import ReturningWindows
from contextui.version import VERSION
from contextui.windowing.snapshot import ContextVersion

_NO_SCHEMA = 1_000  # no schema has so high a number


class NewerSchemaError(ContextUIError):
    """A log that a later contextui wrote."""


class Replay:
    """Applies entries one after the other. Windows come back at the end, once and up to date.

    Args:
        context: The context to fill; it must be empty or loaded from a checkpoint.
        windows: What is known of the windows.
    """

    def __init__(self, context: ContextManager, windows: ReturningWindows) -> None:
        self._context, self._windows = context, windows
        self.turn = 0
        """How many turns have ended."""
        self.last_id: str | None = None
        """The entry that was applied last."""
        self.left_out = 0
        """How many entries were odd so far, and left out."""
        self._boundary: _Boundary | None = None
        self.draft = ""
        """What the person had typed and not sent."""

    def take_draft(self, text: object) -> None:
        """Remember what the person had typed and not sent."""
        self.draft = text if isinstance(text, str) else ""

    def apply(self, entry: Entry) -> ContextItem | None:
        """Have an entry happen again; the item that it added, if it did.

        Everything is checked before anything is changed: an entry that raises leaves no trace.

        Raises:
            NewerSchemaError: It is written in a way that is not known here.
            ContextUIError: It does not fit what stands before it.
        """
        data, ledger = entry.data, self._context.ledger
        match entry.subtype:
            case "session":
                check_schema(entry)
            case "change":
                self._change(data)
            case "cut":
                # What was left out as odd may have been items.
                if data["cut"] > ledger.seq + 1 + self.left_out:
                    raise OddEntryError("data.cut: no item has so high a seq")
                ledger.cut = data["cut"]
            case "usage":
                self._context.report_usage(data["counted"], data["usage"])
            case "request":
                self._request(data)
            case "draft":
                self.take_draft(data.get("text"))
            case "turn_end":
                self._end_turn(data)
            case "compact_boundary":
                self._compact(entry)
            case "checkpoint":
                pass  # what it says was replayed
            case str(subtype) if subtype.startswith("window_") and subtype != "window_item":
                self._windows.apply(subtype, data, entry.timestamp)
            case _:
                self.last_id = entry.uuid
                return self._item(entry)
        self.last_id = entry.uuid
        return None

    def _end_turn(self, data: TurnFacts) -> None:
        self._context.ledger.finish(early=data["early"])
        # A number too high by far is odd, but the turn has ended all the same.
        is_near = self.turn <= data["turn"] <= self.turn + 1 + self.left_out
        self.turn = data["turn"] if is_near else self.turn + (not data["early"])

    def _item(self, entry: Entry) -> ContextItem | None:
        item = item_of(entry)
        if item is None:
            return None
        if entry.type == "user" and item.content.strip() == self.draft.strip():
            self.draft = ""  # it was sent
        ledger, seq = self._context.ledger, (entry.data or {}).get("seq")
        if seq is None:  # another program's: our own rules make turns of it
            return self._from_elsewhere(item, entry)
        admit(item)
        if item.id in ledger.items:  # of two entries with one uuid either may be the odd one
            assign(item, id=f"{item.id}{TWIN}{seq}")
            if item.id in ledger.items:
                raise DuplicateItemError("it stands there twice")
        self._untangle(item)
        ledger.replace_older(item)
        ledger.enter(item, seq)
        if self._boundary is not None and self._boundary.summary_id == item.id:
            self._fold(self._boundary, item)
        return item

    def _untangle(self, item: ContextItem) -> None:
        """Part an item from calls that another one has made, or has answered, already."""
        calls = self._context.ledger.calls
        try:
            calls.check(item)
        except InvalidItemError:
            known = {*calls.known}
            blocks = tuple(
                {"type": "text", "text": as_text(block)}
                if block["type"] == "tool_use"
                and (block["id"] in known or item.calls.count(block["id"]) > 1)
                else block
                for block in item.blocks or ()
            )
            assign(item, tool_call_id=None, blocks=blocks or None)
            assign(item, revision=0)

    def _from_elsewhere(self, item: ContextItem, entry: Entry) -> ContextItem:
        ledger, windows = self._context.ledger, self._context.windows
        is_summary = entry.is_compact_summary and self._boundary == _Boundary("")
        if is_summary:  # another program's: it stands for all that was there
            self._context.end_turn()
        before = list(self._context.get_active()) if is_summary else []
        self._context.add(item)
        ledger.set(before, {"hidden": "compacted"})
        if is_summary:
            self._boundary = None
        if line := gist_of_read(entry, item, ledger.calls, windows.lang if windows else "en"):
            ledger.set([item], {"gist": line})
        return item

    def _compact(self, entry: Entry) -> None:
        """A boundary alone hides nothing: only together with its summary it counts."""
        data: BoundaryFacts | None = entry.data
        if data is None:
            self._boundary = _Boundary("")  # another program's
            return
        given = entry.compact_metadata.trigger if entry.compact_metadata else "auto"
        trigger: Trigger = next((one for one in get_args(Trigger) if one == given), "auto")
        boundary = _Boundary(data["summaryId"], tuple(data["itemIds"]), trigger)
        if summary := self._known([boundary.summary_id]):  # older logs have it first
            self._fold(boundary, summary[0])
        else:
            self._boundary = boundary

    def _fold(self, boundary: "_Boundary", summary: ContextItem) -> None:
        self._boundary = None
        if not summary.is_summary:
            raise OddEntryError("It is no summary, and no items are left out for it.")
        items = self._known(boundary.item_ids)
        self._context.ledger.compact(items, summary, boundary.trigger)

    def _change(self, data: ChangeFacts) -> None:
        ledger, operation = self._context.ledger, data["operation"]
        items = self._known(data["itemIds"])
        if operation == "undo":
            steps = ledger.changes.steps
            if not steps or {one.id for one in items_of(steps[-1])} != {one.id for one in items}:
                raise OddEntryError("What it undoes is not there.")
            ledger.undo()
            return
        fields = dict(data["fields"])
        if "content" in fields:
            for item in items:
                if item.type is ItemType.WINDOW:
                    raise OddEntryError("A window cannot be edited.")
                check_text(data["fields"]["content"], item.type)
        (ledger.set if operation == "trim" else ledger.step)(items, fields)

    def _request(self, data: RequestFacts) -> None:
        ledger = self._context.ledger
        renders = [(facts, self._windows.render(facts)) for facts in data["windows"]]
        for carrier in self._known([data["carrierId"]] if data["carrierId"] else []):
            copies = [
                Carried(facts["windowId"], ContextVersion.read(facts["version"]), xml)
                for facts, xml in renders
                if xml
            ]
            ledger.carry(carrier, tuple(copies[len(carrier.carried) :]))
        ledger.fix(data["throughSeq"], data["waitingIds"])

    def _known(self, item_ids: Iterable[str]) -> list[ContextItem]:
        """The items of these ids; one that a damaged line took away is left out."""
        items = self._context.ledger.items
        return [items[item_id] for item_id in item_ids if item_id in items]


class _Boundary(NamedTuple):
    """A compaction whose summary has not been read yet; without an id, another program's."""

    summary_id: str
    item_ids: tuple[str, ...] = ()
    trigger: Trigger = "auto"


def check_schema(header: Entry) -> None:
    """Refuse a log that is newer than this program.

    Only a newer program writes a newer schema: where this one or an older one says that it wrote
    the log, the number is odd, and tells nothing.

    Raises:
        NewerSchemaError: It is; the file is left as it is.
        OddEntryError: It cannot be the number of a schema.
    """
    schema = (header.data or {}).get("schema", SCHEMA)
    if schema == SCHEMA and type(schema) is int:
        return
    is_number = type(schema) is int and SCHEMA < schema < _NO_SCHEMA
    if is_number and _release(header.version) > _release(VERSION):
        raise NewerSchemaError(
            "This session was written by a newer contextui "
            f"(schema {schema}, known here is {SCHEMA}). It is left as it is."
        )
    raise OddEntryError("data.schema: that is the number of no schema")


def _release(version: str | None) -> tuple[float, ...]:
    """A version to compare; one that nobody can read may be newer than any."""
    numbers = re.match(r"(\d{1,9})\.(\d{1,9})(?:\.(\d{1,9}))?", version or "", re.ASCII)
    return tuple(int(one or 0) for one in numbers.groups()) if numbers else (math.inf,)
