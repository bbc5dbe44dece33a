"""What entries say of windows and of items as they are now, besides what every entry says."""

from typing import Any

from contextui.context.item import ContextItem
from contextui.session.entry import SCHEMA
from contextui.session.items import item_fields
from contextui.windowing.base import Window
from contextui.windowing.manager import WindowManager


def noted(subtype: str, **data: Any) -> dict[str, Any]:
    """An entry that only contextui knows."""
    return {"type": "system", "subtype": subtype, "data": data}


def header() -> dict[str, Any]:
    """The first entry of a log."""
    return noted("session", schema=SCHEMA)


def opening(window: Window) -> dict[str, Any]:
    """A window that was opened, as it is now."""
    kept, render = window.runtime.standing.kept, window.runtime.renders.latest().xml
    return noted(
        "window_opened", windowId=window.id, name=window.name, render=render, **kept.data()
    )


def closing(
    windows: WindowManager, window_id: str, summary: str | None, actor: str
) -> dict[str, Any]:
    """A window that was closed, with its last render."""
    render = windows.last_render(window_id)
    return noted("window_closed", windowId=window_id, summary=summary, actor=actor, render=render)


def as_it_is(item: ContextItem) -> dict[str, Any]:
    """An item as it is now, not as it was added."""
    fields = item_fields(item)
    fields["data"]["hidden"] = item.hidden
    return fields
