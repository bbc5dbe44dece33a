"""Numbers where a param takes one: amounts, spans of time, and places among others."""

import re

from contextui.agent.models.offline.filling.frame import Beside, Frame, Value
from contextui.agent.models.offline.filling.pointing import wants_item
from contextui.agent.models.offline.lexicon.cues import POSITIONS
from contextui.agent.models.offline.lexicon.numbers import SECONDS
from contextui.agent.models.offline.parting.runs import Run, is_once
from contextui.agent.models.offline.reading.token import Kind, Numeral, Token
from contextui.agent.models.offline.reading.words import keys_of
from contextui.agent.models.offline.shown.blocks import WindowView
from contextui.agent.models.offline.shown.declared import Param
from contextui.agent.models.offline.shown.items import PART, find_by_words, main_items
from contextui.agent.models.offline.shown.profiles import GROUP, likeness

_OFTEN = ("~article", "~by", "~every")  # between a number and a unit: "twice a minute"
_NUMBERED = re.compile(r"\s*(\d{1,9})(?:\s|$)")


def number_value(param: Param, run: Run, frame: Frame) -> Value | None:
    """The number of a run, or the place that it names."""
    token = next((one for one in run.tokens if one.number and not _stands_for(one, run)), None)
    if token is None or token.number is None or (is_once(token) and not _has_unit(run)):
        return _unnumbered(param, run, frame)
    others = [one for one in run.tokens if one is not token and not one.is_small]
    named = any(likeness(one.keys, keys_of(param.name)) >= GROUP for one in (token, *others))
    if param.is_amount and _has_unit(run):
        return None  # so many seconds are not so many things
    spelled = token.is_ascii and token.text.isalpha() and len(run.tokens) == 1
    if spelled and "~to" in run.cues and _takes_words(frame):
        return None  # "change line 2 to two"
    value = _amount(token.number, param, run)
    if token.number.from_end or not ("float" in param.type.plain or isinstance(value, int)):
        return None
    strange = sum(one.kind is not Kind.MARK for one in others)
    named = named or (_has_unit(run) and any(map(_seconds, keys_of(param.name))))
    counts = param.is_amount and not token.number.ordinal and not strange
    vague = spelled and param.is_place and not (named or token.number.ordinal)
    score = 1.5 + named - vague - 0.3 * max(strange - 1, 0)
    return Value(value, score, sure=named or counts)


def _takes_words(frame: Frame) -> bool:
    """Whether words are asked for besides a number."""
    needed = [one for one in frame.action.params if one.type.takes_text and not one.optional]
    return any(not wants_item(one, frame) for one in needed)


def end_of(window: WindowView) -> int:
    """The place of the last thing that a window shows: its number, if lines have one."""
    lines = map(_NUMBERED.match, window.text.splitlines())
    numbers = [int(match[1]) for match in lines if match]
    if numbers or not any(one.tag for one in window.items):
        return max(numbers, default=0)
    return max(len(main_items(window)), 1)


def _has_unit(run: Run) -> bool:
    """Whether a run names a unit of time."""
    return any(_seconds(one.keys) for one in run.tokens)


def _stands_for(token: Token, run: Run) -> bool:
    """Whether "one" stands for a thing, and is no number."""
    return token.kind is Kind.WORD and token.has("~one") and len(run.tokens) == 1


def _share(param: Param, run: Run) -> float | None:
    """A part of the whole, where a part is wanted in percent: half, full."""
    if "#percent" not in {key for keys in keys_of(param.name) for key in keys}:
        return None
    if any(one.has("~half") for one in run.tokens):
        return 50
    if any(one.has("#max") for one in run.tokens):
        return 100
    return 0 if any(one.has("#min") for one in run.tokens) else None


def _amount(number: Numeral, param: Param, run: Run) -> float:
    factor = _unit_factor(param, run)
    at = next(n for n, one in enumerate(run.tokens) if one.number is number)
    often = any(one.has(*_OFTEN) for one in run.tokens[at + 1 :])
    value = factor / (number.value or 1) if often else number.value * factor
    return _exact(value + ("~after" in run.cues and "before" in param.words))


def _unnumbered(param: Param, run: Run, frame: Frame) -> Value | None:
    """A number that is not said as one: every minute, at the end, behind the eggs."""
    share = _share(param, run)
    if share is not None:
        return Value(share, 1.6, sure=True)
    every = "~every" in run.cues or any(one.has("~every") for one in run.tokens)
    every = every or any("~every" in keys for keys in keys_of(frame.action.id))
    timed = any(map(_seconds, keys_of(param.name)))
    if every and timed and _has_unit(run):
        part = 0.5 if any(one.has("~half") for one in run.tokens) else 1.0
        return Value(_exact(part * _unit_factor(param, run)), 2.0, sure=True)
    return _place_named(run, param, frame) if frame.window is not None and param.is_place else None


def _place_named(run: Run, param: Param, frame: Frame) -> Value | None:
    """A place that is named by what stands there, or was spoken of before."""
    assert frame.window is not None
    if all(one.has("~it", "~this") for one in run.tokens):
        return _place_before(frame)
    if any(one.has("#begin", "~first", "@up") for one in run.tokens):
        return Value(1, 1.2)
    if any(one.has("#finish", "~last") for one in run.tokens):
        return Value(end_of(frame.window) + ("before" in param.words), 1.2)
    beside = _beside(run, frame.window)
    return Value(beside, 2.0, sure=True) if beside else None


def _place_before(frame: Frame) -> Value | None:
    """The place that the call before was about ("go to line 3, delete it")."""
    given = frame.last.params if frame.window and frame.last.window_id == frame.window.id else ()
    places = [
        value
        for name, value in given
        if isinstance(value, int) and not POSITIONS.isdisjoint(name.casefold().split("_"))
    ]
    return Value(places[0], 1.5, back=True) if places else None


def _beside(run: Run, window: WindowView) -> Beside | None:
    """Where something stands that is named with "before" or "after"."""
    if run.cues.isdisjoint(("~before", "~after")):
        return None
    items = main_items(window)
    found = find_by_words(items, run.text)
    if found.fit < PART or len(found.items) > 1:
        return None
    return Beside(items.index(found.items[0]) + 1, "~after" in run.cues)


def _unit_factor(param: Param, run: Run) -> float:
    """Minutes where seconds are wanted, and the like."""
    wanted = max(map(_seconds, keys_of(param.name)), default=0)
    said = max((_seconds(one.keys) for one in run.tokens), default=0)
    return said / wanted if wanted and said else 1.0


def _seconds(keys: frozenset[str]) -> int:
    return next((SECONDS[key[1:]] for key in keys if key[0] == "#" and key[1:] in SECONDS), 0)


def _exact(value: float) -> float:
    return int(value) if value == int(value) else value
