"""What each token of a clause does: the verb, a mention of the window, a small word, the rest."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from contextui.agent.models.offline.blocks import ClassView, WindowView
from contextui.agent.models.offline.clauses import Clause
from contextui.agent.models.offline.lexicon.verbs import GENERIC
from contextui.agent.models.offline.profiles import GROUP, Profile, likeness, words_of
from contextui.agent.models.offline.words import Kind, Token

_BEFORE = ("~article", "~new_article", "~possessive", "~this", "~in", "~to", "~from", "~of",
           "~with", "~for", "~by", "~at", "~all", "~into", "~object", "~as")  # fmt: skip
_AROUND = ("~in", "~of", "~to", "~from", "~for", "~with", "~adverb", "~polite", "~then", "~by",
           "~every", "~be", "~as", "~called", "~saying", "~tagged", "~and", "~at", "~before",
           "~after")  # fmt: skip
_OPAQUE = (Kind.QUOTE, Kind.PATH, Kind.MARK)
_DETERMINER = ("~article", "~new_article", "~possessive", "~this")


@dataclass(slots=True)
class Roles:
    """Which tokens are explained already, by their places.

    Attributes:
        head: The verb that says what to do, if there is one.
        verbs: Tokens that name the action.
        mentions: Tokens that name the window or the class.
    """

    head: int | None = None
    verbs: set[int] = field(default_factory=set)
    mentions: set[int] = field(default_factory=set)

    def explains(self, place: int) -> bool:
        """Whether this token is no part of any value."""
        return place in self.verbs or place in self.mentions


def head_of(clause: Clause, declared: frozenset[str]) -> int | None:
    """The place of the verb that says what to do.

    Args:
        clause: What was said.
        declared: The words with which open windows name their actions.
    """
    for place, token in enumerate(clause.tokens):
        if token.kind is not Kind.WORD:
            continue
        known = token.is_verb or bool(plain_keys(token) & declared)
        if _leads_on(clause.tokens, place):
            continue
        polite = token.has("~polite", "~adverb", "~done_mark") and not token.keys & declared
        if known and not (polite and not _is_strong(token)) and not _is_noun(clause.tokens, place):
            return place
    return None


def plain_keys(token: Token) -> frozenset[str]:
    """A token's own words, without groups."""
    return frozenset(key for key in token.keys if key[0] not in "@#~'")


def is_generic(token: Token) -> bool:
    """Whether a verb says little by itself."""
    return not token.keys.isdisjoint(GENERIC)


def verb_score(clause: Clause, profile: Profile, roles: Roles) -> float:
    """How well the words of a clause name an action; the tokens that do are noted."""
    score, bonus = 0.0, 0.0
    for place, token in enumerate(clause.tokens):
        if not token.keys or token.kind in _OPAQUE:
            continue
        if place in roles.mentions:
            bonus += 0.4 * likeness(token.keys, profile.every)
            continue
        by_name = likeness(token.keys, profile.names)
        by_head = max(likeness(token.keys, profile.heads[:1]),
                      0.7 * likeness(token.keys, profile.heads[1:]))  # fmt: skip
        by_label = likeness(token.keys, profile.label)
        if place == roles.head:
            score += max(4.0 * by_name, 3.6 * by_head, 1.6 * by_label)
            if max(by_name, by_head, by_label) > 0:
                roles.verbs.add(place)
        elif max(by_name, likeness(token.keys, profile.heads), by_label) >= GROUP:
            first = 1.5 if roles.head is None else 1.0
            bonus += first * max(2.0 * by_name, 1.5 * by_head, 0.8 * by_label)
            if token.kind is not Kind.NUMBER:
                roles.verbs.add(place)
    return score + min(bonus, 4.0)


def mention_of(
    clause: Clause, view: WindowView | ClassView, strict: bool = True
) -> tuple[float, set[int]]:
    """How clearly a window or a class is named, and by which tokens.

    Args:
        clause: What was said.
        view: The window or the class.
        strict: Count a word only where a window can be meant, not amid other words.
    """
    name, first, rest = words_of(view)
    score, places = 0.0, set[int]()
    seen: set[frozenset[str]] = set()
    for start, end in _runs(clause.tokens, view):
        if strict and not _stands_free(clause.tokens, start, end):
            continue
        for place in range(start, end):
            token = clause.tokens[place]
            places.add(place)
            if isinstance(view, WindowView) and token.text.casefold() == view.id.casefold():
                score += 6.0
            elif token.keys not in seen:
                by_name = likeness(token.keys, name)
                in_name = 2.6 if token.text.casefold() in view.name else 2.2
                score += max(
                    in_name * by_name if by_name >= GROUP else 0.0,
                    1.1 * likeness(token.keys, first),
                    0.6 * likeness(token.keys, rest),
                )
            seen.add(token.keys)
    return min(score, 6.0), places


def led_mention(clause: Clause, view: WindowView | ClassView) -> float:
    """How clearly it is named as the place of something ("to my list", "在清单里")."""
    score, places = mention_of(clause, view)
    first = min(places, default=0)
    led = first > 0 and clause.tokens[first - 1].has(*_BEFORE)
    return score if led else 0.0


# --- within ------------------------------------------------------------------------------


def _runs(tokens: Sequence[Token], view: WindowView | ClassView) -> list[tuple[int, int]]:
    """Neighbouring tokens that can name this view."""
    runs, start = list[tuple[int, int]](), -1
    for place in range(len(tokens) + 1):
        if place < len(tokens) and _names(tokens[place], view):
            start = place if start < 0 else start
        elif start >= 0:
            runs.append((start, place))
            start = -1
    return runs


def _names(token: Token, view: WindowView | ClassView) -> bool:
    if token.kind is not Kind.WORD or (token.is_small and not token.has("#window", "#list")):
        return False
    if isinstance(view, WindowView) and token.text.casefold() == view.id.casefold():
        return True
    nouns = frozenset(key for key in token.keys if key[0] != "@")
    if token.has("#window"):
        return True
    return any(likeness(nouns, words) >= GROUP for words in words_of(view))


def _stands_free(tokens: Sequence[Token], start: int, end: int) -> bool:
    """Whether what stands here can be a thing of its own, not a part of other words."""
    before = tokens[start - 1] if start else None
    after = tokens[end] if end < len(tokens) else None
    introduced = before is not None and before.has(*_BEFORE)
    ends = after is None or after.kind in (Kind.MARK, Kind.NUMBER) or after.has(*_AROUND)
    if after is not None and not ends and not after.text.isascii():
        ends = after.is_verb
    if before is None or introduced:
        return ends
    follows_verb = before.is_verb or before.kind in (Kind.MARK, Kind.NUMBER)
    return ends and (follows_verb and (after is None or after.kind is Kind.MARK
                                       or not after.has("~of")))  # fmt: skip


def _is_noun(tokens: Sequence[Token], place: int) -> bool:
    """Whether a word that could be a verb is a noun here: behind an article or a preposition."""
    before = tokens[place - 1] if place else None
    if before is None or not tokens[place].text.isascii():
        return False
    if before.has("~to") or before.has("~polite"):
        return False
    return before.has(*_DETERMINER, "~of", "~in", "~with", "~for", "~by", "~from", "~as", "~all")


def _leads_on(tokens: Sequence[Token], place: int) -> bool:
    """Whether a Chinese verb is a preposition here (用, 给, 在): the real one comes later."""
    token = tokens[place]
    if token.text.isascii() or not token.has("~by", "~for", "~in", "~object", "~with"):
        return False
    return any(one.is_verb and not one.text.isascii() for one in tokens[place + 1 :])


def _is_strong(token: Token) -> bool:
    """Whether a word that may be politeness is a verb rather than that."""
    return token.is_verb and not token.has("~polite")
