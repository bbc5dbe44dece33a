"""What a person typed, as tokens: words with their meanings, and values that stay whole.

Quoted text, paths, addresses, dates, times, phone numbers and numbers with units are one token
each. Chinese has no spaces: a run of it is divided into the words of the lexicon, of the windows'
labels and what remains between them.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Literal

from contextui.agent.models.offline.lexicon import NOTHING, groups_of, lexicon, stem

Kind = Literal["word", "quoted", "number", "range", "path", "value", "mark", "broken"]

LONGEST = 4_000
"""The characters of a request that are read. Longer ones are pasted text, not requests."""

_PAIRS = {'"': '"', "“": "”", "「": "」", "『": "』", "《": "》", "`": "`", "‘": "’", "'": "'"}
_QUOTED = r"|".join(
    rf"(?<![\w]){re.escape(a)}[^\n{re.escape(b)}]+{re.escape(b)}(?!\w)"
    if a in "'"
    else rf"{re.escape(a)}[^{re.escape(b)}]*{re.escape(b)}"
    for a, b in _PAIRS.items()
)
# Chinese has no case: compiling these classes with IGNORECASE would add 50 ms to each start.
_TOKEN = re.compile(
    rf"(?P<quoted>{_QUOTED})"
    r"|(?P<value>https?://[^\s，。；]+|[\w.+-]+@[\w-]+\.[\w.-]*\w"
    r"|\d{4}-\d{1,2}-\d{1,2}|\d{1,2}/\d{1,2}(?:/\d{2,4})?(?![\w/])"
    r"|\d{1,2}:\d{2}(?:\s?[ap]\.?m\b)?|\d{1,2}\s?[ap]m\b"
    r"|\d{1,3}(?:\.\d{1,3}){3}(?![\w.]\d)|v?\d+(?:\.\d+){2,}"
    r"|\+\d[\d -]{6,}\d|\d{3,5}[ -]\d{3,}(?:[ -]?\d+)*)"
    r"|(?P<path>(?:~|\.{1,2})?/?(?:[A-Za-z0-9_.*?-]+/)+[A-Za-z0-9_.*?-]*"
    r"|[A-Za-z0-9_*?-]+(?:\.[A-Za-z0-9_*?-]+)*\.[A-Za-z*]\w{0,7}(?![\w.]*\()"
    r"|(?<![\w.])\.[A-Za-z][\w.-]+)"
    r"|(?P<named>(?-i:[㐀-鿿\w/-]*[㐀-鿿][㐀-鿿\w/-]*)\.[A-Za-z]{1,5}(?![A-Za-z]))"
    r"|(?P<range>\d+\s?[-–~]\s?\d+(?![\w.]))"
    r"|(?P<number>(?:#|第\s?)?-?\d+(?:,\d{3})*(?:\.\d+)?"
    r"(?:st|nd|rd|th|%|°C?|ms|kb|mb|gb|min|mins|sec|secs|[smhk](?![a-z]))?(?![A-Za-z_]))"
    r"|(?P<chinese>(?-i:(?:(?!第\s?\d)[㐀-鿿])+))"
    r"|(?P<word>(?-i:[^\W\d_㐀-鿿]+(?:[-'’][^\W_㐀-鿿]+)*[\d_]*[^\W㐀-鿿]*|[\w]+))"
    r"|(?P<mark>[^\w\s]|\n)",
    re.IGNORECASE,
)
_HAN = re.compile(r"第?[零〇一二两三四五六七八九十百千万]+")
_CHINESE = re.compile("[㐀-鿿]")
_DIGITS = {char: value for value, char in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_SCALES = {"十": 10, "百": 100, "千": 1_000}
_WORDS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen",
    "zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth",
)
_NUMBERS, _ORDINALS = ({one: place for place, one in enumerate(row.split())} for row in _WORDS)
_NUMBERS |= {"twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "hundred": 100}
_UNITS = {
    "%": "#percent", "°": "#degree", "°c": "#degree", "s": "#second", "sec": "#second",
    "secs": "#second", "m": "#minute", "min": "#minute", "mins": "#minute", "h": "#hour",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Token:
    """One word, value or mark."""

    kind: Kind
    text: str  # of a quotation what is between the marks
    start: int
    end: int
    groups: frozenset[str] = NOTHING
    stem: str = ""
    number: float | None = None
    upto: float | None = None  # the last number of a range
    is_ordinal: bool = False  # the number names a place, as "third" does
    parts: tuple["Token", ...] = field(default=(), compare=False, repr=False)

    def has(self, *groups: str) -> bool:
        """Return whether it belongs to one of the groups."""
        return not self.groups.isdisjoint(groups)

    def names(self, words: frozenset[str]) -> bool:
        """Return whether it is one of some words, or means the same; small words do not count."""
        is_word = self.stem in words or (self.kind == "word" and self.text in words)
        return is_word or any(group in words and group[0] != "~" for group in self.groups)

    @property
    def verbs(self) -> frozenset[str]:
        """The groups of verbs that it belongs to."""
        return frozenset(group for group in self.groups if group[0] == "@")

    @property
    def is_marked(self) -> bool:
        """Whether it is a value that the person set apart: quoted, a path, an address."""
        return self.kind in ("quoted", "path", "value")


@dataclass(frozen=True, eq=False)
class Clause:
    """One request of a sentence."""

    text: str
    tokens: tuple[Token, ...]

    @cached_property
    def content(self) -> frozenset[int]:
        """The places of the tokens that must be explained."""
        return frozenset(at for at, token in enumerate(self.tokens) if is_content(token))

    @cached_property
    def keys(self) -> frozenset[str]:
        """The stems and groups of all words."""
        words = [one for token in self.tokens for one in (token, *token.parts)]
        return frozenset(key for word in words for key in (word.stem, *word.groups))

    @cached_property
    def points(self) -> bool:
        """Whether something may be meant by its place, or was mentioned before."""
        pointing = ("~last", "~first", "~all", "~both", "~it", "~this")
        return self.has(*pointing) or any(token.number is not None for token in self.tokens)

    def has(self, *groups: str) -> bool:
        """Return whether one of the tokens belongs to one of the groups."""
        return has_any(self.tokens, *groups)

    def places(self, *groups: str) -> frozenset[int]:
        """Return the places of the tokens that belong to one of the groups."""
        return frozenset(at for at, token in enumerate(self.tokens) if token.has(*groups))

    def span(self, first: int, last: int) -> str:
        """Return the text from one token to another."""
        return self.text[self.tokens[first].start : self.tokens[last].end]


def is_chinese(text: str) -> bool:
    """Return whether a text is Chinese rather than English; quoted text does not count."""
    plain = re.sub(_QUOTED, " ", text[:LONGEST])
    chinese = len(_CHINESE.findall(plain))
    return chinese > 0 and chinese * 2 >= len(re.findall(r"[A-Za-z]+", plain))


@lru_cache(maxsize=256)
def tokenize(text: str, known: frozenset[str] = NOTHING) -> tuple[Token, ...]:
    """Return the tokens of a text; `known` are further Chinese words, of windows and labels."""
    return tuple(_phrases(list(_tokens(text[:LONGEST], known))))


def _tokens(text: str, known: frozenset[str]) -> Iterator[Token]:
    for match in _TOKEN.finditer(text):
        kind, found, start, end = match.lastgroup, match[0], match.start(), match.end()
        if kind == "quoted":
            yield Token("quoted", found[1:-1].strip(), start, end)
        elif kind in ("value", "path"):
            cut = len(found.rstrip(".,;:!?")) if kind == "value" or found[-1] == "." else len(found)
            yield Token("value" if kind == "value" else "path", found[:cut], start, start + cut)
        elif kind == "named":
            yield from _named(found, start, known)
        elif kind == "range":
            first, last = (float(one) for one in re.findall(r"\d+", found))
            yield Token("range", found, start, end, number=first, upto=last)
        elif kind == "number":
            yield _number(found, start)
        elif kind == "chinese":
            yield from _segments(found, start, known)
        elif kind == "word":
            yield _word(found, start)
        elif found in _PAIRS and found != "'":
            yield Token("broken", found, start, end)
        else:
            yield Token("mark", found, start, end, groups_of(found) | groups_of(f"={found}"))


def _number(text: str, start: int) -> Token:
    found = re.fullmatch(r"(?:#|第\s?)?(-?[\d,]+(?:\.\d+)?)(.*)", text)
    assert found is not None
    unit = found[2].casefold()
    is_ordinal = unit in ("st", "nd", "rd", "th") or text[0] in "#第"
    return Token(
        "number", text, start, start + len(text),
        frozenset([_UNITS[unit]]) if unit in _UNITS else NOTHING,
        number=min(1e15, float(found[1].replace(",", ""))), is_ordinal=is_ordinal,
    )  # fmt: skip


def _word(text: str, start: int) -> Token:
    low, end = text.casefold().replace("’", "'"), start + len(text)
    place, root = _ORDINALS.get(low), stem(low)
    number = place if place is not None or low == "one" else _NUMBERS.get(low)
    if number is not None:
        groups, is_ordinal = groups_of(f"={low}"), place is not None
        return Token("number", text, start, end, groups, low, float(number), None, is_ordinal)
    return Token("word", text, start, end, groups_of(f"={low}") | groups_of(root), root)


def _segments(run: str, start: int, known: frozenset[str]) -> Iterator[Token]:
    """Divide Chinese text into words: as few as possible, with as little unknown as possible."""
    words, longest = lexicon().words, max(lexicon().longest, *map(len, known), 1)
    size = len(run)
    best: list[tuple[float, int, bool]] = [(0.0, 0, True)] * (size + 1)
    for at in range(size - 1, -1, -1):
        choice = (best[at + 1][0] + 1.15, 1, False)
        if number := _HAN.match(run, at):
            length = number.end() - at
            cost = 0.9 if length > 1 or number.end() == size else 1.05
            choice = min(choice, (best[at + length][0] + cost, length, True))
        for length in range(1, min(longest, size - at) + 1):
            piece = run[at : at + length]
            if piece in words or piece in known:
                cost = best[at + length][0] + 1.0 - 0.02 * length
                choice = min(choice, (cost, length, True))
        best[at] = choice
    at = 0
    while at < size:
        _, length, is_known = best[at]
        end = at + length
        while not is_known and end < size and not best[end][2]:
            end += best[end][1]
        yield _segment(run[at:end], start + at)
        at = end


def _named(text: str, start: int, known: frozenset[str]) -> Iterator[Token]:
    """Divide Chinese text that ends in a file name: 打开菜单.txt."""
    before = list(_tokens(text.rpartition(".")[0], known))
    is_name = [not any(group[0] in "@~" for group in token.groups) for token in before[:-1]]
    cut = len(is_name) - is_name[::-1].index(False) if False in is_name else 0
    for token in before[:cut]:
        yield replace(token, start=start + token.start, end=start + token.end)
    begin = before[cut].start
    yield Token("path", text[begin:], start + begin, start + len(text))


def _segment(text: str, start: int) -> Token:
    groups, end = groups_of(text), start + len(text)
    number = None if groups else _han_number(text.removeprefix("第"))
    if number is not None:
        return Token("number", text, start, end, number=number, is_ordinal=text[0] == "第")
    return Token("word", text, start, end, groups, text)


def _han_number(text: str) -> float | None:
    total = digit = 0
    for char in text or "?":
        if char in _DIGITS:
            digit = digit * 10 + _DIGITS[char] if digit and "十" not in text else _DIGITS[char]
        elif char in _SCALES:
            total += (digit or 1) * _SCALES[char]
            digit = 0
        else:
            return None
    return float(total + digit)


def _phrases(tokens: list[Token]) -> Iterator[Token]:
    """Join words that mean something together, such as "get rid of"."""
    at, table = 0, lexicon().phrases
    while at < len(tokens):
        token = tokens[at]
        joined = None
        for stems, groups in table.get(token.stem, ()) if token.kind in ("word", "number") else ():
            row = tokens[at : at + len(stems)]
            if tuple(one.stem for one in row) == stems:
                text, end = " ".join(one.text for one in row), row[-1].end
                joined = Token("word", text, token.start, end, groups, " ".join(stems),
                               parts=tuple(row))  # fmt: skip
                break
        yield joined or token
        at += len(joined.parts) if joined else 1


def parts_of(text: str) -> list[str]:
    """Return the parts of a list in words: "milk, eggs and bread". What is quoted stays whole."""
    parts, start = list[str](), 0
    for token in tokenize(text):
        if token.text in tuple(",，、;；\n") or (token.has("~and") and len(token.text) < 5):
            parts.append(text[start : token.start])
            start = token.end
    parts.append(text[start:])
    return [one for part in parts if (one := bare(part))]


def bare(text: str) -> str:
    """Return a text without spaces, quotation marks and stray marks around it."""
    text = text.strip().strip(",，、;；:：").strip()
    if len(text) > 1 and _PAIRS.get(text[0]) == text[-1] and text[0] not in text[1:-1]:
        return text[1:-1].strip()
    return text


def is_content(token: Token) -> bool:
    """Return whether a word must be explained before anything is done."""
    if token.kind == "mark" or (token.start == 0 and token.has("~greet")):
        return False
    return not token.groups & lexicon().silent


def has_any(tokens: Sequence[Token], *groups: str) -> bool:
    """Return whether one of the tokens belongs to one of the groups."""
    return any(token.has(*groups) for token in tokens)
