"""Sharing the runs of a clause among the params of an action."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from contextui.agent.models.offline.filling.completing import complete
from contextui.agent.models.offline.filling.filled import Filled
from contextui.agent.models.offline.filling.frame import Frame, Value
from contextui.agent.models.offline.filling.pointing import item_value, wants_item
from contextui.agent.models.offline.filling.quantities import number_value
from contextui.agent.models.offline.filling.values import (
    clock_value,
    element_type,
    is_reference,
    list_value,
    listed_runs,
    text_value,
)
from contextui.agent.models.offline.filling.whole import from_whole_clause
from contextui.agent.models.offline.parting.collecting import runs_of
from contextui.agent.models.offline.parting.edges import trimmed
from contextui.agent.models.offline.parting.runs import COLON, COMMA, Run
from contextui.agent.models.offline.reading.clauses import Clause
from contextui.agent.models.offline.reading.token import Kind
from contextui.agent.models.offline.referring.roles import Roles
from contextui.agent.models.offline.shown.blocks import Action
from contextui.agent.models.offline.shown.declared import Param, Type

_MOST_RUNS, _MOST_PARAMS = 6, 7
_MISSING, _LEFT, _MOST_LEFT = 4.0, 0.8, 3.2
_POINTED = 0.3  # that "it" was said, and no param takes it
_ANY = Param("", Type())
_ABOUT = frozenset(("~for", "~of", "~with", "~called", "~saying", "~in"))
_NEEDED = 1.5  # what it is worth that a required param gets a value, when runs are shared out


def fill(clause: Clause, roles: Roles, frame: Frame) -> Filled:
    """Find a value for each param of the frame's action that the clause has one for."""
    flat = _flat(frame.action)
    frame = replace(frame, action=flat)
    filled, taken = Filled(), set[int]()
    for param in flat.params:
        found = from_whole_clause(clause, param, frame, roles)
        if found is not None:
            filled.params[param.name] = found.value
            taken |= found.places
            roles.verbs |= found.verbs
            filled.switched |= bool(found.verbs)
            by_verb = roles.head in found.verbs and roles.verbs - found.verbs
            filled.score += found.score + (1.0 if by_verb else 0.0)
    rest = [one for one in flat.params if one.name not in filled.params and _takes_runs(one)]
    runs = runs_of(clause, flat, roles, taken)
    pairs = _shared_out(runs[:_MOST_RUNS], rest[:_MOST_PARAMS], frame)
    parted = [one.start for place, one in enumerate(clause.tokens) if roles.explains(place)]
    _take(pairs, runs, filled, parted)
    complete(clause, filled, frame, alone=not runs)
    return _judged(filled, frame)


def value_of_words(words: Clause, param: Param, frame: Frame) -> Any:
    """The value that words alone are for a param; None if they are none."""
    found = from_whole_clause(words, param, frame, Roles())
    if found is not None:
        return found.value
    tokens = tuple(trimmed(words.tokens, frame.action))
    if not tokens or not _takes_runs(param):
        return None
    value = _value_for(param, Run(tokens, frozenset({f"={param.name}"}), words.words), frame)
    return value.value if value is not None else None


def nested(action: Action, params: dict[str, Any]) -> dict[str, Any]:
    """Params as the action declares them: the fields of an object within that object."""
    found: dict[str, Any] = {}
    for param in action.params:
        fields = {one.name: params[one.name] for one in param.type.fields if one.name in params}
        if param.type.fields and fields:
            found[param.name] = fields
        elif param.name in params:
            found[param.name] = params[param.name]
    return found


# --- within ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Pair:
    place: int
    param: Param
    value: Value


def _flat(action: Action) -> Action:
    """The action with the fields of an object as params of their own."""
    if not any(one.type.fields for one in action.params):
        return action
    params = tuple(
        Param(field.name, field.type, field.optional or one.optional)
        for one in action.params for field in (one.type.fields or (one,))
    )  # fmt: skip
    return replace(action, params=params)


def _judged(filled: Filled, frame: Frame) -> Filled:
    """What is missing and what is left over, and what that says about it."""
    params = frame.action.params
    filled.params = {
        one.name: filled.params[one.name] for one in params if one.name in filled.params
    }
    filled.missing = [one for one in params if not one.optional and one.name not in filled.params]
    penalty = min(_LEFT * filled.left_weight, _MOST_LEFT)
    penalty += _POINTED * any(is_reference(one, _ANY) for one in filled.left)
    filled.score -= _MISSING * len(filled.missing) + (penalty / 2 if frame.opening else penalty)
    return filled


def _takes_runs(param: Param) -> bool:
    kind = param.type
    return not kind.is_bool and not (kind.choices and not kind.takes_text)


def _value_for(param: Param, run: Run, frame: Frame) -> Value | None:
    """The value of a run for a param; None if it cannot be one."""
    if param.type.of is not None:
        one, parts = element_type(param), listed_runs(run)
        values = [value for part in parts if (value := _value_for(one, part, frame)) is not None]
        return list_value(param, run, values) if values and len(values) == len(parts) else None
    clock = clock_value(param, run)
    if clock is not None:
        return clock
    if wants_item(param, frame):
        return item_value(param, run, frame)
    if param.is_number:
        return number_value(param, run, frame)
    return text_value(param, run, frame) if param.type.takes_text else None


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
    leads = run.leads_to(param)
    found = _value_for(param, run, frame) if leads or not run.is_remark else None
    if found is None or (
        param.optional and not leads and _is_for_another(run, param, found, frame)
    ):
        return None
    score = found.score + 0.8 * leads + (0.3 if place == index else 0.0)
    return replace(found, score=score, sure=found.sure or f"={param.name}" in run.cues)


def _is_for_another(run: Run, param: Param, found: Value, frame: Frame) -> bool:
    """Whether an optional param, to which nothing leads, should not have a run that fits it."""
    needed = [one for one in frame.action.params if not one.optional]
    central = run.is_quote or COLON in run.cues  # what the action is about
    if central and any(one.type.takes_text for one in needed):
        return True
    listed = param.type.of is not None and param.type.of.takes_text
    takes_words = param.type.takes_text or (listed and bool(needed))
    texts = [one for one in frame.action.params if one.type.takes_text]
    if frame.opening and texts == [param] and run.cues <= _ABOUT:
        return False  # "a kiln for porcelain": there is nothing else that it could be
    if param.is_number and run.cues <= {COLON, COMMA}:
        return False
    return not found.sure and (bool(run.cues - {COLON}) or (takes_words and not frame.opening))


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
    unclear = next((one.value for one in pairs if one.value.unclear), None)
    if unclear is not None:
        filled.unclear, filled.options = unclear.unclear, unclear.options
    filled.back = any(one.value.back for one in pairs)


def _goes_on(before: Run, run: Run, param: Param, value: Any) -> bool:
    """Whether words that no param takes are rather more of the text before them."""
    plain = isinstance(value, str) and value == before.text
    plain = plain and all(
        one.kind not in (Kind.QUOTE, Kind.PATH, Kind.CLOCK) for one in before.tokens
    )
    free = not run.is_remark and COLON not in run.cues and not run.is_quote
    free = free and not all(one.has("~it", "~here") for one in run.tokens)  # "the word x in it"
    return plain and free and param.type.takes_text
