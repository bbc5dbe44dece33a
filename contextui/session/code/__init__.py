"""Code that was written in a conversation: files of its own, and an index of them (S4.4, S4.5)."""
