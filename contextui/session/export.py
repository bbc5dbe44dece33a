"""A session as a document to read, or as data for other programs."""

import json
from collections.abc import Iterator
from typing import Any

from contextui.context.item import ContextItem, ItemType
from contextui.session.store import SessionView
from contextui.text import for_terminal

_SPEAKERS = {
    ItemType.SYSTEM: "System",
    ItemType.USER: "You",
    ItemType.ASSISTANT: "Model",
    ItemType.WINDOW: "Window",
    ItemType.TOOL: "Tool",
}


def to_markdown(view: SessionView) -> str:
    """The whole conversation to read; what was left out of the context is marked as such."""
    info = view.info
    head = [
        f"# {info.first_words or info.id}",
        f"Session `{info.id}` of `{info.cwd}`, {info.started} to {info.updated}.",
    ]
    parts = [part for item in view.context.get_all() for part in _section(item)]
    windows = [
        f"## {window.id}\n\n{_fenced(window.snapshot().content)}"
        for window in view.windows.windows()
    ]
    return "\n\n".join([*head, *parts, *windows]) + "\n"


def to_json(view: SessionView) -> dict[str, Any]:
    """Everything about a session, ready for JSON."""
    info = view.info
    return {
        "session": {
            "id": info.id,
            "cwd": info.cwd,
            "started": info.started,
            "updated": info.updated,
        },
        "items": [_item_data(item) for item in view.context.get_all()],
        "windows": [
            {
                "id": window.id,
                "name": window.name,
                "lod": window.lod.value,
                "state": window.runtime.standing.kept.state,
            }
            for window in view.windows.windows()
        ],
    }


def _section(item: ContextItem) -> Iterator[str]:
    hidden = f" ({item.hidden})" if item.hidden else ""
    if item.type is ItemType.WINDOW:
        yield f"*Window {item.content}{hidden}*"
        return
    yield f"## {_SPEAKERS[item.type]}{hidden}"
    text = for_terminal(item.content)
    if text.strip():
        yield _fenced(text) if item.type is ItemType.TOOL else text
    for block in item.blocks or ():
        if block.get("type") == "tool_use":
            arguments = json.dumps(block.get("input"), ensure_ascii=False)
            yield _fenced(for_terminal(f"{block['name']} {arguments}"))


def _item_data(item: ContextItem) -> dict[str, Any]:
    data = {
        "seq": item.seq,
        "id": item.id,
        "type": item.type.value,
        "content": item.content,
        "hidden": item.hidden,
        "pinned": item.pinned,
    }
    optional = {
        "blocks": list(item.blocks) if item.blocks else None,
        "toolCallId": item.tool_call_id,
        "toolName": item.tool_name,
        "isError": item.is_error or None,
        "gist": item.gist,
    }
    return data | {name: value for name, value in optional.items() if value is not None}


def _fenced(text: str) -> str:
    """Text in a fence that nothing in it can end."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}\n{text}\n{fence}"
