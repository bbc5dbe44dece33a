"""What entries say: all of them, and those of windows and of items as they are now."""

from dataclasses import dataclass
from datetime import UTC
from typing import Any

from contextui.context.item import ContextItem
from contextui.session.entry import SCHEMA, encode
from contextui.session.items import item_fields
from contextui.version import VERSION
from contextui.windowing.base import Window
from contextui.windowing.env import Clock
from contextui.windowing.manager import WindowManager


@dataclass(frozen=True, slots=True)
class Stamp:
    """What every entry of a session says."""

    session_id: str
    cwd: str
    git_branch: str | None
    clock: Clock

    def entry(self, fields: dict[str, Any], identity: str, parent: str | None) -> bytes:
        """Encode an entry that follows another one."""
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
