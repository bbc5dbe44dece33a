"""Compaction: a summary takes the place of what was said long ago."""
