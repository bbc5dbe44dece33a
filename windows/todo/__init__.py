"""To-do window and its widget."""

from contextui.windows.todo.window import TodoWindow

__all__ = ["TodoWindow"]
