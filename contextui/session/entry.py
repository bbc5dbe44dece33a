"""Log entries: one line of JSON each, with API keys as placeholders, and the items in them.

Messages, answers and results use the fields that other programs know. What only contextui knows
(windows, pins, requests, checkpoints) is in entries of type ``system`` with a subtype of their own
and their facts in ``data``.
"""

import hashlib
import json
import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC
from typing import Any

from contextui.context.item import SUMMARY, ContextItem, ItemType, Origin, clean_blocks
from contextui.errors import ContextUIError, InvalidItemError
from contextui.model import Block
from contextui.names import BESIDE
from contextui.session.lines import (
    JSON,
    DamagedLineError,
    EntryType,
    fields_of,
    is_deep,
    label,
    seal,
)
from contextui.session.validation import checked
from contextui.text import for_model
from contextui.version import VERSION
from contextui.windowing.window import Clock

SCHEMA = 1
"""The schema version of the log; a log with a higher version is not opened."""

_MAX_DEPTH = 100
_MAX_BITS = 10_000  # of an integer: JSON parsers reject longer ones


class Entry:
    """One log entry, as far as it is read.

    `contextui.session.validation` defines the form of `data` for each kind of entry.
    """

    def __init__(self, fields: Mapping[str, Any]) -> None:
        self.uuid: str = fields["uuid"]
        self.type: EntryType = fields["type"]
        self.subtype: str | None = fields.get("subtype")
        self.timestamp = label(fields, "timestamp")
        self.git_branch = label(fields, "gitBranch")
        self.version = label(fields, "version")
        self.message: Mapping[str, Any] | None = fields.get("message")
        self.tool: Mapping[str, Any] | None = fields.get("tool")
        self.tool_result: Mapping[str, Any] | None = fields.get("toolResult")
        self.is_compact_summary = bool(fields.get("isCompactSummary"))
        self.metadata: Any = fields.get("compactMetadata")
        self.data = checked(self.type, self.subtype, fields.get("data"))

    @property
    def model(self) -> str:
        """The model that gave an answer; may be empty."""
        return label(self.message or {}, "model")


_PARENT = re.compile(rb'"parentUuid":(?:null|"[^"]*")')


def encode(fields: Mapping[str, Any]) -> bytes:
    """Encode an entry as one line, with API keys replaced by placeholders.

    Values that JSON cannot hold become placeholders, never errors. A checkpoint is signed with a
    digest: it replaces earlier entries, so damage must be detected.
    """
    try:
        text = _dump(fields)
        if is_deep(text, "{", "[", value=fields):
            raise ValueError("nested too deeply")
        line = seal(text).encode("utf-8")
    except (TypeError, ValueError, RecursionError):
        line = seal(_dump(_json_safe(fields))).encode("utf-8")
    if fields.get("subtype") == "checkpoint":
        line = _signed(line)
    return line + b"\n"


def _dump(fields: Mapping[str, Any]) -> str:
    return json.dumps(fields, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _signed(line: bytes) -> bytes:
    data = JSON.decode(line.decode("utf-8"))["data"]
    return line.removesuffix(b"}}") + f',"digest":"{_digest(data)}"}}}}'.encode()


def _matches_digest(line: bytes) -> bool:
    data = JSON.decode(line.decode("utf-8"))["data"]
    return bool(data.pop("digest", None) == _digest(data))


def with_offsets(line: bytes, moved: Callable[[int], int]) -> bytes:
    """Return the line of a checkpoint for a log in which entries have other offsets.

    One that is not valid is returned unchanged: it must not become valid.
    """
    try:
        if not _matches_digest(line):
            return line
        fields = JSON.decode(line.decode("utf-8"))
        data = fields["data"]
        del data["digest"]
        data["items"] = [[moved(offset), facts] for offset, facts in data["items"]]
        data["closed"] = [moved(offset) for offset in data["closed"]]
        fields["data"] = fields.pop("data")  # the digest is put at its end
        new = _dump(fields).encode("utf-8")
        return _signed(new) + b"\n"
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return line


def with_parent(line: bytes, parent: str) -> bytes:
    """Return the line of an entry as the successor of another one."""
    return _PARENT.sub(f'"parentUuid":"{parent}"'.encode(), line, count=1)


def _digest(data: Mapping[str, Any]) -> str:
    return hashlib.sha256(_dump(data).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def decode(line: bytes) -> Entry:
    """Decode a line and validate it against the schema of its kind."""
    entry = Entry(fields_of(line))
    if entry.subtype == "checkpoint" and not _matches_digest(line):
        raise DamagedLineError("not an entry: data.digest: does not match")
    return entry


def _json_safe(value: Any, depth: int = 0) -> Any:
    shown: Any = f"[{type(value).__name__}]"
    if depth > _MAX_DEPTH:
        shown = "[too deep]"
    elif value is None or isinstance(value, bool):
        shown = value
    elif isinstance(value, int):
        shown = value if value.bit_length() < _MAX_BITS else "[a very large number]"
    elif isinstance(value, str):
        shown = for_model(value)
    elif isinstance(value, float):
        shown = value if math.isfinite(value) else f"[{value}]"
    elif isinstance(value, Mapping):
        shown = {for_model(str(key)): _json_safe(one, depth + 1) for key, one in value.items()}
    elif isinstance(value, list | tuple | set | frozenset):
        shown = [_json_safe(one, depth + 1) for one in value]
    return shown


# --- items ---------------------------------------------------------------------------------

TWIN = "~"
"""Separates the uuid of an entry from its seq, if another entry has the same uuid."""

_OF_CALL = ("id", "name", "input")
_KEPT = ("pinned", "gist", "hidden", "outcome")
_KINDS = {"user": ItemType.USER, "assistant": ItemType.ASSISTANT, "system": ItemType.SYSTEM}


def item_fields(item: ContextItem) -> dict[str, Any]:
    """Return the fields of an item's entry, without those common to all entries."""
    data: dict[str, Any] = {"seq": item.seq}
    for name in _KEPT:
        if value := getattr(item, name):
            data[name] = value
    content = list(item.blocks) if item.blocks else item.content
    if item.blocks:
        data["text"] = item.content
    role = "user" if item.is_summary else item.type.lower()
    message: dict[str, Any] = {"role": role, "content": content}
    match item.type:
        case ItemType.USER:
            fields: dict[str, Any] = {"type": "user", "message": message}
        case ItemType.ASSISTANT:
            if item.origin is not None:
                message |= {"model": item.origin.model, "usage": dict(item.origin.usage)}
            fields = {"type": "assistant", "message": message}
        case ItemType.SYSTEM if item.is_summary:
            fields = {"type": "user", "isCompactSummary": True, "message": message}
            data["hidden"] = "compacted"  # it takes effect only together with its boundary
        case ItemType.SYSTEM:
            fields = {"type": "system", "subtype": "prompt", "message": message}
        case ItemType.WINDOW:
            fields = {"type": "system", "subtype": "window_item"}
            data["windowId"] = item.content
        case ItemType.TOOL:
            result: dict[str, Any] = {"id": item.tool_call_id or "", "output": content}
            if item.is_error:
                result["error"] = item.content
            fields = {"type": "tool_result", "toolResult": result}
            data["toolName"] = item.tool_name
    return {**fields, "data": data}


def is_message(entry: Entry) -> bool:
    """Whether an entry holds the person's words: no summary, and nothing that the program added."""
    is_added = entry.is_compact_summary or entry.uuid.startswith(BESIDE)
    return entry.type == "user" and not is_added


def call_fields(item: ContextItem) -> list[dict[str, Any]]:
    """Return separate entries for the tool calls of an answer, for other programs."""
    calls = (block for block in item.blocks or () if block.get("type") == "tool_use")
    return [
        {
            "type": "tool_use",
            "tool": {name: block.get(name) for name in _OF_CALL},
            "data": {"itemId": item.id},
        }
        for block in calls
    ]


def item_of(entry: Entry) -> ContextItem | None:
    """Convert an entry to an item, if it has one: our own, or another program's in this form."""
    data: Mapping[str, Any] = entry.data or {}
    kept = {name: data[name] for name in _KEPT if name in data}
    if entry.subtype == "window_item":
        window_id: str = entry.data["windowId"]
        return ContextItem(ItemType.WINDOW, window_id, id=entry.uuid, **kept)
    if entry.tool_result is not None:
        return _result(entry, entry.tool_result, data, kept)
    if entry.tool is not None:
        if "itemId" in data:
            return None  # ours: it is part of an answer
        call = {"type": "tool_use", **{one: entry.tool.get(one) for one in _OF_CALL}}
        return ContextItem(ItemType.ASSISTANT, id=entry.uuid, blocks=[call], **kept)
    if entry.type == "system" and entry.subtype != "prompt":
        return None
    if entry.message is None:
        raise InvalidItemError(f"An entry of type {entry.type} has no message.")
    kind = _KINDS.get(label(entry.message, "role")) or _KINDS.get(entry.type, ItemType.USER)
    if kind is ItemType.SYSTEM and not (entry.type == "system" and "seq" in data):
        kind = ItemType.USER  # another program wrote it: do not trust its claimed role
    if entry.is_compact_summary and "seq" in data and entry.uuid.startswith(SUMMARY):
        kind = ItemType.SYSTEM
    content = entry.message.get("content")
    blocks = None if isinstance(content, str) else _blocks(content, kind)
    text = content if isinstance(content, str) else data.get("text") or _words(blocks or ())
    if kind is ItemType.SYSTEM:
        blocks = None
    origin = None
    if kind is ItemType.ASSISTANT and entry.model:
        usage = entry.message.get("usage")
        origin = Origin(entry.model, usage if isinstance(usage, dict) else {})
    return ContextItem(kind, text, id=entry.uuid, blocks=blocks, origin=origin, **kept)


def text_of(entry: Entry) -> str:
    """Return the text of a message or an answer; empty for other entries."""
    try:
        item = item_of(entry)
    except ContextUIError:
        return ""
    is_said = item is not None and item.type in (ItemType.USER, ItemType.ASSISTANT)
    return item.content if item is not None and is_said else ""


def _result(
    entry: Entry, result: Mapping[str, Any], data: Mapping[str, Any], kept: dict[str, Any]
) -> ContextItem:
    output, error = result.get("output"), result.get("error")
    output = error if output is None else output
    # Blocks are ours; any other list is another program's JSON.
    blocks = _blocks(output, ItemType.TOOL) if isinstance(output, list) and "text" in data else None
    words = data["text"] if blocks is not None else output
    return ContextItem(
        ItemType.TOOL,
        words if isinstance(words, str) else as_text(words),
        id=entry.uuid,
        blocks=blocks,
        tool_call_id=result["id"] or None,
        tool_name=data.get("toolName"),
        is_error=error is not None,
        **kept,
    )


def _blocks(content: Any, kind: ItemType) -> list[Block]:
    """Convert a message's content of any form to blocks, without dropping anything."""
    if content is None:
        return []
    given = content if isinstance(content, list) else [content]
    return [_block(one, kind) for one in given if one is not None]


def _block(content: Any, kind: ItemType) -> Block:
    if isinstance(content, dict) and set(content) == {"text"} and isinstance(content["text"], str):
        content = content["text"]
    try:
        return clean_blocks([content], kind)[0]
    except InvalidItemError:
        return {"type": "text", "text": content if isinstance(content, str) else as_text(content)}


def as_text(value: Any) -> str:
    """Convert another program's JSON to text."""
    return json.dumps(value, ensure_ascii=False)


def _words(blocks: Iterable[Block]) -> str:
    return "\n".join(block["text"] for block in blocks if block["type"] == "text")


@dataclass(frozen=True, slots=True)
class Stamp:
    """The fields common to all entries of a session."""

    session_id: str
    cwd: str
    git_branch: str | None
    clock: Clock

    def entry(self, fields: dict[str, Any], identity: str, parent: str | None) -> bytes:
        """Encode an entry as the successor of another one."""
        now = self.clock().astimezone(UTC).isoformat().replace("+00:00", "Z")
        return encode(
            {
                "uuid": identity,
                "parentUuid": parent,
                "sessionId": self.session_id,
                "timestamp": now,
                "cwd": self.cwd,
                "gitBranch": self.git_branch,
                "version": VERSION,
                **fields,
            }
        )


def system_entry(subtype: str, **data: Any) -> dict[str, Any]:
    """Build an entry of a kind that only contextui knows."""
    return {"type": "system", "subtype": subtype, "data": data}


def header() -> dict[str, Any]:
    """Build the first entry of a log."""
    return system_entry("session", schema=SCHEMA)
