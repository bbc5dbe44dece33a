"""Building blocks for a window's own Textual widget."""

from collections.abc import Mapping
from typing import Any

from contextui.events import Actor
from contextui.tui.desktop.shared import (
    ActionRequested,
    FileRequested,
    MentionRequested,
    WindowRequested,
)
from contextui.tui.desktop.widgets import stated
from contextui.windowing.action import ActionResult
from contextui.windowing.runtime import runtime_of
from contextui.windowing.window import Window

__all__ = [
    "ActionRequested",
    "FileRequested",
    "MentionRequested",
    "WindowRequested",
    "act",
    "stated",
]


async def act(
    window: Window, action_id: str, params: Mapping[str, Any], actor: Actor = "person"
) -> ActionResult:
    """Run an action of a window without approval, and return its result."""
    return await runtime_of(window).act(action_id, params, actor)
