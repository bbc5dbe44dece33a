"""Modal dialogs over the main screen: approval, help, compaction and quitting with unsaved data."""
