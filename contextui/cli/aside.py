"""What is told beside the output, on stderr and for a person: calls, notices, countdowns."""

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
from contextui.cli.countdown import Countdown
from contextui.cli.speaking import as_json, note, tell
from contextui.cli.words import counted, spoken, words
from contextui.events import Event
from contextui.text import one_line


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
