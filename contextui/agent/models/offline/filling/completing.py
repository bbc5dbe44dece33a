"""What is not said but meant: both ends, the place at the end, what was spoken of before."""

from itertools import pairwise
from typing import Any

from contextui.agent.models.offline.filling.filled import Filled
from contextui.agent.models.offline.filling.frame import MOST, Beside, Each, Frame
from contextui.agent.models.offline.filling.pointing import (
    carried,
    is_one_held,
    item_value,
    wants_item,
)
from contextui.agent.models.offline.filling.quantities import end_of
from contextui.agent.models.offline.parting.runs import Run
from contextui.agent.models.offline.reading.clauses import Clause
from contextui.agent.models.offline.reading.token import Token
from contextui.agent.models.offline.shown.blocks import Action
from contextui.agent.models.offline.shown.items import candidates, main_items, value_of
from contextui.agent.models.offline.shown.paths import paths_of
from contextui.agent.models.offline.shown.profiles import profile_of

_STEPWISE = ("@undo", "@redo", "@next", "@previous", "@up", "@down")  # what is done step by step
_MOST_TIMES = 20
_ENDS = (("first", "last"), ("start", "end"), ("from", "to"), ("begin", "end"))


def complete(clause: Clause, filled: Filled, frame: Frame, *, alone: bool) -> None:
    """Give values to params that the words leave open.

    Args:
        clause: What was said.
        filled: What was found so far.
        frame: The action and its window.
        alone: Whether the verb stands there with nothing that it is about.
    """
    _both_ends(clause, frame.action, filled, frame)
    _take_more_items(frame.action, filled, frame)
    _take_all(clause, frame.action, filled, frame)
    _take_occurrences(clause, frame.action, filled, frame)
    _take_only_path(frame.action, filled, frame)
    _take_only_item(clause, frame.action, filled, frame)
    _repeat(clause, frame.action, filled)
    _carry_over(frame.action, filled, frame, alone)
    _append(frame.action, filled, frame)
    _settle_places(frame.action, filled, frame)


def _both_ends(clause: Clause, action: Action, filled: Filled, frame: Frame) -> None:
    """Where two ends are asked for: "line 4" is from 4 to 4, "the first two" from 1 to 2."""
    names = {one.name for one in action.params}
    for first, last in _ENDS:
        if not {first, last} <= names or (first in filled.params) == (last in filled.params):
            continue
        place = filled.params[first if first in filled.params else last]
        several = _several_from(clause, place)
        if several is not None and several.number is not None and several.number.value == 1:
            filled.params |= {first: 1, last: place}
        elif several is not None and frame.window is not None:
            end = end_of(frame.window)
            filled.params |= {first: max(end - place + 1, 1), last: end}
        else:
            filled.params |= {first: place, last: place}
        filled.score += 0.5


def _several_from(clause: Clause, count: Any) -> Token | None:
    """The word that says from where so many are counted ("first" in "the first two")."""
    for before, token in pairwise(clause.tokens):
        amount = token.number is not None and not token.number.ordinal
        leads = before.has("~last") or (before.number is not None and before.number.ordinal)
        if amount and leads and token.number is not None and token.number.value == count:
            return before
    return None


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


def _take_all(clause: Clause, action: Action, filled: Filled, frame: Frame) -> None:
    """ "Turn on every lamp": where all are meant, and nothing else is said."""
    said = any(one.has("~all", "~both") for one in clause.tokens)
    said = said or ("@remove" in frame.verbs and any(one.has("@clear") for one in clause.tokens))
    if frame.window is None or frame.pointed or not said:
        return
    if any(one.weight for one in filled.left):
        return
    for param in action.params:
        listed = param.type.of is not None
        if param.optional or listed or param.name in filled.params or not wants_item(param, frame):
            continue
        pool = candidates(frame.window, param)
        values = [value for one in pool if (value := value_of(one, param, pool)) is not None]
        if 0 < len(values) <= MOST:
            filled.params[param.name] = Each(tuple(values))
            filled.score += 1.5


def _take_occurrences(clause: Clause, action: Action, filled: Filled, frame: Frame) -> None:
    """ "Change every cat to dog": as often as the text is shown, where a count is asked for."""
    counts = [one for one in action.params if one.is_amount and one.name not in filled.params]
    texts = [
        value
        for one in action.params
        if not one.optional and isinstance(value := filled.params.get(one.name), str)
    ]
    said = any(one.has("~all") or one.has("each", "every") for one in clause.tokens)
    if frame.window is None or not (counts and texts and said):
        return
    often = frame.window.text.count(texts[0])
    if often > 1 and counts[0].optional and counts[0].is_number:
        filled.params[counts[0].name] = often


def _take_only_path(action: Action, filled: Filled, frame: Frame) -> None:
    """ "Open it", where a window shows one path: that one."""
    needed = [one for one in action.params if one.is_path and not one.optional]
    if frame.window is None or len(needed) != 1 or needed[0].name in filled.params:
        return
    paths = paths_of(frame.window)
    if len(paths) == 1:
        filled.params[needed[0].name] = paths[0]
        filled.score += 0.5


def _take_only_item(clause: Clause, action: Action, filled: Filled, frame: Frame) -> None:
    """ "Delete the note", where a window shows one: that one."""
    needed = [one for one in action.params if not one.optional and one.name not in filled.params]
    if frame.window is None or len(needed) != 1 or not wants_item(needed[0], frame):
        return
    pool = candidates(frame.window, needed[0])
    told = str(list(filled.params.values()))
    pointed = any(
        (before.text == "the" or before.has("~this", "~one", "~object"))
        and is_one_held(token, needed[0], frame)
        and token.text not in told
        for before, token in pairwise(clause.tokens)
    )
    whole = len(action.params) == 1 or bool(filled.params)  # to change it, one must say to what
    value = value_of(pool[0], needed[0], pool) if len(pool) == 1 and pointed and whole else None
    if value is not None and not any(one.weight for one in filled.left):
        filled.params[needed[0].name] = value
        filled.score += 1.5


def _repeat(clause: Clause, action: Action, filled: Filled) -> None:
    """ "Undo the last two changes": what takes nothing is done so many times."""
    numbers = [one.number for one in clause.tokens if one.number and not one.number.ordinal]
    if action.params or len(numbers) != 1 or profile_of(action).verbs.isdisjoint(_STEPWISE):
        return
    times = int(numbers[0].value)
    if 1 <= times <= _MOST_TIMES:
        filled.times = times
        filled.left = [one for one in filled.left if not _counts_steps(one)]


def _counts_steps(run: Run) -> bool:
    """Whether words only say how many steps are meant: "last two changes", 两步."""
    return all(
        one.number or one.is_small or one.has("#step", "#move", "@edit", "@undo", "次", "time")
        for one in run.tokens
    )


def _append(action: Action, filled: Filled, frame: Frame) -> None:
    """What is added without a place goes to the end."""
    for param in action.params:
        is_open = not param.optional and param.name not in filled.params
        if (
            frame.window is not None
            and frame.making
            and is_open
            and param.is_number
            and param.is_place
        ):
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
            given = filled.params.get(param.name)
            own = [n for n, one in enumerate(items, 1) if value_of(one, param, items) == given]
            # What is moved leaves a gap behind it, and those after it move up.
            place -= bool(own) and own[0] < value.place
        filled.params[name] = place


def _carry_over(action: Action, filled: Filled, frame: Frame, alone: bool) -> None:
    """A wish that names no item, or nothing at all, is about what was spoken of before."""
    for param in action.params:
        if param.optional or param.name in filled.params or frame.making:
            continue
        if not alone and not wants_item(param, frame):
            continue
        value = carried(param, frame)
        if value is not None:
            filled.params[param.name] = value.value
            filled.score += value.score
            filled.back = True
