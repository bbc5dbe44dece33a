"""Replay of log entries: rebuild the context, and restore windows in their last state."""

import math
import re
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple, get_args

from contextui.context.gists.gist import gist
from contextui.context.item import Calls, ContextItem, ItemType, admit, assign, check_text
from contextui.context.ledger import items_of
from contextui.context.manager import ContextManager
from contextui.errors import ContextUIError, DuplicateItemError, InvalidItemError
from contextui.events import Trigger
from contextui.model import Block
from contextui.session.entry import SCHEMA, TWIN, Entry, as_text, item_of
from contextui.session.lines import DamagedLineError, moment
from contextui.text import one_line
from contextui.version import VERSION
from contextui.windowing.manager import WindowManager
from contextui.windowing.snapshot import ContextVersion, HistoryEntry, Lod
from contextui.windowing.window import Window
from contextui.words import Lang, Words

_TOOLS = ("read_file", "file_reader")
_ID_PREFIX = "call_read_file_"
_PATHS = ("path", "file_path", "filename", "file")


def gist_of_read(entry: Entry, item: ContextItem, calls: Calls, lang: Lang) -> str | None:
    """Create the gist of a file read by another program's tool; None for anything else."""
    result = entry.tool_result
    if result is None or not isinstance(result.get("output"), str) or item.is_error or item.gist:
        return None
    call = _call(item, calls)
    by_name = item.tool_name in _TOOLS or call.get("name") in _TOOLS
    path = _path(call.get("input"))
    if path is None or not (by_name or result["id"].startswith(_ID_PREFIX)):
        return None
    return gist(path, result["output"], lang)


def _call(item: ContextItem, calls: Calls) -> Block:
    blocks = calls.asker(item).blocks or ()
    return next((block for block in blocks if block.get("id") == item.tool_call_id), {})


def _path(given: Any) -> str | None:
    named = (given.get(name) for name in _PATHS) if isinstance(given, dict) else ()
    return next((path for path in named if isinstance(path, str) and path), None)


_LONGEST_NUMBER = 10  # digits: we never assign a longer window number
_MOST_ROUNDS = 1_000  # entries of a window's history kept during replay
_UNKNOWN_TIME = datetime.fromtimestamp(0, UTC)


class WindowReplay:
    """Collects what the log says about windows, then restores each once, in its last state."""

    def __init__(self) -> None:
        self._open: dict[str, dict[str, Any]] = {}
        self._closed: dict[str, str] = {}
        self.sent: dict[str, str] = {}  # the XML of windows that version 2 placed by turn
        self._used: dict[str, None] = {}  # the last used one at the end
        self._unsure: set[str] = set()  # those of unknown use, put first
        self._numbers: dict[str, int] = {}
        self._histories: dict[str, list[HistoryEntry]] = {}
        self.absent: list[dict[str, Any]] = []
        """The data of windows that could not be restored, in the form of a checkpoint."""

    def load(self, data: Mapping[str, Any]) -> None:
        """Load the windows of a checkpoint."""
        self._open = {facts["windowId"]: dict(facts) for facts in data["windows"]}
        self._used = dict.fromkeys(data["used"])
        self._numbers = dict(data["numbers"])
        for facts in data["windows"]:
            self._histories[facts["windowId"]] = list(facts["history"])

    def apply(self, subtype: str, data: dict[str, Any], timestamp: str) -> None:
        """Apply an entry about a window."""
        window_id = data["windowId"]
        match subtype:
            case "window_opened":
                self._open[window_id] = dict(data)
                self._count(data["name"], window_id)
                self._use(window_id)
            case "window_state" if window_id not in self._closed:
                # Its opening entry may be missing. Its id starts with its name.
                name = window_id.rpartition("_")[0] or window_id
                facts = self._open.setdefault(window_id, {"name": name})
                facts.update(data)
                facts["jobs"], facts["aside"] = data.get("jobs", []), data.get("aside", {})
                if window_id not in self._used:
                    self._used = {window_id: None, **self._used}
                    self._unsure.add(window_id)
            case "window_acted":
                if window_id in self._unsure:  # it had the focus, or an entry would say so
                    self._use(window_id)
                self._act(window_id, data, timestamp)
            case "window_focused":
                self._use(window_id)
            case "window_closed":
                self._open.pop(window_id, None)
                self._used.pop(window_id, None)
                self._closed[window_id] = data["render"] or ""
                self._histories.pop(window_id, None)

    @property
    def versions(self) -> dict[str, str]:
        """The last logged version of each open window."""
        return {window_id: facts["version"] for window_id, facts in self._open.items()}

    def restore(
        self,
        windows: WindowManager,
        context: ContextManager,
        warn: Callable[[str], None],
    ) -> None:
        """Restore every window that was open, in the order in which they were opened.

        A window whose class is missing, or rejects the state, is skipped with a warning. It stays
        in the session and is restored once its class is available.
        """
        words = Words(windows.lang)
        for window_id, facts in self._open.items():
            cls = windows.classes.get(facts["name"])
            try:
                if cls is None:
                    raise ContextUIError("there is no window class {name}", name=facts["name"])
                block = context.known_block(window_id) or self._render(window_id, facts)
                self._restore(windows, cls, window_id, facts, block)
                last = context.window_items(window_id)[-1:]
                if last and last[0].hidden == "closed":  # by a run without its class
                    context.ledger.set(last, {"hidden": None})
                if unknown := set(facts["state"] or ()) - set(cls.State.model_fields):
                    warn(
                        words(
                            "{id} does not use these parts of its state, which are kept aside: "
                            "{names}.",
                            id=window_id,
                            names=", ".join(sorted(unknown)),
                        )
                    )
            except Exception as error:  # a window's own code may raise anything
                warn(
                    words(
                        "{id} is not open: {problem}. It stays in the session and opens once its "
                        "class accepts its state."
                        if cls is not None
                        else "{id} is not open: {problem}. It stays in the session and opens once "
                        "its class is available: name its file with --window.",
                        id=window_id,
                        problem=error if isinstance(error, ContextUIError) else str(error),
                    )
                )
                self._closed[window_id] = self._render(window_id, facts)
                self.absent.append(self._facts(window_id, facts))
        for window_id in self._used:
            if windows.get(window_id):
                windows.focus(window_id)
        for window_id in context.window_ids:
            self._count(window_id.rpartition("_")[0], window_id)
        windows.remember(self._closed, self._numbers)
        for window_id in context.window_ids:
            if windows.get(window_id) is None:
                shown = any(not item.is_obsolete for item in context.window_items(window_id))
                if shown and window_id not in self._closed:
                    warn(
                        words(
                            "{id} was still opening when the session ended. It was not saved: "
                            "open it again.",
                            id=window_id,
                        )
                    )
                context.mark_window_obsolete(window_id)

    def _render(self, window_id: str, facts: Mapping[str, Any]) -> str:
        return self.sent.get(window_id) or facts.get("render") or ""

    def _restore(
        self,
        windows: WindowManager,
        cls: type[Window],
        window_id: str,
        facts: dict[str, Any],
        block: str,
    ) -> None:
        windows.restore(
            cls,
            window_id,
            facts["state"] or {},
            lod=Lod(facts["lod"]),
            version=ContextVersion.read(facts["version"]),
            history=self._histories.get(window_id, ()),
            focus_id=facts.get("focusId"),
            jobs=facts.get("jobs", ()),
            aside=facts.get("aside", {}),
            block=block,
        )

    def _facts(self, window_id: str, facts: Mapping[str, Any]) -> dict[str, Any]:
        history = [one.model_dump(mode="json") for one in self._histories.get(window_id, ())]
        kept = {name: facts[name] for name in ("name", "version", "lod", "state")}
        focus = {"focusId": facts["focusId"]} if facts.get("focusId") else {}
        aside = {"aside": facts["aside"]} if facts.get("aside") else {}
        return {"windowId": window_id, **kept, "history": history, **focus, **aside}

    def _act(self, window_id: str, data: dict[str, Any], timestamp: str) -> None:
        if window_id in self._open and "focusId" in data:
            self._open[window_id]["focusId"] = data["focusId"]
        rounds = self._histories.setdefault(window_id, [])
        del rounds[:-_MOST_ROUNDS]
        rounds.append(
            HistoryEntry(
                round=rounds[-1].round + 1 if rounds else 1,
                action=data["action"],
                result=one_line(data["text"], 200),
                timestamp=moment(timestamp) or _UNKNOWN_TIME,
                actor=data.get("actor", ""),
            )
        )

    def _use(self, window_id: str) -> None:
        self._unsure.discard(window_id)
        self._used.pop(window_id, None)
        self._used[window_id] = None

    def _count(self, name: str, window_id: str) -> None:
        number = window_id.rpartition("_")[2]
        if number.isdecimal() and len(number) < _LONGEST_NUMBER:
            self._numbers[name] = max(self._numbers.get(name, 0), int(number))


_NO_SCHEMA = 1_000  # no schema version is this high


class NewerSchemaError(ContextUIError):
    """The log was written by a newer version of contextui."""


class Replay:
    """Applies log entries in order. Windows are restored at the end, once and up to date."""

    def __init__(self, context: ContextManager, windows: WindowReplay) -> None:
        self._context, self._windows = context, windows
        self._ledger = context.ledger
        self.turn = 0
        """How many turns have ended."""
        self.last_id: str | None = None
        """The id of the last applied entry."""
        self.left_out = 0
        """How many invalid entries were skipped so far."""
        self._boundary: _Boundary | None = None
        self.texts: dict[str, str] = {}
        """The unsent input, the title and the model, by the kind of their entries."""

    def apply(self, entry: Entry) -> ContextItem | None:
        """Apply an entry; return the item that it added, if any.

        Everything is validated before anything is changed: an entry that raises has no effect.
        """
        data = entry.data
        match entry.subtype:
            case "session":
                check_schema(entry)
            case "change":
                self._change(data)
            case "cut":
                # The skipped entries may have been items.
                if data["cut"] > self._context.current_seq + 1 + self.left_out:
                    raise DamagedLineError("data.cut: higher than the seq of any item")
                self._ledger.cut = data["cut"]
            case "usage":
                self._context.report_usage(data["counted"], data["usage"])
            case "request":
                self._request(data)
            case "draft" | "title" | "model" as kind:
                self.texts[kind] = data["text"]
            case "turn_end":
                self._end_turn(data)
            case "compact_boundary":
                self._compact(entry)
            case "checkpoint":
                pass  # its content was replayed already
            case str(subtype) if subtype.startswith("window_") and subtype != "window_item":
                self._windows.apply(subtype, data, entry.timestamp)
            case _:
                self.last_id = entry.uuid
                return self._item(entry)
        self.last_id = entry.uuid
        return None

    def _end_turn(self, data: Mapping[str, Any]) -> None:
        self._ledger.finish(early=data["early"])
        # A number that is far too high is invalid, but the turn has ended anyway.
        is_near = self.turn <= data["turn"] <= self.turn + 1 + self.left_out
        self.turn = data["turn"] if is_near else self.turn + (not data["early"])

    def _item(self, entry: Entry) -> ContextItem | None:
        item = item_of(entry)
        if item is None:
            return None
        if entry.type == "user" and item.content.strip() == self.texts.get("draft", "").strip():
            self.texts["draft"] = ""  # it was sent
        items, seq = self._context.items, (entry.data or {}).get("seq")
        if seq is None:  # another program's: our own rules split it into turns
            return self._foreign_item(item, entry)
        admit(item)
        if item.id in items:  # of two equal uuids, either may be the invalid one
            assign(item, id=f"{item.id}{TWIN}{seq}")
            if item.id in items:
                raise DuplicateItemError("its id is already in use")
        self._resolve_call_conflicts(item)
        self._ledger.replace_older(item)
        self._ledger.enter(item, seq)
        if self._boundary is not None and self._boundary.summary_id == item.id:
            self._fold(self._boundary, item)
        return item

    def _resolve_call_conflicts(self, item: ContextItem) -> None:
        """Turn tool calls of an item into text if another item has made or answered them."""
        calls = self._context.calls
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

    def _foreign_item(self, item: ContextItem, entry: Entry) -> ContextItem:
        windows = self._context.windows
        is_summary = entry.is_compact_summary and self._boundary == _Boundary("")
        if is_summary:  # another program's: it replaces everything before
            self._context.end_turn()
        before = list(self._context.get_active()) if is_summary else []
        self._context.add(item)
        self._ledger.set(before, {"hidden": "compacted"})
        if is_summary:
            self._boundary = None
        if line := gist_of_read(
            entry, item, self._context.calls, windows.lang if windows else "en"
        ):
            self._ledger.set([item], {"gist": line})
        return item

    def _compact(self, entry: Entry) -> None:
        """Remember a compaction; it takes effect only together with its summary."""
        if (data := entry.data) is None:
            self._boundary = _Boundary("")  # another program's
            return
        given = entry.metadata.get("trigger") if isinstance(entry.metadata, dict) else None
        trigger: Trigger = next((arg for arg in get_args(Trigger) if arg == given), "auto")
        boundary = _Boundary(data["summaryId"], tuple(data["itemIds"]), trigger)
        if summary := self._known([boundary.summary_id]):  # in older logs it comes first
            self._fold(boundary, summary[0])
        else:
            self._boundary = boundary

    def _fold(self, boundary: "_Boundary", summary: ContextItem) -> None:
        self._boundary = None
        if not summary.is_summary:
            raise DamagedLineError("It is not a summary, so no items are hidden for it.")
        items = self._known(boundary.item_ids)
        self._ledger.compact(items, summary, boundary.trigger)

    def _change(self, data: Mapping[str, Any]) -> None:
        ledger, operation = self._ledger, data["operation"]
        items = self._known(data["itemIds"])
        if operation == "undo":
            steps = ledger.steps
            if not steps or {one.id for one in items_of(steps[-1])} != {one.id for one in items}:
                raise DamagedLineError("The change to undo is missing.")
            ledger.undo()
            return
        fields = dict(data["fields"])
        if "content" in fields:
            for item in items:
                if item.type is ItemType.WINDOW:
                    raise DamagedLineError("A window cannot be edited.")
                check_text(data["fields"]["content"], item.type)
        is_automatic = operation == "trim" or fields.get("hidden") == "replaced"
        (ledger.set if is_automatic else ledger.step)(items, fields)

    def _request(self, data: Mapping[str, Any]) -> None:
        shown = ((one["windowId"], one.get("xml")) for one in data.get("windows", ()))
        self._windows.sent.update((window_id, xml) for window_id, xml in shown if xml)
        self._ledger.fix(data["throughSeq"], data["waitingIds"], facts=data.get("plan"))

    def _known(self, item_ids: Iterable[str]) -> list[ContextItem]:
        """Return the items with these ids, without those lost to damage."""
        items = self._context.items
        return [items[item_id] for item_id in item_ids if item_id in items]


class _Boundary(NamedTuple):
    """A compaction whose summary was not read yet; without an id, another program's."""

    summary_id: str
    item_ids: tuple[str, ...] = ()
    trigger: Trigger = "auto"


def check_schema(header: Entry) -> None:
    """Reject a log that is newer than this program.

    Only a newer program writes a newer schema: if the header names this version or an older one,
    the schema number is invalid and ignored.
    """
    schema = (header.data or {}).get("schema", SCHEMA)
    if schema == SCHEMA and type(schema) is int:
        return
    is_number = type(schema) is int and SCHEMA < schema < _NO_SCHEMA
    if is_number and _release(header.version) > _release(VERSION):
        raise NewerSchemaError(
            "This session was written by a newer contextui (schema {schema}; this version knows "
            "{known}). It was not changed.",
            schema=schema,
            known=SCHEMA,
        )
    raise DamagedLineError("data.schema: unknown schema number")


def _release(version: str) -> tuple[float, ...]:
    """Parse a version for comparison; an unreadable one counts as newest."""
    numbers = re.match(r"(\d{1,9})\.(\d{1,9})(?:\.(\d{1,9}))?", version, re.ASCII)
    return tuple(int(group or 0) for group in numbers.groups()) if numbers else (math.inf,)
