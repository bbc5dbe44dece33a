"""The line below an answer: how long the turn took, its calls, what was cached, and its cost."""

from dataclasses import dataclass

from textual.content import Content
from textual.widgets import Static

from contextui.text import duration
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


def turn_cost(dollars: float) -> str:
    """Format the cost of one turn: `$0.010`."""
    return f"${dollars:,.3f}" if dollars >= _LEAST else f"<${_LEAST}"


class TurnLine(Static):
    """The figures of a turn, at the right."""

    def __init__(self, figures: TurnFigures, words: Words) -> None:
        super().__init__(Content.styled(figures.text(words), FAINT), classes="turn")
        self.entry = figures
