"""Building blocks for a window's own Textual widget."""

from contextui.tui.desktop.shared import (
    ActionRequested,
    FileRequested,
    MentionRequested,
    WindowRequested,
)
from contextui.tui.desktop.widgets import stated
from contextui.windowing.host import act

__all__ = [
    "ActionRequested",
    "FileRequested",
    "MentionRequested",
    "WindowRequested",
    "act",
    "stated",
]
