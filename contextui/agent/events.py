"""What a turn tells while it runs, in order, to whoever drives it.

Among these come, as they are, the model's own `TextDelta`, `ThinkingDelta` and `CallBegun`, and
the window events of `contextui.events`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from contextui.context.compaction.service import CompactionResult
from contextui.events import Event, Trigger
from contextui.model import Usage

Reason = Literal[
    "done",  # the model said what it had to say
    "stopped",  # the person stopped it
    "paused",  # it took as many steps as a turn may; the person may let it go on
    "stuck",  # it tried the same failing call again and again
    "cut_off",  # its answer was longer than an answer may be
    "refused",  # the model declined
    "empty",  # it said nothing, twice
    "failed",  # no answer could be had
]


@dataclass(frozen=True, slots=True)
class TurnStarted(Event):
    """The person's words stand in the context."""

    text: str
    item_id: str


@dataclass(frozen=True, slots=True)
class StepStarted(Event):
    """A request leaves: the step's number, from 1 on, and its tokens by our own count."""

    step: int
    tokens: int


@dataclass(frozen=True, slots=True)
class AnswerDiscarded(Event):
    """What was streamed of this answer does not count: it broke off, and comes anew."""

    reason: str


@dataclass(frozen=True, slots=True)
class RetryScheduled(Event):
    """The request is sent again in so many seconds; told anew for every second that passes."""

    reason: str
    seconds: int
    attempt: int
    attempts: int


@dataclass(frozen=True, slots=True)
class UsageSpent(Event):
    """What one request cost; step 0 is one for a summary, before the turn begins."""

    usage: Usage
    step: int


@dataclass(frozen=True, slots=True)
class AnswerGiven(Event):
    """A whole answer stands in the context, with its words."""

    item_id: str
    text: str


@dataclass(frozen=True, slots=True)
class CallStarted(Event):
    """A tool call is being carried out."""

    number: int
    name: str
    input: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CallFinished(Event):
    """What came of a tool call, as the model reads it.

    Attributes:
        number: Its place among the calls of one answer, from 1 on.
        name: The tool.
        ok: Whether it went well.
        text: The result.
        waited: The seconds of the call that were spent waiting for the person.
    """

    number: int
    name: str
    ok: bool
    text: str
    waited: float = 0.0


@dataclass(frozen=True, slots=True)
class ActionRefused(Event):
    """An action that the person, or the approval mode, did not allow.

    Attributes:
        action: The action, as in ``editor_1.save``, or the tool.
        verb: What it would have done to the target.
        target: What would have changed.
        added: How many lines it would have added.
        removed: How many lines it would have removed.
        problem: Why there was no preview of it; empty if there was one.
        reason: Why it was refused, as the model reads it.
        allowed_by: The flag that would allow it; empty if none would.
    """

    action: str
    verb: str
    target: str
    added: int
    removed: int
    problem: str
    reason: str
    allowed_by: str


@dataclass(frozen=True, slots=True)
class Notice(Event):
    """Something the person should know, in one line."""

    text: str


@dataclass(frozen=True, slots=True)
class CompactionStarted(Event):
    """A summary of the older part of the conversation is asked for.

    Attributes:
        trigger: Who wants it.
        goes: How many messages it will stand for.
        stays: How many stay as they are.
        tokens: What those that go cost now, by our own count.
    """

    trigger: Trigger
    goes: int
    stays: int
    tokens: int


@dataclass(frozen=True, slots=True)
class CompactionFinished(Event):
    """What came of it; None if it was stopped, and nothing was changed."""

    result: CompactionResult | None


@dataclass(frozen=True, slots=True)
class TurnFinished(Event):
    """The turn is over; always the last event.

    Attributes:
        reason: Why.
        text: The words of its last answer.
        steps: How many requests were answered.
        usage: What they cost together.
        explanation: What the person should know about the end, empty if all went well.
        stop_reason: Why the model stopped, in the provider's word.
    """

    reason: Reason
    text: str = ""
    steps: int = 0
    usage: Usage = field(default_factory=Usage)
    explanation: str = ""
    stop_reason: str = ""

    @property
    def is_error(self) -> bool:
        """Whether the person did not get what they asked for, and did not stop it themselves."""
        return self.reason not in ("done", "stopped")
