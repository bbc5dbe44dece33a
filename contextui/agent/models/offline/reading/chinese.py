"""Chinese text in words: the longest word of the lexicon first, numbers as numbers."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from contextui.agent.models.offline.lexicon.listed import listed
from contextui.agent.models.offline.lexicon.numbers import (
    HAN_DIGITS,
    HAN_SCALES,
    MEASURES,
    han_number,
)
from contextui.agent.models.offline.lexicon.tables import NOTHING, groups_of, lexicon

_AMOUNTS = frozenset(listed("秒 秒钟 分 分钟 小时 个小时 天 周 年 个月 星期 度 元 块 点 次 级 号"))
_LONGEST_NAME = 6  # characters of a declared word
_DIGITS = "".join([*HAN_DIGITS, *HAN_SCALES])
_MEASURE = "|".join(sorted(MEASURES, key=len, reverse=True))
_NUMBER = re.compile(f"(倒数)?(第)?([{_DIGITS}]+)({_MEASURE})?(半)?")
MEASURE = re.compile(rf"\s?({_MEASURE})")
"""A measure word, as it follows a number in digits."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A Chinese word.

    Attributes:
        text: The word.
        start: Where it begins.
        keys: What it is known by.
        number: Its value, if it is a number; a measure word after it belongs to it.
        ordinal: Whether the number names a place.
        from_end: Whether that place is counted from the end.
    """

    text: str
    start: int
    keys: frozenset[str]
    number: float | None = None
    ordinal: bool = False
    from_end: bool = False


def segments(run: str, names: frozenset[str] = NOTHING) -> Iterator[Segment]:
    """The words of a run of Chinese characters; what no lexicon knows stays in one piece.

    Args:
        run: The characters.
        names: Words that windows declare, which no lexicon need know; behind a `=`, things that
            they show.
    """
    place, unknown = 0, 0
    while place < len(run):
        found = _at(run, place)
        if found is None or (len(found.text) == 1 and found.number is None):
            found = _named(run, place, names) or found
        if found is None:
            place += 1
            continue
        if unknown < place:
            yield _unknown(run, unknown, place)
        yield found
        place = unknown = place + len(found.text)
    if unknown < len(run):
        yield _unknown(run, unknown, len(run))


def _at(run: str, place: int) -> Segment | None:
    known = _known(run, place)
    number = _NUMBER.match(run, place)
    if number and len(number[0]) >= (len(known.text) if known else 1):
        numeral = _numeral(number, place)
        # "一个" is an article before anything else, unless a place is named.
        if numeral and not (known and known.text == numeral.text and not numeral.ordinal):
            return numeral
    return known


def _named(run: str, place: int, names: frozenset[str]) -> Segment | None:
    """A declared word that begins here and holds the beginning of no word of the lexicon."""
    for size in range(min(_LONGEST_NAME, len(run) - place), 1, -1):
        word = run[place : place + size]
        inner = (_known(run, place + step) for step in range(1, size))
        if f"={word}" in names:
            return Segment(word, place, frozenset({word}) | _characters(word))
        if word in names and not any(one is not None and len(one.text) > 1 for one in inner):
            verbs = {key for key in groups_of(word[0]) if key[0] == "@"}
            return Segment(word, place, frozenset({word, *verbs}) | _characters(word))
    return None


def _known(run: str, place: int) -> Segment | None:
    table = lexicon()
    for size in range(min(table.longest, len(run) - place), 0, -1):
        word = run[place : place + size]
        if word in table.words:
            return Segment(word, place, groups_of(word) | {word} | _characters(word))
    return None


def _numeral(match: re.Match[str], place: int) -> Segment | None:
    value = han_number(match[3])
    if value is None:
        return None
    keys = measure_keys(match[4]) if match[4] else NOTHING
    if value == 1 and match[4] and not match[2] and match[4] not in _AMOUNTS:
        return Segment(match[0], place, keys | {"~article", "~one"})
    half = 0.5 if match[5] and match[4] else 0
    return Segment(match[0], place, keys, value + half, bool(match[2]), bool(match[1]))


def measure_keys(measure: str) -> frozenset[str]:
    """What a measure word is known by: as a noun only."""
    return frozenset({measure, *(key for key in groups_of(measure) if key[0] == "#")})


def _unknown(run: str, start: int, end: int) -> Segment:
    word = run[start:end]
    return Segment(word, start, frozenset({word}) | _characters(word))


def _characters(word: str) -> frozenset[str]:
    """Single characters as keys, so that words that no lexicon knows can still meet."""
    return frozenset(f"'{char}" for char in word[:40])
