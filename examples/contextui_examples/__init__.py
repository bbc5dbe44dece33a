"""Five windows for contextui, to read and to start from; see README.md."""
