"""The lexicon: groups of words that mean the same, read from `lexicon.toml`.

A group is named by its kind and its name: `@add` are verbs, `#list` nouns, `~to` small words.
"""

import re
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources
from typing import Any

NOTHING: frozenset[str] = frozenset()
_VOWEL = re.compile("[aeiouy]")
_SHORT = re.compile("[^aeiou][aeiouy][^aeiouwxy]")
_Phrases = dict[str, list[tuple[tuple[str, ...], frozenset[str]]]]


@dataclass(frozen=True, slots=True)
class Lexicon:
    """The groups of words, and the settings of `lexicon.toml`, which explains them."""

    words: dict[str, frozenset[str]]  # the groups of each English stem and each Chinese word
    phrases: _Phrases  # groups of several stems in a row, by the first of them, longest first
    parted: dict[tuple[str, str], frozenset[str]]  # of two that may stand apart: turn … on
    longest: int
    silent: frozenset[str]
    free: frozenset[str]
    takes_text: frozenset[str]
    careful: frozenset[str]
    cues: dict[str, frozenset[str]]
    inverse: dict[str, str]
    headings: list[list[list[str]]]  # of a summary: heading words, sources, sentence words


@cache
def _data() -> dict[str, Any]:
    file = resources.files(__package__).joinpath("lexicon.toml")
    return tomllib.loads(file.read_text("utf-8"))


@cache
def _forms() -> dict[str, str]:
    """The words whose endings say nothing, with the words that they are forms of."""
    pairs = [one.split(":") for one in _data()["settings"]["forms"].split()]
    return {pair[0]: pair[-1] for pair in pairs}


@cache
def lexicon() -> Lexicon:
    """Load the words that the built-in model knows."""
    data = _data()
    settings, words = data["settings"], defaultdict[str, set[str]](set)
    phrases = defaultdict[tuple[str, ...], set[str]](set)
    for name, row in _rows(data):
        english, _, chinese = row.partition("|")
        for member in filter(None, map(str.strip, english.split(","))):
            stems = tuple(map(stem, member.split()))
            # Small words count as they are: "called" says more than "call".
            key = f"={member.casefold()}" if name[0] == "~" else stems[0]
            (phrases[stems] if len(stems) > 1 else words[key]).add(name)
        for member in chinese.split():
            words[member].add(name)
    for ordinary in settings["ordinary"].split():
        words.setdefault(ordinary, set())
    by_first: _Phrases = {}
    for stems, names in sorted(phrases.items(), key=lambda one: -len(one[0])):
        by_first.setdefault(stems[0], []).append((stems, frozenset(names)))
    pairs = [pair.split() for pair in settings["inverse"]]
    cues = [row.partition(":") for row in settings["cues"].replace("\n", " ").split(";")]
    pairs_of = [(stems, names) for stems, names in phrases.items() if len(stems) == 2]
    parted = {(stems[0], stems[1]): frozenset(one for one in names if one[0] == "@")
              for stems, names in pairs_of if stems[1] in settings["parts"]}  # fmt: skip
    return Lexicon(
        {word: frozenset(names) for word, names in words.items()},
        by_first,
        parted,
        max(len(word) for word in words if not word.isascii()),
        silent=frozenset(f"~{name}" for name in settings["silent"]),
        free=frozenset(settings["free"].split()),
        takes_text=frozenset(f"@{name}" for name in settings["takes_text"]),
        careful=frozenset(f"@{name}" for name in settings["careful"]),
        cues={f"~{cue.strip()}": frozenset(names.split()) for cue, _, names in cues},
        inverse={f"@{one}": f"@{two}" for a, b in pairs for one, two in ((a, b), (b, a))},
        headings=[[p.split() for p in row.split("|")] for row in data["headings"].values()],
    )


def _rows(data: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Return the groups by name: verbs `@add`, nouns `#list`, small words `~to`."""
    for mark, section in (("#", "nouns"), ("@", "verbs"), ("~", "small")):
        for row in data[section].replace("\n", " ").split(";"):
            yield mark + re.split(r"[,:|]", row)[0].strip(), row.split(":")[-1]


def groups_of(word: str) -> frozenset[str]:
    """Return the groups of a stem, a Chinese word, or, behind "=", a small word as it is."""
    return lexicon().words.get(word, NOTHING)


@lru_cache(maxsize=1_024)
def members(group: str) -> tuple[str, ...]:
    """Return the stems and Chinese words of a group."""
    return tuple(word for word, groups in lexicon().words.items() if group in groups)


@lru_cache(maxsize=8_192)
def stem(word: str) -> str:
    """Return the part of an English word that its forms share."""
    word = re.sub("[-_]", "", word.casefold().replace("’", "'").removesuffix("'s"))
    if not word.isascii() or len(word) > 40 or "'" in word:
        return word
    return _without_e(_forms().get(word) or _without_ending(_singular(word)))


def _singular(word: str) -> str:
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("ches", "shes", "sses", "xes", "zes")):
        return word[:-2]
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def _without_ending(word: str) -> str:
    for ending in ("ing", "ed"):
        rest = word.removesuffix(ending)
        if rest != word and len(rest) > 2 and _VOWEL.search(rest):
            if _SHORT.fullmatch(rest):
                return rest + "e"  # making: make
            doubled = len(rest) > 3 and rest[-1] == rest[-2] and rest[-1] not in "lszaeiou"
            return rest[:-1] if doubled else rest
    return word


def _without_e(word: str) -> str:
    return word[:-1] if len(word) > 4 and word.endswith("e") else word
