"""Figures, each beside what it is to be compared with: ``python -m benchmarks.compose``."""

import signal
import sys

if sys.argv[:1] == ["-m"]:  # run as a program, not imported by a test
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `make bench | head` ends without a traceback
