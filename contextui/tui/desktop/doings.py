"""Who did something to a window last, and when."""

from dataclasses import dataclass
from datetime import datetime

from textual.content import Content

from contextui.tui.cells import MUTED, age
from contextui.tui.words import Words
from contextui.windowing.base import Window
from contextui.windowing.env import Clock

_MARKS = {"person": ("◇", "you", "$text-secondary"), "model": ("◆", "model", "$text-accent")}


@dataclass(frozen=True, slots=True)
class Doing:
    """The last thing that happened to a window.

    Attributes:
        actor: Who did it; empty if it was the window itself.
        at: When.
        major: The version of its data since.
    """

    actor: str
    at: datetime
    major: int


class Doings:
    """Remembers for each window who acted last.

    A window that changes later by itself, as a clock does, was acted on by nobody: its age alone
    is told.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._last: dict[str, Doing] = {}

    def note(self, window: Window, actor: str | None) -> None:
        """Take in that a window changed, and who acted on it if anyone did."""
        known, major = self._last.get(window.id), window.version.major
        if actor is not None:
            self._last[window.id] = Doing(actor, self._clock(), major)
        elif known is None or known.major != major:
            drawn = window.runtime.renders.latest().snapshot.header.timestamp
            self._last[window.id] = Doing("", drawn, major)

    def forget(self, window_id: str) -> None:
        """Let go of a window that was closed."""
        self._last.pop(window_id, None)

    def told(self, window_id: str, words: Words) -> Content:
        """Who acted and how long ago: ``◇ you 12s``, or the age alone."""
        known = self._last.get(window_id)
        if known is None:
            return Content("")
        ago = (age((self._clock() - known.at).total_seconds()), MUTED)
        if known.actor not in _MARKS:
            return Content.assemble(ago)
        mark, name, style = _MARKS[known.actor]
        return Content.assemble((f"{mark} {words(name)} ", style), ago)
