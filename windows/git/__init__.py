"""Git window, its widget, and what it has read."""

from contextui.windows.git.window import GitWindow

__all__ = ["GitWindow"]
