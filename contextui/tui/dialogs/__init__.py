"""Screens that open over the main screen: approval, help, compaction, the state of the disk."""
