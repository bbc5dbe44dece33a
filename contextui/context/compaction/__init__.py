"""Compaction: replace older messages with a summary."""
