"""How a turn is told: as words, as one object, or as one object for each event."""

import sys
from typing import Protocol

from contextui.agent.events import (
    AnswerDiscarded,
    AnswerGiven,
    CallFinished,
    CallStarted,
    CompactionFinished,
    CompactionStarted,
    Notice,
    RetryScheduled,
    StepStarted,
)
from contextui.cli.arguments import OutputFormat
from contextui.cli.countdown import Countdown
from contextui.cli.result import Told, event_data, result_of
from contextui.cli.speaking import as_json, note, say, say_json, tell
from contextui.cli.stdout import output
from contextui.cli.words import counted, spoken, words
from contextui.events import Event
from contextui.model import TextDelta
from contextui.text import one_line


class Output(Protocol):
    """Tells of a turn."""

    def hear(self, event: Event) -> None:
        """Take one event of the turn."""

    def end(self, told: Told) -> None:
        """The turn is over."""


def output_for(form: OutputFormat, *, verbose: bool) -> Output:
    """What tells a turn in this form."""
    match form:
        case "text":
            return TextOutput(tells_calls=verbose or sys.stderr.isatty(), live=output().isatty())
        case "json":
            return JsonOutput()
        case "stream-json":
            return StreamOutput()


class TextOutput:
    """The answer's words; calls and notices beside it, for a person.

    Args:
        tells_calls: Tell of calls and notices, on stderr.
        live: Write the words as they come. Otherwise they are held until the answer is whole: what
            broke off is not to stand in a file.
    """

    def __init__(self, *, tells_calls: bool, live: bool) -> None:
        self._tells_calls, self._live = tells_calls, live
        self._in_line = False
        self._held = ""
        self._calls: dict[int, CallStarted] = {}
        self._countdown = Countdown()

    def hear(self, event: Event) -> None:
        """Take one event of the turn."""
        match event:
            case TextDelta(text):
                self._take(text)
            case AnswerGiven() | StepStarted():
                self._end_answer()
            case AnswerDiscarded(reason):
                self._discard(reason)
            case CallStarted(number):
                self._calls[number] = event
            case CallFinished(number):
                self._beside(call_line(self._calls[number], event))
            case Notice(text):
                self._beside(text)
            case CompactionStarted(goes=goes):
                many = counted(goes, "{count} message", "{count} messages")
                self._beside(words("Making room: a summary takes the place of {many}.", many=many))
            case CompactionFinished(result) if result is not None:
                self._beside(result.told(spoken()))
            case RetryScheduled() if self._tells_calls:
                self._end_line()
                self._countdown.tell(event)

    def end(self, told: Told) -> None:
        """The turn is over."""
        self._end_answer()
        self._countdown.clear()
        if told.explanation:
            tell(told.explanation)

    def _take(self, text: str) -> None:
        self._held += text
        if self._live:
            # The line feed to it may follow.
            rest = "\r" if self._held.endswith("\r") else ""
            self._say(self._held.removesuffix("\r"))
            self._held = rest

    def _discard(self, reason: str) -> None:
        if self._live:
            self._end_line()
            self._say(words("[What stands above broke off and does not count: {reason}]",
                            reason=one_line(reason, 300)))  # fmt: skip
            self._end_line()
        self._held = ""

    def _say(self, text: str) -> None:
        if text:
            self._countdown.clear()
            say(text, end="", flush=True)
            self._in_line = not text.endswith("\n")

    def _end_answer(self) -> None:
        self._say(self._held.removesuffix("\r"))
        self._held = ""
        self._end_line()

    def _end_line(self) -> None:
        if self._in_line:
            say(flush=True)
            self._in_line = False

    def _beside(self, line: str) -> None:
        if self._tells_calls:
            self._end_line()
            self._countdown.clear()
            note(line)


class JsonOutput:
    """One object at the end."""

    def hear(self, event: Event) -> None:
        """Take one event of the turn."""

    def end(self, told: Told) -> None:
        """The turn is over."""
        say_json(result_of(told))
        _tell_failure(told)


class SilentOutput:
    """Nothing at all: nobody reads any more."""

    def hear(self, event: Event) -> None:
        """Take one event of the turn."""

    def end(self, told: Told) -> None:
        """The turn is over."""


class StreamOutput:
    """One object a line for each event, and the result as the last one."""

    def __init__(self) -> None:
        self._countdown = Countdown()

    def hear(self, event: Event) -> None:
        """Take one event of the turn; of a countdown, its beginning."""
        if not isinstance(event, RetryScheduled) or self._countdown.is_new(event):
            say_json(event_data(event), indent=None)

    def end(self, told: Told) -> None:
        """The turn is over."""
        say_json({"type": "result", **result_of(told)}, indent=None)
        _tell_failure(told)


def _tell_failure(told: Told) -> None:
    if told.finished.is_error:
        tell(told.explanation)


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
