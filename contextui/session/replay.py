"""Reads entries back into a context and its windows, so that both stand as they stood."""

from collections.abc import Callable, Iterable
from typing import Any

from contextui.context.admission import admit
from contextui.context.item import Carried, ContextItem
from contextui.context.manager import ContextManager
from contextui.errors import ContextUIError, DuplicateItemError
from contextui.session.entry import SCHEMA, Entry
from contextui.session.foreign import gist_of_read
from contextui.session.items import item_of
from contextui.session.returning import ReturningWindows
from contextui.text import quote
from contextui.windowing.snapshot import ContextVersion

_CHANGEABLE = ("pinned", "hidden", "content", "blocks", "gist", "whole")


class NewerSchemaError(ContextUIError):
    """A log that a later contextui wrote."""


class Replay:
    """Applies entries one after the other. Windows come back at the end, once and up to date.

    Args:
        context: The context to fill; it must be empty or loaded from a checkpoint.
        windows: What is known of the windows.
        warn: Hears in words what could not be brought back.
    """

    def __init__(
        self, context: ContextManager, windows: ReturningWindows, warn: Callable[[str], None]
    ) -> None:
        self._context, self._windows, self._warn = context, windows, warn
        self.turn = 0
        """How many turns have ended."""
        self.last_id: str | None = None
        """The entry that was applied last."""

    def apply(self, entry: Entry) -> ContextItem | None:
        """Have an entry happen again; the item that it added, if it did.

        Raises:
            NewerSchemaError: It is written in a way that is not known here.
        """
        self.last_id = entry.uuid
        data, ledger = entry.data or {}, self._context.ledger
        match entry.subtype:
            case "session":
                check_schema(data)
            case "change":
                self._change(data)
            case "cut":
                ledger.cut = data["cut"]
            case "usage":
                self._context.report_usage(data["counted"], data["usage"])
            case "request":
                self._request(data)
            case "turn_end":
                ledger.finish(early=data["early"])
                self.turn = data["turn"]
            case "compact_boundary" if data:
                summary = self._known([data["summaryId"]])
                if summary:
                    trigger = entry.compact_metadata.trigger if entry.compact_metadata else "auto"
                    ledger.compact(self._known(data["itemIds"]), summary[0], trigger)
            case "compact_boundary":  # another program's
                self._context.end_turn()
                ledger.set(list(self._context.get_active()), {"hidden": "compacted"})
            case str(subtype) if subtype.startswith("window_") and subtype != "window_item":
                self._windows.apply(subtype, data, entry.timestamp)
            case _:
                return self._item(entry)
        return None

    def _item(self, entry: Entry) -> ContextItem | None:
        item = item_of(entry)
        if item is None:
            return None
        ledger, seq = self._context.ledger, (entry.data or {}).get("seq")
        try:
            if seq is None:  # another program's: our own rules make turns of it
                return self._from_elsewhere(item, entry)
            admit(item)
            ledger.calls.check(item)
            if item.id in ledger.items:
                raise DuplicateItemError("it stands there twice")
        except ContextUIError as problem:
            self._warn(f"Entry {quote(entry.uuid)} was left out: {problem}")
            return None
        ledger.replace_older(item)
        ledger.enter(item, seq)
        return item

    def _from_elsewhere(self, item: ContextItem, entry: Entry) -> ContextItem:
        self._context.add(item)
        ledger, windows = self._context.ledger, self._context.windows
        if line := gist_of_read(entry, item, ledger.calls, windows.lang if windows else "en"):
            ledger.set([item], {"gist": line})
        return item

    def _change(self, data: dict[str, Any]) -> None:
        ledger, operation = self._context.ledger, data["operation"]
        if operation == "undo":
            ledger.undo()
            return
        items = self._known(data["itemIds"])
        fields = {name: value for name, value in data["fields"].items() if name in _CHANGEABLE}
        if fields.get("blocks"):
            fields["blocks"] = tuple(fields["blocks"])
        (ledger.set if operation == "trim" else ledger.step)(items, fields)

    def _request(self, data: dict[str, Any]) -> None:
        ledger = self._context.ledger
        for carrier in self._known([data["carrierId"]] if data["carrierId"] else []):
            copies = []
            for facts in data["windows"]:
                xml = self._windows.render(facts)
                copies.append(
                    Carried(facts["windowId"], ContextVersion.read(facts["version"]), xml)
                )
            ledger.carry(carrier, tuple(copies[len(carrier.carried) :]))
        ledger.fix(data["throughSeq"], data["waitingIds"])

    def _known(self, item_ids: Iterable[str]) -> list[ContextItem]:
        """The items of these ids; one that a damaged line took away is left out."""
        items = self._context.ledger.items
        return [items[item_id] for item_id in item_ids if item_id in items]


def check_schema(data: dict[str, Any]) -> None:
    """Refuse a log that is newer than this program.

    Raises:
        NewerSchemaError: It is; the file is left as it is.
    """
    schema = data.get("schema", SCHEMA)
    if not isinstance(schema, int) or schema > SCHEMA:
        raise NewerSchemaError(
            "This session was written by a newer contextui "
            f"(schema {schema}, known here is {SCHEMA}). It is left as it is."
        )
