"""Items as entries, and entries as items."""

import json
from typing import Any

from contextui.context.item import ContextItem, ItemType
from contextui.model import Block
from contextui.session.entry import Entry


def item_fields(item: ContextItem) -> dict[str, Any]:
    """What an entry says of an item, besides what every entry says."""
    data: dict[str, Any] = {"seq": item.seq}
    for name in ("pinned", "gist", "hidden"):
        if value := getattr(item, name):
            data[name] = value
    said = list(item.blocks) if item.blocks else item.content
    if item.blocks:
        data["text"] = item.content
    match item.type:
        case ItemType.USER:
            fields: dict[str, Any] = {"type": "user", "message": _message("user", said)}
        case ItemType.ASSISTANT:
            fields = {"type": "assistant", "message": _message("assistant", said)}
        case ItemType.SYSTEM:
            message = _message("system", said)
            fields = {"type": "system", "subtype": "prompt", "message": message}
            if item.is_summary:
                fields["isCompactSummary"] = True
                data["hidden"] = "compacted"  # the boundary behind it makes it count, or nothing
        case ItemType.WINDOW:
            fields = {"type": "system", "subtype": "window_item"}
            data["windowId"] = item.content
        case ItemType.TOOL:
            result: dict[str, Any] = {"id": item.tool_call_id or "", "output": said}
            if item.is_error:
                result["error"] = item.content
            fields = {"type": "tool_result", "toolResult": result}
            data["toolName"] = item.tool_name
    return {**fields, "data": data}


def item_of(entry: Entry) -> ContextItem | None:
    """The item that an entry tells of, if it tells of one: ours, or any program's of this form."""
    data = entry.data or {}
    kept = {name: data[name] for name in ("pinned", "gist", "hidden") if name in data}
    if entry.subtype == "window_item":
        return ContextItem(ItemType.WINDOW, str(data.get("windowId", "")), id=entry.uuid, **kept)
    if entry.tool_result is not None:
        result = entry.tool_result
        output = result.output if result.output is not None else result.error
        # Blocks are ours; any other list is another program's JSON.
        blocks = output if isinstance(output, list) and "text" in data else None
        words = data["text"] if blocks is not None else output
        return ContextItem(
            ItemType.TOOL,
            words if isinstance(words, str) else json.dumps(words, ensure_ascii=False),
            id=entry.uuid,
            blocks=blocks,
            tool_call_id=result.id or None,
            tool_name=data.get("toolName"),
            is_error=result.error is not None,
            **kept,
        )
    if entry.tool is not None:
        call = {"type": "tool_use", **entry.tool.model_dump(include={"id", "name", "input"})}
        return ContextItem(ItemType.ASSISTANT, id=entry.uuid, blocks=[call], **kept)
    if entry.message is None or (entry.type == "system" and entry.subtype != "prompt"):
        return None
    kind = {"user": ItemType.USER, "assistant": ItemType.ASSISTANT, "system": ItemType.SYSTEM}
    content = entry.message.content
    blocks = None if isinstance(content, str) else content
    text = content if isinstance(content, str) else str(data.get("text", _words(content)))
    return ContextItem(kind[entry.message.role], text, id=entry.uuid, blocks=blocks, **kept)


def _message(role: str, content: object) -> dict[str, Any]:
    return {"role": role, "content": content}


def _words(blocks: list[Block]) -> str:
    return "\n".join(b["text"] for b in blocks if isinstance(b, dict) and b.get("type") == "text")
