"""What speaks against a meaning: nothing is destroyed on a guess, nothing turned around."""

from collections.abc import Sequence

from contextui.agent.models.offline.filling.filled import Filled
from contextui.agent.models.offline.lexicon.listed import listed
from contextui.agent.models.offline.lexicon.verbs import KIN, OPPOSITE
from contextui.agent.models.offline.reading.token import Token
from contextui.agent.models.offline.shown.blocks import Action, WindowView
from contextui.agent.models.offline.shown.profiles import (
    GROUP,
    RELATED,
    likeness,
    profile_of,
    senses,
    words_of,
)

_HARMFUL = frozenset(f"@{name}" for name in listed("remove clear reset close cancel reject leave"))
_TAKING = frozenset(listed("remove clear reset close cancel reject leave untag stop off done"))
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
    if head is not None and not by_switch and _is_contrary(head, profile.verbs):
        return _FORBIDDEN
    related = head is not None and RELATED <= likeness(head.keys, profile.every) < GROUP
    words = filled.params and all(isinstance(one, str) for one in filled.params.values())
    if related and words and not filled.sure:
        return _GUESSED
    left = filled.left_weight + loose
    if filled.switched and left >= 1:
        return _DOUBTFUL
    if not is_harmful(action):
        return 0.0
    if not filled.switched and not _is_meant(head, action):
        return _FORBIDDEN
    closes = "@close" in profile.verbs  # a window can be opened again
    return _DOUBTFUL if left >= 1 and not closes else 0.0


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


def is_harmful(action: Action) -> bool:
    """Whether an action takes something away."""
    return not profile_of(action).verbs.isdisjoint(_HARMFUL)


def _is_meant(head: Token | None, action: Action) -> bool:
    """Whether a verb says what a harmful action does, or something close to it."""
    if head is None:
        return False
    profile = profile_of(action)
    harms = [one[1:] for one in profile.verbs & _HARMFUL]
    said = [one for one in senses(head.keys) if one in _TAKING]
    kin = any(frozenset((one, harm)) in KIN for one in said for harm in harms)
    return kin or likeness(head.keys, profile.every) >= GROUP


def _is_contrary(head: Token, verbs: frozenset[str]) -> bool:
    """Whether a verb says the contrary of what an action does, and nothing else."""
    said = {f"@{one}" for one in senses(head.keys)}
    contrary = {f"@{OPPOSITE[one]}" for one in senses(head.keys) if one in OPPOSITE}
    return bool(said) and said.isdisjoint(verbs) and not contrary.isdisjoint(verbs) and not (
        likeness(head.keys, (verbs,)) >= GROUP)  # fmt: skip
