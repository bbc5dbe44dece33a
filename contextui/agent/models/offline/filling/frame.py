"""What values are: what they are found in, how well they fit, what may stand for several."""

from dataclasses import dataclass, field
from typing import Any

from contextui.agent.models.offline.shown.blocks import Action, WindowView
from contextui.agent.models.offline.shown.surroundings import Last

MOST = 30
"""Calls that one wish may become."""

_MAKING = frozenset(("@add", "@write", "@open", "@join", "@invite", "@book", "@schedule"))
_SEEKING = frozenset(("@find", "@filter", "@ask", "@send"))


@dataclass(frozen=True, slots=True)
class Each:
    """Several values where one is wanted: one call for each."""

    values: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Beside:
    """The place before or behind an item, by the item's own place; settled when all is known."""

    place: int
    behind: bool


@dataclass(frozen=True, slots=True)
class Value:
    """A value, and how well it fits.

    Attributes:
        value: What the param is given.
        score: How well it fits. Words fit everywhere, so that they say little.
        sure: Whether it can hardly be meant for another param.
        unclear: Items among which one was meant, but not which.
        options: The values of those.
        back: Whether it was taken from what was said before.
    """

    value: Any
    score: float
    sure: bool = False
    unclear: tuple[str, ...] = ()
    options: tuple[Any, ...] = ()
    back: bool = False


@dataclass(frozen=True, slots=True)
class Frame:
    """What a value is found in.

    Attributes:
        action: The action that takes it.
        window: Its window; None for a class that is opened.
        verbs: The groups of verbs that the action is named by.
        last: The call before.
        there: The folder that "there" stands for.
        pointed: Whether words such as "both" point at windows, not at what they show.
    """

    action: Action
    window: WindowView | None
    verbs: frozenset[str]
    last: Last = field(default_factory=Last)
    there: str = ""
    pointed: bool = False

    @property
    def opening(self) -> bool:
        """Whether a window is opened."""
        return self.window is None

    @property
    def making(self) -> bool:
        """Whether something new is made, which need not be shown yet."""
        return self.window is None or not self.verbs.isdisjoint(_MAKING)

    @property
    def seeking(self) -> bool:
        """Whether something is looked for, in the person's words."""
        return not self.verbs.isdisjoint(_SEEKING)
