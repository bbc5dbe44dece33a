"""Sharing the runs of a clause among the params of an action."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from contextui.agent.models.offline.blocks import Action
from contextui.agent.models.offline.clauses import Clause
from contextui.agent.models.offline.declared import Param
from contextui.agent.models.offline.items import main_items, value_of
from contextui.agent.models.offline.pointing import carried, item_value, wants_item
from contextui.agent.models.offline.roles import Roles
from contextui.agent.models.offline.runs import COLON, Run, is_place_param, runs_of
from contextui.agent.models.offline.token import Kind
from contextui.agent.models.offline.values import (
    Beside,
    Each,
    Frame,
    Value,
    element_type,
    end_of,
    list_value,
    listed_runs,
    number_value,
    text_value,
)
from contextui.agent.models.offline.whole import from_whole_clause

_MOST_RUNS, _MOST_PARAMS = 6, 7
_MISSING, _LEFT, _MOST_LEFT = 4.0, 0.8, 3.2
_NEEDED = 1.5  # what it is worth that a required param gets a value, when runs are shared out
_ENDS = (("first", "last"), ("start", "end"), ("from", "to"), ("begin", "end"))


@dataclass(slots=True)
class Filled:
    """Params with their values.

    Attributes:
        params: What was found, by name, in the order of the declaration.
        score: How well it fits.
        missing: Required params without a value.
        left: Runs that no param takes.
        unclear: Texts of items among which one was meant, but not which.
        back: Whether a value was taken from what was said before.
        sure: How many values can hardly be meant otherwise.
    """

    params: dict[str, Any] = field(default_factory=dict)
    score: float = 0.0
    missing: list[Param] = field(default_factory=list)
    left: list[Run] = field(default_factory=list)
    unclear: tuple[str, ...] = ()
    back: bool = False
    sure: int = 0

    @property
    def left_weight(self) -> float:
        """How many words that say something no param takes."""
        return sum(one.weight for one in self.left if not one.is_remark)


def fill(clause: Clause, action: Action, roles: Roles, frame: Frame) -> Filled:
    """Find a value for each param that the clause has one for."""
    filled, taken = Filled(), set[int]()
    for param in action.params:
        found = from_whole_clause(clause, param, action, roles)
        if found is not None:
            filled.params[param.name] = found.value
            filled.score += found.score
            taken |= found.places
            roles.verbs |= found.verbs
            filled.score += 1.0 if roles.head in found.verbs and roles.verbs - found.verbs else 0.0
    rest = [one for one in action.params if one.name not in filled.params and _takes_runs(one)]
    runs = runs_of(clause, action, roles, taken)
    pairs = _shared_out(runs[:_MOST_RUNS], rest[:_MOST_PARAMS], frame)
    parted = [one.start for place, one in enumerate(clause.tokens) if roles.explains(place)]
    _take(pairs, runs, filled, parted)
    _same_for_both_ends(action, filled)
    _take_more_items(action, filled, frame)
    _carry_over(action, filled, frame)
    _append(action, filled, frame)
    _settle_places(action, filled, frame)
    filled.params = {
        p.name: filled.params[p.name] for p in action.params if p.name in filled.params
    }
    filled.missing = [p for p in action.params if not p.optional and p.name not in filled.params]
    filled.score -= _MISSING * len(filled.missing)
    penalty = min(_LEFT * filled.left_weight, _MOST_LEFT)
    filled.score -= penalty / 2 if frame.opening else penalty
    return filled


def calls_of(params: dict[str, Any], descending: bool) -> list[dict[str, Any]]:
    """The params of each call: a param that stands for several things makes several calls."""
    several = next((name for name, value in params.items() if isinstance(value, Each)), None)
    if several is None:
        return [params]
    values = list(params[several].values)
    if descending and all(isinstance(value, int) for value in values):
        values.sort(reverse=True)  # what is removed must not shift what is still to be removed
    return [one for value in values for one in calls_of({**params, several: value}, descending)]


# --- within ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Pair:
    place: int
    param: Param
    value: Value


def _takes_runs(param: Param) -> bool:
    kind = param.type
    return not kind.is_bool and not (kind.choices and not kind.takes_text)


def value_for(param: Param, run: Run, frame: Frame) -> Value | None:
    """The value of a run for a param; None if it cannot be one."""
    kind = param.type
    if kind.of is not None:
        one, parts = element_type(param), listed_runs(run)
        values = [value for part in parts if (value := value_for(one, part, frame)) is not None]
        return list_value(param, run, values) if values and len(values) == len(parts) else None
    if wants_item(param, frame):
        return item_value(param, run, frame)
    if kind.takes_number and not kind.takes_text:
        return number_value(param, run, frame)
    return text_value(param, run, frame) if kind.takes_text else None


def _shared_out(runs: Sequence[Run], params: Sequence[Param], frame: Frame) -> tuple[_Pair, ...]:
    """The best way to give runs to params, in whatever order they were said."""
    table = [
        [_worth(run, place, param, index, frame) for index, param in enumerate(params)]
        for place, run in enumerate(runs)
    ]

    def best_from(place: int, used: frozenset[int]) -> tuple[float, tuple[_Pair, ...]]:
        if place == len(runs):
            return 0.0, ()
        score, pairs = best_from(place + 1, used)
        best = (score - _LEFT * min(runs[place].weight, 3), pairs)
        for index, param in enumerate(params):
            value = table[place][index]
            if value is None or index in used:
                continue
            score, pairs = best_from(place + 1, used | {index})
            score += value.score + (0.0 if param.optional else _NEEDED)
            if score > best[0]:
                best = (score, (_Pair(place, param, value), *pairs))
        return best

    return best_from(0, frozenset())[1]


def _worth(run: Run, place: int, param: Param, index: int, frame: Frame) -> Value | None:
    """What a run is for a param, with what its place and its small word say about it."""
    found = value_for(param, run, frame)
    if found is None:
        return None
    leads = run.leads_to(param)
    central = run.is_quote or COLON in run.cues
    needs_words = any(one.type.takes_text and not one.optional for one in frame.action.params)
    if param.optional and central and not leads and needs_words:
        return None  # what is quoted, or told, is what the action is about
    if param.optional and not leads and not found.sure:
        elsewhere = bool(run.cues - {COLON})
        listed = param.type.of is not None and param.type.of.takes_text
        needs = any(not one.optional for one in frame.action.params)
        free_text = (param.type.takes_text or (listed and needs)) and not frame.opening
        if elsewhere or free_text:
            return None
    score = found.score + 0.8 * leads + (0.3 if place == index else 0.0)
    sure = found.sure or f"={param.name}" in run.cues
    return Value(found.value, score, sure, found.unclear, found.back)


def _take(
    pairs: Sequence[_Pair], runs: Sequence[Run], filled: Filled, parted: Sequence[int]
) -> None:
    given = {one.place: (one.param, one.value.value) for one in pairs}
    for place, run in enumerate(runs):
        if place in given:
            param, value = given[place]
            filled.params[param.name] = value
        elif place - 1 in given and _goes_on(runs[place - 1], run, *given[place - 1]) and not any(
            runs[place - 1].tokens[-1].end <= start < run.tokens[0].start for start in parted
        ):  # fmt: skip
            param, _ = given[place - 1]
            whole = run.words[runs[place - 1].tokens[0].start : run.tokens[-1].end].strip()
            filled.params[param.name] = whole
            given[place] = (param, whole)
        else:
            filled.left.append(run)
    filled.score += sum(one.value.score for one in pairs)
    filled.sure = sum(one.value.sure for one in pairs)
    filled.unclear = next((one.value.unclear for one in pairs if one.value.unclear), ())
    filled.back = any(one.value.back for one in pairs)


def _goes_on(before: Run, run: Run, param: Param, value: Any) -> bool:
    """Whether words that no param takes are rather more of the text before them."""
    plain = isinstance(value, str) and value == before.text
    plain = plain and all(one.kind not in (Kind.QUOTE, Kind.PATH) for one in before.tokens)
    free = not run.is_remark and COLON not in run.cues and not run.is_quote
    return plain and free and param.type.takes_text


def _same_for_both_ends(action: Action, filled: Filled) -> None:
    """ "Delete line 4" means from 4 to 4, where two ends are asked for."""
    names = {one.name for one in action.params}
    for first, last in _ENDS:
        if {first, last} <= names and first in filled.params and last not in filled.params:
            filled.params[last] = filled.params[first]
            filled.score += 0.5


def _take_more_items(action: Action, filled: Filled, frame: Frame) -> None:
    """ "The dentist is done, and the bank too": more of what an item was said of."""
    for param in action.params:
        value = filled.params.get(param.name)
        if value is None or isinstance(value, list) or not wants_item(param, frame):
            continue
        for run in list(filled.left):
            numbered = any(one.number and not one.number.ordinal for one in run.tokens)
            found = None if numbered else item_value(param, run, frame)
            if found is None or not found.sure or found.unclear:
                continue
            before = value.values if isinstance(value, Each) else (value,)
            value = filled.params[param.name] = Each((*before, found.value))
            filled.left.remove(run)


def _append(action: Action, filled: Filled, frame: Frame) -> None:
    """What is added without a place goes to the end."""
    for param in action.params:
        wanted = not param.optional and param.name not in filled.params and frame.making
        if wanted and frame.window is not None and param.type.takes_number and is_place_param(param):
            filled.params[param.name] = end_of(frame.window) + 1


def _settle_places(action: Action, filled: Filled, frame: Frame) -> None:
    """The number of a place that is named by what stands there, once what is moved is known."""
    for name, value in filled.params.items():
        if not isinstance(value, Beside) or frame.window is None:
            continue
        place = value.place + value.behind
        items = main_items(frame.window)
        moved = [one for one in action.params if one.name != name and wants_item(one, frame)]
        for param in moved:
            item = next((one for one in items if value_of(one, param, items)
                         == filled.params.get(param.name)), None)  # fmt: skip
            # What is moved leaves a gap behind it, and those after it move up.
            place -= item is not None and items.index(item) + 1 < value.place
        filled.params[name] = place


def _carry_over(action: Action, filled: Filled, frame: Frame) -> None:
    """A wish that names no item is about the one that was spoken of before."""
    for param in action.params:
        if param.optional or param.name in filled.params or not wants_item(param, frame):
            continue
        value = carried(param, frame)
        if value is not None:
            filled.params[param.name] = value.value
            filled.score += value.score
            filled.back = True
