"""Where something goes that is added: "at the top", though a window adds only at the end."""

from collections.abc import Sequence
from dataclasses import replace

from contextui.agent.models.offline.planning.moving import mover_of
from contextui.agent.models.offline.planning.wishing import Outcome, understand
from contextui.agent.models.offline.reading.clauses import Clause
from contextui.agent.models.offline.reading.token import Kind, Token
from contextui.agent.models.offline.shown.items import WORDS, find_by_words, main_items, place_among
from contextui.agent.models.offline.shown.profiles import profile_of
from contextui.agent.models.offline.shown.surroundings import Surroundings
from contextui.words import Lang


def added_at(clause: Clause, around: Surroundings, lang: Lang) -> Outcome | None:
    """ "Add tea at the top": what is added at the end is moved, where no param takes the place."""
    places = _place_phrase(clause.tokens)
    rest = tuple(one for n, one in enumerate(clause.tokens) if n not in places)
    if not places or len(rest) < 2:
        return None
    outcome = understand(Clause(rest, clause.words, anew=clause.anew), around, lang)
    meaning, made = outcome.meaning, _made(outcome)
    window = meaning.window if meaning is not None else None
    mover = mover_of(window) if window is not None else None
    if meaning is None or window is None or mover is None or made is None:
        return None
    pool = main_items(window)
    if find_by_words(pool, made).fit >= WORDS or any(one.is_place for one in meaning.action.params):
        return None  # it is there already, or goes there by itself
    at = place_among([clause.tokens[n] for n in sorted(places)], len(pool) + 1)
    if at is None or not mover.item.type.takes_text:
        return None
    moved = (mover.call_for(window, made, at),) if at < len(pool) else ()
    return replace(outcome, calls=(*outcome.calls, *moved))


def _made(outcome: Outcome) -> str | None:
    """The one text that a call adds; None if it is not one."""
    meaning = outcome.meaning
    if meaning is None or len(outcome.calls) != 1 or meaning.cls is not None:
        return None
    texts = [one for one in meaning.filled.params.values() if isinstance(one, str)]
    adds = not profile_of(meaning.action).verbs.isdisjoint(("@add", "@write"))
    return texts[0] if adds and len(meaning.filled.params) == len(texts) == 1 else None


def _place_phrase(tokens: Sequence[Token]) -> set[int]:
    """Where it stands that something goes to the top, or to the end, of a list."""
    for place, token in enumerate(tokens):
        if not token.has("#begin", "#finish"):
            continue
        first = place
        while first and tokens[first - 1].has("~article", "~at", "~in", "~to", "right", "very"):
            first -= 1
        after = tokens[place + 1] if place + 1 < len(tokens) else None
        if after is not None and after.kind is Kind.WORD and not (after.is_small or after.is_verb):
            continue  # "the top shelf"
        if first < place or not (token.is_ascii or token.is_verb):
            return set(range(first, place + 1))
    return set()
