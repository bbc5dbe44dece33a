"""Modal dialogs over the main screen: approval, help, sessions, settings, compaction, quitting."""
