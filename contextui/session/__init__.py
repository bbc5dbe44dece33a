"""What lasts: the log of a session, and everything that is read back from it."""
