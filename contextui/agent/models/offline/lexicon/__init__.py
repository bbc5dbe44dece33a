"""General words of both languages. Nothing here knows of any window."""
