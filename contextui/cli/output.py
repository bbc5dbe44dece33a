"""How a turn is told: as words, as one object, or as one object for each event."""

import sys
from typing import Protocol

from contextui.agent.events import (
    AnswerDiscarded,
    AnswerGiven,
    RetryScheduled,
    StepStarted,
    TurnFinished,
)
from contextui.cli.answer import Answer
from contextui.cli.arguments import OutputFormat
from contextui.cli.aside import Aside
from contextui.cli.countdown import Countdown
from contextui.cli.result import Told, event_data, result_of
from contextui.cli.speaking import say, say_json, tell
from contextui.cli.stdout import output
from contextui.cli.words import words
from contextui.events import Event
from contextui.files.workspace import Workspace
from contextui.model import CallBegun, TextDelta, ThinkingDelta
from contextui.secrets import OwnMasked
from contextui.text import one_line

# After these no more comes of the words, or of the thoughts, that went before. Others come at any
# time, as a window that changes by itself does.
_ENDING = (
    *(TextDelta, ThinkingDelta, CallBegun),
    *(AnswerGiven, AnswerDiscarded, StepStarted, TurnFinished),
)


class Output(Protocol):
    """Tells of a turn."""

    def hear(self, event: Event) -> None:
        """Take one event of the turn."""

    def end(self, told: Told) -> None:
        """The turn is over."""


def output_for(form: OutputFormat, workspace: Workspace | None, *, verbose: bool) -> Output:
    """What tells a turn in this form; the workspace has the code that words refer to."""
    for_a_person = verbose or sys.stderr.isatty()
    match form:
        case "text":
            return TextOutput(workspace, tells_calls=for_a_person, live=output().isatty())
        case "json":
            return JsonOutput(tells_calls=for_a_person)
        case "stream-json":
            return StreamOutput(tells_calls=verbose)


class TextOutput:
    """The answer's words; calls and notices beside it, for a person.

    Args:
        workspace: Where the code is that the words may refer to: it stands in their place.
        tells_calls: Tell of calls and notices, on stderr.
        live: Write the words as they come. Otherwise they are held until the answer is whole: what
            broke off is not to stand in a file.
    """

    def __init__(
        self, workspace: Workspace | None = None, *, tells_calls: bool, live: bool
    ) -> None:
        self._live = live
        self._in_line = False
        self._workspace = workspace
        self._answer = Answer(workspace)
        self._aside = Aside(tells=tells_calls, before=self._end_line)

    def hear(self, event: Event) -> None:
        """Take one event of the turn."""
        match event:
            case TextDelta(text):
                self._take(text)
            case AnswerGiven() | StepStarted():
                self._end_answer()
            case AnswerDiscarded(reason):
                self._discard(reason)
            case _:
                self._aside.hear(event)

    def end(self, told: Told) -> None:
        """The turn is over."""
        self._end_answer()
        self._aside.clear()
        if told.explanation:
            tell(told.explanation)

    def _take(self, text: str) -> None:
        self._answer.take(text)
        if self._live:
            self._say(self._answer.settled())

    def _discard(self, reason: str) -> None:
        if self._live:
            self._end_line()
            self._say(
                words(
                    "[What stands above broke off and does not count: {reason}]",
                    reason=one_line(reason, 300),
                )
            )
            self._end_line()
        self._answer = Answer(self._workspace)

    def _say(self, text: str) -> None:
        if text:
            self._aside.clear()
            say(text, end="", flush=True)
            self._in_line = not text.endswith("\n")

    def _end_answer(self) -> None:
        self._say(self._answer.rest())
        self._answer = Answer(self._workspace)
        self._end_line()

    def _end_line(self) -> None:
        if self._in_line:
            say(flush=True)
            self._in_line = False


class JsonOutput:
    """One object at the end; calls and notices beside it, for a person."""

    def __init__(self, *, tells_calls: bool) -> None:
        self._aside = Aside(tells=tells_calls)

    def hear(self, event: Event) -> None:
        """Take one event of the turn."""
        self._aside.hear(event)

    def end(self, told: Told) -> None:
        """The turn is over."""
        self._aside.clear()
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

    def __init__(self, *, tells_calls: bool) -> None:
        self._aside = Aside(tells=tells_calls)
        self._countdown = Countdown()
        self._pieces: type[TextDelta | ThinkingDelta] = TextDelta
        self._masked = OwnMasked()

    def hear(self, event: Event) -> None:
        """Take one event of the turn; of a countdown, its beginning."""
        self._aside.hear(event)
        if isinstance(event, _ENDING) and not isinstance(event, self._pieces):
            self._say_held()
        if isinstance(event, TextDelta | ThinkingDelta):
            self._pieces = type(event)
            self._say_piece(self._masked.take(event.text))
        elif not isinstance(event, RetryScheduled) or self._countdown.is_new(event):
            say_json(event_data(event), indent=None)

    def end(self, told: Told) -> None:
        """The turn is over."""
        self._say_held()
        self._aside.clear()
        say_json({"type": "result", **result_of(told)}, indent=None)
        _tell_failure(told)

    def _say_held(self) -> None:
        """No more comes of what may have been the beginning of a key."""
        self._say_piece(self._masked.rest())

    def _say_piece(self, text: str) -> None:
        if text:
            say_json(event_data(self._pieces(text)), indent=None)


def _tell_failure(told: Told) -> None:
    if told.finished.is_error:
        tell(told.explanation)
