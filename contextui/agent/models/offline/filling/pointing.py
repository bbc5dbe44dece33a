"""Params that take one of the things that a window shows, named by its words or its place."""

import re
from collections.abc import Sequence
from itertools import pairwise

from contextui.agent.models.offline.filling.frame import MOST, Each, Frame, Value
from contextui.agent.models.offline.filling.values import is_reference, is_thing, plain_text
from contextui.agent.models.offline.lexicon.cues import FREE
from contextui.agent.models.offline.lexicon.numbers import MEASURES
from contextui.agent.models.offline.parting.edges import trimmed
from contextui.agent.models.offline.parting.runs import Run
from contextui.agent.models.offline.reading.clauses import parts_of
from contextui.agent.models.offline.reading.token import Kind, Token
from contextui.agent.models.offline.reading.words import keys_of
from contextui.agent.models.offline.shown import items as shown
from contextui.agent.models.offline.shown.blocks import Item, WindowView
from contextui.agent.models.offline.shown.declared import Param
from contextui.agent.models.offline.shown.paths import is_file_of
from contextui.agent.models.offline.shown.profiles import (
    GROUP,
    alike,
    likeness,
    profile_of,
    words_of,
)

_POINTING = frozenset(("item", "id", "index", "entry", "which", "key", "name", "title"))
_KINDS = ("#item", "#entry", "#line", "~one")


def wants_item(param: Param, frame: Frame) -> bool:
    """Whether it takes one of the things that the window shows."""
    if frame.window is None or not frame.window.items or _only_tells(frame.window):
        return False
    if frame.making and not param.type.takes_number:
        return False
    is_kind = _is_kind_shown(param, frame) and not _is_figure(param, frame)
    only_text = param.type.takes_text and not param.type.takes_number
    if is_kind:
        return not (frame.seeking and only_text)
    if param.type.takes_number:
        return not _POINTING.isdisjoint(param.words) and not frame.making
    is_free = param.is_path or param.is_time or not FREE.isdisjoint(param.words)
    return not is_free and not frame.seeking


def _only_tells(window: WindowView) -> bool:
    """Whether a window shows but one line, as one does that is empty: "No entries."."""
    text = window.text.strip()
    told = " " in text or text.endswith(("。", "."))
    return len(window.items) == 1 and not window.items[0].tag and told


def _is_figure(param: Param, frame: Frame) -> bool:
    """Whether it is the one figure of its name that the window shows, such as its volume."""
    items = frame.window.items if frame.window is not None else ()
    named = [one for one in items if one.tag == param.name]
    return param.is_number and len(named) == 1 and named[0].get("id") is None


def _is_kind_shown(param: Param, frame: Frame) -> bool:
    """Whether a param is named after the things that the window shows."""
    if frame.window is None:
        return False
    names = keys_of(param.name)
    return any(
        likeness(_nouns(keys), keys_of(one.tag)) >= GROUP
        for one in frame.window.items[:200] if one.tag for keys in names
    )  # fmt: skip


def is_one_held(token: Token, param: Param, frame: Frame) -> bool:
    """Whether a word stands for one of the things that a window holds, not for the window itself.

    Where a description has a word in the plural, it tells what is held: "notes", not "a list".
    """
    assert frame.window is not None
    word = token.text.casefold()
    if token.kind is not Kind.WORD or token.is_small or not token.nouns:
        return False
    if not token.is_ascii:
        declared = (*profile_of(frame.action).label, *keys_of(param.name))
        return token.has(*_KINDS) or likeness(token.nouns, declared) >= GROUP
    tags = {one.tag.casefold() for one in frame.window.items}
    singular = word in tags | param.words or word in ("item", "entry")
    return singular or f"{word}s" in re.findall(r"\w+", frame.window.description.casefold())


def item_value(param: Param, run: Run, frame: Frame) -> Value | None:
    """The item, or the items, that a run means."""
    assert frame.window is not None
    pool = shown.candidates(frame.window, param)
    if is_reference(run, param):
        return _meant_before(param, pool, frame)
    found = _several_items(run, pool, param, frame) or _one_item(run, pool, param, frame)
    if found is not None:
        return found
    says = run.weight and any(is_thing(one) for one in run.tokens)
    return Value(plain_text(run), 0.1) if param.type.takes_text and says else None


def carried(param: Param, frame: Frame) -> Value | None:
    """The item that the call before was about, for a wish that names none."""
    if frame.window is None or frame.last.window_id not in ("", frame.window.id):
        return None
    before = frame.last.get(param.name)
    if param.is_path and is_file_of(frame.window, str(before)):
        return None  # it is there already
    if before is not None and not isinstance(before, list):
        return Value(before, 0.2, back=True)
    acted = frame.last.window_id == frame.window.id and bool(frame.last.params)
    if not acted or not wants_item(param, frame):
        return None
    pool = shown.candidates(frame.window, param)
    meant = _meant_before(param, pool, frame) if len(pool) > 0 else None
    return Value(meant.value, 0.2, back=True) if meant is not None and meant.back else None


def _one_item(run: Run, pool: Sequence[Item], param: Param, frame: Frame) -> Value | None:
    rest = [one for one in run.tokens if not one.has("~one", "~of", "~article", "~aspect", "~be")]
    if placed := _by_place(rest, run.cues, pool, param, frame):
        return placed
    numbers = [one.number for one in rest
               if one.number and not one.number.ordinal and not _counts(one)]  # fmt: skip
    words = [one for one in rest if not one.number and one.kind is not Kind.MARK]
    only_kind = all(_is_kind(one, None, param, frame) or one.has("#number") for one in words)
    if len(numbers) == 1 and only_kind:
        return _by_number(numbers[0].value, pool, param)
    without_kind = tuple(one for one in run.tokens if not _is_kind(one, None, param, frame))
    kindless = Run(without_kind, run.cues, run.words).text if without_kind else ""
    telling = [one.text for one in run.tokens if not one.is_small and not one.is_ascii]
    texts = filter(None, dict.fromkeys((run.text, kindless, "".join(telling))))
    found = (_by_words(run, text, pool, param, frame) for text in texts)
    return next(filter(None, found), None)


def _counts(token: Token) -> bool:
    """Whether a number has a Chinese measure word, so that it says how many (两个)."""
    return token.kind is Kind.NUMBER and not token.text[-1:].isascii() and token.has(*MEASURES)


def _by_place(
    rest: Sequence[Token], cues: frozenset[str], pool: Sequence[Item], param: Param, frame: Frame
) -> Value | None:
    item = shown.find_by_place(pool, rest)
    if item is None:
        return None
    said = [one for one in rest if not (one.number or one.is_small or one.has("#begin", "#finish"))]
    if not all(_is_kind(one, item, param, frame) for one in said):
        return None
    # "The top" may be a place to go to as well as what stands there, and of a shelf neither.
    ordinal = any(one.number or one.has("~last", "~first") for one in rest)
    points = not _POINTING.isdisjoint(param.words) or _is_kind_shown(param, frame)
    if not ordinal and (not points or not cues.isdisjoint(("~in", "~at", "~to"))):
        return None
    return _value(item, param, pool, 2.2 if ordinal else 0.8)


def _by_number(number: float, pool: Sequence[Item], param: Param) -> Value | None:
    item = shown.find_by_number(pool, number)
    if item is not None and (item.get("id") or not param.type.takes_number):
        return _value(item, param, pool, 2.2)
    if param.type.takes_number and number == int(number):
        return Value(int(number), 1.0)  # the window says best that there is none
    return None


def _by_words(
    run: Run, text: str, pool: Sequence[Item], param: Param, frame: Frame
) -> Value | None:
    found = shown.find_by_words(pool, text)
    several = len(parts_of(run.tokens)) > 1
    points = not _POINTING.isdisjoint(param.words) or _is_kind_shown(param, frame) or any(
        one.get(param.name) is not None for one in pool)  # fmt: skip
    least = shown.AROUND if points and not run.is_quote else shown.PART
    loose = run.is_quote or not points or not found.fit or len(found.items) > 1
    if found.fit < least and loose:
        return None
    if several and (len(found.items) > 1 or found.fit < shown.EXACT):
        return None
    value = _value(found.items[0], param, pool, 1.2 + found.fit)
    if value is not None and len({one.line for one in found.items}) > 1:
        options = tuple(shown.value_of(one, param, pool) for one in found.items)
        lines = tuple(one.line for one in found.items)
        return Value(value.value, value.score, unclear=lines, options=options)
    return value


def _several_items(run: Run, pool: Sequence[Item], param: Param, frame: Frame) -> Value | None:
    parts = [part for one in parts_of(run.tokens) if (part := trimmed(one))]
    if len(parts) > 1 and not any(one.has("~except") for one in run.tokens):
        runs = (Run(tuple(part), run.cues, run.words) for part in parts)
        values = [_one_item(one, pool, param, frame) for one in runs]
        given = tuple(one.value for one in values if one is not None)
        whole = shown.find_by_words(pool, run.text).fit == shown.EXACT
        is_each = len(given) == len(parts) and not whole
        return Value(Each(given[:MOST]), 2.0) if is_each else None
    some = run_of_items(run, pool) or _all_but(run, pool) or _these(run, pool, param, frame)
    if some:
        values = [_value(one, param, pool, 1.0) for one in some]
        given = tuple(one.value for one in values if one is not None)
        return Value(Each(given[:MOST]), 2.0, sure=True) if given else None
    points = not _POINTING.isdisjoint(param.words) or _is_kind_shown(param, frame)
    points = points or any(one.get(param.name) is not None for one in pool)
    if points and any(one.has("~all", "~both") for one in run.tokens):
        rest = [one for one in run.tokens if not one.is_small]
        rest = [one for one in rest if not _is_kind(one, None, param, frame)]
        wanted = shown.marked(pool, rest) if rest else list(pool)
        values = [_value(one, param, pool, 1.0) for one in wanted]
        given = tuple(one.value for one in values if one is not None)
        return Value(Each(given[:MOST]), -0.5) if given else None
    return None


def run_of_items(run: Run, pool: Sequence[Item]) -> list[Item]:
    """So many from the beginning or from the end: "the first two", 前两个."""
    for before, token in pairwise(run.tokens):
        number = token.number
        if number is None or number.ordinal or number.value < 2:
            continue
        count = int(number.value)
        if before.has("~last"):
            return list(pool[-count:])
        if (before.number and before.number.ordinal and before.number.value == 1) or before.has(
            "~first", "~before"
        ):
            return list(pool[:count])
    return []


def _these(run: Run, pool: Sequence[Item], param: Param, frame: Frame) -> list[Item]:
    """All that there are, if that many are pointed at: "these two", 这两件事, "all three"."""
    counts = [one.number for one in run.tokens if one.number and not one.number.ordinal]
    rest = [one for one in run.tokens if not one.number]
    whole = len(counts) == 1 and counts[0].value == len(pool) > 1
    kinds = all(one.is_small or _is_kind(one, None, param, frame) for one in rest)
    return list(pool) if rest and whole and kinds else []


def _all_but(run: Run, pool: Sequence[Item]) -> list[Item]:
    """Everything except what is named."""
    at = next((n for n, one in enumerate(run.tokens) if one.has("~except")), None)
    if at is None or not run.tokens[at + 1 :]:
        return []
    spared = list[Item]()
    for part in parts_of(run.tokens[at + 1 :]):
        words = Run(tuple(part), run.cues, run.words)
        spared += shown.find_by_words(pool, words.text).items
    return [one for one in pool if one not in spared] if spared else []


def _meant_before(param: Param, pool: Sequence[Item], frame: Frame) -> Value | None:
    """What "it" stands for: what the call before was about."""
    before = frame.last.get(param.name)
    if before is not None and not isinstance(before, list):
        return Value(before, 1.5, back=True)
    for _, value in frame.last.params:
        texts = [one for one in (value if isinstance(value, list) else [value]) if one]
        found = [shown.find_by_words(pool, one) for one in texts if isinstance(one, str)]
        items = [one.items[-1] for one in found if one.fit >= shown.PART]
        values = [one for item in items if (one := _value(item, param, pool, 1.5)) is not None]
        if values:
            each = Each(tuple(one.value for one in values))
            return Value(each if len(values) > 1 else values[0].value, 1.5, back=True)
    return _value(pool[0], param, pool, 1.0) if len(pool) == 1 else None


def _value(item: Item, param: Param, pool: Sequence[Item], score: float) -> Value | None:
    value = shown.value_of(item, param, pool)
    return None if value is None else Value(value, score, sure=True)


def _is_kind(token: Token, item: Item | None, param: Param, frame: Frame) -> bool:
    """Whether a word only says what kind of thing is meant."""
    if token.has(*_KINDS) and not token.is_verb:
        return True
    tag = keys_of(item.tag) if item is not None and item.tag else ()
    about = words_of(frame.window)[:2] if frame.window is not None else ()
    words = (*keys_of(param.name), *tag, *(keys for part in about for keys in part))
    return any(alike(token.nouns, keys) >= GROUP for keys in words)


def _nouns(keys: frozenset[str]) -> frozenset[str]:
    return frozenset(key for key in keys if key[0] not in "@~'")
