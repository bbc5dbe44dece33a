"""Editor window: its buffer, its actions and its widget."""

from contextui.windows.editor.window import EditorWindow

__all__ = ["EditorWindow"]
