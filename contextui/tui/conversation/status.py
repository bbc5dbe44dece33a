"""What the prompt's border tells of the turn under way."""

import time
from dataclasses import dataclass, field

from textual.content import Content

from contextui.agent.events import (
    AnswerGiven,
    CallFinished,
    CallStarted,
    CompactionFinished,
    CompactionStarted,
    RetryScheduled,
    StepStarted,
    TurnFinished,
    TurnStarted,
    UsageSpent,
)
from contextui.events import Event
from contextui.model import TextDelta, ThinkingDelta
from contextui.tui.cells import KEY, MUTED, line, short
from contextui.tui.words import Words

_ROOMY = 52  # cells in which all of it can be told
SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"


@dataclass(slots=True)
class TurnStatus:
    """How far the turn under way is.

    Attributes:
        is_running: Whether there is one.
        step: The request under way.
        characters: What was streamed of the answer, from which its tokens are guessed.
        retry: The countdown before the next try, in words.
        doing: What it is doing: compacting before it begins, thinking, answering, or a tool.
    """

    is_running: bool = False
    step: int = 0
    tokens: int = 0
    characters: int = 0
    retry: tuple[str, int] | None = None
    doing: str = "working"
    _began: float = field(default=0.0)

    def hear(self, event: Event) -> None:
        """Take note of what happens."""
        match event:
            case TurnStarted() | CompactionStarted():
                self.is_running, self._began, self.retry = True, time.monotonic(), None
                self.step = self.tokens = self.characters = 0
                self.doing = "working" if isinstance(event, TurnStarted) else "compacting"
            case StepStarted():
                self.step, self.characters, self.retry, self.doing = event.step, 0, None, "working"
            case RetryScheduled():
                self.retry = (event.reason, event.seconds)
            case ThinkingDelta():
                self.characters += len(event.text)
                self.retry, self.doing = None, "thinking"
            case TextDelta():
                self.characters += len(event.text)
                self.retry, self.doing = None, "answering"
            case CallStarted():
                self.doing = "acting"
            case AnswerGiven() | CallFinished():
                self.doing = "working"
            case UsageSpent():
                self.tokens += event.usage.output_tokens or self.characters // 4
                self.characters = 0
            case TurnFinished() | CompactionFinished():
                self.is_running, self.retry = False, None

    def pause(self, seconds: float) -> None:
        """Leave out a time in which the person was waited for."""
        self._began += seconds

    def shown(self, words: Words, now: float, room: int) -> Content:
        """The title of the prompt's border; empty while nothing runs.

        Args:
            words: The person's language.
            now: The time by the clock that does not jump.
            room: Cells there are; where they are few, it tells less.
        """
        if not self.is_running:
            return Content("")
        spinner = SPINNER[int(now * 10) % len(SPINNER)]
        why = ""
        if self.retry is not None:  # where there is little room, the reason is cut, not the rest
            reason, seconds = self.retry
            told, why = words("next try in {seconds}s", seconds=seconds), f"   {line(reason)}"
        elif self.doing == "compacting":
            told = words("compacting {seconds}s", seconds=int(now - self._began))
        else:
            tokens = self.tokens + self.characters // 4
            told = words(
                "{doing} {seconds}s   step {step}   {tokens} tokens"
                if room >= _ROOMY
                else "{doing} {seconds}s",
                doing=words(self.doing),
                seconds=int(now - self._began),
                step=self.step,
                tokens=short(tokens),
            )
        return Content.assemble(
            (f"{spinner} ", "$text-accent"),
            (told, MUTED),
            ("   esc ", KEY),
            (words("stops"), MUTED),
            (why, MUTED),
        )
