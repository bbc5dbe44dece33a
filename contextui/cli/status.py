"""What the exit status tells."""

DONE = 0
FAILED = 1
"""The turn failed, or something happened that should not."""
WRONG = 2
"""The arguments or the settings are wrong; nothing was done."""
SIGNALLED = 128
"""Plus the signal's number: 130 for SIGINT, 143 for SIGTERM."""
BROKEN_PIPE = 141
"""Nobody reads the output any more; what SIGPIPE would give."""
