"""Params with their values, and the calls that come of them."""

from dataclasses import dataclass, field
from typing import Any

from contextui.agent.models.offline.filling.frame import Each
from contextui.agent.models.offline.parting.runs import Run
from contextui.agent.models.offline.shown.declared import Param


@dataclass(slots=True)
class Filled:
    """Params with their values.

    Attributes:
        params: What was found, by name, in the order of the declaration.
        score: How well it fits.
        missing: Required params without a value.
        left: Runs that no param takes.
        unclear: Texts of items among which one was meant, but not which.
        options: Their values, in the same order.
        back: Whether a value was taken from what was said before.
        sure: How many values can hardly be meant otherwise.
        switched: Whether the verb, or a word like "off", gave a yes or no its value.
        times: How often it is to be done.
    """

    params: dict[str, Any] = field(default_factory=dict)
    score: float = 0.0
    missing: list[Param] = field(default_factory=list)
    left: list[Run] = field(default_factory=list)
    unclear: tuple[str, ...] = ()
    options: tuple[Any, ...] = ()
    back: bool = False
    sure: int = 0
    switched: bool = False
    times: int = 1

    @property
    def left_weight(self) -> float:
        """How many words that say something no param takes."""
        return sum(one.weight for one in self.left if not one.is_remark)


def calls_of(params: dict[str, Any], descending: bool) -> list[dict[str, Any]]:
    """The params of each call: a param that stands for several things makes several calls."""
    several = next((name for name, value in params.items() if isinstance(value, Each)), None)
    if several is None:
        return [params]
    values = list(params[several].values)
    if descending and all(isinstance(value, int) for value in values):
        values.sort(reverse=True)  # what is removed must not shift what is still to be removed
    return [one for value in values for one in calls_of({**params, several: value}, descending)]
