"""Notebook window and its widget."""

from contextui.windows.notebook.window import FILE, NotebookWindow

__all__ = ["FILE", "NotebookWindow"]
