"""Which turn is looked at: the present one, or an earlier one as it was then."""

from collections.abc import Callable

from contextui.text import one_line
from contextui.tui.desk import Desk
from contextui.tui.inspector.look import Look
from contextui.tui.inspector.reading import EarlierTurn, Reader
from contextui.tui.inspector.watching import Watch
from contextui.tui.words import Words


class Earlier:
    """Goes back and forth between the turns of a session.

    Args:
        desk: The session.
        watch: Knows the present.
        tell: Called, on another thread, when an earlier turn was read.

    Attributes:
        wanted: The turn that is to be looked at, None for the present.
    """

    def __init__(self, desk: Desk, watch: Watch, tell: Callable[[EarlierTurn], object]) -> None:
        self._desk, self._watch = desk, watch
        self._reader = Reader(desk.session, watch.tools, tell)
        self._shown: EarlierTurn | None = None
        self.wanted: int | None = None

    @property
    def now(self) -> int:
        """The number of the turn under way, or of the last one."""
        return self._desk.session.turn + self._desk.controller.is_running

    @property
    def is_now(self) -> bool:
        """Whether it is the present that is looked at."""
        return self._shown is None or self._shown.look is None

    def step(self, step: int) -> bool:
        """Go to an earlier or a later turn; whether there is one."""
        turn = (self.now if self.wanted is None else self.wanted) + step
        if turn < 1:
            return False
        self.go(turn)
        return True

    def go(self, turn: int) -> None:
        """Go to a turn; the present is shown until it is read."""
        if turn >= self.now:
            self.return_to_now()
        else:
            self.wanted = turn
            self._reader.ask(turn)

    def return_to_now(self) -> None:
        """Look at the present again."""
        self.wanted = self._shown = None
        self._reader.forget()

    def take(self, read: EarlierTurn) -> None:
        """An earlier turn was read: look at it, if it is still wanted."""
        if read.turn == self.wanted:
            self._shown = read

    def look(self) -> Look:
        """What there is to see of the turn that is looked at."""
        if self._shown is not None and self._shown.look is not None:
            return self._shown.look
        return self._watch.look()

    def banner(self, words: Words) -> str:
        """What tells that this is not the present."""
        if self.wanted is None:
            return ""
        turns = {"turn": self.wanted, "turns": self.now}
        if self._shown is None or self._shown.turn != self.wanted:
            return words("Turn {turn} of {turns} is being read …", **turns)
        if self._shown.look is None:
            reason = one_line(self._shown.reason, 120)
            return words("Turn {turn} cannot be shown: {reason}", reason=reason, **turns)
        return words("Turn {turn} of {turns}, as it was then. End returns.", **turns)
