"""What the turns cost, one after the other, and why one was dear."""

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from contextui.model import Usage

_CACHE_BREAKERS = ("drop", "restore", "edit", "fold", "unfold", "undo", "trim", "compact")
READ_PRICE, WRITE_PRICE = 0.1, 1.25
"""What a token costs that is read from the cache, or written to it, if one sent anew costs 1."""


class Deed(NamedTuple):
    """A change to an item: what was done, and to which seq."""

    operation: str
    seq: int


@dataclass(frozen=True, slots=True)
class TurnUsage:
    """What one turn cost, in the provider's tokens.

    Attributes:
        turn: Its number.
        cached: Read from the cache.
        written: Written to the cache.
        anew: Sent without any cache.
        answered: What the model wrote.
        deed: The change because of which the cache was written anew.
        is_guess: Whether the provider told nothing, and it is our own count.
    """

    turn: int
    cached: int = 0
    written: int = 0
    anew: int = 0
    answered: int = 0
    deed: Deed | None = None
    is_guess: bool = False

    @property
    def parts(self) -> tuple[int, int, int, int]:
        """The four figures, in the order in which they are drawn."""
        return self.cached, self.written, self.anew, self.answered

    @property
    def sent(self) -> int:
        """All that was sent."""
        return self.cached + self.written + self.anew

    @property
    def paid(self) -> int:
        """What that costs, in tokens of full price."""
        return round(READ_PRICE * self.cached + WRITE_PRICE * self.written + self.anew)

    def plus(self, usage: Usage) -> "TurnUsage":
        """The same with one more request."""
        return replace(
            self,
            cached=self.cached + usage.cache_read_input_tokens,
            written=self.written + usage.cache_creation_input_tokens,
            anew=self.anew + usage.input_tokens,
            answered=self.answered + usage.output_tokens,
        )


class Spending:
    """Keeps account of the turns of a session: what they cost, and where each ended.

    Args:
        first_turn: The number of the first turn that it will hear of.
        after: The seq of the last item before that.

    Attributes:
        turns: What each turn cost, by rising number; turns that cost nothing are not there.
    """

    def __init__(self, first_turn: int = 1, after: int = 0) -> None:
        self.turns: list[TurnUsage] = []
        self._first, self._after = first_turn, after
        self._ends: list[int] = []
        self._deeds: list[Deed] = []

    def note(self, operation: str, seq: int) -> None:
        """Somebody changed an item."""
        if operation in _CACHE_BREAKERS:
            self._deeds.append(Deed(operation, seq))

    def spend(self, turn: int, usage: Usage, counted: int) -> None:
        """A request of this turn cost so much; it was counted as so many tokens here."""
        guess = not any(usage.as_dict().values())
        if guess:
            usage = Usage(input_tokens=counted)
        if not self.turns or self.turns[-1].turn != turn:
            self.turns.append(TurnUsage(turn, is_guess=guess))
        total = self.turns[-1].plus(usage)
        if self._deeds and total.written > total.cached:
            total = replace(total, deed=self._deeds[-1])
        self._deeds.clear()
        self.turns[-1] = total

    def end_turn(self, through_seq: int) -> None:
        """A turn ended with this seq."""
        self._ends.append(through_seq)

    def turn_of(self, seq: int) -> int | None:
        """The turn that an item of this seq belongs to; None if that is not known."""
        return self._first + bisect_left(self._ends, seq) if seq > self._after else None

    def put_before(self, earlier: "Spending") -> None:
        """Take over what is known of the turns before."""
        self.turns = [one for one in earlier.turns if one.turn < self._first] + self.turns
        ends = [end for end in earlier._ends if end <= self._after]
        self._ends, self._first, self._after = [*ends, *self._ends], self._first - len(ends), 0


def usage_of(figures: Mapping[str, Any]) -> Usage:
    """The provider's figures as they stand in a log; what is missing or no number counts as 0."""

    def figure(name: str) -> int:
        value = figures.get(name)
        return int(value) if isinstance(value, int | float) else 0

    return Usage(
        figure("input_tokens"),
        figure("output_tokens"),
        figure("cache_read_input_tokens"),
        figure("cache_creation_input_tokens"),
    )
