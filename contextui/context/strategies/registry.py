"""Registry of strategies: the three built-in ones and those of installed packages."""

import inspect
from collections.abc import Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from contextui.context.strategies.builtin import EntityExtraction, SlidingWindow, Summarization
from contextui.context.strategies.strategy import ContextStrategy, StrategyError
from contextui.text import one_line, quote
from contextui.windowing.trouble import reason_of

GROUP = "contextui.strategies"
"""The entry point group in which packages offer strategies."""

_OUR_OWN: Mapping[str, type[ContextStrategy]] = {
    one.name: one for one in (SlidingWindow, Summarization, EntityExtraction)
}
_KINDS: Mapping[str, tuple[tuple[type, ...], str]] = {
    "int": ((int,), "a whole number"),
    "float": ((int, float), "a number"),
    "str": ((str,), "text"),
    "bool": ((bool,), "true or false"),
}
"""The types that a setting with this annotation accepts, and their name for error messages."""


def strategy_names() -> list[str]:
    """The names of all strategies, built-in first."""
    others = sorted({one.name for one in entry_points(group=GROUP)} - _OUR_OWN.keys())
    return [*_OUR_OWN, *others]


def make_strategy(name: str, config: Mapping[str, Any] | None = None) -> ContextStrategy:
    """Create the strategy with this name.

    Args:
        name: One of `strategy_names()`.
        config: Its settings.

    Raises:
        StrategyError: There is none with this name, or it cannot be used with these settings.
    """
    made = _OUR_OWN.get(name) or _from_packages(name)
    given = dict(config or {})
    _check_settings(name, made, given)
    if not made.name:  # a package may name it by its entry point only
        made.name = name
    try:
        return made(**given)
    except StrategyError as problem:
        raise StrategyError(f"The strategy {name}: {problem}") from None
    except Exception as problem:
        raise StrategyError(
            f"The strategy {name} cannot be made: {reason_of(problem)}"
        ) from problem


def _from_packages(name: str) -> type[ContextStrategy]:
    found = list(entry_points(group=GROUP, name=name))
    if not found:
        there = ", ".join(strategy_names())
        raise StrategyError(f"There is no strategy {quote(one_line(name, 60))}. There is: {there}.")
    if len(found) > 1:
        raise StrategyError(f"Several packages have a strategy {name}: {_packages(found)}.")
    try:
        made = found[0].load()
    except Exception as problem:  # importing a third-party module may raise anything
        raise StrategyError(
            f"The strategy {name} cannot be loaded: {reason_of(problem)}"
        ) from problem
    if not (isinstance(made, type) and issubclass(made, ContextStrategy)):
        raise StrategyError(f"{name} ({found[0].value}) is no ContextStrategy.")
    return made


def _packages(found: list[EntryPoint]) -> str:
    return ", ".join(sorted(one.dist.name if one.dist else one.value for one in found))


def _check_settings(name: str, made: type[ContextStrategy], given: Mapping[str, Any]) -> None:
    takes = inspect.signature(made).parameters
    if any(one.kind is inspect.Parameter.VAR_KEYWORD for one in takes.values()):
        return
    there = ", ".join(takes) or "none"
    for setting in given:
        if setting not in takes:
            shown = quote(one_line(setting, 60))
            raise StrategyError(f"The strategy {name} has no setting {shown}. It has: {there}.")
        wanted = _misfit(takes[setting].annotation, given[setting])
        if wanted:
            shown = quote(one_line(str(given[setting]), 60))
            raise StrategyError(f"The strategy {name}: {setting} is {shown}: it must be {wanted}.")
    for setting, one in takes.items():
        if one.default is inspect.Parameter.empty and setting not in given:
            raise StrategyError(
                f"The strategy {name} needs the setting {setting}; "
                f"in config.toml: [strategy] with config = {{ {setting} = … }}."
            )


def _misfit(hint: object, value: object) -> str:
    """What a value should be; empty if it fits, or if only the strategy can check it."""
    kinds, words = _KINDS.get(getattr(hint, "__name__", str(hint)), ((), ""))
    return words if kinds and type(value) not in kinds else ""
