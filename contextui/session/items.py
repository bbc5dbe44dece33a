"""Conversion between context items and log entries."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC
from pathlib import Path
from typing import Any

from contextui.context.item import (
    BESIDE,
    SUMMARY,
    ContextItem,
    ItemType,
    Load,
    Origin,
    clean_blocks,
)
from contextui.errors import ContextUIError, InvalidItemError
from contextui.model import Block
from contextui.plain_file import open_plain
from contextui.session.entry import SCHEMA, Entry, Message, ToolResult, decode, encode
from contextui.session.reader import line_at
from contextui.session.schema import ItemFacts
from contextui.version import VERSION
from contextui.windowing.manager import WindowManager
from contextui.windowing.runtime import runtime_of
from contextui.windowing.window import Clock, Window

LOST = "[This was only in the log, which another program damaged.]"
"""Replaces the text of an old item that can no longer be read."""

TWIN = "~"
"""Separates the uuid of an entry from its seq, if another entry has the same uuid."""

Content = tuple[str, tuple[Block, ...] | None]
"""The text of an item and its blocks."""

_KEPT = ("pinned", "gist", "hidden")
_UNREADABLE = (OSError, ContextUIError, KeyError, TypeError, ValueError)
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
    match item.type:
        case ItemType.USER:
            fields: dict[str, Any] = {"type": "user", "message": _message("user", content)}
        case ItemType.ASSISTANT:
            message = _message("assistant", content)
            if item.origin is not None:
                message |= {"model": item.origin.model, "usage": dict(item.origin.usage)}
            fields = {"type": "assistant", "message": message}
        case ItemType.SYSTEM if item.is_summary:
            fields = {
                "type": "user",
                "isCompactSummary": True,
                "message": _message("user", content),
            }
            data["hidden"] = "compacted"  # it takes effect only together with its boundary
        case ItemType.SYSTEM:
            message = _message("system", content)
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
    is_added = bool(entry.is_compact_summary) or entry.uuid.startswith(BESIDE)
    return entry.type == "user" and not is_added


def call_fields(item: ContextItem) -> list[dict[str, Any]]:
    """Return separate entries for the tool calls of an answer, for other programs."""
    calls = (block for block in item.blocks or () if block.get("type") == "tool_use")
    return [
        {
            "type": "tool_use",
            "tool": {name: block.get(name) for name in ("id", "name", "input")},
            "data": {"itemId": item.id},
        }
        for block in calls
    ]


def item_of(entry: Entry) -> ContextItem | None:
    """Convert an entry to an item, if it has one: our own, or another program's in this form."""
    data: ItemFacts = entry.data or ItemFacts()
    kept = {name: data[name] for name in _KEPT if name in data}  # type: ignore[literal-required]
    if entry.subtype == "window_item":
        window_id: str = entry.data["windowId"]
        return ContextItem(ItemType.WINDOW, window_id, id=entry.uuid, **kept)
    if entry.tool_result is not None:
        return _result(entry, entry.tool_result, data, kept)
    if entry.tool is not None:
        if "itemId" in data:
            return None  # ours: it is part of an answer
        call = {"type": "tool_use", **entry.tool.model_dump(include={"id", "name", "input"})}
        return ContextItem(ItemType.ASSISTANT, id=entry.uuid, blocks=[call], **kept)
    if entry.type == "system" and entry.subtype != "prompt":
        return None
    if entry.message is None:
        raise InvalidItemError(f"An entry of type {entry.type} has no message.")
    kind = _KINDS.get(entry.message.role if isinstance(entry.message.role, str) else entry.type)
    kind = kind or _KINDS.get(entry.type, ItemType.USER)
    if kind is ItemType.SYSTEM and not (entry.type == "system" and "seq" in data):
        kind = ItemType.USER  # another program wrote it: do not trust its claimed role
    if entry.is_compact_summary and "seq" in data and entry.uuid.startswith(SUMMARY):
        kind = ItemType.SYSTEM
    content = entry.message.content
    blocks = None if isinstance(content, str) else _blocks(content, kind)
    text = content if isinstance(content, str) else data.get("text") or _words(blocks or ())
    if kind is ItemType.SYSTEM:
        blocks = None
    origin = _origin(entry.message) if kind is ItemType.ASSISTANT else None
    return ContextItem(kind, text, id=entry.uuid, blocks=blocks, origin=origin, **kept)


def text_of(entry: Entry) -> str:
    """Return the text of a message or an answer; empty for other entries."""
    try:
        item = item_of(entry)
    except ContextUIError:
        return ""
    is_said = item is not None and item.type in (ItemType.USER, ItemType.ASSISTANT)
    return item.content if item is not None and is_said else ""


def _lost() -> Content:
    return LOST, None


def stored(path: Path, offsets: Mapping[str, int], item_id: str, fallback: Load = _lost) -> Load:
    """Return a function that reads an item's content from its log on demand."""

    def read() -> Content:
        try:
            with open_plain(path) as file:
                entry = decode(line_at(file, offsets[item_id]).text)
            item = item_of(entry) if item_id.partition(TWIN)[0] == entry.uuid else None
        except _UNREADABLE:
            item = None
        return (item.content, item.blocks) if item is not None else fallback()

    return read


def _result(entry: Entry, result: ToolResult, data: ItemFacts, kept: dict[str, Any]) -> ContextItem:
    output = result.output if result.output is not None else result.error
    # Blocks are ours; any other list is another program's JSON.
    blocks = _blocks(output, ItemType.TOOL) if isinstance(output, list) and "text" in data else None
    words = data["text"] if blocks is not None else output
    return ContextItem(
        ItemType.TOOL,
        words if isinstance(words, str) else as_text(words),
        id=entry.uuid,
        blocks=blocks,
        tool_call_id=result.id or None,
        tool_name=data.get("toolName"),
        is_error=result.error is not None,
        **kept,
    )


def _message(role: str, content: object) -> dict[str, Any]:
    return {"role": role, "content": content}


def _origin(message: Message) -> Origin | None:
    if not isinstance(message.model, str):
        return None
    return Origin(message.model, message.usage if isinstance(message.usage, dict) else {})


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


def opened_entry(window: Window) -> dict[str, Any]:
    """Build the entry of a window that was opened, in its current state."""
    kept, render = runtime_of(window).core.saved, runtime_of(window).renders.latest().xml
    return system_entry(
        "window_opened", windowId=window.id, name=window.name, render=render, **kept.data()
    )


def closed_entry(
    windows: WindowManager, window_id: str, summary: str | None, actor: str
) -> dict[str, Any]:
    """Build the entry of a window that was closed, with its last render."""
    render = windows.last_render(window_id)
    return system_entry(
        "window_closed", windowId=window_id, summary=summary, actor=actor, render=render
    )
