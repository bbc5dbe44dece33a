"""Progress on stderr: tool calls, notices, retry countdowns."""

import shutil
import sys
from collections.abc import Callable

from contextui.cli.console import as_json, note, warn, write_raw
from contextui.events import (
    ActionRefused,
    CallFinished,
    CallStarted,
    CompactionFinished,
    CompactionStarted,
    Event,
    Notice,
    RetryScheduled,
)
from contextui.text import cut, one_line, width
from contextui.words import language, plural, t


class Countdown:
    """Shows retries: a countdown in one line on a terminal, one line per retry elsewhere."""

    def __init__(self) -> None:
        self._last: RetryScheduled | None = None
        self._shown = 0  # columns of the line on the terminal

    def show(self, event: RetryScheduled) -> None:
        """Show another second, or another retry."""
        line = t(
            "Attempt {attempt} of {attempts} in {seconds} s: {reason}",
            reason=one_line(event.reason, 300),
            attempt=event.attempt,
            attempts=event.attempts,
            seconds=event.seconds,
        )
        if sys.stderr.isatty():
            line = cut(line, shutil.get_terminal_size((80, 24)).columns - 1)
            write_raw("\r" + line + " " * (self._shown - width(line)))
            self._shown = width(line)
        elif self.is_new(event):
            note(line)

    def is_new(self, event: RetryScheduled) -> bool:
        """Whether this is another retry, not the same one a second later."""
        last, self._last = self._last, event
        return last is None or last.attempt != event.attempt or last.seconds <= event.seconds

    def clear(self) -> None:
        """Erase the countdown."""
        if self._shown:
            write_raw("\r" + " " * self._shown + "\r")
            self._shown = 0


class Progress:
    """Prints the notices of a turn to stderr; if `verbose`, its calls and countdowns too.

    `before` is called before a line is written, to end an unfinished line of output.
    """

    def __init__(self, *, verbose: bool, before: Callable[[], None] = lambda: None) -> None:
        self._verbose, self._before = verbose, before
        self._calls: dict[int, CallStarted] = {}
        self._countdown = Countdown()
        self._refused = False

    def handle(self, event: Event) -> None:
        """Handle one event of the turn."""
        match event:
            case CallStarted(number):
                self._calls[number] = event
            case CallFinished(number):
                if not self._refused:  # the refusal was printed already, with more detail
                    self._note(call_line(self._calls[number], event))
                self._refused = False
            case ActionRefused(reason=reason):
                self._refused = True
                self._warn(reason)
            case Notice(text):  # printed always, so it is in every log
                self._warn(text)
            case CompactionStarted(goes=goes):
                many = plural(goes, "{count} message", "{count} messages")
                self._note(t("Compacting: replacing {many} with a summary.", many=many))
            case CompactionFinished(result) if result is not None:
                (self._note if result.success else self._warn)(result.text(language()))
            case RetryScheduled() if self._verbose:
                self._before()
                self._countdown.show(event)

    def clear(self) -> None:
        """Erase the countdown."""
        self._countdown.clear()

    def _warn(self, line: str) -> None:
        self._before()
        self.clear()
        warn(line)

    def _note(self, line: str) -> None:
        if self._verbose:
            self._before()
            self.clear()
            note(line)


def call_line(started: CallStarted, finished: CallFinished) -> str:
    """Format a call in one line: ``✓ todo_1.add {"text": "milk"}``; a failed one with its error."""
    name, params = started.named
    mark = "✗" if finished.failed else "✓"
    line = f"{mark} {name} {one_line(as_json(params), 120) if params else ''}".rstrip()
    if finished.ok and finished.failed:
        return f"{line}: {t('exit {status}', status=finished.status)}"
    return line if finished.ok else f"{line}: {one_line(finished.text, 200)}"
