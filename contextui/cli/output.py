"""Output of a turn: text, one JSON object, or one JSON object per event."""

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any

from contextui.agent.context_space import TurnOptions
from contextui.cli.arguments import OutputFormat
from contextui.cli.console import output, say, say_json, warn
from contextui.cli.progress import Countdown, Progress
from contextui.events import (
    ActionRefused,
    AnswerDiscarded,
    AnswerGiven,
    Event,
    RetryScheduled,
    StepStarted,
    TurnFinished,
)
from contextui.files.workspace import Workspace
from contextui.model import CallBegun, TextDelta, ThinkingDelta
from contextui.secrets import StreamMask, mask, mask_own
from contextui.session.code.refs import LONGEST, MARKS, has_reference, with_code
from contextui.session.session import Session
from contextui.text import one_line
from contextui.tokens import Usage
from contextui.windowing.runtime import runtime_of
from contextui.words import language, plural, t


class Answer:
    """Buffers the text of one streamed answer, and releases what can be printed."""

    def __init__(self, workspace: Workspace | None = None) -> None:
        self._workspace = workspace
        self._masked = StreamMask()
        # In pieces: an answer may have megabytes and arrive a few characters at a time.
        self._given: list[str] = []
        self._kept: list[str] = []

    def take(self, text: str) -> None:
        """Add streamed text."""
        self._kept.append(self._masked.take(text))

    def settled(self) -> str:
        """Return new text that later text cannot change."""
        kept = "".join(self._kept)
        end = _settled(kept)
        self._kept = [kept[end:]]
        return self._give(kept[:end])

    def rest(self) -> str:
        """Return all remaining text; the answer is complete."""
        self._kept.append(self._masked.rest())
        kept, self._kept = "".join(self._kept).removesuffix("\r"), []
        return self._give(kept)

    def _give(self, text: str) -> str:
        self._given.append(text)
        if not has_reference(text):
            return text
        whole = "".join(self._given)  # what precedes it decides whether this is in a code block
        shown = with_code(whole, self._workspace, language(), start=len(whole) - len(text))
        return mask_own(shown)


def _next_mark(text: str, start: int) -> int:
    return min((at for mark in MARKS if (at := text.find(mark, start)) >= 0), default=-1)


def _settled(text: str) -> int:
    """Return the end of what cannot change: a reference on an unfinished line may be an example."""
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
    return len(text.removesuffix("\r"))  # its line feed may follow


_WORD = re.compile(r"(?<!^)(?=[A-Z])")


@dataclass(frozen=True, slots=True)
class TurnReport:
    """The result of a turn, for output."""

    finished: TurnFinished
    session: Session
    explanation: str = ""  # what the person should know about the end
    notices: tuple[str, ...] = ()
    refused: tuple[ActionRefused, ...] = ()
    session_cost: float | None = None  # in dollars; None if no price is known


def explained(finished: TurnFinished, options: TurnOptions, session: Session) -> str:
    """Explain how the turn ended, with the command that continues it."""
    match finished.reason:
        case "paused":
            steps = plural(options.max_steps, "{count} step", "{count} steps")
            ended = t("The turn paused after {steps}.", steps=steps)
        case "cut_off":
            tokens = f"{options.max_tokens:,}"
            ended = t("The answer was cut off at {tokens} tokens.", tokens=tokens)
        case _:
            return t(finished.explanation)
    which = "-c" if session.cwd == str(Path.cwd()) else f"-r {session.id}"
    command = f'contextui {which} -p "{t("continue")}"'
    return ended + t(" To continue: {command}", command=command)


def result_of(report: TurnReport) -> dict[str, Any]:
    """Build the JSON object of a finished turn."""
    finished, session = report.finished, report.session
    costs = {"cost_usd": finished.usage.cost, "session_cost_usd": report.session_cost}
    data = {
        "result": mask_own(finished.text),
        "session_id": session.id,
        "stop_reason": finished.stop_reason or None,
        "steps": finished.steps,
        "usage": finished.usage.as_dict(),
        **{name: round(cost, 6) for name, cost in costs.items() if cost is not None},
        "windows": [
            {
                "id": window.id,
                "name": window.name,
                "lod": window.lod.value,
                "state": _plain(runtime_of(window).core.saved.state),
            }
            for window in session.windows.windows()
        ],
        "is_error": finished.is_error,
        "reason": finished.reason,
        "saved": not session.unsaved,
        "notices": [mask(notice) for notice in report.notices],
        "refused": [_plain(one) for one in report.refused],
    }
    return data | ({"error": mask(report.explanation)} if finished.is_error else {})


def not_started(error: str) -> dict[str, Any]:
    """Build the JSON object if no turn started."""
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


def say_result(data: Mapping[str, Any], form: OutputFormat) -> None:
    """Print the result of a turn: one JSON object, or the last line of a stream."""
    if form == "json":
        say_json(data)
    else:
        say_json({"type": "result", **data}, indent=None)


def event_data(event: Event) -> dict[str, Any]:
    """Convert an event to a JSON object: its type in snake_case, then its fields."""
    kind = _WORD.sub("_", type(event).__name__).lower()
    return {"type": kind, **_plain(event)}


def _plain(value: Any) -> Any:
    if isinstance(value, Usage):
        return value.figures()
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    return mask_own(value) if isinstance(value, str) else value


# These end the text, or the thinking, streamed before them. Other events come at any time, such
# as a window that changes by itself.
_ENDING = (
    *(TextDelta, ThinkingDelta, CallBegun),
    *(AnswerGiven, AnswerDiscarded, StepStarted, TurnFinished),
)


def output_for(
    form: OutputFormat, workspace: Workspace | None, *, verbose: bool
) -> "TextOutput | JsonOutput":
    """Create the output for a format; the workspace contains the code that text refers to."""
    for_a_person = verbose or (form != "stream-json" and sys.stderr.isatty())
    if form == "text":
        return TextOutput(workspace, show_calls=for_a_person, live=output().isatty())
    return JsonOutput(form, show_calls=for_a_person)


class TextOutput:
    """Prints the answer's text; calls and notices go to stderr.

    Unless it is `live`, text is held until the answer is complete, so that a file never contains a
    truncated one.
    """

    def __init__(self, workspace: Workspace | None = None, *, show_calls: bool, live: bool) -> None:
        self._live = live
        self._in_line = False
        self._workspace = workspace
        self._answer = Answer(workspace)
        self._progress = Progress(verbose=show_calls, before=self._end_line)

    def handle(self, event: Event) -> None:
        """Handle one event of the turn."""
        match event:
            case TextDelta(text):
                self._take(text)
            case AnswerGiven() | StepStarted():
                self._end_answer()
            case AnswerDiscarded(reason):
                self._discard(reason)
            case _:
                self._progress.handle(event)

    def end(self, report: TurnReport) -> None:
        """Print the rest of the answer, and the explanation if there is one."""
        self._end_answer()
        self._progress.clear()
        if report.explanation:
            warn(report.explanation)

    def _take(self, text: str) -> None:
        self._answer.take(text)
        if self._live:
            self._say(self._answer.settled())

    def _discard(self, reason: str) -> None:
        if self._live:
            self._end_line()
            self._say(
                t(
                    "[The answer above broke off and was discarded: {reason}]",
                    reason=one_line(reason, 300),
                )
            )
            self._end_line()
        self._answer = Answer(self._workspace)

    def _say(self, text: str) -> None:
        if text:
            self._progress.clear()
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
    """Prints one JSON object at the end; a stream has one line for each event before it."""

    def __init__(self, form: OutputFormat, *, show_calls: bool) -> None:
        self._form, self._progress = form, Progress(verbose=show_calls)
        self._countdown = Countdown()
        self._pieces: type[TextDelta | ThinkingDelta] = TextDelta
        self._masked = StreamMask()

    def handle(self, event: Event) -> None:
        """Print one event of the turn; of a retry countdown, only its start."""
        self._progress.handle(event)
        if self._form == "json":
            return
        if isinstance(event, _ENDING) and not isinstance(event, self._pieces):
            self._say_held()
        if isinstance(event, TextDelta | ThinkingDelta):
            self._pieces = type(event)
            self._say_piece(self._masked.take(event.text))
        elif not isinstance(event, RetryScheduled) or self._countdown.is_new(event):
            say_json(event_data(event), indent=None)

    def end(self, report: TurnReport) -> None:
        """Print the rest of the text, and the result."""
        self._say_held()
        self._progress.clear()
        say_result(result_of(report), self._form)
        if report.finished.is_error:
            warn(report.explanation)

    def _say_held(self) -> None:
        """Print text held back as the possible start of an API key."""
        self._say_piece(self._masked.rest())

    def _say_piece(self, text: str) -> None:
        if text:
            say_json(event_data(self._pieces(text)), indent=None)
