"""Building blocks for a window's own Textual widget."""

from contextui.tui.desktop.shared import ActionRequested
from contextui.tui.desktop.widgets import stated
from contextui.windowing.host import act

__all__ = ["ActionRequested", "act", "stated"]
