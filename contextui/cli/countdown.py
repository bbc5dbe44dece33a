"""A request that is sent again: how long until then."""

import shutil
import sys

from contextui.agent.events import RetryScheduled
from contextui.cli.columns import cut, width
from contextui.cli.speaking import beside, note
from contextui.cli.words import words
from contextui.text import one_line


class Countdown:
    """Tells of tries: on a terminal in one line that counts down, elsewhere one line for each."""

    def __init__(self) -> None:
        self._last: RetryScheduled | None = None
        self._shown = 0  # columns of the line that stands on the terminal

    def tell(self, event: RetryScheduled) -> None:
        """Another second, or another try."""
        line = words(
            "Try {attempt} of {attempts} in {seconds} s: {reason}",
            reason=one_line(event.reason, 300),
            attempt=event.attempt,
            attempts=event.attempts,
            seconds=event.seconds,
        )
        if sys.stderr.isatty():
            self._rewrite(line)
        elif self.is_new(event):
            note(line)

    def is_new(self, event: RetryScheduled) -> bool:
        """Whether this is another try, and not the same one a second later."""
        last, self._last = self._last, event
        return last is None or last.attempt != event.attempt or last.seconds <= event.seconds

    def clear(self) -> None:
        """Leave the line to whatever is said next."""
        if self._shown:
            beside("\r" + " " * self._shown + "\r")
            self._shown = 0

    def _rewrite(self, line: str) -> None:
        room = shutil.get_terminal_size((80, 24)).columns - 1
        line = cut(line, room)
        beside("\r" + line + " " * (self._shown - width(line)))
        self._shown = width(line)
