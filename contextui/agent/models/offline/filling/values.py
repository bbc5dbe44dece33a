"""The words of a run as the value of a param."""

import json
import re
from collections.abc import Sequence
from typing import Any

from contextui.agent.models.offline.filling.frame import MOST, Each, Frame, Value
from contextui.agent.models.offline.lexicon.numbers import MEASURES
from contextui.agent.models.offline.parting.edges import trimmed
from contextui.agent.models.offline.parting.runs import COLON, COMMA, Run
from contextui.agent.models.offline.reading.clauses import ENDS, parts_of
from contextui.agent.models.offline.reading.token import Kind, Token
from contextui.agent.models.offline.reading.words import keys_of
from contextui.agent.models.offline.shown.declared import Param, Type
from contextui.agent.models.offline.shown.paths import is_file_of, path_meant
from contextui.agent.models.offline.shown.profiles import GROUP, likeness

_LISTING = (COLON, COMMA, "~with", "~tagged")
_EMPTY = ("~polite", "~adverb", "~it", "~this", "~aspect", "~of", "~person", "~be", "~what", "~all",
          "~one", "~here", "~interjection", "~before", "~after", "~in")  # fmt: skip
_POINTING = ("~it", "~this", "~one", "~plural", "~of", "~aspect")


def text_value(param: Param, run: Run, frame: Frame) -> Value | None:
    """The words of a run as they are."""
    points = param.optional and all(one.has("~it", "~this") for one in run.tokens)
    if param.is_path and frame.window is not None and not run.is_quote and not points:
        meant = path_meant(frame.window, run.tokens, frame.there)
        if meant is not None:
            return Value(meant, 2.5, sure=True)
    if is_reference(run, param):
        before = frame.last.get(param.name)
        own = frame.window is not None and is_file_of(frame.window, str(before))
        return Value(before, 1.0, back=True) if isinstance(before, str) and not own else None
    if param.is_path:
        return _path_value(run, frame)
    if run.is_quote:
        return Value(run.text, 1.6, sure=True)
    if len(run.tokens) == 1 and run.tokens[0].kind is Kind.PATH:
        by_name = any(keys & {"#name", "#file", "#path"} for keys in keys_of(frame.action.id))
        return Value(run.text, 2.0 if by_name else 1.0, sure=by_name)
    return _plain_value(param, run, frame)


def clock_value(param: Param, run: Run) -> Value | None:
    """The time of day that a run names, with a noun at most beside it."""
    clock = [one for one in run.tokens if one.kind is Kind.CLOCK]
    if not param.is_time or len(clock) != 1 or len(run.tokens) > 3:
        return None
    return Value(clock[0].text, 2.5, sure=True)


def list_value(param: Param, run: Run, values: Sequence[Value]) -> Value:
    """Several values as one list; where a single one is welcome too, that."""
    every = [
        each
        for one in values
        for each in (one.value.values if isinstance(one.value, Each) else (one.value,))
    ]
    single = len(every) == 1 and param.type.takes_text
    score = 1.2 + (0.3 if len(every) > 1 else 0.0)
    return Value(every[0] if single else every, score, sure=not run.cues.isdisjoint(_LISTING))


def listed_runs(run: Run) -> list[Run]:
    """The things of a list, each as a run of its own."""
    if run.is_quote:
        return [run]
    parts = [part for one in _unnumbered(parts_of(run.tokens)) if (part := trimmed(one))]
    if len(parts) > 1 and len(parts[-1]) > 1 and _counts(parts[-1][-1], len(parts)):
        parts[-1].pop()  # 家和工作两个
    return [Run(tuple(part), run.cues, run.words) for part in parts]


def _unnumbered(parts: list[list[Token]]) -> list[list[Token]]:
    """The things of a list without the numbers that count them: "1. milk", "2. tea"."""
    counts = [
        part[0].number.value if part[0].number and len(part) > 2 and part[1].text in ".)" else 0
        for part in parts
    ]
    is_counted = len(parts) > 1 and counts == [*range(1, len(parts) + 1)]
    return [part[2:] for part in parts] if is_counted else parts


def is_reference(run: Run, param: Param) -> bool:
    """Whether a run only points back: "it", "that one", "this tag"."""
    points = any(one.has("~it", "~this", "~plural") for one in run.tokens)
    return points and all(one.has(*_POINTING) or _is_name(one, param) for one in run.tokens)


def plain_text(run: Run) -> str:
    """What a run says; if it is one quotation and small words, what is in that."""
    quotes = [one for one in run.tokens if one.kind is Kind.QUOTE]
    return quotes[0].text if len(quotes) == 1 and run.weight <= 1 else run.text


def choice_value(choice: str) -> Any:
    """A choice as it is sent: numbers and truth values are no text."""
    try:
        value = json.loads(choice)
    except ValueError:
        return choice
    return value if isinstance(value, bool | int | float) else choice


def element_type(param: Param) -> Param:
    """A param that takes one of what this one takes a list of."""
    return Param(param.name, param.type.of or Type())


def is_thing(token: Token) -> bool:
    """Whether a word is more than a verb."""
    noun = any(key[0] == "#" for key in token.keys) or (token.is_ascii and bool(token.nouns))
    return noun or not token.is_verb


# --- within ------------------------------------------------------------------------------


def _plain_value(param: Param, run: Run, frame: Frame) -> Value | None:
    if not run.weight and all(one.has(*_EMPTY) for one in run.tokens):
        return None
    points = run.tokens[0].has("~it") and not any(one.has("~be") for one in run.tokens)
    if points and "@add" in frame.verbs and "@write" not in frame.verbs:
        return None  # "make it blue" adds nothing
    parts = listed_runs(run)
    if _is_enumeration(parts, run, frame):
        return Value(Each(tuple(map(plain_text, parts[:MOST]))), 1.1)
    shown = _canonical(run, param, frame)
    return Value(shown, 1.6, sure=True) if shown else Value(plain_text(run), 1.0)


def _path_value(run: Run, frame: Frame) -> Value | None:
    path = next((one for one in run.tokens if one.kind is Kind.PATH), None)
    if path is not None and len(run.tokens) <= 2:
        is_short = frame.there and "/" not in path.text
        return Value(f"{frame.there}/{path.text}" if is_short else path.text, 2.5, sure=True)
    if run.is_quote:
        is_path = "/" in run.text or "." in run.text or not re.search(r"\s", run.text)
        return Value(run.text, 1.2) if is_path else None
    acts = not any(is_thing(one) for one in run.tokens)
    if acts or not run.weight or (not run.cues and _is_definite(run)):
        return None  # "save the whales" names no file
    return Value(plain_text(run), 0.3)


def _is_definite(run: Run) -> bool:
    """Whether "the" stands right before what was said, as before no file's name."""
    before = run.words[: run.tokens[0].start].rstrip().casefold()
    return before.endswith((" the", " my", " our"))


def _counts(token: Token, size: int) -> bool:
    """Whether a number only says how many were listed before it."""
    number = token.number
    measured = token.has(*MEASURES)
    return number is not None and measured and not number.ordinal and number.value == size


def _is_enumeration(parts: Sequence[Run], run: Run, frame: Frame) -> bool:
    """Whether several things are added one by one, rather than one text with commas in it."""
    if len(parts) < 2 or not frame.making or "@write" in frame.verbs:
        return False
    is_prose = any(one.kind is Kind.MARK and one.text in ENDS - {"\n"} for one in run.tokens)
    is_short = len(parts) <= MOST and all(len(part.tokens) <= 5 for part in parts)
    return is_short and not is_prose and "~saying" not in run.cues


def _canonical(run: Run, param: Param, frame: Frame) -> str | None:
    """A name as the window writes it, if it is shown there as a whole."""
    if frame.window is None:
        return None
    for item in frame.window.items[:500]:
        named = item.get(param.name) or item.get(f"{param.name}s")
        for one in re.split("[,，、]\\s*", named) if named is not None else ():
            if one.casefold() == run.text.casefold():
                return one
    return None


def _is_name(token: Token, param: Param) -> bool:
    return likeness(token.nouns, keys_of(param.name)) >= GROUP
