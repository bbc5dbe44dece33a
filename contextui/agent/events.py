"""Former module of a turn's events, which are in `contextui.events` now."""

# ruff: noqa: F403, F405  the list below names what it has
from contextui.events import *

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
