"""Events that a turn emits while it runs, in order.

The stream also contains the model's own `TextDelta`, `ThinkingDelta` and `CallBegun`, and the
window events of `contextui.events`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from contextui.context.compaction.service import CompactionResult
from contextui.events import Event, Trigger
from contextui.model import Usage

Reason = Literal[
    "done",  # the model finished its answer
    "stopped",  # the person cancelled it
    "paused",  # it reached the maximum number of steps; the person may continue it
    "stuck",  # it repeated the same failing call
    "cut_off",  # its answer exceeded the token limit
    "refused",  # the model declined
    "empty",  # it answered with nothing, twice
    "failed",  # the request failed
]


@dataclass(frozen=True, slots=True)
class TurnStarted(Event):
    """The person's message was added to the context."""

    text: str
    item_id: str


@dataclass(frozen=True, slots=True)
class StepStarted(Event):
    """A request is sent: the number of the step, from 1 on, and its tokens by our own count."""

    step: int
    tokens: int


@dataclass(frozen=True, slots=True)
class AnswerDiscarded(Event):
    """The answer broke off: discard the text streamed so far. A new attempt may follow."""

    reason: str


@dataclass(frozen=True, slots=True)
class RetryScheduled(Event):
    """The request is retried in this many seconds; emitted again every second."""

    reason: str
    seconds: int
    attempt: int
    attempts: int


@dataclass(frozen=True, slots=True)
class UsageSpent(Event):
    """The usage of one request; step 0 is one before the first step, such as a summary."""

    usage: Usage
    step: int


@dataclass(frozen=True, slots=True)
class AnswerGiven(Event):
    """A whole answer, with its text, was added to the context."""

    item_id: str
    text: str


@dataclass(frozen=True, slots=True)
class CallStarted(Event):
    """A tool call starts."""

    number: int
    name: str
    input: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CallFinished(Event):
    """A tool call finished.

    Attributes:
        number: Its position among the calls of one answer, from 1 on.
        name: The tool.
        ok: Whether it succeeded.
        text: The result, as the model reads it.
        waited: The seconds spent waiting for the person's approval.
    """

    number: int
    name: str
    ok: bool
    text: str
    waited: float = 0.0


@dataclass(frozen=True, slots=True)
class ActionRefused(Event):
    """The person, or the approval mode, refused an action.

    Attributes:
        action: The action, as in ``editor_1.save``, or the tool.
        verb: What it would have done to the target.
        target: What would have changed.
        added: How many lines it would have added.
        removed: How many lines it would have removed.
        problem: Why no preview could be made; empty if there was one.
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
    """A one-line message for the person."""

    text: str


@dataclass(frozen=True, slots=True)
class CompactionStarted(Event):
    """A compaction starts: a summary of older messages is requested.

    Attributes:
        trigger: What started it.
        goes: How many messages the summary will replace.
        stays: How many messages are kept.
        tokens: The tokens of the messages to be replaced, by our own count.
    """

    trigger: Trigger
    goes: int
    stays: int
    tokens: int


@dataclass(frozen=True, slots=True)
class CompactionFinished(Event):
    """A compaction ended; the result is None if it was interrupted and nothing changed."""

    result: CompactionResult | None


@dataclass(frozen=True, slots=True)
class TurnFinished(Event):
    """The turn is over; always the last event.

    Attributes:
        reason: Why it ended.
        text: The text of its last answer.
        steps: How many requests were answered.
        usage: Their usage in total.
        explanation: What the person should know about the end; empty if all went well.
        stop_reason: Why the model stopped, as the provider reported it.
    """

    reason: Reason
    text: str = ""
    steps: int = 0
    usage: Usage = field(default_factory=Usage)
    explanation: str = ""
    stop_reason: str = ""

    @property
    def is_error(self) -> bool:
        """Whether the turn ended without a result and was not cancelled by the person."""
        return self.reason not in ("done", "stopped")
