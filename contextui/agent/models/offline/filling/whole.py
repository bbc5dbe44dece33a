"""Values that are found in a clause as a whole: choices, yes or no, and what a label explains."""

from collections.abc import Sequence

from contextui.agent.models.offline.filling.choosing import FromClause, choice_of, choices_of
from contextui.agent.models.offline.filling.frame import Frame
from contextui.agent.models.offline.filling.values import choice_value
from contextui.agent.models.offline.lexicon.listed import listed
from contextui.agent.models.offline.lexicon.verbs import OPPOSITE
from contextui.agent.models.offline.reading.clauses import Clause
from contextui.agent.models.offline.reading.token import Kind, Token
from contextui.agent.models.offline.reading.words import keys_of
from contextui.agent.models.offline.referring.roles import Roles
from contextui.agent.models.offline.shown.blocks import Action
from contextui.agent.models.offline.shown.declared import Param
from contextui.agent.models.offline.shown.profiles import GROUP, Words, likeness, profile_of

_AGAINST = (
    "~not",
    "~no",
    "@off",
    "@stop",
    "@hide",
    "@pause",
    "@undone",
    "@undo",
    "@remove",
    "@close",
)
_FOR = ("@on", "@start", "@show", "~yes", "@resume", "@add", "@open", "@keep")
_SWITCHES = frozenset(listed("on enabled enable active value state yes show visible"))


def from_whole_clause(
    clause: Clause, param: Param, frame: Frame, roles: Roles
) -> FromClause | None:
    """The value that a clause as a whole gives to a param."""
    kind, action = param.type, frame.action
    if kind.choices and not kind.takes_text:
        return choice_of(clause, param, roles)
    if kind.of is not None and kind.of.choices and not kind.of.takes_text:
        return choices_of(clause, param, frame, roles)
    if kind.is_bool:
        return _yes_or_no(clause, param, action, roles)
    return _explained(clause, param, action)


# --- yes or no ---------------------------------------------------------------------------


def _yes_or_no(clause: Clause, param: Param, action: Action, roles: Roles) -> FromClause | None:
    name = tuple(map(_plain_or_noun, keys_of(param.name)))
    said = [(n, one) for n, one in enumerate(clause.tokens) if one.kind is Kind.WORD]
    own = [key for keys in profile_of(action).names for key in keys if key[0] == "@"]
    against = [n for n, one in said if one.has(*_AGAINST, *_opposites(name, action)) and (
        n == roles.head or not one.has("@on")) and not one.has(*own)]  # fmt: skip
    in_favour = [n for n, one in said if one.has(*_FOR)]
    if not _SWITCHES.isdisjoint(param.name.casefold().split("_")):
        return _switched(against, in_favour, param, _is_named(said, action))
    if (stated := _stated(said, param)) is not None and _is_named(said, action):
        return stated
    naming = [n for n, one in said if likeness(one.keys, name) >= GROUP]
    whole = all(any(likeness(one.keys, (part,)) >= GROUP for _, one in said) for part in name)
    if not naming or not whole:
        return None if param.optional or not _is_named(said, action) else FromClause(True, 0.2)
    places = frozenset(n for n in naming if not clause.tokens[n].is_verb)
    return FromClause(not against, 0.8, places)


def _stated(said: Sequence[tuple[int, Token]], param: Param) -> FromClause | None:
    """A yes or no that is named after one of two contraries: "shut" where `open` is asked for."""
    if param.optional or len(keys_of(param.name)) != 1:
        return None
    groups = {key for keys in keys_of(param.name) for key in keys if key[1:] in OPPOSITE}
    contrary = {f"@{OPPOSITE[one[1:]]}" for one in groups if one[0] == "@"}
    for value, wanted in ((False, contrary), (True, groups)):
        places = frozenset(n for n, one in said if wanted and one.has(*wanted))
        if places:
            return FromClause(value, 0.8, verbs=places)
    return None


def _switched(
    against: Sequence[int], in_favour: Sequence[int], param: Param, named: bool
) -> FromClause | None:
    """On or off, as the verbs say."""
    if against:
        return FromClause(False, 0.8, verbs=frozenset(against))
    if param.optional:
        return None
    if in_favour:
        return FromClause(True, 0.8, verbs=frozenset(in_favour))
    return FromClause(True, 0.2) if named else None


def _opposites(name: Words, action: Action) -> frozenset[str]:
    groups = {
        key[1:] for keys in (*name, *profile_of(action).names) for key in keys if key[0] == "@"
    }
    return frozenset(f"@{OPPOSITE[one]}" for one in groups if one in OPPOSITE)


def _is_named(said: Sequence[tuple[int, Token]], action: Action) -> bool:
    return any(likeness(one.keys, profile_of(action).names) >= GROUP for _, one in said)


def _plain_or_noun(keys: frozenset[str]) -> frozenset[str]:
    """A name without its groups of verbs, if it is more than a verb: "new" is not "open"."""
    nouns = frozenset(key for key in keys if key[0] != "@")
    return nouns if any(key[0] in "#~" for key in nouns) else keys


# --- what a label explains ---------------------------------------------------------------


def _explained(clause: Clause, param: Param, action: Action) -> FromClause | None:
    """A value that the label explains in words, when those words are said."""
    for name, value, words in profile_of(action).hints:
        if name != param.name:
            continue
        backwards = any(keys & {"~before", "@previous"} for keys in words)
        for place, token in enumerate(clause.tokens):
            said = not token.is_small and likeness(token.keys, words) >= GROUP
            back = backwards and token.has("@previous", "@up", "~before")
            if token.kind is Kind.WORD and (said or back):
                return FromClause(choice_value(value), 1.0, frozenset({place}))
    return None
