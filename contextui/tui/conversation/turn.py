"""The line below an answer: how long the turn took, its calls, what was cached, and its cost."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from textual.content import Content
from textual.widgets import Static

from contextui.events import CallFinished, CallStarted, Event, TurnFinished, TurnStarted
from contextui.tokens import Usage
from contextui.tui.lines import FAINT
from contextui.words import Words

_GAP = "   "
_LEAST = 0.001  # dollars: a smaller cost is shown as less than this


@dataclass(frozen=True, slots=True)
class TurnFigures:
    """What a turn took.

    Attributes:
        seconds: Its duration, without the time spent waiting for the person.
        calls: How many tool calls were made.
        cached: The share of the input that came from the cache; None if the model has no cache.
        cost: Its cost in dollars; None if no price is known.
    """

    seconds: float
    calls: int = 0
    cached: float | None = None
    cost: float | None = None

    def text(self, words: Words) -> str:
        """Format the figures in one line; nothing that is not known is mentioned."""
        parts = [duration(self.seconds, words)]
        if self.calls == 1:
            parts.append(words("1 call"))
        elif self.calls:
            parts.append(words("{count} calls", count=f"{self.calls:,}"))
        if self.cached is not None:
            parts.append(words("{percent}% cached", percent=f"{100 * self.cached:.0f}"))
        if self.cost:
            parts.append(turn_cost(self.cost))
        return _GAP.join(parts)


def duration(seconds: float, words: Words) -> str:
    """Format a duration: `0.4s`, `14s`, `2m 05s`."""
    if seconds < 10:
        return words("{seconds}s", seconds=f"{seconds:.1f}")
    minutes, rest = divmod(round(seconds), 60)
    if not minutes:
        return words("{seconds}s", seconds=rest)
    return words("{minutes}m {seconds}s", minutes=f"{minutes:,}", seconds=f"{rest:02}")


def turn_cost(dollars: float) -> str:
    """Format the cost of one turn: `$0.010`."""
    return f"${dollars:,.3f}" if dollars >= _LEAST else f"<${_LEAST}"


@dataclass(slots=True)
class TurnMeter:
    """Measures the current turn by its events.

    Attributes:
        has_cache: Returns whether the model has a prompt cache.
    """

    has_cache: Callable[[], bool] = lambda: False
    _began: float = field(default=0.0)
    _waited: float = field(default=0.0)
    _calls: int = field(default=0)

    def handle(self, event: Event) -> TurnFigures | None:
        """Take an event; return the figures when the turn ends after at least one answer."""
        match event:
            case TurnStarted():
                self._began, self._waited, self._calls = time.monotonic(), 0.0, 0
            case CallStarted():
                self._calls += 1
            case CallFinished():
                self._waited += event.waited
            case TurnFinished() if self._began and (event.steps or self._calls):
                seconds = max(time.monotonic() - self._began - self._waited, 0.0)
                self._began = 0.0
                cached = self._cached(event.usage)
                return TurnFigures(seconds, self._calls, cached, event.usage.cost)
        return None

    def _cached(self, usage: Usage) -> float | None:
        sent = usage.input_tokens + usage.cache_creation_input_tokens
        sent += usage.cache_read_input_tokens
        return usage.cache_read_input_tokens / sent if sent and self.has_cache() else None


class TurnLine(Static):
    """The figures of a turn, at the right."""

    def __init__(self, figures: TurnFigures, words: Words) -> None:
        super().__init__(Content.styled(figures.text(words), FAINT), classes="turn")
        self.entry = figures
