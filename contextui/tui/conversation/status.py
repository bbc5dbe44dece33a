"""The status of the current turn, shown in the border of the prompt, and its figures."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from rich.cells import cell_len
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
from contextui.text import duration, turn_cost
from contextui.tui.conversation.shell import TypedCommand
from contextui.tui.lines import KEY, MUTED, SPINNER, fit, line, short
from contextui.words import Words, msg

_ROOMY = 52  # cells needed for the full status
_NAME = 24  # cells of the name of a job
_PATIENCE = 1.0  # seconds after which a job that a call waits for is named
_ROUND = len("⠋    esc ") + 4  # cells around the status


def figures(turn: TurnFinished, words: Words) -> str:
    """Say in one line what a turn took; nothing that is not known is mentioned."""
    parts = [duration(turn.seconds, words)]
    if turn.calls:
        text = msg("1 call") if turn.calls == 1 else msg("{count} calls")
        parts.append(words(text, count=f"{turn.calls:,}"))
    if turn.cached is not None:
        parts.append(words("{percent}% cached", percent=f"{100 * turn.cached:.0f}"))
    if turn.usage.cost:
        parts.append(turn_cost(turn.usage.cost))
    return "   ".join(parts)


@dataclass(slots=True)
class TurnStatus:
    """Progress of the current turn."""

    job_in: Callable[[str], str] = lambda _: ""
    is_running: bool = False
    step: int = 0
    tokens: int = 0
    characters: int = 0
    retry: int | None = None
    """In how many seconds; the conversation says why."""
    activity: str = msg("working")
    cost: float | None = None
    commands: list[TypedCommand] = field(default_factory=list)
    """The commands that the person typed, the newest last."""
    _began: float = field(default=0.0)
    _paused: float = field(default=0.0)  # of that, what the person took to answer questions
    _waits_since: float | None = field(default=None)
    _window: str = field(default="")  # the window that a call acts on
    _called: float = field(default=0.0)  # when that call started
    _left: int = field(default=0)  # commands that were typed before the last turn began

    def handle(self, event: Event) -> None:
        """Update the status."""
        match event:
            case TurnStarted() | CompactionStarted():
                self.is_running, self._began, self.retry = True, time.monotonic(), None
                self._left = len(self.commands)  # they go on, as a server does
                self.step = self.tokens = self.characters = 0
                self.cost, self._window, self._paused = None, "", 0.0
                self.activity = msg("working") if isinstance(event, TurnStarted) else "compacting"
            case StepStarted():
                self.step, self.characters = event.step, 0
                self.retry, self.activity = None, msg("working")
            case RetryScheduled():
                self.retry = event.seconds
            case ThinkingDelta():
                self.characters += len(event.text)
                self.retry, self.activity = None, "thinking"
            case TextDelta():
                self.characters += len(event.text)
                self.retry, self.activity = None, msg("answering")
            case CallStarted():
                self.activity = msg("running")
                self._window, self._called = str(event.input.get("window_id", "")), time.monotonic()
            case AnswerGiven() | CallFinished():
                self.activity, self._window = msg("working"), ""
            case UsageSpent():
                if (cost := event.usage.cost) is not None:
                    self.cost = (self.cost or 0.0) + cost
                self.tokens += event.usage.output_tokens or self.characters // 4
                self.characters = 0
            case TurnFinished() | CompactionFinished():
                self.is_running, self.retry = False, None

    def wait(self, is_waiting: bool) -> None:
        now = time.monotonic()
        if self._waits_since is not None:
            self._paused += now - self._waits_since
        self._waits_since = now if is_waiting else None

    def _seconds(self, now: float) -> float:
        return max(now - self._began - self._paused, 0.0)

    def stop_command(self, *, is_wanted: bool) -> bool:
        """Stop the newest typed command; return whether one was running.

        One that was typed before the last turn began goes on, unless that `is_wanted`.
        """
        running = self._running(0 if is_wanted else self._left)
        for command in [one for one in running if not one.is_stopped][-1:]:
            command.stop()
        return bool(running)

    def _running(self, first: int) -> list[TypedCommand]:
        return [one for one in self.commands[first:] if one.is_running]

    def shown(self, words: Words, now: float, room: int) -> Content:
        """Return the title of the prompt's border; empty while nothing runs."""
        spinner = SPINNER[int(now * 10) % len(SPINNER)]
        if not self.is_running:
            if not (running := self._running(self._left)):
                return Content("")
            command = running[-1]
            name = fit(command.text, min(cell_len(line(command.text)), _NAME))
            status = words("{activity} {seconds}s", activity=name, seconds=int(command.age))
        elif self.retry is not None:
            status = words("retrying in {seconds}s", seconds=self.retry)
        elif self.activity == "compacting":
            status = words("compacting {seconds}s", seconds=int(self._seconds(now)))
        else:
            status = self._progress(words, now, room)
        return Content.assemble(
            (f"{spinner} ", "$text-accent"),
            (status, MUTED),
            ("   esc ", KEY),
            (words("stops"), MUTED),
        )

    def _progress(self, words: Words, now: float, room: int) -> str:
        seconds = int(self._seconds(now))
        job = self.job_in(self._window) if self._window and now - self._called > _PATIENCE else ""
        if job:
            name = fit(job, min(cell_len(line(job)), _NAME))
            parts = [words("waiting for {name} {seconds}s", name=name, seconds=seconds)]
        else:
            activity = words(self.activity)
            parts = [words("{activity} {seconds}s", activity=activity, seconds=seconds)]
        tokens = words("{tokens} tokens", tokens=short(self.tokens + self.characters // 4))
        figures = [
            words("step {step}", step=self.step),
            turn_cost(self.cost) if self.cost else tokens,
        ]
        for figure in figures if room >= _ROOMY else ():
            if cell_len("   ".join([*parts, figure])) + _ROUND + 6 <= room:
                parts.append(figure)
        return "   ".join(parts)
