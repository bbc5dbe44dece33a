"""Monitor window and its widget."""
