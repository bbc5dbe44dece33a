"""Former module of a turn's events, which are in `contextui.events` now."""

from contextui.events import *  # noqa: F403

__all__ = [
    "ActionRefused",
    "AnswerDiscarded",
    "AnswerGiven",
    "CallFinished",
    "CallStarted",
    "CompactionFinished",
    "CompactionStarted",
    "Notice",
    "Reason",
    "RetryScheduled",
    "StepStarted",
    "TurnFinished",
    "TurnStarted",
    "UsageSpent",
]
