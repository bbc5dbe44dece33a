"""To-do window and its widget."""
