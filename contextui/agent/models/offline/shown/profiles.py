"""What an action, a window or a class is known by: the keys of its declared words."""

import re
from dataclasses import dataclass
from functools import lru_cache

from contextui.agent.models.offline.lexicon.verbs import KIN
from contextui.agent.models.offline.reading.words import keys_of
from contextui.agent.models.offline.shown.blocks import Action, ClassView, WindowView
from contextui.agent.models.offline.shown.declared import Param

_TELLING = frozenset(("~all", "~only", "~not", "~last", "~first", "~every"))
_LABEL = 400  # characters of a label that are read
_PARTS = re.compile(r"[,;，；。:：、]\s*(?:or |and |或|并)?|\bor\b|或")
_EXPLAINED = re.compile(r"\b(\w+)=([\w.-]+):\s*([^;]+)")
_LISTED = re.compile(r"[:：(（]\s*([^:：()（）/]+)")
_HEAD_PHRASE = re.compile(r"\s(?:of|with|for|in|that|to|and)\s|[:：,，.。;；]")
_SPECIFIC = 2  # characters: a longer part of a word can hardly be meant otherwise
EXACT, GROUP, RELATED, CHARACTER = 1.0, 0.85, 0.45, 0.2
"""How sure it is that two words mean the same."""

Words = tuple[frozenset[str], ...]


@dataclass(frozen=True, slots=True)
class Profile:
    """What an action is known by.

    Attributes:
        names: The words of its id.
        heads: The word with which its label begins, in each language that it is in.
        more_heads: The words with which further parts of its label begin.
        label: The other words of its label that say something.
        hints: Values that the label explains in words (``pages=-1: the one before``).
    """

    names: Words
    heads: Words
    more_heads: Words
    label: Words
    hints: tuple[tuple[str, str, Words], ...]

    @property
    def verbs(self) -> frozenset[str]:
        """The groups of verbs that it is named by."""
        told = [keys for keys in (*self.names, *self.heads) if "~not" not in keys]
        every = frozenset[str]().union(*told)
        return frozenset(key for key in every if key[0] == "@")

    @property
    def every(self) -> Words:
        """All its words."""
        return (*self.names, *self.heads, *self.more_heads, *self.label)


@lru_cache(maxsize=1_024)
def profile_of(action: Action) -> Profile:
    """The profile of an action."""
    names = telling(tuple(map(_switched, keys_of(action.id))))
    label = _unexplained(action)
    languages = [
        [_head_first(words) for part in _PARTS.split(one) if (words := telling(keys_of(part)))]
        for one in label.split("/")
    ]
    parts = [part for one in languages for part in one]
    hints = tuple(
        (name, value, keys_of(words))
        for name, value, words in _EXPLAINED.findall(action.label[:_LABEL])
    )
    return Profile(
        names or keys_of(action.id),
        tuple(one[0][0] for one in languages if one),
        tuple(part[0] for one in languages for part in one[1:]),
        tuple(keys for part in parts for keys in part[1:]),
        hints,
    )


@lru_cache(maxsize=1_024)
def param_words(action: Action, param: Param) -> Words:
    """What a param is known by: its name, and what a label that lists all params calls it."""
    names = keys_of(param.name)
    for listing in _LISTED.findall(action.label[:_LABEL]):
        parts = [part for part in re.split(r"[、,，]|\band\b|和", listing) if part.strip()]
        if len(parts) == len(action.params) > 1:
            called = keys_of(parts[action.params.index(param)])
            return (*names, *called[:1])
    return names


@lru_cache(maxsize=512)
def _class_words(name: str, description: str) -> tuple[Words, Words, Words]:
    first = re.split(r"[.。;；:：]", description, maxsplit=1)[0]
    rest = description[len(first) :]
    return telling(keys_of(name)), telling(keys_of(first)), telling(keys_of(rest))


def words_of(view: WindowView | ClassView) -> tuple[Words, Words, Words]:
    """The words of a window or a class: its name, what it is, and what else is said of it."""
    return _class_words(view.name, view.description)


@lru_cache(maxsize=512)
def kind_of(description: str) -> Words:
    """The word of a description that says what it is all about: "list", of "a to-do list"."""
    return telling(keys_of(_HEAD_PHRASE.split(description, maxsplit=1)[0]))[-1:]


def telling(words: Words) -> Words:
    """Those words that say something: no articles, no prepositions."""
    return tuple(
        keys
        for keys in words
        if keys & _TELLING or not any(key[0] == "~" for key in keys) or _has_verb(keys)
    )


@lru_cache(maxsize=65_536)
def alike(said: frozenset[str], declared: frozenset[str]) -> float:
    """How sure it is that a word that was said means a declared one."""
    shared = said & declared
    if (part := _part_spelled(said, declared)) > 1:
        return EXACT if part > _SPECIFIC else GROUP
    if not shared:
        return RELATED if _are_kin(said, declared) else 0.0
    marks = {key[0] for key in shared}
    if marks - set("@#~'"):
        return EXACT
    if marks & set("@#") or shared & _TELLING:
        return GROUP
    if _are_kin(said, declared):
        return RELATED
    characters = sum(key[0] == "'" for key in shared)
    return min(CHARACTER * characters, GROUP) if marks == {"'"} else 0.0


def _part_spelled(said: frozenset[str], declared: frozenset[str]) -> int:
    """How much of a declared Chinese word that no lexicon could part is said (撤掉蜂箱: 撤掉)."""
    words = [key for key in said if len(key) > 1 and key[0] > "\u3400"]
    chinese = [key for key in declared if key[0] > "\u3400"]
    found = [len(word) for key in chinese for word in words if word in key]
    return max(found, default=0)


def likeness(said: frozenset[str], declared: Words) -> float:
    """How sure it is that a word means one of these."""
    return max((alike(said, one) for one in declared), default=0.0)


def _unexplained(action: Action) -> str:
    """The label of an action without what it says of its switches ("new: begin one")."""
    switches = [re.escape(one.name) for one in action.params if one.type.is_bool]
    label = action.label[:_LABEL]
    return re.sub(rf"; ?(?:{'|'.join(switches)}): [^;]*", "", label) if switches else label


def _head_first(words: Words) -> Words:
    """In a Chinese label the verb may stand behind its object (把一首歌加入列表)."""
    chinese = any(not key.isascii() for key in words[0])
    verb = next((n for n, keys in enumerate(words) if _has_verb(keys)), 0) if chinese else 0
    return (words[verb], *words[:verb], *words[verb + 1 :])


def _switched(keys: frozenset[str]) -> frozenset[str]:
    """In a name, "on" and "off" are no prepositions."""
    return keys | {f"@{one}" for one in ("on", "off") if one in keys}


def _has_verb(keys: frozenset[str]) -> bool:
    return any(key[0] == "@" for key in keys)


def _are_kin(said: frozenset[str], declared: frozenset[str]) -> bool:
    return any(frozenset((one, other)) in KIN for one in senses(said) for other in senses(declared))


def senses(keys: frozenset[str]) -> list[str]:
    """The groups of a verb; only its own where a group is named after it."""
    groups = [key[1:] for key in keys if key[0] == "@"]
    return [one for one in groups if one in keys] or groups
