"""The value that a run of words has for a param."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from contextui.agent.models.offline.blocks import Action, WindowView
from contextui.agent.models.offline.clauses import parts_of
from contextui.agent.models.offline.declared import Param, Type
from contextui.agent.models.offline.edges import trimmed
from contextui.agent.models.offline.items import PART, find_by_words, main_items
from contextui.agent.models.offline.lexicon.numbers import SECONDS
from contextui.agent.models.offline.profiles import GROUP, likeness
from contextui.agent.models.offline.runs import (
    COLON,
    COMMA,
    Run,
    is_path_param,
    is_place_param,
    is_time_param,
)
from contextui.agent.models.offline.surroundings import Last
from contextui.agent.models.offline.token import Kind, Token
from contextui.agent.models.offline.words import keys_of

_LISTING = (COLON, COMMA, "~with", "~tagged")
MOST = 30
"""Calls that one wish may become."""

_EMPTY = ("~polite", "~adverb", "~it", "~this", "~aspect", "~of", "~person", "~be", "~what", "~all",
          "~one", "~here", "~interjection", "~before", "~after", "~in")  # fmt: skip
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
        back: Whether it was taken from what was said before.
    """

    value: Any
    score: float
    sure: bool = False
    unclear: tuple[str, ...] = ()
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
    """

    action: Action
    window: WindowView | None
    verbs: frozenset[str]
    last: Last = Last()
    there: str = ""

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


def text_value(param: Param, run: Run, frame: Frame) -> Value | None:
    """The words of a run as they are."""
    if is_reference(run, param):
        before = frame.last.get(param.name)
        return Value(before, 1.0, back=True) if isinstance(before, str) else None
    if is_path_param(param):
        return _path_value(run, frame)
    if run.is_quote:
        return Value(run.text, 1.6, sure=True)
    if is_time_param(param) and run.tokens[0].kind is Kind.CLOCK:
        return Value(run.text, 2.5, sure=True)
    if not run.weight and all(one.has(*_EMPTY) for one in run.tokens):
        return None
    parts = [part for one in parts_of(run.tokens) if (part := trimmed(one))]
    if _is_enumeration(parts, run, frame):
        each = (Run(tuple(part), run.cues, run.words) for part in parts)
        return Value(Each(tuple(plain_text(one) for one in each)[:MOST]), 1.1)
    return Value(_canonical(run, param, frame) or plain_text(run), 1.0)


def number_value(param: Param, run: Run, frame: Frame) -> Value | None:
    """The number of a run, or the place that it names."""
    token = next((one for one in run.tokens if one.number), None)
    if token is None or token.number is None:
        every = "~every" in run.cues or any(one.has("~every") for one in run.tokens)
        if every and any(_seconds(one.keys) for one in run.tokens):  # "every minute"
            return Value(_exact(_unit_factor(param, run)), 2.0, sure=True)
        place = _named_place(param, run, frame)
        if place is None:
            beside = _beside(param, run, frame)
            return Value(beside, 2.0, sure=True) if beside else None
        return Value(place, 1.2)
    others = [one for one in run.tokens if one is not token and not one.is_small]
    named = any(likeness(one.keys, keys_of(param.name)) >= GROUP for one in (token, *others))
    often = any(one.has("~article", "~by", "~every") for one in run.tokens)  # twice a minute
    factor = _unit_factor(param, run)
    value = factor / (token.number.value or 1) if often else token.number.value * factor
    if token.number.ordinal and token.number.from_end:
        return None
    strange = [one for one in others if one.kind is not Kind.MARK]
    value += ("~after" in run.cues and "before" in param.name)
    exact = _exact(value)
    if "float" not in param.type.plain and not isinstance(exact, int):
        return None
    return Value(exact, 1.5 + named - 0.3 * max(len(strange) - 1, 0), sure=named)


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
    parts = (trimmed(one) for one in parts_of(run.tokens))
    return [Run(tuple(part), run.cues, run.words) for part in parts if part]


def is_reference(run: Run, param: Param) -> bool:
    """Whether a run only points back: "it", "that one", "this tag"."""
    points = any(one.has("~it", "~this", "~plural") for one in run.tokens)
    return points and all(
        one.has("~it", "~this", "~one", "~plural", "~of", "~aspect") or _is_name(one, param)
        for one in run.tokens
    )


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


def end_of(window: WindowView) -> int:
    """The place of the last thing that a window shows: its number, if lines have one."""
    numbers = [int(match[1]) for line in window.text.splitlines()
               if (match := re.match(r"\s*(\d{1,9})(?:\s|$)", line))]  # fmt: skip
    if numbers or not any(one.tag for one in window.items):
        return max(numbers, default=0)
    return max(len(main_items(window)), 1)


# --- within ------------------------------------------------------------------------------


def _path_value(run: Run, frame: Frame) -> Value | None:
    path = next((one for one in run.tokens if one.kind is Kind.PATH), None)
    if path is not None and len(run.tokens) <= 2:
        is_short = frame.there and "/" not in path.text
        return Value(f"{frame.there}/{path.text}" if is_short else path.text, 2.5, sure=True)
    if run.is_quote:
        is_path = "/" in run.text or "." in run.text or not re.search(r"\s", run.text)
        return Value(run.text, 1.2) if is_path else None
    return Value(plain_text(run), 0.3) if run.weight else None


def _is_enumeration(parts: Sequence[Sequence[Token]], run: Run, frame: Frame) -> bool:
    """Whether several things are added one by one, rather than one text with commas in it."""
    if len(parts) < 2 or not frame.making or "@write" in frame.verbs:
        return False
    return all(len(part) <= 5 for part in parts) and "~saying" not in run.cues


def _canonical(run: Run, param: Param, frame: Frame) -> str | None:
    """A name as the window writes it, if it is shown there as a whole."""
    if frame.window is None or frame.seeking:
        return None
    for item in frame.window.items[:500]:
        named = item.get(param.name)
        if named is not None and named.casefold() == run.text.casefold():
            return named
    return None


def _unit_factor(param: Param, run: Run) -> float:
    """Minutes where seconds are wanted, and the like."""
    wanted = max(map(_seconds, keys_of(param.name)), default=0)
    said = max((_seconds(one.keys) for one in run.tokens), default=0)
    return said / wanted if wanted and said else 1.0


def _exact(value: float) -> float:
    return int(value) if value == int(value) else value


def _seconds(keys: frozenset[str]) -> int:
    return next((SECONDS[key[1:]] for key in keys if key[0] == "#" and key[1:] in SECONDS), 0)


def _named_place(param: Param, run: Run, frame: Frame) -> int | None:
    """The top, or the end, as the number of a place."""
    if frame.window is None or not is_place_param(param):
        return None
    if any(one.has("#begin", "~first", "@up") for one in run.tokens):
        return 1
    if any(one.has("#finish", "~last") for one in run.tokens):
        return end_of(frame.window) + ("before" in param.name)
    return None


def _beside(param: Param, run: Run, frame: Frame) -> Beside | None:
    """Where something stands that is named with "before" or "after"."""
    behind = "~after" in run.cues
    if frame.window is None or not is_place_param(param) or not (behind or "~before" in run.cues):
        return None
    items = main_items(frame.window)
    found = find_by_words(items, run.text)
    exact = found.fit >= PART and len(found.items) == 1
    return Beside(items.index(found.items[0]) + 1, behind) if exact else None


def _is_name(token: Token, param: Param) -> bool:
    return likeness(token.nouns, keys_of(param.name)) >= GROUP
