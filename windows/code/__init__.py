"""Code window and its widget."""

from contextui.windows.code.window import CodeWindow

__all__ = ["CodeWindow"]
