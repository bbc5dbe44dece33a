"""What tokens of a clause do: which one says what to do, and how well they name an action."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from contextui.agent.models.offline.lexicon.tables import NOTHING
from contextui.agent.models.offline.lexicon.verbs import GENERIC
from contextui.agent.models.offline.reading.clauses import Clause, is_telling, significant
from contextui.agent.models.offline.reading.token import Kind, Token
from contextui.agent.models.offline.shown.blocks import Action, WindowView
from contextui.agent.models.offline.shown.profiles import EXACT, GROUP, likeness, profile_of

_OPAQUE = (Kind.QUOTE, Kind.PATH, Kind.MARK, Kind.CLOCK)
_PLACES = ("~last", "~first", "#begin", "#finish")  # they name an item rather than an action
_FORBIDDING = ("don't", "do not", "never", "别", "不要", "不许", "别再")
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
    tokens = clause.tokens
    for place, token in enumerate(tokens):
        if is_telling(tokens, place):
            return None
        known = token.is_verb or is_declared(token, declared)
        if token.kind is not Kind.WORD or not known:
            continue
        polite = token.has("~polite", "~adverb", "~done_mark") and not token.keys & declared
        noun = _is_noun(tokens, place) or _describes(tokens, place)
        if not (polite or _only_leads(tokens, place) or noun):
            return place if token.is_verb else _unknown_verb(tokens, place)
    return _unknown_verb(tokens, None)


def is_negated(clause: Clause, head: int | None) -> bool:
    """Whether it says what not to do."""
    if _is_forbidden(clause.tokens):
        return True
    if head is None or not clause.tokens[head].is_verb:
        return False
    before = [one for one in clause.tokens[:head] if not one.has("~adverb", "~polite")]
    if before and before[-1].has("~not") and not before[-1].is_verb:
        return True
    token, after = clause.tokens[head], clause.tokens[head + 1 : head + 2]
    return token.has("~not") and bool(after) and after[0].is_verb


def plain_keys(token: Token) -> frozenset[str]:
    """A token's own words, without groups."""
    return frozenset(key for key in token.keys if key[0] not in "@#~'")


def is_declared(token: Token, declared: frozenset[str]) -> bool:
    """Whether a window names an action with this word, or with one that begins with it."""
    own = plain_keys(token)
    if own & declared:
        return True
    parts = [key for key in own if len(key) > 1 and not key.isascii()]
    return any(word.startswith(part) for word in declared for part in parts)


def is_generic(token: Token) -> bool:
    """Whether a verb says little by itself."""
    return not token.keys.isdisjoint(GENERIC)


def verb_score(clause: Clause, action: Action, window: WindowView, roles: Roles) -> float:
    """How well the words of a clause name an action; the tokens that do are noted."""
    profile = profile_of(action)
    score, bonus = 0.0, 0.0
    for place, token in enumerate(clause.tokens):
        if not token.keys or token.kind in _OPAQUE:
            continue
        if place in roles.mentions:
            bonus += 0.4 * likeness(token.keys, profile.every)
            continue
        by_name = likeness(token.keys, profile.names)
        later_part = by_name > likeness(token.keys, profile.names[:1])
        if place == roles.head and later_part and _is_verb(profile.names[0]):
            # What is said may only be a part of the name, or sound like one.
            by_name = by_name / 2 if by_name == EXACT else 0.0
        later = likeness(token.keys, profile.more_heads)
        by_head = max(likeness(token.keys, profile.heads), 0.7 * later)
        by_label = likeness(token.keys, profile.label)
        if place == roles.head:
            best = max(4.0 * by_name, 3.6 * by_head, 1.6 * by_label)
            score += best - (0.6 if 0 < best < 2.0 else 0.0)  # only related words, or of the label
            if max(by_name, by_head, by_label) > 0:
                roles.verbs.add(place)
        elif max(by_name, by_head, later, by_label) >= GROUP:
            telling = (
                (1.6 + 0.8 * (by_label == EXACT)) if _tells_apart(token, action, window) else 0.8
            )
            alone = 1.5 if roles.head is None else 1.0
            bonus += alone * max(2.0 * by_name, 1.5 * by_head, telling * by_label)
            if token.number is None and not token.has(*_PLACES):
                roles.verbs.add(place)
    return score + min(bonus, 5.0)


# --- within ------------------------------------------------------------------------------


def _unknown_verb(tokens: Sequence[Token], other: int | None) -> int | None:
    """The place of a first word that nobody knows, if it acts on what follows: "indent line 2".

    Args:
        tokens: What was said.
        other: The place of the word that is taken for the verb if it does not.
    """
    said = significant(tokens)
    first, after = (said[0], said[1]) if len(said) > 2 else (None, None)
    if first is None or after is None or first.kind is not Kind.WORD or not first.text.isalpha():
        return other
    if len(said) > 3 and after.text in ("out", "up", "off") and not first.is_verb:
        first, after = replace(first, keys=NOTHING), said[2]  # "comment out line 3"
    known = any(key[0] in "@#~" for key in first.keys) or not first.is_ascii or first.number
    return tokens.index(said[0]) if not known and after.has(*_DETERMINER, "~it", "#line") else other


def _is_forbidden(tokens: Sequence[Token]) -> bool:
    """Whether it begins with what forbids something: 别让…, "don't let …"."""
    first = next((one for one in tokens if not one.has("~adverb", "~polite")), None)
    return first is not None and first.text.casefold() in _FORBIDDING and not first.is_verb


def _is_verb(keys: frozenset[str]) -> bool:
    return any(key[0] == "@" for key in keys)


def _tells_apart(token: Token, action: Action, window: WindowView) -> bool:
    """Whether no other action of the window has this word."""
    return not any(
        likeness(token.keys, profile_of(other).every) >= GROUP
        for other in window.actions
        if other.id != action.id
    )


def _is_noun(tokens: Sequence[Token], place: int) -> bool:
    """Whether a word that could be a verb is a noun here: behind an article or a preposition."""
    before = tokens[place - 1] if place else None
    if before is None or not tokens[place].is_ascii or before.has("~to", "~polite"):
        return False
    if before.has(*_DETERMINER, "~of", "~in", "~with", "~for", "~by", "~from", "~as", "~all"):
        return True
    noun = before.is_ascii and bool(before.nouns) and not (before.is_small or before.is_verb)
    led = place > 1 and tokens[place - 2].has(*_DETERMINER)  # "my todo list"
    return noun and led and any(key[0] == "#" for key in tokens[place].keys)


def _describes(tokens: Sequence[Token], place: int) -> bool:
    """Whether a Chinese verb says what kind of thing is meant: 关于停车的那条."""
    after = tokens[place + 1 : place + 3]
    attributive = len(after) == 2 and after[0].text == "的" and not tokens[place].is_ascii
    return attributive and any(one.is_verb for one in tokens[place + 2 :])


def _only_leads(tokens: Sequence[Token], place: int) -> bool:
    """Whether a verb only leads to the real one: 用, 给, "改完", an interjection."""
    token, later = tokens[place], [one for one in tokens[place + 1 :] if one.is_verb]
    if not later:
        return False
    if token.has("~interjection", "~after_doing"):
        return True
    chinese = [one for one in later if not one.is_ascii]
    leading = token.has("~by", "~for", "~in", "~object", "~with", "~to")
    return bool(chinese) and not token.is_ascii and leading
