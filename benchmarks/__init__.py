"""Figures, each beside what it is to be compared with: ``python -m benchmarks.compose``."""

import signal

signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `make bench | head` ends without a traceback
