"""Git window, its widget, and the parts that run git."""

from contextui.windows.git.window import GitWindow

__all__ = ["GitWindow"]
