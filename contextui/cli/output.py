"""How a turn is told: as words, as one object, or as one object for each event."""

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any, Protocol

from contextui.agent.events import (
    ActionRefused,
    AnswerDiscarded,
    AnswerGiven,
    RetryScheduled,
    StepStarted,
    TurnFinished,
)
from contextui.agent.turn import TurnOptions
from contextui.cli.arguments import OutputFormat
from contextui.cli.console import output, say, say_json, tell
from contextui.cli.progress import Aside, Countdown
from contextui.cli.words import counted, in_ours, spoken, words
from contextui.events import Event
from contextui.files.workspace import Workspace
from contextui.model import CallBegun, TextDelta, ThinkingDelta, Usage
from contextui.secrets import OwnMasked, mask, mask_own
from contextui.session.code.refs import LONGEST, MARKS, has_reference, with_code
from contextui.session.session import Session
from contextui.text import one_line


class Answer:
    """Takes the words of one answer as they come, and gives what can be said of them.

    Args:
        workspace: Where the code files are that the words may refer to.
    """

    def __init__(self, workspace: Workspace | None = None) -> None:
        self._workspace = workspace
        self._masked = OwnMasked()
        # In pieces: an answer may be megabytes, and come some letters at a time.
        self._given: list[str] = []
        self._kept: list[str] = []

    def take(self, text: str) -> None:
        """More words came."""
        self._kept.append(self._masked.take(text))

    def settled(self) -> str:
        """What no words to come can change, and was not given yet."""
        kept = "".join(self._kept)
        end = _settled(kept)
        self._kept = [kept[end:]]
        return self._give(kept[:end])

    def rest(self) -> str:
        """All that was not given yet, as the answer is whole."""
        self._kept.append(self._masked.rest())
        kept, self._kept = "".join(self._kept).removesuffix("\r"), []
        return self._give(kept)

    def _give(self, text: str) -> str:
        self._given.append(text)
        if not has_reference(text):
            return text
        whole = "".join(self._given)  # what stands before tells whether this is within code
        told = with_code(whole, self._workspace, spoken(), start=len(whole) - len(text))
        return mask_own(told)


def _next_mark(text: str, start: int) -> int:
    """Where the next reference begins; -1 if none does."""
    return min((at for mark in MARKS if (at := text.find(mark, start)) >= 0), default=-1)


def _settled(text: str) -> int:
    """Up to a reference whose line is not whole yet: it may turn out to be an example."""
    begins = _next_mark(text, 0)
    while begins >= 0:
        closes = text.find("</", begins)
        line_end = text.find("\n", closes) if closes >= 0 else begins + LONGEST
        if line_end < 0 or line_end > len(text):
            return begins
        begins = _next_mark(text, line_end)
    for mark in MARKS:
        for length in range(min(len(mark), len(text)), 0, -1):
            if text.endswith(mark[:length]):
                return len(text) - length
    return len(text.removesuffix("\r"))  # the line feed to it may follow


_WORD = re.compile(r"(?<!^)(?=[A-Z])")


@dataclass(frozen=True, slots=True)
class Told:
    """All there is to tell at the end of a turn.

    Attributes:
        finished: How it ended.
        session: Where it stands.
        explanation: What the person should know about the end, empty if all went well.
        notices: What they were told beside it.
        refused: The actions that were not allowed.
    """

    finished: TurnFinished
    session: Session
    explanation: str = ""
    notices: tuple[str, ...] = ()
    refused: tuple[ActionRefused, ...] = ()


def explained(finished: TurnFinished, options: TurnOptions, session: Session) -> str:
    """What the person should know about the end; how to go on is told as a command."""
    match finished.reason:
        case "paused":
            steps = counted(options.max_steps, "{count} step", "{count} steps")
            said = words("The turn paused after {steps}.", steps=steps)
        case "cut_off":
            tokens = f"{options.max_tokens:,}"
            said = words("The answer was cut off at {tokens} tokens.", tokens=tokens)
        case _:
            return in_ours(finished.explanation)
    which = "-c" if session.cwd == str(Path.cwd()) else f"-r {session.id}"
    command = f'contextui {which} -p "{words("go on")}"'
    return said + words(" Let it go on: {command}", command=command)


def result_of(told: Told) -> dict[str, Any]:
    """The object at the end of a turn."""
    finished, session = told.finished, told.session
    data = {
        "result": mask_own(finished.text),
        "session_id": session.id,
        "stop_reason": finished.stop_reason or None,
        "steps": finished.steps,
        "usage": finished.usage.as_dict(),
        "windows": [
            {
                "id": window.id,
                "name": window.name,
                "lod": window.lod.value,
                "state": _plain(window.runtime.standing.kept.state),
            }
            for window in session.windows.windows()
        ],
        "is_error": finished.is_error,
        "reason": finished.reason,
        "saved": not session.unsaved,
        "notices": [mask(notice) for notice in told.notices],
        "refused": [_plain(one) for one in told.refused],
    }
    return data | ({"error": mask(told.explanation)} if finished.is_error else {})


def not_started(error: str) -> dict[str, Any]:
    """The same where there was no turn."""
    return {
        "result": "",
        "session_id": None,
        "stop_reason": None,
        "steps": 0,
        "usage": Usage().as_dict(),
        "windows": [],
        "is_error": True,
        "reason": "not_started",
        "saved": False,
        "notices": [],
        "refused": [],
        "error": mask(error),
    }


def event_data(event: Event) -> dict[str, Any]:
    """An event as an object: its type in snake_case, then its fields."""
    kind = _WORD.sub("_", type(event).__name__).lower()
    return {"type": kind, **_plain(event)}


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return {one.name: _plain(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    return mask_own(value) if isinstance(value, str) else value


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
