"""Files window and its widget."""

from contextui.windows.files.window import FilesWindow

__all__ = ["FilesWindow"]
