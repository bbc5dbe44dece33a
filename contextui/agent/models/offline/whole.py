"""Values that are found in a clause as a whole: choices, yes or no, and what a label explains."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from contextui.agent.models.offline.blocks import Action
from contextui.agent.models.offline.clauses import Clause
from contextui.agent.models.offline.declared import Param
from contextui.agent.models.offline.lexicon.listed import listed
from contextui.agent.models.offline.lexicon.verbs import OPPOSITE
from contextui.agent.models.offline.profiles import EXACT, GROUP, likeness, profile_of
from contextui.agent.models.offline.roles import Roles
from contextui.agent.models.offline.values import choice_value
from contextui.agent.models.offline.words import Kind, Token, keys_of

_NEGATIVE = ("~not", "~no", "@off", "@stop", "@hide", "@pause", "@undone", "@undo")
_POSITIVE_NAMES = frozenset(listed("on enabled enable active value state yes show visible"))


@dataclass(frozen=True, slots=True)
class FromClause:
    """A value, how well it fits, and the tokens that it comes from."""

    value: Any
    score: float
    places: frozenset[int] = frozenset()


def from_whole_clause(
    clause: Clause, param: Param, action: Action, roles: Roles
) -> FromClause | None:
    """The value that a clause as a whole gives to a param."""
    kind = param.type
    if kind.choices and not kind.takes_text:
        return _choice(clause, param, roles)
    if kind.of is not None and kind.of.choices and not kind.of.takes_text:
        return _choices(clause, param, roles)
    if kind.is_bool:
        return _yes_or_no(clause, param, action)
    return _explained(clause, param, action)


def _choice(clause: Clause, param: Param, roles: Roles) -> FromClause | None:
    found = _named(clause.tokens, param.type.choices, roles)
    if not found:
        return None
    place, size, choice, sure = max(found, key=lambda one: (one[3], one[0]))
    return FromClause(choice_value(choice), 2.0 * sure, frozenset(range(place, place + size)))


def _choices(clause: Clause, param: Param, roles: Roles) -> FromClause | None:
    choices = param.type.of.choices if param.type.of else ()
    found = sorted(_named(clause.tokens, choices, roles))
    if not found:
        return None
    values = list(dict.fromkeys(choice_value(choice) for _, _, choice, _ in found))
    places = frozenset(p for place, size, _, _ in found for p in range(place, place + size))
    return FromClause(values, 2.0, places)


def _named(
    tokens: Sequence[Token], choices: Sequence[str], roles: Roles
) -> list[tuple[int, int, str, float]]:
    """Where choices are named: place, how many tokens, which, how sure. Of two the better one."""
    found: dict[int, tuple[int, int, str, float]] = {}
    for choice in choices[:60]:
        words = keys_of(choice) or (frozenset({choice.casefold()}),)
        for place in range(len(tokens)):
            part = tokens[place : place + len(words)]
            if len(part) < len(words) or any(one.kind is Kind.QUOTE for one in part):
                continue
            if place == roles.head and tokens[place].is_verb:
                continue
            sure = min(_said(one, word, choice) for one, word in zip(part, words, strict=True))
            if sure >= GROUP and (place not in found or sure > found[place][3]):
                found[place] = (place, len(words), choice, sure)
    return list(found.values())


def _said(token: Token, word: frozenset[str], choice: str) -> float:
    if token.text.casefold() == choice.casefold():
        return EXACT + 0.1
    return likeness(frozenset(key for key in token.keys if key[0] != "'"), (word,))


def _yes_or_no(clause: Clause, param: Param, action: Action) -> FromClause | None:
    name = tuple(map(_plain_or_noun, keys_of(param.name)))
    opposite = frozenset(
        f"@{OPPOSITE[key[1:]]}" for keys in name for key in keys
        if key[0] == "@" and key[1:] in OPPOSITE
    )  # fmt: skip
    said = [(n, one) for n, one in enumerate(clause.tokens) if one.kind is Kind.WORD]
    naming = [(n, one) for n, one in said if likeness(one.keys, name) >= GROUP]
    if any(
        max((likeness(one.keys, (part,)) for _, one in said), default=0) < GROUP for part in name
    ):
        naming = []  # of a name of several words all have to be said
    against = [one for _, one in said if one.has(*_NEGATIVE, *opposite) and not one.has("@on")]
    is_plain = not _POSITIVE_NAMES.isdisjoint(param.name.casefold().split("_"))
    switched_on = [one for _, one in said if one.has("@on", "@start", "@show", "~yes", "@resume")]
    if naming and not is_plain:
        places = frozenset(n for n, one in naming if not one.is_verb)
        return FromClause(not against, 0.8, places)
    if is_plain and against:
        return FromClause(False, 0.8)
    if param.optional:
        return None
    if switched_on or naming:
        return FromClause(True, 0.8)
    named = any(likeness(one.keys, profile_of(action).names) >= GROUP for _, one in said)
    return FromClause(True, 0.2) if named else None


def _plain_or_noun(keys: frozenset[str]) -> frozenset[str]:
    """A name without its groups of verbs, if it is more than a verb: "new" is not "open"."""
    nouns = frozenset(key for key in keys if key[0] != "@")
    return nouns if any(key[0] in "#~" for key in nouns) else keys


def _explained(clause: Clause, param: Param, action: Action) -> FromClause | None:
    """A value that the label explains in words, when those words are said."""
    for name, value, words in profile_of(action).hints:
        if name != param.name or not words:
            continue
        for place, token in enumerate(clause.tokens):
            if (
                token.kind is Kind.WORD
                and not token.is_small
                and likeness(token.keys, words) >= GROUP
            ):
                return FromClause(choice_value(value), 1.0, frozenset({place}))
            if token.has("@previous", "@up", "~before") and any(
                "~before" in keys or "@previous" in keys for keys in words
            ):
                return FromClause(choice_value(value), 1.0, frozenset({place}))
    return None
