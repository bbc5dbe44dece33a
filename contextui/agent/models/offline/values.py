"""The value that a run of words has for a param."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from contextui.agent.models.offline import items as shown
from contextui.agent.models.offline.blocks import Action, Item, WindowView
from contextui.agent.models.offline.clauses import parts_of
from contextui.agent.models.offline.declared import Param, Type
from contextui.agent.models.offline.edges import trimmed
from contextui.agent.models.offline.lexicon.cues import FREE, POSITIONS
from contextui.agent.models.offline.lexicon.numbers import SECONDS
from contextui.agent.models.offline.profiles import GROUP, alike, likeness
from contextui.agent.models.offline.runs import COLON, COMMA, Run, is_path_param
from contextui.agent.models.offline.words import Kind, Token, keys_of

_LISTING = (COLON, COMMA, "~with", "~tagged")
_MOST = 30  # calls that one wish may become
_MAKING = frozenset(("@add", "@write", "@open"))
_SEEKING = frozenset(("@find", "@filter", "@ask", "@send"))


@dataclass(frozen=True, slots=True)
class Each:
    """Several values where one is wanted: one call for each."""

    values: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Value:
    """A value, and how well it fits.

    Attributes:
        value: What the param is given.
        score: How well it fits.
        sure: Whether it can hardly be meant for another param.
        unclear: Items among which one was meant, but not which.
    """

    value: Any
    score: float
    sure: bool = False
    unclear: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Frame:
    """What a value is found in.

    Attributes:
        action: The action that takes it.
        window: Its window; None for a class that is opened.
        verbs: The groups of verbs that the action is named by.
        last: What the words before were about, for "it".
    """

    action: Action
    window: WindowView | None
    verbs: frozenset[str]
    last: tuple[tuple[str, Any], ...] = ()

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


def value_for(param: Param, run: Run, frame: Frame) -> Value | None:
    """The value of a run for a param; None if it cannot be one."""
    kind = param.type
    if kind.of is not None:
        return _list_value(param, run, frame)
    if kind.plain == {"bool"} or (kind.choices and not kind.takes_text):
        return None
    if kind.takes_number and not kind.takes_text and not wants_item(param, frame):
        return _number_value(param, run, frame)
    if wants_item(param, frame):
        return _item_value(param, run, frame)
    return _text_value(param, run, frame) if kind.takes_text else None


def wants_item(param: Param, frame: Frame) -> bool:
    """Whether it takes one of the things that the window shows."""
    if frame.window is None or not frame.window.items:
        return False
    names = keys_of(param.name)
    words = re.split(r"[_\W]+", param.name.casefold())
    tagged = any(
        one.tag and likeness(_nouns(keys), keys_of(one.tag)) >= GROUP
        for one in frame.window.items[:200] for keys in names
    )  # fmt: skip
    if frame.making and not param.type.takes_number:
        return False
    if tagged:
        return not (frame.seeking and param.type.takes_text and not param.type.takes_number)
    if param.type.takes_number:
        pointing = {"item", "id", "index", "entry", "which", "key"}
        return not pointing.isdisjoint(words) and not frame.making
    return FREE.isdisjoint(words) and not frame.seeking and not is_path_param(param)


def _list_value(param: Param, run: Run, frame: Frame) -> Value | None:
    inner = param.type.of or Type()
    if run.is_quote:
        parts = [run]
    else:
        parts = [Run(tuple(part), run.cues, run.words) for one in parts_of(run.tokens)
                 if (part := trimmed(one))]  # fmt: skip
    one = Param(param.name, inner)
    found = [value for part in parts if (value := value_for(one, part, frame))]
    if not found or len(found) < len(parts):
        return None
    values = [each for value in found for each in (
        value.value.values if isinstance(value.value, Each) else (value.value,))]  # fmt: skip
    single = len(values) == 1 and param.type.takes_text
    score = 1.2 + (0.3 if len(values) > 1 else 0.0)
    return Value(values[0] if single else values, score, sure=not run.cues.isdisjoint(_LISTING))


def _number_value(param: Param, run: Run, frame: Frame) -> Value | None:
    token = next((one for one in run.tokens if one.number), None)
    if token is None or token.number is None:
        place = _named_place(param, run, frame)
        return Value(place, 1.2) if place is not None else None
    others = [one for one in run.tokens if one is not token and not one.is_small]
    named = any(likeness(one.keys, keys_of(param.name)) >= GROUP for one in (token, *others))
    value = token.number.value * _unit_factor(param, run)
    if token.number.ordinal and token.number.from_end:
        return None
    strange = [one for one in others if one.kind is not Kind.MARK]
    score = 1.5 + named - 0.3 * max(len(strange) - 1, 0)
    exact = int(value) if value == int(value) else value
    if "float" not in param.type.plain and not isinstance(exact, int):
        return None
    return Value(exact, score, sure=named)


def _unit_factor(param: Param, run: Run) -> float:
    """Minutes where seconds are wanted, and the like."""

    def unit(keys: frozenset[str]) -> int:
        return next((SECONDS[key[1:]] for key in keys if key[0] == "#" and key[1:] in SECONDS), 0)

    wanted = max((unit(keys) for keys in keys_of(param.name)), default=0)
    said = max((unit(one.keys) for one in run.tokens), default=0)
    return said / wanted if wanted and said else 1.0


def _named_place(param: Param, run: Run, frame: Frame) -> int | None:
    """The top, or the end, as the number of a place."""
    if frame.window is None or POSITIONS.isdisjoint(re.split(r"[_\W]+", param.name.casefold())):
        return None
    if any(one.has("#begin", "~first", "@up") for one in run.tokens):
        return 1
    if any(one.has("#finish", "~last") for one in run.tokens):
        return max(len(shown.main_items(frame.window)), 1)
    return None


def _item_value(param: Param, run: Run, frame: Frame) -> Value | None:
    window = frame.window
    assert window is not None
    pool = shown.candidates(window, param)
    if _is_pronoun(run):
        return _meant_before(param, pool, frame)
    found = _one_item(run, pool, param)
    if found is not None:
        return found
    several = _several_items(run, pool, param)
    if several is not None:
        return several
    if param.type.takes_text and run.weight:
        return Value(_plain_text(run), 0.1)
    return None


def _one_item(run: Run, pool: Sequence[Item], param: Param) -> Value | None:
    rest = [one for one in run.tokens if not one.has("~one", "~of") and not one.has("~article")]
    placed = shown.find_by_place(pool, rest)
    if placed is not None and all(one.number or _is_kind(one, placed, param) or one.is_small
                                  or one.has("#begin", "#finish") for one in rest):  # fmt: skip
        return _value(placed, param, pool, 2.2)
    numbers = [one for one in rest if one.number and not one.number.ordinal]
    words = [one for one in rest if not one.number and one.kind is not Kind.MARK]
    if len(numbers) == 1 and all(_is_kind(one, None, param) or one.has("#number") for one in words):
        number = numbers[0].number
        item = shown.find_by_number(pool, number.value) if number else None
        if item is not None and (item.get("id") or not param.type.takes_number):
            return _value(item, param, pool, 2.2)
        if param.type.takes_number and number and number.value == int(number.value):
            return Value(int(number.value), 1.0)  # the window says best that there is none
    for tokens in (run.tokens, tuple(one for one in run.tokens if not _is_kind(one, None, param))):
        if not tokens:
            continue
        text = Run(tokens, run.cues, run.words).text
        found = shown.find_by_words(pool, text)
        if found.fit >= shown.AROUND or (found.fit and len(found.items) == 1):
            if len(found.items) > 1 and len(parts_of(run.tokens)) > 1:
                return None
            value = _value(found.items[0], param, pool, 1.2 + found.fit)
            if value is not None and len({one.line for one in found.items}) > 1:
                return Value(value.value, value.score, unclear=tuple(i.line for i in found.items))
            return value if len(parts_of(run.tokens)) == 1 or found.fit == shown.EXACT else None
    return None


def _several_items(run: Run, pool: Sequence[Item], param: Param) -> Value | None:
    parts = [part for one in parts_of(run.tokens) if (part := trimmed(one))]
    if len(parts) > 1:
        values = [_one_item(Run(tuple(part), run.cues, run.words), pool, param) for part in parts]
        if all(value is not None for value in values):
            return Value(Each(tuple(v.value for v in values if v)[:_MOST]), 2.0)
        return None
    if any(one.has("~all", "~both") for one in run.tokens):
        rest = [one for one in run.tokens if not one.is_small]
        wanted = shown.marked(pool, rest) if rest else list(pool)
        values = [_value(one, param, pool, 1.0) for one in wanted]
        given = tuple(value.value for value in values if value is not None)[:_MOST]
        return Value(Each(given), -0.5) if given else None
    return None


def _value(item: Item, param: Param, pool: Sequence[Item], score: float) -> Value | None:
    value = shown.value_of(item, param, pool)
    return None if value is None else Value(value, score, sure=True)


def _meant_before(param: Param, pool: Sequence[Item], frame: Frame) -> Value | None:
    """What "it" stands for: what the wish before was about."""
    for name, value in frame.last:
        if name == param.name and not isinstance(value, list):
            return Value(value, 1.5)
    for _, value in frame.last:
        texts = value if isinstance(value, list) else [value]
        found = [shown.find_by_words(pool, one) for one in texts if isinstance(one, str)]
        items = [one.items[-1] for one in found if one.fit >= shown.PART]
        values = [v for item in items if (v := _value(item, param, pool, 1.5)) is not None]
        if values:
            each = Each(tuple(one.value for one in values))
            return Value(each, 1.5) if len(values) > 1 else values[0]
        if param.type.takes_text and texts and isinstance(texts[-1], str):
            return Value(texts[-1], 0.8)
    return _value(pool[0], param, pool, 1.0) if len(pool) == 1 else None


def _text_value(param: Param, run: Run, frame: Frame) -> Value | None:
    if run.is_quote:
        return Value(run.text, 1.6, sure=True)
    if _is_pronoun(run):
        before = [value for _, value in frame.last if isinstance(value, str)]
        return Value(before[0], 0.6) if before else None
    path = next((one for one in run.tokens if one.kind is Kind.PATH), None)
    if is_path_param(param):
        if path is not None and len(run.tokens) <= 2:
            return Value(path.text, 2.5, sure=True)
        return Value(_plain_text(run), 0.2) if run.weight else None
    exact = _canonical(run, param, frame)
    if exact is not None:
        return Value(exact, 1.4)
    parts = [part for one in parts_of(run.tokens) if (part := trimmed(one))]
    if _is_enumeration(parts, run, frame):
        each = (Run(tuple(part), run.cues, run.words) for part in parts)
        return Value(Each(tuple(_plain_text(one) for one in each)[:_MOST]), 1.1)
    score = 1.0 if run.weight else 0.4
    if len(run.tokens) == 1 and run.text[:1].isdecimal():
        score = 0.5
    return Value(_plain_text(run), score)


def _is_enumeration(parts: Sequence[Sequence[Token]], run: Run, frame: Frame) -> bool:
    """Whether several things are added one by one, rather than one text with commas in it."""
    if len(parts) < 2 or not frame.verbs & {"@add"} or "@write" in frame.verbs:
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


def _plain_text(run: Run) -> str:
    quotes = [one for one in run.tokens if one.kind is Kind.QUOTE]
    return quotes[0].text if len(quotes) == 1 and run.weight == 1 else run.text


def _is_pronoun(run: Run) -> bool:
    return all((one.has("~it", "~this", "~one", "~both") and one.number is None) or one.has("~one")
               for one in run.tokens)  # fmt: skip


def _is_kind(token: Token, item: Item | None, param: Param) -> bool:
    """Whether a word only says what kind of thing is meant."""
    if token.has("#item", "#entry", "#line", "~one") and not token.is_verb:
        return True
    tag = keys_of(item.tag) if item is not None and item.tag else ()
    return any(alike(_nouns_of(token), keys) >= GROUP for keys in (*keys_of(param.name), *tag))


def _nouns(keys: frozenset[str]) -> frozenset[str]:
    return frozenset(key for key in keys if key[0] not in "@~'")


def _nouns_of(token: Token) -> frozenset[str]:
    return _nouns(token.keys)


def choice_value(choice: str) -> Any:
    """A choice as it is sent: numbers and truth values are no text."""
    try:
        value = json.loads(choice)
    except ValueError:
        return choice
    return value if isinstance(value, bool | int | float) else choice
