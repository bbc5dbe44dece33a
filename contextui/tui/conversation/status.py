"""The status of the current turn, shown in the border of the prompt."""

import time
from dataclasses import dataclass, field

from textual.content import Content

from contextui.events import (
    AnswerGiven,
    CallFinished,
    CallStarted,
    CompactionFinished,
    CompactionStarted,
    Event,
    RetryScheduled,
    StepStarted,
    TurnFinished,
    TurnStarted,
    UsageSpent,
)
from contextui.model import TextDelta, ThinkingDelta
from contextui.tui.lines import KEY, MUTED, SPINNER, line, short
from contextui.words import Words, msg

_ROOMY = 52  # cells needed for the full status


@dataclass(slots=True)
class TurnStatus:
    """Progress of the current turn.

    Attributes:
        is_running: Whether a turn or a compaction runs.
        step: The number of the current request.
        tokens: Output tokens of finished requests.
        characters: Characters streamed so far, used to estimate tokens.
        retry: The reason for a retry and the seconds until then.
        activity: The current activity: compacting, thinking, answering, acting or working.
    """

    is_running: bool = False
    step: int = 0
    tokens: int = 0
    characters: int = 0
    retry: tuple[str, int] | None = None
    activity: str = msg("working")
    _began: float = field(default=0.0)

    def handle(self, event: Event) -> None:
        """Update the status from an event."""
        match event:
            case TurnStarted() | CompactionStarted():
                self.is_running, self._began, self.retry = True, time.monotonic(), None
                self.step = self.tokens = self.characters = 0
                self.activity = msg("working") if isinstance(event, TurnStarted) else "compacting"
            case StepStarted():
                self.step, self.characters, self.retry, self.activity = (
                    event.step,
                    0,
                    None,
                    msg("working"),
                )
            case RetryScheduled():
                self.retry = (event.reason, event.seconds)
            case ThinkingDelta():
                self.characters += len(event.text)
                self.retry, self.activity = None, "thinking"
            case TextDelta():
                self.characters += len(event.text)
                self.retry, self.activity = None, msg("answering")
            case CallStarted():
                self.activity = msg("running")
            case AnswerGiven() | CallFinished():
                self.activity = msg("working")
            case UsageSpent():
                self.tokens += event.usage.output_tokens or self.characters // 4
                self.characters = 0
            case TurnFinished() | CompactionFinished():
                self.is_running, self.retry = False, None

    def pause(self, seconds: float) -> None:
        """Exclude the time spent waiting for the person."""
        self._began += seconds

    def shown(self, words: Words, now: float, room: int) -> Content:
        """Return the title of the prompt's border; empty while nothing runs.

        Args:
            words: Translates into the person's locale.
            now: The monotonic time.
            room: The available cells; a narrow prompt shows less.
        """
        if not self.is_running:
            return Content("")
        spinner = SPINNER[int(now * 10) % len(SPINNER)]
        why = ""
        if self.retry is not None:  # in a narrow prompt the reason is truncated first
            reason, seconds = self.retry
            status, why = (
                words("retrying in {seconds}s", seconds=seconds),
                f"   {line(words(reason))}",
            )
        elif self.activity == "compacting":
            status = words("compacting {seconds}s", seconds=int(now - self._began))
        else:
            tokens = self.tokens + self.characters // 4
            status = words(
                "{activity} {seconds}s   step {step}   {tokens} tokens"
                if room >= _ROOMY
                else "{activity} {seconds}s",
                activity=words(self.activity),
                seconds=int(now - self._began),
                step=self.step,
                tokens=short(tokens),
            )
        return Content.assemble(
            (f"{spinner} ", "$text-accent"),
            (status, MUTED),
            ("   esc ", KEY),
            (words("stops"), MUTED),
            (why, MUTED),
        )
