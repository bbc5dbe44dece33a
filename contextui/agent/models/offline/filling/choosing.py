"""Values that are chosen from what is declared: one of several, some of them, all but some."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from contextui.agent.models.offline.filling.frame import Frame
from contextui.agent.models.offline.filling.values import choice_value
from contextui.agent.models.offline.lexicon.verbs import OPPOSITE
from contextui.agent.models.offline.reading.clauses import Clause
from contextui.agent.models.offline.reading.token import Kind, Token
from contextui.agent.models.offline.reading.words import keys_of
from contextui.agent.models.offline.referring.roles import Roles
from contextui.agent.models.offline.shown.declared import Param
from contextui.agent.models.offline.shown.profiles import EXACT, GROUP, likeness

_MORE = ("also", "too", "as well", "again", "也", "还", "再")  # what is shown stays


@dataclass(frozen=True, slots=True)
class FromClause:
    """A value, how well it fits, and the tokens that it comes from.

    Attributes:
        value: What the param is given.
        score: How well it fits.
        places: Tokens that are nothing else.
        verbs: Verbs that it comes from.
    """

    value: Any
    score: float
    places: frozenset[int] = frozenset()
    verbs: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True, order=True)
class _Named:
    place: int
    size: int
    choice: str
    sure: float

    @property
    def places(self) -> range:
        return range(self.place, self.place + self.size)


def choice_of(clause: Clause, param: Param, roles: Roles) -> FromClause | None:
    """The one of several that a clause names."""
    found = _named(clause.tokens, param.type.choices, roles)
    if not found:
        return None
    best = max(found, key=lambda one: (one.sure, one.place))
    score = 3.0 if best.sure > EXACT else 2.0 * best.sure
    places = frozenset(best.places) | _naming(clause.tokens, best, param)
    return FromClause(choice_value(best.choice), score, places)


def _naming(tokens: Sequence[Token], best: _Named, param: Param) -> frozenset[int]:
    """The param's own name beside its value: "eco mode", "mode eco"."""
    beside = (best.place - 1, best.place + best.size)
    names = keys_of(param.name)
    return frozenset(
        n for n in beside if 0 <= n < len(tokens) and likeness(tokens[n].nouns, names) >= GROUP
    )


def choices_of(clause: Clause, param: Param, frame: Frame, roles: Roles) -> FromClause | None:
    """Those of several that a clause names; "hide the disk" means those shown but for it."""
    choices = param.type.of.choices if param.type.of else ()
    found = sorted(_named(clause.tokens, choices, roles))
    if not found:
        return _all_of(clause, choices, frame, roles)
    named = list(dict.fromkeys(one.choice for one in found))
    shown = _shown(choices, frame)
    places = frozenset(place for one in found for place in one.places)
    if shown and roles.head is not None and _is_contrary(clause.tokens[roles.head], frame):
        left = [one for one in shown if one not in named]
        values = [choice_value(one) for one in left]
        return FromClause(values, 4.2, places, frozenset({roles.head})) if left else None
    if any(one.text.casefold() in _MORE for one in clause.tokens):
        named = [one for one in choices if one in named or one in shown]
    return FromClause([choice_value(one) for one in named], 2.0, places)


def _all_of(
    clause: Clause, choices: Sequence[str], frame: Frame, roles: Roles
) -> FromClause | None:
    """Every choice, where the verb of the action and "everything" is all that is said."""
    said = [n for n, one in enumerate(clause.tokens) if one.kind is not Kind.MARK]
    every = frozenset(n for n in said if clause.tokens[n].has("~all", "@unfilter"))
    plain = all(n == roles.head or clause.tokens[n].is_small or n in roles.mentions for n in said)
    acts = roles.head is not None and clause.tokens[roles.head].has(*frame.verbs, "@unfilter")
    if not (every and plain and acts):
        return None
    return FromClause([choice_value(one) for one in choices], 3.0, every - {roles.head})


def _shown(choices: Sequence[str], frame: Frame) -> list[str]:
    """The choices that a window shows now."""
    items = frame.window.items if frame.window is not None else ()
    there = {one.tag.casefold() for one in items} | {one.text.casefold() for one in items}
    return [one for one in choices if one.casefold() in there]


def _is_contrary(verb: Token, frame: Frame) -> bool:
    """Whether a verb takes away what the action brings."""
    contrary = {f"@{OPPOSITE[key[1:]]}" for key in frame.verbs if key[1:] in OPPOSITE}
    return verb.has(*contrary, "@remove") and not verb.has(*frame.verbs)


def _named(tokens: Sequence[Token], choices: Sequence[str], roles: Roles) -> list[_Named]:
    """Where choices are named; of two at one place the surer one."""
    found: dict[int, _Named] = {}
    for choice in choices[:60]:
        words = keys_of(choice) if choice.isascii() else ()
        words = words or (frozenset({choice.casefold()}),)
        for place in range(len(tokens) - len(words) + 1):
            part = tokens[place : place + len(words)]
            if any(one.kind is Kind.QUOTE for one in part) or place == roles.head:
                continue
            sure = min(_said(one, word, choice) for one, word in zip(part, words, strict=True))
            if sure >= GROUP and (place not in found or sure > found[place].sure):
                found[place] = _Named(place, len(words), choice, sure)
    return list(found.values())


def _said(token: Token, word: frozenset[str], choice: str) -> float:
    if token.text.casefold() == choice.casefold():
        return EXACT + 0.1
    return likeness(frozenset(key for key in token.keys if key[0] != "'"), (word,))
