"""Watchdog: ends the program if a window's code freezes it or keeps it from exiting.

Code that holds Python's lock, such as a regular expression with catastrophic backtracking, stops
every thread and signal handler of the program. A timer of the system, which counts the CPU time
since the last heartbeat, then ends it; `faulthandler` prints which line of code ran. Saved data
stays intact: the log is consistent at any moment.
"""

import faulthandler
import os
import signal
import threading
import time
from contextlib import suppress

from contextui.words import t

is_wanted = False
"""Whether this process is the program: as a library in another one, it kills nothing."""

_BEAT = 0.5  # seconds between two heartbeats
_STDERR = 2
_output = _STDERR
_limit = 0.0  # 0 until the watchdog was started


def start(limit: float) -> None:
    """End the program once Python has not run for so many seconds of CPU time.

    A program that was suspended, or slept with the machine, is not frozen.
    """
    global _limit  # noqa: PLW0603  (of this process)
    if not is_wanted or _limit:
        return
    _limit = limit
    report_to(_output)
    threading.Thread(target=_beat, daemon=True, name="heartbeat").start()


def report_to(descriptor: int) -> None:
    """Write to this file descriptor which line of code ran when the program is ended."""
    global _output  # noqa: PLW0603  (of this process)
    _output = descriptor
    if _limit:
        faulthandler.register(signal.SIGVTALRM, file=_output, chain=True)  # then the signal kills


def end_soon() -> None:
    """Start the time limit for exiting: the program has done its work."""
    if _limit:
        # Threads end before the last objects are deleted, whose code may not return either.
        faulthandler.dump_traceback_later(_limit + 2 * _BEAT, exit=True, file=_STDERR)
        threading.Thread(target=_kill, daemon=True, name="exit").start()


def _beat() -> None:
    while True:
        signal.setitimer(signal.ITIMER_VIRTUAL, _limit)
        time.sleep(min(_BEAT, _limit / 4))


def _kill() -> None:
    text = t(
        "A window kept the program from exiting, so it was stopped after {seconds} s. "
        "Saved data is intact.",
        seconds=f"{_limit:g}",
    )
    time.sleep(_limit)
    with suppress(OSError):
        os.write(_STDERR, f"contextui: {text}\n".encode("utf-8", "replace"))
        faulthandler.dump_traceback(_STDERR)
    os._exit(1)
