"""Slips of the fingers: "delte milk", "to my lsit". Verbs and windows are read so, no values."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import lru_cache

from contextui.agent.models.offline.lexicon.listed import listed
from contextui.agent.models.offline.lexicon.tables import plain_verbs
from contextui.agent.models.offline.reading.clauses import Clause, significant
from contextui.agent.models.offline.reading.token import Kind, Token
from contextui.agent.models.offline.reading.words import keys_of
from contextui.agent.models.offline.shown.blocks import ClassView, WindowView
from contextui.agent.models.offline.shown.surroundings import Surroundings

_WORD = re.compile(r"[a-z]{4,}")
_LEADS = ("~in", "~to", "~from")
_BETWEEN = ("~article", "~possessive", "~this", "~new_article")
_OPENING = ("@open", "@close", "@show")
_HARMFUL = tuple(f"@{one}" for one in listed("remove clear reset close stop undo"))
_SURE = 5  # letters of a verb that takes something away


def with_names_right(clause: Clause, around: Surroundings) -> Clause:
    """A clause whose windows are spelled right, where one is spoken of ("to my lsit")."""
    places = [n for n in range(1, len(clause.tokens)) if _is_strange(clause.tokens[n])
              and _is_slot(clause, n)]  # fmt: skip
    if not places:
        return clause
    views: list[WindowView | ClassView] = [*around.windows, *around.classes]
    names = _names(tuple((one.name, one.description) for one in views))
    tokens = list(clause.tokens)
    for place in places:
        keys = _meant(tokens[place].text, names)
        tokens[place] = replace(tokens[place], keys=tokens[place].keys | keys)
    return replace(clause, tokens=tuple(tokens))


def with_verb_right(clause: Clause) -> Clause | None:
    """A clause whose first word is spelled right as a verb; None if it is none."""
    said = significant(clause.tokens)
    if len(said) < 2 or not _is_strange(said[0]) or said[1].kind is Kind.MARK:
        return None
    keys = _meant(said[0].text, plain_verbs())
    harms = not keys.isdisjoint(_HARMFUL)
    if not keys or (harms and len(said[0].text) < _SURE):
        return None
    place = clause.tokens.index(said[0])
    verb = replace(said[0], keys=keys)
    return replace(clause, tokens=(*clause.tokens[:place], verb, *clause.tokens[place + 1 :]))


# --- within ------------------------------------------------------------------------------


def _is_strange(token: Token) -> bool:
    """Whether a word is one that no lexicon knows."""
    plain = token.kind is Kind.WORD and token.is_ascii and token.text.isalpha() and not token.number
    return plain and len(token.text) > 1 and not any(key[0] in "@#~" for key in token.keys)


def _is_slot(clause: Clause, place: int) -> bool:
    """Whether a window can be named here: behind "to my", or behind "open the"."""
    before = place - 1
    while before and clause.tokens[before].has(*_BETWEEN):
        before -= 1
    token, after = clause.tokens[before], clause.tokens[place + 1 : place + 2]
    ends = not after or after[0].kind is Kind.MARK or after[0].is_small
    return ends and token.has(*_LEADS, *_OPENING) and (before < place - 1 or token.is_verb)


@lru_cache(maxsize=64)
def _names(views: tuple[tuple[str, str], ...]) -> Mapping[str, frozenset[str]]:
    """The words that windows and classes are named by, with their keys."""
    firsts = [f"{name} {re.split('[.:;]', about, maxsplit=1)[0]}" for name, about in views]
    words = {word for one in firsts for word in _WORD.findall(one.casefold())}
    return {word: keys[0] for word in words if (keys := keys_of(word))}


def _meant(said: str, words: Mapping[str, frozenset[str]]) -> frozenset[str]:
    """The keys of the one word that it is a slip away from; none if there are several."""
    word = said.casefold()
    found = {words[one] for one in _neighbours(tuple(words)).get(word, ()) if _is_slip(word, one)}
    for shorter in _without_one(word):
        near = _neighbours(tuple(words)).get(shorter, ())
        found |= {words[one] for one in near if _is_slip(word, one)}
    return found.pop() if len(found) == 1 else frozenset()


@lru_cache(maxsize=64)
def _neighbours(words: tuple[str, ...]) -> Mapping[str, tuple[str, ...]]:
    """Words by themselves, and by what is left of them without one letter."""
    found: dict[str, list[str]] = {}
    for word in words:
        for one in {word, *_without_one(word)}:
            found.setdefault(one, []).append(word)
    return {one: tuple(near) for one, near in found.items()}


def _without_one(word: str) -> Iterable[str]:
    return {word[:n] + word[n + 1 :] for n in range(len(word))}


def _is_slip(said: str, word: str) -> bool:
    """Whether one letter is missing, too many or wrong, or two stand the other way round."""
    if said == word or said[:1] != word[:1]:
        return False
    start = next((n for n, (a, b) in enumerate(zip(said, word, strict=False)) if a != b),
                 min(len(said), len(word)))  # fmt: skip
    a, b = said[start:], word[start:]
    swapped = len(a) > 1 and len(b) > 1 and a[:2] == b[1::-1] and a[2:] == b[2:]
    return swapped or a[1:] == b[1:] or a == b[1:] or a[1:] == b
