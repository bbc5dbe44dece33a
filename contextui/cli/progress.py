"""What is told beside the output, on stderr and for a person: calls, notices, countdowns."""

import shutil
import sys
from collections.abc import Callable

from contextui.agent.events import (
    ActionRefused,
    CallFinished,
    CallStarted,
    CompactionFinished,
    CompactionStarted,
    Notice,
    RetryScheduled,
)
from contextui.cli.console import as_json, beside, cut, note, tell, width
from contextui.cli.words import counted, spoken, words
from contextui.events import Event
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


class Aside:
    """Tells of what is done on the way.

    Args:
        tells: Whether anybody wants to know of more than notices.
        before: Called before a line is written; the output may stand in the middle of one.
    """

    def __init__(self, *, tells: bool, before: Callable[[], None] = lambda: None) -> None:
        self._tells, self._before = tells, before
        self._calls: dict[int, CallStarted] = {}
        self._countdown = Countdown()
        self._refused = False

    def hear(self, event: Event) -> None:
        """Take one event of the turn."""
        match event:
            case CallStarted(number):
                self._calls[number] = event
            case CallFinished(number):
                if not self._refused:  # which was said already, in more words
                    self._note(call_line(self._calls[number], event))
                self._refused = False
            case ActionRefused(reason=reason):
                self._refused = True
                self._before()
                self.clear()
                tell(reason)
            case Notice(text):  # a person should know of it, so it is in every log
                self._tell(text)
            case CompactionStarted(goes=goes):
                many = counted(goes, "{count} message", "{count} messages")
                self._note(words("Making room: a summary takes the place of {many}.", many=many))
            case CompactionFinished(result) if result is not None:
                (self._note if result.success else self._tell)(result.told(spoken()))
            case RetryScheduled() if self._tells:
                self._before()
                self._countdown.tell(event)

    def clear(self) -> None:
        """Leave the line to whatever is said next."""
        self._countdown.clear()

    def _tell(self, line: str) -> None:
        self._before()
        self.clear()
        tell(line)

    def _note(self, line: str) -> None:
        if self._tells:
            self._before()
            self.clear()
            note(line)


def call_line(started: CallStarted, finished: CallFinished) -> str:
    """A call in one line: ``✓ todo_1.add {"text": "milk"}``; of a failed one, also why."""
    given = dict(started.input)
    match started.name:
        case "action":
            name = f"{given.get('window_id')}.{given.get('action_id')}"
            params = given.get("params")
        case "create":
            name, params = f"create {given.get('name')}", given.get("args")
        case _:
            name, params = started.name, given
    mark = "✓" if finished.ok else "✗"
    line = f"{mark} {name} {one_line(as_json(params), 120) if params else ''}".rstrip()
    return line if finished.ok else f"{line}: {one_line(finished.text, 200)}"
