"""A person's words as tokens: each with its place in the text and the keys it is known by.

A key is a stem, a Chinese word, or the name of a group of the lexicon (`@add`, `#list`, `~to`).
Two texts speak of the same thing where their keys meet, whatever the language.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum, auto
from functools import lru_cache

from contextui.agent.models.offline.chinese import MEASURE, measure_keys, segments
from contextui.agent.models.offline.lexicon.listed import listed
from contextui.agent.models.offline.lexicon.numbers import (
    AMOUNTS,
    ONES,
    ORDINALS,
    SCALES,
    TENS,
)
from contextui.agent.models.offline.lexicon.particles import CONTRACTIONS
from contextui.agent.models.offline.lexicon.stems import stem
from contextui.agent.models.offline.lexicon.tables import NOTHING, groups_of, lexicon

HEAD = 4_000  # characters that are read word by word; what is beyond belongs to the last word
_HAN = "\u3400-\u9fff"
_HAN_RUN = re.compile(rf"(?:(?!(?:倒数)?第\s*\d)[{_HAN}])+")
_WORD = re.compile(rf"(?:(?![{_HAN}])[^\W_])+(?:['’_-](?:(?![{_HAN}])[^\W_])+)*")
_NUMBER = re.compile(r"[#№]?\d+(?:,\d{3})*(?:\.\d+)?(%|st\b|nd\b|rd\b|th\b)?(?![A-Za-z_:/\d])")
_HAN_PLACE = re.compile(r"(倒数)?(?:第\s*(\d+))")
_AMOUNT = re.compile(r"[+-]?\d+(?:\.\d+)?(?=[A-Za-z]{1,4}\b)")
_CLOCK = re.compile(r"\d{1,2}(?::\d{2})?\s?(?:[ap]\.?m\b\.?)|\d{1,2}:\d{2}(?!\d)", re.IGNORECASE)
_PATH_LIKE = re.compile(r"[A-Za-z0-9_.*?@~+/\\-]{1,250}")
_EXTENSION = re.compile(r"[\w*?/\\)~-]\.(?:[a-z][a-z0-9]{0,7}|[A-Z][A-Z0-9]{0,4})$")
_FENCE = re.compile(r"```[ \t]{0,9}([\w+#.-]{0,40})[ \t]{0,9}\r?\n?")
_QUOTES = {'"': '"', "“": "”", "「": "」", "『": "』", "《": "》", "`": "`", "‘": "’", "'": "'"}
_EITHER = frozenset(listed("and/or either/or he/she his/her w/o n/a yes/no on/off tcp/ip"))


class Kind(Enum):
    """What a token is."""

    WORD = auto()
    NUMBER = auto()
    QUOTE = auto()
    PATH = auto()
    MARK = auto()


@dataclass(frozen=True, slots=True)
class Numeral:
    """A number that was said.

    Attributes:
        value: Its value.
        ordinal: Whether it names a place ("second") rather than an amount.
        from_end: Whether that place is counted from the end.
    """

    value: float
    ordinal: bool = False
    from_end: bool = False


@dataclass(frozen=True, slots=True)
class Token:
    """A word, number, quotation, path or mark.

    Attributes:
        text: What it says; of a quotation what is in it.
        start: Where it begins in the words.
        end: Where it ends.
        kind: What it is.
        keys: What it is known by.
        number: The number it stands for, if it does.
        note: The language that stands at the head of quoted code.
    """

    text: str
    start: int
    end: int
    kind: Kind
    keys: frozenset[str] = NOTHING
    number: Numeral | None = None
    note: str = ""

    def has(self, *keys: str) -> bool:
        """Whether it is known by one of these."""
        return not self.keys.isdisjoint(keys)

    @property
    def is_verb(self) -> bool:
        """Whether it can say what to do."""
        return any(key[0] == "@" for key in self.keys)

    @property
    def is_small(self) -> bool:
        """Whether it can be a small word: one that says how rather than what."""
        return any(key[0] == "~" for key in self.keys)


def tokens_of(text: str) -> tuple[Token, ...]:
    """The tokens of a text."""
    found = list(_merged(list(_raw(text))))
    if len(text) > HEAD and found and found[-1].end < len(text):
        last = found[-1]
        found[-1] = replace(last, end=len(text), text=text[last.start :])
    return tuple(found)


@lru_cache(maxsize=4_096)
def keys_of(text: str) -> tuple[frozenset[str], ...]:
    """The keys of each word of a short declared text: a name, a label, a description."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])|[_:/.-]+", " ", text[:1_000])
    tokens = tokens_of(text[:1_000]) if _HAN_RUN.search(text) else tokens_of(spaced)
    return tuple(one.keys for one in tokens if one.kind is Kind.WORD and one.keys)


def is_chinese(text: str) -> bool:
    """Whether a text has Chinese in it."""
    return _HAN_RUN.search(text[:HEAD]) is not None


# --- within ------------------------------------------------------------------------------


def _raw(text: str) -> Iterator[Token]:
    place, head, unclosed = 0, text[:HEAD], set[str]()
    while place < len(head):
        char = text[place]
        if char.isspace():
            if char == "\n":
                yield Token(char, place, place + 1, Kind.MARK)
            place += 1
            continue
        found = _quoted(text, place, unclosed)
        for token in found or _plain(head, place):
            yield token
            place = token.end


def _quoted(text: str, place: int, unclosed: set[str]) -> list[Token]:
    char = text[place]
    if fence := _FENCE.match(text, place):
        stop = text.find("```", fence.end())
        if stop >= 0:
            inner = text[fence.end() : stop].removesuffix("\n")
            return [Token(inner, place, stop + 3, Kind.QUOTE, note=fence[1])]
    close = _QUOTES.get(char)
    if close is None or close in unclosed:
        return []
    if char in "'‘" and place and (text[place - 1].isalnum()):
        return []
    stop = text.find(close, place + 1)
    while char in "'‘" and 0 <= stop < place + 500 and text[stop + 1 : stop + 2].isalnum():
        stop = text.find(close, stop + 1)  # an apostrophe
    if stop < 0 or (char in "'‘" and stop >= place + 500):
        unclosed.add(close)
        return []
    if not text[place + 1 : stop].strip():
        return []
    return [Token(text[place + 1 : stop], place, stop + 1, Kind.QUOTE)]


def _plain(text: str, place: int) -> Iterator[Token]:
    if clock := _CLOCK.match(text, place):
        yield Token(clock[0], place, clock.end(), Kind.WORD, frozenset({"~clock"}))
    elif path := _path(text, place):
        yield Token(path, place, place + len(path), Kind.PATH, frozenset({"#file", "#path", path}))
    elif number := _han_place(text, place) or _number(text, place):
        yield number
    elif run := _HAN_RUN.match(text, place):
        for part in segments(run[0]):
            yield Token(
                part.text, place + part.start, place + part.start + len(part.text),
                Kind.NUMBER if part.number is not None else Kind.WORD, part.keys,
                None if part.number is None else Numeral(part.number, part.ordinal, part.from_end),
            )  # fmt: skip
    elif word := _WORD.match(text, place):
        yield from _word(word[0], place)
    else:
        yield Token(text[place], place, place + 1, Kind.MARK)


def _path(text: str, place: int) -> str:
    match = _PATH_LIKE.match(text, place)
    run = match[0].rstrip(".?!") if match else ""
    if not run or run.casefold() in _EITHER or not re.search("[A-Za-z*]", run):
        return ""
    parts = re.split(r"[.]", run.strip("."))
    if all(len(part) <= 1 for part in parts) and "*" not in run:  # e.g., U.S., a
        return ""
    if run.startswith(("./", "../", "~/", "/")) or (run.endswith("/") and len(run) > 2):
        return run
    if _EXTENSION.search(run) or re.fullmatch(r"\.[A-Za-z][\w.-]+", run):
        return run
    slashes = re.fullmatch(r"[\w.@+-]+(?:/[\w.@+-]+)+", run)
    return run if (slashes and re.search("[A-Za-z]", run)) or ("*" in run and len(run) > 1) else ""


def _number(text: str, place: int) -> Token | None:
    before = text[place - 1] if place else " "
    sign = text[place] in "+-" and not before.isalnum()
    match = _NUMBER.match(text, place + sign) or _AMOUNT.match(text, place)
    if match is None or (before.isalpha() and before.isascii()):
        return None
    digits = re.sub(r"[^\d.]", "", match[0])
    value = float(digits[:15]) * (-1 if text[place] == "-" else 1)
    suffix = match.group(1) if match.re is _NUMBER else None
    keys = frozenset({"#percent"}) if suffix == "%" else NOTHING
    numeral = Numeral(value, ordinal=bool(suffix) and suffix != "%")
    return _measured(text, place, match.end(), numeral, keys)


def _han_place(text: str, place: int) -> Token | None:
    match = _HAN_PLACE.match(text, place)
    if match is None:
        return None
    numeral = Numeral(float(match[2][:15]), ordinal=True, from_end=bool(match[1]))
    return _measured(text, place, match.end(), numeral)


def _measured(
    text: str, place: int, end: int, numeral: Numeral, keys: frozenset[str] = NOTHING
) -> Token:
    """A number with the Chinese measure word behind it."""
    if measure := MEASURE.match(text, end):
        keys, end = keys | measure_keys(measure[1]), measure.end()
    return Token(text[place:end], place, end, Kind.NUMBER, keys, numeral)


def _word(text: str, place: int) -> Iterator[Token]:
    plain = text.casefold().replace("’", "'")
    if plain in CONTRACTIONS:
        first, second = CONTRACTIONS[plain].split()
        cut = place + min(len(first), len(text) - 1)
        yield Token(text, place, cut, Kind.WORD, _word_keys(first))
        yield Token("", cut, place + len(text), Kind.WORD, _word_keys(second))
    else:
        number = _word_number(plain)
        yield Token(text, place, place + len(text), Kind.WORD, _word_keys(plain), number)


def _word_keys(plain: str) -> frozenset[str]:
    root = stem(plain)
    keys = {root, plain} | groups_of(root) | groups_of(plain)
    parts = re.split("[-_]", plain) if re.search("[-_]", plain) else _compound(plain)
    for part in parts:
        if len(part) > 2:
            keys |= {stem(part)} | {one for one in groups_of(stem(part)) if one[0] != "~"}
    if plain.startswith("un") and not groups_of(root) and (base := groups_of(stem(plain[2:]))):
        keys |= {one for one in base if one[0] in "@#"} | {"~not"}  # unsaved: not saved
    return frozenset(keys)


def _compound(plain: str) -> tuple[str, ...]:
    """The two nouns of one that no lexicon knows ("scoreboard")."""
    if not 6 < len(plain) < 25 or groups_of(stem(plain)):
        return ()
    for cut in range(3, len(plain) - 2):
        parts = plain[:cut], plain[cut:]
        if all(any(key[0] == "#" for key in groups_of(stem(part))) for part in parts):
            return parts
    return ()


def _word_number(plain: str) -> Numeral | None:
    if plain in ORDINALS:
        return Numeral(ORDINALS[plain], ordinal=True)
    for table in (ONES, TENS, AMOUNTS, SCALES):
        if plain in table:
            return Numeral(table[plain] * (10 if table is TENS else 1))
    first, _, second = plain.partition("-")
    if first in TENS and second in ONES:
        return Numeral(TENS[first] * 10 + ONES[second])
    return None


def _merged(tokens: list[Token]) -> Iterator[Token]:
    """Phrases and numbers of several words as one token each."""
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
                one.kind is Kind.WORD and root in one.keys
                for root, one in zip(stems, part, strict=True)
            ):
                told = () if any(one.has("~not") for one in part) else part
                plain = {
                    key for one in told if not one.is_small for key in one.keys if key[0] != "@"
                }
                keys = groups | plain | {"".join(stems)}
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
    last = tokens[place + size - 1]
    first = tokens[place]
    text = " ".join(one.text for one in tokens[place : place + size])
    return Token(text, first.start, last.end, Kind.NUMBER, first.keys, Numeral(total + part)), size
