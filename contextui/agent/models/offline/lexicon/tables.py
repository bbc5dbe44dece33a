"""The lexicon's tables, read once into what looks words up quickly."""

from dataclasses import dataclass
from functools import cache

from contextui.agent.models.offline.lexicon.nouns import NOUNS
from contextui.agent.models.offline.lexicon.numbers import POINTED
from contextui.agent.models.offline.lexicon.particles import ORDINARY, PARTICLES
from contextui.agent.models.offline.lexicon.stems import stem
from contextui.agent.models.offline.lexicon.verbs import CORE, VERBS

VERB, NOUN, PARTICLE = "@", "#", "~"
"""What a group's name begins with, so that a key says what it is."""

LOOSE = frozenset(["on", "off", "out", "down", "up", "away", "in", "over", "back", "tag"])
NOTHING: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Groups by the words that belong to them.

    Attributes:
        words: Groups of English stems and of Chinese words.
        phrases: Groups of several English stems, by the first of them, longest first.
        parted: Groups of a verb and a small word that may stand apart from it ("turn … on").
        longest: The characters of the longest Chinese word.
    """

    words: dict[str, frozenset[str]]
    phrases: dict[str, list[tuple[tuple[str, ...], frozenset[str]]]]
    parted: dict[tuple[str, str], frozenset[str]]
    longest: int


@cache
def lexicon() -> Lexicon:
    """All tables together."""
    words: dict[str, set[str]] = {one: set() for one in ORDINARY}
    phrases: dict[tuple[str, ...], set[str]] = {}
    for mark, table in ((VERB, VERBS), (NOUN, NOUNS), (PARTICLE, PARTICLES)):
        for line in table.strip().replace("\n    ", " ").splitlines():
            name, _, members = line.partition(":")
            english, _, chinese = members.partition("|")
            for member in filter(None, map(str.strip, english.split(","))):
                stems = tuple(map(stem, member.split()))
                place = words.setdefault(stems[0], set()) if len(stems) == 1 else (
                    phrases.setdefault(stems, set()))  # fmt: skip
                place.add(mark + name)
            for member in chinese.split():
                words.setdefault(member, set()).add(mark + name)
    for measure in POINTED:
        for member in (f"这{measure}", f"那{measure}"):
            words.setdefault(member, {f"{PARTICLE}this", f"{PARTICLE}one"})
    by_first: dict[str, list[tuple[tuple[str, ...], frozenset[str]]]] = {}
    for stems, groups in sorted(phrases.items(), key=lambda one: -len(one[0])):
        by_first.setdefault(stems[0], []).append((stems, frozenset(groups)))
    parted = {
        (stems[0], stems[1]): frozenset(groups)
        for stems, groups in phrases.items()
        if len(stems) == 2 and stems[1] in LOOSE
    }
    chinese_words = [word for word in words if not word.isascii()]
    return Lexicon(
        {word: frozenset(groups) for word, groups in words.items()},
        by_first,
        parted,
        max(map(len, chinese_words)),
    )


@cache
def plain_verbs() -> dict[str, frozenset[str]]:
    """The English verbs of one word that begin a wish, with the keys that they are known by."""
    found: dict[str, frozenset[str]] = {}
    for line in VERBS.strip().replace("\n    ", " ").splitlines():
        name, _, members = line.partition(":")
        words = map(str.strip, members.partition("|")[0].split(","))
        for word in (one for one in words if name in CORE and one.isalpha()):
            found[word] = groups_of(stem(word)) | {stem(word), word}
    return found


def groups_of(word: str) -> frozenset[str]:
    """The groups that a stem, or a Chinese word, belongs to."""
    return lexicon().words.get(word, NOTHING)
