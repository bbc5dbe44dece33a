"""A session as data for other programs."""

from typing import Any

from contextui.context.item import ContextItem
from contextui.session.store import SessionView


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
