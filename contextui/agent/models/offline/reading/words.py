"""A person's words as tokens, each with the keys that it is known by.

Two texts speak of the same thing where their keys meet, whatever the language.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

from contextui.agent.models.offline.lexicon.numbers import SCALES
from contextui.agent.models.offline.lexicon.tables import LOOSE, NOTHING, lexicon
from contextui.agent.models.offline.lexicon.verbs import GENERIC
from contextui.agent.models.offline.reading.scanning import HAN, HEAD, scan
from contextui.agent.models.offline.reading.token import Kind, Numeral, Token

_HAN = re.compile(f"[{HAN}]")
_PARTED = re.compile(r"(?<=[a-z])(?=[A-Z])|[_:/.-]+")
_DECLARED = 1_000  # characters of a declared text that are read


def tokens_of(text: str, names: frozenset[str] = NOTHING) -> tuple[Token, ...]:
    """The tokens of a text; phrases and numbers of several words are one token each.

    Args:
        text: What was said.
        names: Chinese words that windows declare or show.
    """
    found = list(_merged(list(scan(text, names))))
    if len(text) > HEAD and found and found[-1].end < len(text):
        last = found[-1]
        found[-1] = replace(last, end=len(text), text=text[last.start :])
    return tuple(found)


@lru_cache(maxsize=4_096)
def keys_of(text: str) -> tuple[frozenset[str], ...]:
    """The keys of each word of a short declared text: a name, a label, a description."""
    head = text[:_DECLARED]
    tokens = tokens_of(head if is_chinese(head) else _PARTED.sub(" ", head))
    return tuple(one.keys for one in tokens if one.kind is Kind.WORD and one.keys)


def is_chinese(text: str) -> bool:
    """Whether a text has Chinese in it."""
    return _HAN.search(text[:HEAD]) is not None


def _merged(tokens: list[Token]) -> Iterator[Token]:
    place = 0
    while place < len(tokens):
        token, size = tokens[place], 1
        if token.kind is Kind.WORD:
            if phrase := _phrase_at(tokens, place):
                token, size = phrase
            elif token.number and not token.number.ordinal and "one" not in token.keys:
                token, size = _spelled(tokens, place)
        yield token
        place += size


def _phrase_at(tokens: list[Token], place: int) -> tuple[Token, int] | None:
    first = tokens[place]
    for root in first.keys:
        for stems, groups in lexicon().phrases.get(root, ()):
            part = tokens[place : place + len(stems)]
            if len(part) == len(stems) and all(
                one.kind is Kind.WORD and one_stem in one.keys
                for one_stem, one in zip(stems, part, strict=True)
            ):
                told = () if any(one.has("~not") for one in part) else part
                told = [one for one in told if one is first or one.keys.isdisjoint(LOOSE)]
                plain = {key for one in told if not one.is_small for key in one.keys} - GENERIC
                keys = groups | {key for key in plain if key[0] != "@"} | {"".join(stems)}
                text = " ".join(one.text for one in part)
                return Token(text, first.start, part[-1].end, Kind.WORD, keys), len(stems)
    return None


def _spelled(tokens: list[Token], place: int) -> tuple[Token, int]:
    """A number that is written as one word or as several ("twenty five", "two hundred")."""
    total = part = 0.0
    size = 0
    for token in tokens[place : place + 6]:
        if token.kind is not Kind.WORD or token.number is None or token.number.ordinal:
            break
        value = token.number.value
        part = (part or 1) * value if token.text.casefold() in SCALES else part + value
        if value >= 1_000:
            total, part = total + part, 0.0
        size += 1
    first, last = tokens[place], tokens[place + size - 1]
    text = " ".join(one.text for one in tokens[place : place + size])
    numeral = Numeral(total + part)
    return Token(text, first.start, last.end, Kind.NUMBER, first.keys, numeral), size
