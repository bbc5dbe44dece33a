"""What the words leave unsaid, and what they say beyond an action: how well the two fit."""

from collections.abc import Sequence

from contextui.agent.models.offline.filling.filled import Filled
from contextui.agent.models.offline.meaning.caution import is_harmful
from contextui.agent.models.offline.reading.clauses import Clause
from contextui.agent.models.offline.reading.token import Kind, Token
from contextui.agent.models.offline.reading.words import keys_of
from contextui.agent.models.offline.referring.mentions import PLACING, is_named
from contextui.agent.models.offline.referring.roles import Roles
from contextui.agent.models.offline.shown.blocks import Action, WindowView
from contextui.agent.models.offline.shown.profiles import (
    EXACT,
    GROUP,
    RELATED,
    Words,
    likeness,
    profile_of,
)


def meant_otherwise(clause: Clause, window: WindowView, action: Action, roles: Roles) -> float:
    """What speaks against it: words that would be plain text here, but belong to another action."""
    rivals = [one for one in window.actions if one.id != action.id]
    labels = [profile_of(one).label for one in rivals]
    choices = [choice_words(one) for one in rivals]
    own = (*profile_of(action).every, *choice_words(action))
    head = clause.tokens[roles.head] if roles.head is not None else None
    guessed = head is not None and likeness(head.keys, own) < GROUP
    weight = 0.0
    for place, token in enumerate(clause.tokens):
        free = token.kind is Kind.WORD and not token.is_small and place not in roles.verbs
        about = place > 0 and place - 1 == roles.head and not is_named(token, window)
        free = free and (place not in roles.mentions or (guessed and about))
        if free and likeness(token.nouns, own) < GROUP:
            spelled = guessed and any(_has_word(token, one) for one in labels)
            exact = any(likeness(token.nouns, one) == EXACT for one in labels)
            weight += 0.9 * spelled or 0.7 * exact
            weight += 1.4 * any(likeness(token.nouns, one) == EXACT for one in choices)
    return weight


def _has_word(token: Token, words: Words) -> bool:
    """Whether a word itself is among these, not only one that means about the same."""
    return any(key[0] not in "@#~'" for keys in words for key in token.nouns & keys)


def loose_words(clause: Clause, window: WindowView, action: Action, roles: Roles) -> int:
    """Words that only the window's description has, where what is acted on is said."""
    every = profile_of(action).every
    return sum(
        1
        for place in roles.mentions
        if not clause.tokens[place].has("#window")
        and not is_named(clause.tokens[place], window)
        and not any(one.has(*PLACING) for one in clause.tokens[max(place - 2, 0) : place])
        and likeness(clause.tokens[place].keys, every) < GROUP
        and _is_choice_elsewhere(clause.tokens[place], window, action)
    )  # fmt: skip


def unsaid_words(clause: Clause, action: Action, filled: Filled) -> float:
    """What an action's declaration says beyond what was said ("all" in "expand all")."""
    profile, tokens = profile_of(action), [one for one in clause.tokens if one.kind is Kind.WORD]
    chinese = [one for one in tokens if not one.is_ascii]
    if any(likeness(one.keys, (*profile.heads, *profile.label)) == EXACT for one in chinese):
        return 0.0  # the label is in the person's language, the name need not be
    names = profile.names
    said = [one.keys for one in tokens]
    said += [keys for name in filled.params for keys in keys_of(name)]
    unsaid = [one for one in names if not _is_said(one, said)]
    verb = len(names) > 1 and names[0] in unsaid and any(key[0] == "@" for key in names[0])
    special = (*profile.label, *profile.more_heads)
    vague = bool(unsaid and special) and not action.params
    vague = vague and not any(_is_said(one, said, GROUP) for one in special)
    harm = is_harmful(action) and not verb and len(names) > 1 and bool(unsaid)
    return (0.4 if len(names) > 1 else 0.1) * len(unsaid) + 1.6 * verb + 1.5 * vague + 2.5 * harm


def is_complete(filled: Filled, action: Action) -> bool:
    """Whether everything that an action needs was said, and nothing besides."""
    return bool(action.params) and not filled.missing and not filled.left_weight


def is_spelled_out(clause: Clause, action: Action) -> bool:
    """Whether what was said is what the label says, in two words or more: "next page"."""
    profile = profile_of(action)
    words = [one for one in clause.tokens if one.kind is Kind.WORD]
    said = [one for one in words if not one.is_small or one.is_verb]
    return len(said) > 1 and all(likeness(one.keys, profile.every) >= GROUP for one in said)


def choice_words(action: Action) -> Words:
    """The words of all that an action lets one choose from."""
    kinds = [kind for one in action.params for kind in (one.type, one.type.of) if kind]
    return tuple(keys for kind in kinds for choice in kind.choices[:60] for keys in keys_of(choice))


def _is_choice_elsewhere(token: Token, window: WindowView, action: Action) -> bool:
    """Whether a word is something that another action takes."""
    others = [choice_words(one) for one in window.actions if one.id != action.id]
    return any(likeness(token.nouns, one) >= GROUP for one in others)


def _is_said(
    declared: frozenset[str], said: Sequence[frozenset[str]], least: float = RELATED
) -> bool:
    return max((likeness(one, (declared,)) for one in said), default=0.0) >= least
