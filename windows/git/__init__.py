"""Git window, its widget, and what it has read."""
