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
    TurnFinished,
)
from contextui.cli.arguments import OutputFormat
from contextui.cli.result import event_data, result_of
from contextui.cli.speaking import as_json, note, say, say_json, tell
from contextui.events import Event
from contextui.model import TextDelta
from contextui.session.session import Session
from contextui.text import counted, one_line


class Output(Protocol):
    """Tells of a turn."""

    def hear(self, event: Event) -> None:
        """Take one event of the turn."""

    def end(self, finished: TurnFinished, session: Session) -> None:
        """The turn is over."""


def output_for(form: OutputFormat, *, verbose: bool) -> Output:
    """What tells a turn in this form."""
    match form:
        case "text":
            return TextOutput(tells_calls=verbose or sys.stderr.isatty())
        case "json":
            return JsonOutput()
        case "stream-json":
            return StreamOutput()


class TextOutput:
    """The answer's words as they come; calls and notices beside it, for a person.

    Args:
        tells_calls: Tell of calls and notices, on stderr.
    """

    def __init__(self, *, tells_calls: bool) -> None:
        self._tells_calls = tells_calls
        self._in_line = False
        self._held = ""
        self._calls: dict[int, CallStarted] = {}

    def hear(self, event: Event) -> None:
        """Take one event of the turn."""
        match event:
            case TextDelta(text):
                self._say(text)
            case AnswerGiven():
                self._end_line()
            case AnswerDiscarded(reason):
                self._end_line()
                tell(f"What stands above broke off and does not count: {reason}")
            case CallStarted(number):
                self._calls[number] = event
            case CallFinished(number):
                self._beside(call_line(self._calls[number], event))
            case Notice(text):
                self._beside(text)
            case CompactionStarted():
                self._beside(f"Making room: {counted(event.goes, 'message')} become a summary.")
            case CompactionFinished(result) if result is not None:
                self._beside(str(result))
            case RetryScheduled(reason, seconds, attempt, attempts):
                self._beside(f"{reason} Try {attempt} of {attempts} in {seconds} s.")

    def end(self, finished: TurnFinished, session: Session) -> None:  # noqa: ARG002
        """The turn is over."""
        self._end_line()
        if finished.explanation:
            tell(finished.explanation)

    def _say(self, text: str) -> None:
        text = self._held + text
        self._held = "\r" if text.endswith("\r") else ""  # the line feed to it may follow
        text = text.removesuffix("\r")
        if text:
            say(text, end="", flush=True)
            self._in_line = not text.endswith("\n")

    def _end_line(self) -> None:
        self._held = ""
        if self._in_line:
            say(flush=True)
            self._in_line = False

    def _beside(self, words: str) -> None:
        if self._tells_calls:
            self._end_line()
            note(words)


class JsonOutput:
    """One object at the end."""

    def hear(self, event: Event) -> None:
        """Take one event of the turn."""

    def end(self, finished: TurnFinished, session: Session) -> None:
        """The turn is over."""
        say_json(result_of(finished, session))
        _tell_failure(finished)


class SilentOutput:
    """Nothing at all: nobody reads any more."""

    def hear(self, event: Event) -> None:
        """Take one event of the turn."""

    def end(self, finished: TurnFinished, session: Session) -> None:
        """The turn is over."""


class StreamOutput:
    """One object a line for each event, and the result as the last one."""

    def hear(self, event: Event) -> None:
        """Take one event of the turn."""
        say_json(event_data(event), indent=None)

    def end(self, finished: TurnFinished, session: Session) -> None:
        """The turn is over."""
        say_json({"type": "result", **result_of(finished, session)}, indent=None)
        _tell_failure(finished)


def _tell_failure(finished: TurnFinished) -> None:
    if finished.is_error:
        tell(finished.explanation)


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
