"""What speaks against a meaning: nothing is destroyed on a guess, nothing turned around."""

import re
from collections.abc import Collection, Sequence

from contextui.agent.models.offline.filling.filled import Filled
from contextui.agent.models.offline.lexicon.listed import listed
from contextui.agent.models.offline.lexicon.verbs import KIN, OPPOSITE
from contextui.agent.models.offline.reading.token import Token
from contextui.agent.models.offline.reading.words import keys_of
from contextui.agent.models.offline.shown.blocks import Action, WindowView
from contextui.agent.models.offline.shown.profiles import (
    EXACT,
    GROUP,
    RELATED,
    likeness,
    profile_of,
    senses,
    words_of,
)

_HARMFUL = frozenset(f"@{name}" for name in listed("remove clear reset close cancel reject leave"))
_TAKING = frozenset(listed("remove clear reset close cancel reject leave untag stop off done"))
_CHANGING = frozenset(listed("edit replace set rename swap write"))
_CHANGED = frozenset(listed("rename replace remove move copy"))
_LOOKING = frozenset({"@find", "@show", "@read", "@rename"})
_OVERWRITING = ("@edit", "@replace")
_RUNNING = frozenset({"@resume", "@pause", "@start", "@stop", "@reset"})
_CLOSING = (frozenset({"@close"}),)
_HEAD_PHRASE = re.compile(r"\s(?:of|with|for|in|that|to)\s|[:：,，.。]")
_FORBIDDEN, _DOUBTFUL, _GUESSED = 8.0, 3.0, 0.4


def doubt(
    head: Token | None, action: Action, filled: Filled, *, by_switch: bool, loose: int
) -> float:
    """What is to be taken from the score of an action.

    Args:
        head: The verb that was said, if there is one.
        action: The action.
        filled: Its params.
        by_switch: Whether the verb only says on or off.
        loose: How many words count only because the window's description has them.
    """
    profile = profile_of(action)
    if (
        head is not None
        and not by_switch
        and (_is_contrary(head, profile.verbs) or _takes_away_otherwise(head, action))
    ):
        return _FORBIDDEN
    related = head is not None and RELATED <= likeness(head.keys, profile.every) < GROUP
    overwrites = related and _overwrites(head, action)
    left = filled.left_weight + loose
    if (filled.switched and (left >= 1 or _is_of_another(filled))) or (
        overwrites and _tells_words(filled)
    ):
        return _DOUBTFUL
    if related and _tells_words(filled, only=True) and not filled.sure:
        return _GUESSED
    return _harm(head, action, filled, left) if is_harmful(action) else 0.0


def _is_of_another(filled: Filled) -> bool:
    """Whether a thing is named that no param takes: "turn off the light" is about a light."""
    left = [token for one in filled.left if one.weight for token in one.tokens]
    return any(key[0] == "#" for token in left for key in token.keys)


def _overwrites(head: Token | None, action: Action) -> bool:
    """Whether an action puts words in the place of others, and the verb says something else."""
    changes = head is not None and not _CHANGING.isdisjoint(senses(head.keys))
    return not changes and not profile_of(action).verbs.isdisjoint(_OVERWRITING)


def _harm(head: Token | None, action: Action, filled: Filled, left: float) -> float:
    """What speaks against an action that takes something away."""
    if not filled.switched and not _is_meant(head, action):
        return _FORBIDDEN
    closes = "@close" in profile_of(action).verbs  # a window can be opened again
    return _DOUBTFUL if left >= 1 and not closes else 0.0


def _tells_words(filled: Filled, *, only: bool = False) -> bool:
    """Whether an action is given words; with `only`, nothing but words."""
    given = [isinstance(one, str) for one in filled.params.values()]
    return bool(given) and (all(given) if only else any(given))


def narrowed(tokens: Sequence[Token], action: Action, window: WindowView) -> float:
    """What speaks against an action that takes away only a part, when that part was not said.

    "Delete everything" is not what deletes everything that is done.
    """
    if action.params or not is_harmful(action):
        return 0.0
    about = words_of(window)[:2]
    unsaid = [
        keys
        for keys in profile_of(action).names[1:]
        if not any(likeness(keys, part) >= GROUP for part in about)
        and not any(likeness(one.keys, (keys,)) >= GROUP for one in tokens)
    ]
    return _FORBIDDEN if unsaid else 0.0


def by_mistake(
    tokens: Sequence[Token],
    mentions: Collection[int],
    head: Token | None,
    window: WindowView,
    action: Action,
) -> float:
    """What speaks against closing or running a window for something that it only tells of.

    "Shut down the machine" is about no window, though one shows what the machine does.
    """
    closes = action.id == "close"
    if not closes and (action.params or profile_of(action).verbs.isdisjoint(_RUNNING)):
        return 0.0
    spoken = [tokens[place] for place in mentions]
    if not spoken:
        unclear = closes and head is not None and likeness(head.keys, _CLOSING) < GROUP
        return _DOUBTFUL if unclear else 0.0
    what = keys_of(_HEAD_PHRASE.split(window.description, maxsplit=1)[0])
    names = (*words_of(window)[0], *what, frozenset({"#window"}))
    names += () if closes else profile_of(action).every
    named = any(
        one.text.casefold() == window.id or likeness(one.nouns, names) >= GROUP for one in spoken
    )
    return 0.0 if named else _DOUBTFUL


def unplaced(tokens: Sequence[Token], head: Token | None, action: Action) -> float:
    """What speaks against adding what a verb may just as well play, when no place is said.

    放点音乐 plays something; 放到清单里 puts it on a list.
    """
    verbs = profile_of(action).verbs
    plays = head is not None and {"@play", "@add"} <= head.keys and "@play" not in verbs
    placed = any(one.has("~to", "~in", "~behind_noun") for one in tokens)
    return _DOUBTFUL if plays and "@add" in verbs and not placed else 0.0


def is_harmful(action: Action) -> bool:
    """Whether an action takes something away."""
    return not profile_of(action).verbs.isdisjoint(_HARMFUL)


def _takes_away_otherwise(head: Token, action: Action) -> bool:
    """Whether a verb takes something away, and an action has only a word for that in its label."""
    profile = profile_of(action)
    takes = {f"@{one}" for one in senses(head.keys)} <= _HARMFUL and head.is_verb
    own = likeness(head.keys, (*profile.names, *profile.heads))
    if _CHANGED.issuperset(senses(head.keys)) and profile.verbs and profile.verbs <= _LOOKING:
        return head.is_verb and own < EXACT  # to look for a name renames nothing
    return takes and own < RELATED and likeness(head.keys, profile.every) < EXACT


def _is_meant(head: Token | None, action: Action) -> bool:
    """Whether a verb says what a harmful action does, or something close to it."""
    if head is None:
        return False
    profile = profile_of(action)
    harms = [one[1:] for one in profile.verbs & _HARMFUL]
    said = senses(head.keys)
    said = said if _TAKING.issuperset(said) else []  # "bought" says more than that it is done
    kin = any(frozenset((one, harm)) in KIN for one in said for harm in harms)
    return kin or likeness(head.keys, profile.every) >= GROUP


def _is_contrary(head: Token, verbs: frozenset[str]) -> bool:
    """Whether a verb says the contrary of what an action does, and nothing else."""
    said = {f"@{one}" for one in senses(head.keys)}
    contrary = {f"@{OPPOSITE[one]}" for one in senses(head.keys) if one in OPPOSITE}
    return bool(said) and said.isdisjoint(verbs) and not contrary.isdisjoint(verbs) and not (
        likeness(head.keys, (verbs,)) >= GROUP)  # fmt: skip
