"""Sharing the runs of a clause among the params of an action."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from contextui.agent.models.offline import items as shown
from contextui.agent.models.offline.blocks import Action, WindowView
from contextui.agent.models.offline.clauses import Clause
from contextui.agent.models.offline.declared import Param
from contextui.agent.models.offline.roles import Roles
from contextui.agent.models.offline.runs import COLON, Run, runs_of
from contextui.agent.models.offline.values import Each, Frame, value_for
from contextui.agent.models.offline.whole import from_whole_clause

_MOST_RUNS, _MOST_PARAMS = 5, 7
_MISSING, _LEFT, _MOST_LEFT = 4.0, 0.8, 3.2


@dataclass(slots=True)
class Filled:
    """Params with their values.

    Attributes:
        params: What was found, by name.
        score: How well it fits.
        missing: Required params without a value.
        left: Runs that no param takes.
        unclear: Texts of items among which one was meant, but not which.
    """

    params: dict[str, Any] = field(default_factory=dict)
    score: float = 0.0
    missing: list[Param] = field(default_factory=list)
    left: list[Run] = field(default_factory=list)
    unclear: tuple[str, ...] = ()


def fill(clause: Clause, action: Action, roles: Roles, frame: Frame) -> Filled:
    """Find a value for each param that the clause has one for."""
    filled = Filled()
    taken = set[int]()
    for param in action.params:
        found = from_whole_clause(clause, param, action, roles)
        if found is not None:
            filled.params[param.name] = found.value
            filled.score += found.score
            taken |= found.places
    rest = [one for one in action.params
            if one.name not in filled.params and not one.type.is_bool and (
                not one.type.choices or one.type.takes_text)][:_MOST_PARAMS]  # fmt: skip
    runs = runs_of(clause, action, roles, taken)
    best = _best(runs[:_MOST_RUNS], rest, frame)
    _apply(best, runs, rest, filled)
    _same_for_both(action, filled)
    ordered = (one.name for one in action.params if one.name in filled.params)
    filled.params = {name: filled.params[name] for name in ordered}
    filled.missing = [
        one for one in action.params if not one.optional and one.name not in filled.params
    ]
    filled.score -= _MISSING * len(filled.missing)
    weight = sum(one.weight for one in filled.left if not one.is_remark)
    filled.score -= min(_LEFT * weight, _MOST_LEFT) * (0.5 if frame.opening else 1.0)
    return filled


@dataclass(frozen=True, slots=True)
class _Choice:
    """Which run goes to which param, and what that is worth."""

    score: float
    pairs: tuple[tuple[int, int, Any, tuple[str, ...]], ...]  # run, param, value, unclear


def _best(runs: Sequence[Run], params: Sequence[Param], frame: Frame) -> _Choice:
    table = [
        [_worth(run, place, param, index, frame) for index, param in enumerate(params)]
        for place, run in enumerate(runs)
    ]

    def go(place: int, used: frozenset[int]) -> _Choice:
        if place == len(runs):
            return _Choice(0.0, ())
        left_out = go(place + 1, used)
        best = _Choice(left_out.score - _LEFT * min(runs[place].weight, 3), left_out.pairs)
        for index in range(len(params)):
            cell = table[place][index]
            if cell is None or index in used:
                continue
            score, value, unclear = cell
            after = go(place + 1, used | {index})
            needed = 0.0 if params[index].optional else 1.5
            if after.score + score + needed > best.score:
                pair = (place, index, value, unclear)
                best = _Choice(after.score + score + needed, (pair, *after.pairs))
        return best

    return go(0, frozenset())


def _worth(
    run: Run, place: int, param: Param, index: int, frame: Frame
) -> tuple[float, Any, tuple[str, ...]] | None:
    found = value_for(param, run, frame)
    if found is None:
        return None
    score = found.score
    leads = run.leads_to(param)
    score += 0.8 * leads + (0.3 if place == index else 0.0)
    if param.optional and not leads and run.cues - {COLON} and not found.sure:
        return None
    if param.optional and param.type.takes_text and not (leads or found.sure or frame.opening):
        return None
    return score, found.value, found.unclear


def _apply(best: _Choice, runs: list[Run], params: Sequence[Param], filled: Filled) -> None:
    given = {place: (params[index], value) for place, index, value, _ in best.pairs}
    for place, run in enumerate(runs):
        if place in given:
            param, value = given[place]
            filled.params[param.name] = value
        elif place and place - 1 in given and _goes_on(runs[place - 1], run, *given[place - 1]):
            param, _ = given[place - 1]
            joined = run.words[runs[place - 1].tokens[0].start : run.tokens[-1].end].strip()
            filled.params[param.name] = joined
            given[place] = (param, joined)
        else:
            filled.left.append(run)
    filled.score += sum(1.0 for _ in best.pairs) + 0.5 * best.score
    filled.unclear = next((unclear for *_, unclear in best.pairs if unclear), ())


def _goes_on(before: Run, run: Run, param: Param, value: Any) -> bool:
    """Whether words that no param takes are rather more of the text before them."""
    plain = isinstance(value, str) and value == before.text and not before.is_quote
    return (
        plain
        and param.type.takes_text
        and not run.is_remark
        and COLON not in run.cues
        and not run.is_quote
    )


def _same_for_both(action: Action, filled: Filled) -> None:
    """ "Delete line 4" means from 4 to 4, where two ends are asked for."""
    for first, last in (("first", "last"), ("start", "end"), ("from", "to"), ("begin", "end")):
        names = {one.name for one in action.params}
        if {first, last} <= names and first in filled.params and last not in filled.params:
            filled.params[last] = filled.params[first]
            filled.score += 0.5


def calls_of(params: dict[str, Any], descending: bool) -> list[dict[str, Any]]:
    """The params of each call: a param that stands for several things makes several calls."""
    several = next((name for name, value in params.items() if isinstance(value, Each)), None)
    if several is None:
        return [params]
    values = list(params[several].values)
    if descending and all(isinstance(value, int) for value in values):
        values.sort(reverse=True)  # what is removed must not shift what is still to be removed
    return [one for value in values for one in calls_of({**params, several: value}, descending)]


def item_text(window: WindowView | None, param: Param, value: Any) -> str:
    """What an item says that a value stands for; the value itself if there is none."""
    if window is not None and isinstance(value, int) and re.search(r"\w", param.name):
        item = shown.find_by_number(shown.candidates(window, param), value)
        if item is not None:
            return item.text
    return str(value)
