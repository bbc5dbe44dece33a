"""Another order of what a window lists, where it can only move things to a place."""

from collections.abc import Sequence

from contextui.agent.models.offline.filling.pointing import run_of_items
from contextui.agent.models.offline.parting.runs import Run
from contextui.agent.models.offline.planning.moving import mover_of
from contextui.agent.models.offline.planning.placing import added_at
from contextui.agent.models.offline.planning.wishing import Outcome
from contextui.agent.models.offline.reading.clauses import COMMAS, Clause, parts_of
from contextui.agent.models.offline.reading.token import Kind, Token
from contextui.agent.models.offline.referring.mentions import mention_of
from contextui.agent.models.offline.referring.roles import head_of
from contextui.agent.models.offline.shown.blocks import Item, WindowView
from contextui.agent.models.offline.shown.items import (
    WORDS,
    find_by_place,
    find_by_words,
    main_items,
    place_among,
)
from contextui.agent.models.offline.shown.profiles import profile_of
from contextui.agent.models.offline.shown.surroundings import Surroundings
from contextui.words import Lang

_UP, _DOWN = ("@up", "@previous"), ("@down", "@next")
_BESIDES = ("~article", "~polite", "~adverb", "~object", "~person", "~interjection", "~aspect")
_STEPS = ("#place", "#step", "#line", "~one", "~by", "~article")


def rearranged(clause: Clause, around: Surroundings, lang: Lang) -> Outcome | None:
    """The calls that swap two things or shift one; None if that is not what is wished for."""
    head = head_of(clause, around.declared())
    if head is None or clause.is_question:
        return None
    verb, rest = clause.tokens[head], _rest(clause, head)
    if verb.has("@swap") and not _declared(around, "@swap"):
        return _swapped(clause, verb, rest, around)
    moved: Outcome | None = None
    moves = any(one.has("@move") for one in clause.tokens)
    if moves and verb.has("@move", *_UP, *_DOWN) and not _declared(around, *_UP, *_DOWN):
        moved = _shifted(clause, verb, rest, around)
    if moved is None and verb.has("make", "让"):
        moved = _placed(clause, rest, around)
    adds = moved is None and verb.has("@add", "@write")
    return added_at(clause, around, lang) if adds else moved


# --- the three ways ----------------------------------------------------------------------


def _swapped(
    clause: Clause, verb: Token, rest: Sequence[Token], around: Surroundings
) -> Outcome | None:
    for window in _windows(clause, around):
        pool = main_items(window)
        pair = _two_of(pool, rest, clause.words)
        if pair is None:
            continue
        mover = mover_of(window)
        if mover is None:  # nothing else may come of it, such as one in place of the other
            return Outcome()
        upper, lower = sorted(pool.index(one) for one in pair)
        calls = [mover.call(window, pool, lower, upper)]
        if lower - upper > 1:  # the one that gave way stands behind it now
            calls.append(mover.call(window, pool, upper, lower))
        return Outcome(tuple(calls), score=9.0)
    replaces = any(one.has("~with", "~for", "~to", "~by") for one in rest)
    places = any(one.number or one.has("~and", "~first", "~last") for one in rest)
    return Outcome() if places and not replaces and not verb.has("@toggle") else None


def _shifted(
    clause: Clause, verb: Token, rest: Sequence[Token], around: Surroundings
) -> Outcome | None:
    way = next((one for one in (verb, *rest) if one.has(*_UP, *_DOWN)), None)
    if way is None or any(one.has("~to", "#begin", "#finish") for one in rest):
        return None
    counts = [one for one in rest if one.number and not one.number.ordinal]
    steps = int(counts[0].number.value) if counts and counts[0].number else 1
    named = [one for one in rest if one is not way and one not in counts[:1]]
    named = [one for one in named if one.is_ascii or not one.has("@move")]
    while named and named[-1].has(*_STEPS) and len(named) > 1:
        named = named[:-1]
    for window in _windows(clause, around):
        pool, mover = main_items(window), mover_of(window)
        item = _one_of(pool, named, clause.words)
        if item is None or mover is None:
            continue
        place = pool.index(item) + (-steps if way.has(*_UP) else steps)
        place = min(max(place, 0), len(pool) - 1)
        return Outcome((mover.call(window, pool, pool.index(item), place),), score=9.0)
    return None


def _placed(clause: Clause, rest: Sequence[Token], around: Surroundings) -> Outcome | None:
    """ "Make eggs the first one": what is shown is moved, not made once more."""
    where = [
        one for one in rest if one.has("~first", "~last") or (one.number and one.number.ordinal)
    ]
    named = [one for one in rest if one not in where and not one.has("~one", "~be")]
    if len(where) != 1 or not named or rest.index(where[0]) < rest.index(named[-1]):
        return None
    for window in _windows(clause, around):
        pool, mover = main_items(window), mover_of(window)
        item, place = _one_of(pool, named, clause.words), place_among(where, len(pool))
        if item is not None and place is not None and mover is not None:
            return Outcome((mover.call(window, pool, pool.index(item), place),), score=9.0)
    return None


# --- within ------------------------------------------------------------------------------


def _declared(around: Surroundings, *verbs: str) -> bool:
    """Whether a window has an action that is named after one of these."""
    names = [keys for one in around.windows for action in one.actions
             for keys in profile_of(action).names]  # fmt: skip
    return any(not keys.isdisjoint(verbs) for keys in names)


def _rest(clause: Clause, head: int) -> list[Token]:
    """What stands beside the verb, and says something."""
    said = [one for place, one in enumerate(clause.tokens) if place != head]
    said = [one for one in said if one.kind is not Kind.MARK or one.text in COMMAS]
    return [one for one in said if not one.has(*_BESIDES) or one.has("~one")]


def _windows(clause: Clause, around: Surroundings) -> list[WindowView]:
    """The open windows, the named and the latest first."""
    used = {one: place for place, one in enumerate(around.used)}
    return sorted(
        around.windows,
        key=lambda one: (mention_of(clause, one)[0] < 2.0, used.get(one.id, len(used))),
    )


def _two_of(pool: Sequence[Item], tokens: Sequence[Token], words: str) -> list[Item] | None:
    """The two things that are named: each by its words or its place, or "the first two"."""
    commas = [Token(",", one.start, one.end, Kind.MARK) if one.has("~with", "~and") else one
              for one in tokens]  # fmt: skip
    parts = parts_of(commas)
    if len(parts) == 2:
        found = [_one_of(pool, part, words) for part in parts]
        return [one for one in found if one] if None not in found and found[0] != found[1] else None
    if len(parts) != 1:
        return None
    some = run_of_items(Run(tuple(parts[0]), frozenset(), words), pool)
    some = some or (list(pool) if any(one.has("~both") for one in tokens) else [])
    return some if len(some) == 2 else None


def _one_of(pool: Sequence[Item], tokens: Sequence[Token], words: str) -> Item | None:
    """The one thing that is named, by its words or its place."""
    if not tokens:
        return None
    found = find_by_words(pool, words[tokens[0].start : tokens[-1].end])
    if found.fit >= WORDS:
        return found.items[0] if len(found.items) == 1 else None
    return find_by_place(pool, tokens)
