"""Registry of strategies: the three built-in ones and those of installed packages."""

import inspect
import sys
import types
from collections.abc import Mapping
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from contextui.context.strategies.builtin import EntityExtraction, SlidingWindow, Summarization
from contextui.context.strategies.strategy import ContextStrategy, StrategyError
from contextui.text import one_line, quote
from contextui.windowing.error_text import reason_of
from contextui.words import Message, msg

GROUP = "contextui.strategies"
"""The entry point group in which packages offer strategies."""

_BUILT_IN: Mapping[str, type[ContextStrategy]] = {
    one.name: one for one in (SlidingWindow, Summarization, EntityExtraction)
}
_KINDS: Mapping[str, tuple[tuple[type, ...], str]] = {
    "int": ((int,), msg("a whole number")),
    "float": ((int, float), msg("a number")),
    "str": ((str,), msg("text")),
    "bool": ((bool,), msg("true or false")),
}
"""The types that a setting with this annotation accepts, and their name for error messages."""


def strategy_names() -> list[str]:
    """The names of all strategies, built-in first."""
    others = sorted({point.name for point in entry_points(group=GROUP)} - _BUILT_IN.keys())
    return [*_BUILT_IN, *others]


def make_strategy(name: str, config: Mapping[str, Any] | None = None) -> ContextStrategy:
    """Create the strategy with this name.

    Raises:
        StrategyError: There is none with this name, or it cannot be used with these settings.
    """
    made = _BUILT_IN.get(name) or _from_packages(name)
    return _made(name, made, dict(config or {}))


def _made(name: str, made: type[ContextStrategy], given: dict[str, Any]) -> ContextStrategy:
    _check_settings(name, made, given)
    try:
        strategy = made(**given)
    except StrategyError as problem:
        raise StrategyError("The strategy {name}: {problem}", name=name, problem=problem) from None
    except Exception as problem:
        raise StrategyError(
            "The strategy {name} cannot be created: {reason}", name=name, reason=reason_of(problem)
        ) from problem
    if not strategy.name:  # a package may name it by its entry point only
        strategy.name = name
    return strategy


def load_strategy(spec: str) -> ContextStrategy:
    """Create the strategy of ``FILE.py:Class``, or of a file that has only one.

    This runs the file, so only the person may name it: the command line does, the settings do not.

    Raises:
        StrategyError: The file cannot be loaded, or has no such strategy.
    """
    before, colon, chosen = spec.rpartition(":")
    path, chosen = (Path(before), chosen) if colon and before.endswith(".py") else (Path(spec), "")
    shown = quote(one_line(str(path), 100))
    if not path.is_file():
        raise StrategyError("There is no file {file}.", file=shown)
    module = types.ModuleType(f"contextui_strategy_{path.stem}")
    module.__file__ = str(path)
    try:
        sys.modules[module.__name__] = module  # pydantic and dataclasses look their module up
        exec(compile(path.read_bytes(), str(path), "exec"), module.__dict__)
    except (Exception, SystemExit) as problem:  # the file may raise anything
        raise StrategyError(
            "The strategy {name} cannot be loaded: {reason}", name=shown, reason=reason_of(problem)
        ) from problem
    found = {
        name: one
        for name, one in vars(module).items()
        if isinstance(one, type)
        and issubclass(one, ContextStrategy)
        and one.__module__ == module.__name__
    }
    names = [chosen] if chosen else [*found]
    if len(names) != 1 or names[0] not in found:
        raise StrategyError(
            "{file} has no strategy {name}. Available: {names}. Write FILE.py:Class.",
            file=shown,
            name=quote(one_line(chosen, 60)),
            names=", ".join(found) or Message("none"),
        )
    made = found[names[0]]
    return _made(made.name or names[0], made, {})


def _from_packages(name: str) -> type[ContextStrategy]:
    found = list(entry_points(group=GROUP, name=name))
    if not found:
        there = ", ".join(strategy_names())
        raise StrategyError(
            "There is no strategy {name}. Available: {names}.",
            name=quote(one_line(name, 60)),
            names=there,
        )
    if len(found) > 1:
        raise StrategyError(
            "Several packages have a strategy {name}: {packages}.",
            name=name,
            packages=", ".join(sorted(one.dist.name if one.dist else one.value for one in found)),
        )
    try:
        made = found[0].load()
    except Exception as problem:  # importing a third-party module may raise anything
        raise StrategyError(
            "The strategy {name} cannot be loaded: {reason}", name=name, reason=reason_of(problem)
        ) from problem
    if not (isinstance(made, type) and issubclass(made, ContextStrategy)):
        raise StrategyError(
            "{name} ({value}) is not a ContextStrategy.", name=name, value=found[0].value
        )
    return made


def _check_settings(name: str, made: type[ContextStrategy], given: Mapping[str, Any]) -> None:
    takes = inspect.signature(made).parameters
    if any(take.kind is inspect.Parameter.VAR_KEYWORD for take in takes.values()):
        return
    there = ", ".join(takes) or Message("none")
    for setting in given:
        if setting not in takes:
            shown = quote(one_line(setting, 60))
            raise StrategyError(
                "The strategy {name} has no setting {setting}. It has: {names}.",
                name=name,
                setting=shown,
                names=there,
            )
        wanted = _type_mismatch(takes[setting].annotation, given[setting])
        if wanted:
            shown = quote(one_line(str(given[setting]), 60))
            raise StrategyError(
                "The strategy {name}: {setting} is {value}: it must be {wanted}.",
                name=name,
                setting=setting,
                value=shown,
                wanted=Message(wanted),
            )
    for setting, one in takes.items():
        if one.default is inspect.Parameter.empty and setting not in given:
            raise StrategyError(
                "The strategy {name} needs the setting {setting}; in config.toml: [strategy] with "
                "config = {example}.",
                name=name,
                setting=setting,
                example=f"{{ {setting} = … }}",
            )


def _type_mismatch(hint: object, value: object) -> str:
    """What a value should be; empty if it fits, or if only the strategy can check it."""
    kinds, words = _KINDS.get(getattr(hint, "__name__", str(hint)), ((), ""))
    return words if kinds and type(value) not in kinds else ""
