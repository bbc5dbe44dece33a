"""Monitor window and its widget."""

from contextui.windows.monitor.window import MonitorWindow

__all__ = ["MonitorWindow"]
