"""Answers to what was asked back: a fragment completes the old wish, a whole wish replaces it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

from contextui.agent.models.offline.answering import saying
from contextui.agent.models.offline.filling.frame import Frame
from contextui.agent.models.offline.filling.pointing import wants_item
from contextui.agent.models.offline.filling.sharing import value_of_words
from contextui.agent.models.offline.meaning.matching import Meaning, acting
from contextui.agent.models.offline.meaning.opening import opening
from contextui.agent.models.offline.planning.talking import clauses_in
from contextui.agent.models.offline.planning.wishing import Outcome, outcome_of, understand
from contextui.agent.models.offline.reading.clauses import Clause, significant
from contextui.agent.models.offline.reading.token import Kind, Token
from contextui.agent.models.offline.referring.mentions import mention_of
from contextui.agent.models.offline.shown.blocks import WindowView
from contextui.agent.models.offline.shown.items import PART, find_by_words, place_among
from contextui.agent.models.offline.shown.profiles import GROUP, likeness, profile_of
from contextui.agent.models.offline.shown.scene import Scene
from contextui.agent.models.offline.shown.surroundings import Surroundings
from contextui.words import Lang

_LONGEST = 200  # characters of words that can be the answer to a question
_NO_CHOICE = ("~polite", "~article", "~one", "~this", "~adverb", "~in", "~of", "~with", "~it",
              "~interjection", "~be", "~aspect", "~object")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Reply:
    """What an answer makes of the wish that was asked about, and the wishes behind that."""

    outcome: Outcome
    rest: tuple[Clause, ...] = ()


def reply_to_question(scene: Scene, around: Surroundings, lang: Lang) -> Reply | None:
    """What comes of the words as an answer; None if nothing was asked, or they are a new wish."""
    question = scene.said.rstrip().rsplit("\n\n", 1)[-1]
    if not scene.before or len(scene.words) > _LONGEST or not _is_question(question):
        return None
    words = clauses_in(scene.words, around)
    if len(words) != 1 or words[0].is_question or not significant(words[0].tokens):
        return None
    asked = _asked(question, scene.before, around)
    if asked is None:
        return None
    old, rest = asked
    if _is_wish(words[0]) and understand(words[0], around, lang).calls:
        return None
    meanings = [*acting(old, around), *opening(old, around)]
    chosen = _completed(words[0], old, meanings, question, around)
    outcome = outcome_of(chosen) if chosen is not None else None
    return Reply(outcome, rest) if outcome is not None else None


# --- what was asked ----------------------------------------------------------------------


@cache
def _questions() -> tuple[re.Pattern[str], ...]:
    """The sentences that ask something, as they look when they are filled in."""
    found = []
    for lang in saying.LANGUAGES:
        say = saying.phrases(lang)
        for sentence in (say.which_window, say.which_action, say.which_item, say.missing):
            parts = map(re.escape, re.split(r"\{\d\}", sentence))
            found.append(re.compile(".{0,2000}?".join(parts), re.DOTALL))
    return tuple(found)


def _is_question(text: str) -> bool:
    return any(one.fullmatch(text) for one in _questions())


def _asked(
    question: str, before: str, around: Surroundings
) -> tuple[Clause, tuple[Clause, ...]] | None:
    """The wish that a question was about, and those behind it, which had to wait."""
    clauses = clauses_in(before, around)
    for place, clause in enumerate(clauses):
        for lang in saying.LANGUAGES:
            if understand(clause, around, lang).text == question:
                return clause, tuple(clauses[place + 1 :])
    return (clauses[-1], ()) if len(clauses) == 1 else None


def _is_wish(clause: Clause) -> bool:
    """Whether it says what to do, rather than only what with."""
    said = significant(clause.tokens)
    return any(one.is_verb and not one.has("~one", "~last", "~this") for one in said)


# --- what the answer makes of it ---------------------------------------------------------


def _completed(
    words: Clause, old: Clause, meanings: Sequence[Meaning], question: str, around: Surroundings
) -> Meaning | None:
    """The meaning that the words choose or complete."""
    if not meanings:
        return None
    best = max(meanings, key=lambda one: one.score + 4.0 * len(one.filled.missing))
    if best.filled.missing:
        return _with_missing(best, words, old, around)
    if best.filled.unclear:
        return _with_item(best, words)
    offered = [one for one in meanings if one.is_sure and saying.offer(one) in question]
    if offered:
        return _picked_action(words, offered)
    window = _picked_window(words, [one for one in around.windows if one.id in question], question)
    return next((one for one in meanings if one.window is window), None) if window else None


def _with_missing(
    best: Meaning, words: Clause, old: Clause, around: Surroundings
) -> Meaning | None:
    frame = Frame(best.action, best.window, profile_of(best.action).verbs, around.last)
    first, *others = best.filled.missing
    if others:
        told = Token(":", old.tokens[-1].end, old.tokens[-1].end, Kind.MARK)
        both = Clause((*old.tokens, told, *words.tokens), f"{words.words}")
        found = [*acting(both, around), *opening(both, around)]
        same = [one for one in found if one.action == best.action and not one.filled.missing]
        return max(same, key=lambda one: one.score, default=None)
    value = value_of_words(words, first, frame)
    unknown = isinstance(value, str) and wants_item(first, frame) and value == words.text
    if value is None or unknown:
        return None
    params = {**best.filled.params, first.name: value}
    return replace(best, score=9.0, filled=replace(best.filled, params=params, missing=[]))


def _with_item(best: Meaning, words: Clause) -> Meaning | None:
    """The meaning with the one item among several that was meant."""
    place = place_among(words.tokens, len(best.filled.unclear))
    if place is None:
        said = _content(words)
        fits = [n for n, line in enumerate(best.filled.unclear) if said and said in line.casefold()]
        place = fits[0] if len(fits) == 1 else None
    if place is None:
        return None
    params = {
        name: best.filled.options[place] if value == best.filled.options[0] else value
        for name, value in best.filled.params.items()
    }
    return replace(best, score=9.0, filled=replace(best.filled, params=params, unclear=()))


def _picked_action(words: Clause, offered: Sequence[Meaning]) -> Meaning | None:
    place = place_among(words.tokens, len(offered))
    if place is not None:
        return offered[place]
    if len(offered) == 1 and any(one.has("~yes", "~polite") for one in words.tokens):
        return offered[0]
    said = [one for one in words.tokens if one.kind is Kind.WORD and not one.has(*_NO_CHOICE)]
    fits = [
        sum(likeness(one.keys, profile_of(meaning.action).every) >= GROUP for one in said)
        for meaning in offered
    ]
    best = max(fits, default=0)
    return offered[fits.index(best)] if best and fits.count(best) == 1 else None


def _picked_window(
    words: Clause, windows: Sequence[WindowView], question: str
) -> WindowView | None:
    """The window that an answer names: by its place in the question, its id, or what it shows."""
    named = sorted(windows, key=lambda one: question.find(one.id))
    place = place_among(words.tokens, len(named))
    if place is not None:
        return named[place]
    scores = [
        mention_of(words, one, strict=False)[0]
        + 3.0 * (find_by_words(one.items, _content(words)).fit >= PART)
        for one in named
    ]
    best = max(scores, default=0.0)
    return named[scores.index(best)] if best > 0 and scores.count(best) == 1 else None


def _content(words: Clause) -> str:
    """The words of an answer that say something."""
    said = [one for one in words.tokens if one.kind is not Kind.MARK and not one.has(*_NO_CHOICE)]
    return " ".join(one.text for one in said).casefold()
