"""Recorded agent runs by token counts, and the JSON form in which they are kept.

A run is a head (tools and system prompt) and a list of steps::

    {"format": "contextui-run-1", "name": "fix-the-parser", "head": 3200, "steps": [
      {"type": "words", "tokens": 120, "time": 0},
      {"type": "answer", "text": 40, "thinking": 0, "time": 4,
       "calls": [{"id": "c1", "tokens": 35}]},
      {"type": "result", "call": "c1", "tokens": 900, "gist": 30, "time": 5},
      {"type": "answer", "text": 80, "time": 9}]}

A request is sent before each answer, at the time of the step before it.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

FORMAT = "contextui-run-1"
APART = 5.0
"""Seconds between two steps of which the second has no time."""


class RunError(ValueError):
    """A file is not a recorded run; the message is one line that says where and why."""


@dataclass(frozen=True, slots=True)
class Words:
    """A message to the model."""

    tokens: int
    time: float


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call."""

    id: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer of the model: the sizes of its text and thinking, and its calls."""

    text: int
    thinking: int
    calls: tuple[Call, ...]
    time: float


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a call; `gist` is the size of the line that can replace it."""

    call: str
    tokens: int
    gist: int
    time: float


Step = Words | Answer | Result


@dataclass(frozen=True, slots=True)
class Run:
    """A recorded run.

    Attributes:
        name: What it is called in tables.
        head: Tokens of tools and system prompt.
        steps: The steps in order, with times that do not decrease.
    """

    name: str
    head: int
    steps: tuple[Step, ...]

    def requests(self) -> Iterator[tuple[int, float]]:
        """Yield the place of each answer, and the time at which its request was sent."""
        for at, step in enumerate(self.steps):
            if isinstance(step, Answer):
                yield at, self.steps[at - 1].time if at else step.time

    def as_json(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {"format": FORMAT, "name": self.name, "head": self.head,
                "steps": [_as_json(step) for step in self.steps]}  # fmt: skip


def _as_json(step: Step) -> dict[str, Any]:
    match step:
        case Words():
            return {"type": "words", "tokens": step.tokens, "time": step.time}
        case Answer():
            calls = [{"id": call.id, "tokens": call.tokens} for call in step.calls]
            return {"type": "answer", "text": step.text, "thinking": step.thinking,
                    "calls": calls, "time": step.time}  # fmt: skip
        case Result():
            return {"type": "result", "call": step.call, "tokens": step.tokens,
                    "gist": step.gist, "time": step.time}  # fmt: skip


# --- reading -----------------------------------------------------------------------------


@dataclass(slots=True)
class Reader:
    """Checks and builds the steps of a run.

    Attributes:
        where: The file and the place in it, for errors.
        steps: The steps so far.
    """

    where: str
    steps: list[Step] = field(default_factory=list)
    _calls: dict[str, bool] = field(default_factory=dict)  # whether each call has a result

    def fail(self, why: str) -> NoReturn:
        """Raise a `RunError` that names the place."""
        raise RunError(f"{self.where}: {why}")

    def time(self, given: float | None) -> float:
        """Return the time of the next step: as given, but never before the step before it."""
        last = self.steps[-1].time if self.steps else 0.0
        if given is None:
            return last + APART if self.steps else 0.0
        return max(last, given)

    def words(self, tokens: int, time: float | None = None) -> None:
        """Append a message to the model."""
        self.steps.append(Words(tokens, self.time(time)))

    def answer(
        self, text: int, thinking: int, calls: Sequence[Call], time: float | None = None
    ) -> None:
        """Append an answer."""
        for call in calls:
            if call.id in self._calls:
                self.fail(f"the call {call.id!r} was made before")
            self._calls[call.id] = False
        self.steps.append(Answer(text, thinking, tuple(calls), self.time(time)))

    def result(self, call: str, tokens: int, gist: int, time: float | None = None) -> None:
        """Append the result of a call."""
        if self._calls.get(call) is not False:
            self.fail(f"the result {call!r} answers no open call")
        self._calls[call] = True
        self.steps.append(Result(call, tokens, min(gist, tokens), self.time(time)))

    def knows(self, call: str) -> bool:
        """Whether a call waits for its result."""
        return self._calls.get(call) is False

    def run(self, name: str, head: int) -> Run:
        """Return the run."""
        if not any(isinstance(step, Answer) for step in self.steps):
            self.fail("there is no answer in it")
        return Run(name, head, tuple(self.steps))


def parse_run(value: object, where: str) -> Run:
    """Read the JSON form.

    Args:
        value: The parsed JSON.
        where: The file, for errors.

    Raises:
        RunError: It is not a run.
    """
    reader = Reader(where)
    if not isinstance(value, Mapping) or value.get("format") != FORMAT:
        reader.fail(f'it has no "format": "{FORMAT}"')
    steps = value.get("steps")
    if not isinstance(steps, list):
        reader.fail("steps must be a list")
    head = count_in(value, "head", reader.fail, default=0)
    for number, step in enumerate(steps, 1):
        reader.where = f"{where}, step {number}"
        if not isinstance(step, Mapping):
            reader.fail("a step must be an object")
        _read_step(step, reader)
    reader.where = where
    return reader.run(str(value.get("name") or Path(where).stem), head)


def _read_step(step: Mapping[str, Any], reader: Reader) -> None:
    fail, time = reader.fail, step.get("time")
    if time is not None and not _is_number(time):
        fail("time must be a number of seconds")
    match step.get("type"):
        case "words":
            reader.words(count_in(step, "tokens", fail), time)
        case "answer":
            text, thinking = (
                count_in(step, name, fail, default=0) for name in ("text", "thinking")
            )
            calls = step.get("calls", [])
            if not isinstance(calls, list) or not all(isinstance(one, Mapping) for one in calls):
                fail("calls must be a list of objects")
            made = [Call(_name_in(one, "id", fail), count_in(one, "tokens", fail)) for one in calls]
            reader.answer(text, thinking, made, time)
        case "result":
            tokens = count_in(step, "tokens", fail)
            gist = count_in(step, "gist", fail, default=min(30, tokens))
            reader.result(_name_in(step, "call", fail), tokens, gist, time)
        case other:
            fail(f"type must be words, answer or result, not {other!r}")


def count_in(
    value: Mapping[str, Any],
    name: str,
    fail: Callable[[str], NoReturn],
    default: int | None = None,
) -> int:
    """Return a number of tokens of a JSON object; call `fail` if it is none."""
    count = value.get(name, default)
    if not isinstance(count, int) or isinstance(count, bool) or count < 0:
        fail(f"{name} must be a number of tokens")
    return count


def _name_in(value: Mapping[str, Any], name: str, fail: Callable[[str], NoReturn]) -> str:
    found = value.get(name)
    if not isinstance(found, str) or not found:
        fail(f"{name} must be a text")
    return found


def _is_number(value: object) -> bool:
    # JSON as Python reads it may hold NaN and infinity.
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e12


def read_text(path: Path) -> str:
    """Read a file.

    Raises:
        RunError: It cannot be read, or is not text.
    """
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise RunError(f"{path}: {why}") from None


def parse_json(text: str, where: str) -> Any:
    """Parse JSON.

    Raises:
        RunError: It is not JSON.
    """
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        why = f": {error}" if isinstance(error, json.JSONDecodeError) else ""
        raise RunError(f"{where}: it is not JSON{why}") from None
