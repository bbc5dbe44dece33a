"""Text in tokens, as they stand there: quotations, paths, times, numbers, words and marks."""

import re
from collections.abc import Iterator, Sequence

from contextui.agent.models.offline.lexicon.listed import listed
from contextui.agent.models.offline.lexicon.numbers import number_of_word
from contextui.agent.models.offline.lexicon.particles import CONTRACTIONS
from contextui.agent.models.offline.lexicon.stems import stem
from contextui.agent.models.offline.lexicon.tables import NOTHING, groups_of
from contextui.agent.models.offline.reading.chinese import MEASURE, Segment, measure_keys, segments
from contextui.agent.models.offline.reading.token import Kind, Numeral, Token

HAN = "\u3400-\u9fff"
HEAD = 1_500
"""Characters that are read word by word; what is beyond belongs to the last word."""

_HAN_RUN = re.compile(rf"(?:(?!(?:倒数)?第\s*\d)[{HAN}])+")
_HAN_PLACE = re.compile(r"(倒数)?第\s*(\d+)")
_WORD = re.compile(rf"(?:(?![{HAN}])[^\W_])+(?:['’_-](?:(?![{HAN}])[^\W_])+)*")
_NUMBER = re.compile(r"[#№]?\d+(?:,\d{3})*(?:\.\d+)?(%|st\b|nd\b|rd\b|th\b)?(?![A-Za-z_:/\d])")
_AMOUNT = re.compile(r"[+-]?\d+(?:\.\d+)?(?=[A-Za-z]{1,4}\b)")
_CLOCK = re.compile(r"\d{1,2}(?::\d{2})?\s?[ap]\.?m\b\.?|\d{1,2}:\d{2}(?!\d)", re.IGNORECASE)
_AND = re.compile(r"[&+]\s")
_PATH = re.compile(r"[A-Za-z0-9_.*?@~+/\\-]{1,250}")
_HAN_PATH = re.compile(
    r"[\w@+-]{0,80}(?:/[\w@+-]{1,80}){0,20}(?:/|\.[a-z][a-z0-9]{0,7})(?![A-Za-z0-9_/])"
)
_EXTENSION = re.compile(r"[\w*?/\\)~-]\.(?:[a-z][a-z0-9]{0,7}|[A-Z][A-Z0-9]{0,4})$")
_CALL = re.compile(r"[A-Za-z_][\w.]{0,80}(?:\([^()\n]{0,200}\)|\[[^\[\]\n]{0,100}\]){1,4}")
_FENCE = re.compile(r"```[ \t]{0,9}([\w+#.-]{0,40})[ \t]{0,9}\r?\n?")
_QUOTES = {'"': '"', "“": "”", "「": "」", "『": "』", "《": "》", "`": "`", "‘": "’", "'": "'"}
_CODE = frozenset("([{=,<")
_NO_PATHS = frozenset(listed("and/or either/or he/she his/her w/o n/a yes/no on/off tcp/ip"))


def scan(text: str, names: frozenset[str] = NOTHING) -> Iterator[Token]:
    """The tokens of the head of a text, in order.

    Args:
        text: What was said.
        names: Chinese words that windows declare or show.
    """
    place, head, unclosed = 0, text[:HEAD], set[str]()
    while place < len(head):
        char = text[place]
        if char.isspace():
            if char == "\n":
                yield Token(char, place, place + 1, Kind.MARK)
            place += 1
            continue
        quoted = _quoted(text, place, unclosed)
        for token in [quoted] if quoted else _plain(head, place, names):
            yield token
            place = token.end


def word_keys(plain: str) -> frozenset[str]:
    """What an English word, in small letters, is known by."""
    root = stem(plain)
    keys = {root, plain} | groups_of(root) | groups_of(plain)
    for part in re.split("[-_]", plain) if re.search("[-_]", plain) else _compound(plain):
        if len(part) > 2:
            keys |= {stem(part)} | {one for one in groups_of(stem(part)) if one[0] != "~"}
    if plain.startswith("un") and not groups_of(root) and (base := groups_of(stem(plain[2:]))):
        keys |= {one for one in base if one[0] in "@#"} | {"~not"}  # unsaved: not saved
    return frozenset(keys)


# --- quotations --------------------------------------------------------------------------


def _quoted(text: str, place: int, unclosed: set[str]) -> Token | None:
    """A quotation that begins here. What was not closed once is not looked for again."""
    if fence := _FENCE.match(text, place):
        stop = text.find("```", fence.end())
        if stop >= 0:
            inner = text[fence.end() : stop].removesuffix("\n")
            return Token(inner, place, stop + 3, Kind.QUOTE, note=fence[1])
    char, before = text[place], text[place - 1 : place]
    close = _QUOTES.get(char)
    if close is None or close in unclosed:
        return None
    single = char in "'‘"
    if (single and before.isalnum()) or (char in "\"'`" and before in _CODE):
        return None  # an apostrophe, or a part of something like f("x")
    stop = text.find(close, place + 1)
    while single and 0 <= stop < place + 500 and text[stop + 1 : stop + 2].isalnum():
        stop = text.find(close, stop + 1)  # an apostrophe within
    if stop < 0 or (single and stop >= place + 500):
        unclosed.add(close)
        return None
    inner = text[place + 1 : stop]
    return Token(inner, place, stop + 1, Kind.QUOTE) if inner.strip() else None


# --- everything else ---------------------------------------------------------------------


def _plain(text: str, place: int, names: frozenset[str]) -> Iterator[Token]:
    if clock := _CLOCK.match(text, place):
        yield Token(clock[0], place, clock.end(), Kind.CLOCK)
    elif code := _CALL.match(text, place):  # sum(items, 0): its commas part nothing
        yield Token(code[0], place, code.end(), Kind.QUOTE)
    elif path := _path(text, place):
        yield _path_token(path, place)
    elif number := _han_place(text, place) or _number(text, place):
        yield number
    elif run := _HAN_RUN.match(text, place):
        yield from _han(text, place, run.end(), names)
    elif word := _WORD.match(text, place):
        yield from _word(word[0], place)
    elif _AND.match(text, place) and text[place - 1 : place].isspace():
        yield Token(text[place], place, place + 1, Kind.WORD, word_keys("and"))
    else:
        yield Token(text[place], place, place + 1, Kind.MARK)


def _han(text: str, place: int, end: int, names: frozenset[str]) -> Iterator[Token]:
    """The words of Chinese text; what runs into a slash or an ending is a path."""
    parts = list(segments(text[place:end], names))
    goes_on = text[end : end + 1] in ("/", ".", "_", "-")
    parted = place > 0 and text[place - 1].isspace()
    begins = _name_begins(parts, parted) if goes_on else len(parts)
    for number, part in enumerate(parts):
        start, numeral = place + part.start, part.number
        path = _HAN_PATH.match(text, start) if number == begins else None
        if path and path.end() > end:
            yield _path_token(path[0], start)
            return
        yield Token(
            part.text,
            start,
            start + len(part.text),
            Kind.WORD if numeral is None else Kind.NUMBER,
            part.keys,
            None if numeral is None else Numeral(numeral, part.ordinal, part.from_end),
        )


def _name_begins(parts: Sequence[Segment], parted: bool) -> int:
    """Where a file's name begins in Chinese text that runs into its ending (打开菜单.txt).

    Behind a space a small word is rather a part of the name.
    """
    begins = 0
    for number, part in enumerate(parts[:-1]):
        marks = {key[0] for key in part.keys}
        acts = "@" in marks and "#" not in marks  # a verb, and no noun besides
        leads = "~" in marks and "#" not in marks and begins == number and not parted
        if acts or leads or part.keys & {"~behind_noun", "~object"}:
            begins = number + 1
    return begins


def _path_token(text: str, start: int) -> Token:
    if "@" in text[1:-1]:  # a mail address
        return Token(text, start, start + len(text), Kind.WORD, frozenset({text, "#address"}))
    return Token(text, start, start + len(text), Kind.PATH, frozenset({"#file", "#path", text}))


def _path(text: str, place: int) -> str:
    """The path or file name that begins here, if what stands here can hardly be else."""
    match = _PATH.match(text, place)
    run = match[0].rstrip(".?!") if match else ""
    if not run or run.casefold() in _NO_PATHS or not re.search("[A-Za-z*]", run):
        return ""
    longer = _HAN_PATH.match(text, place)
    if longer and "/" in run and longer.end() > place + len(run):
        return longer[0]
    if all(len(part) <= 1 for part in run.strip(".").split(".")) and "*" not in run:
        return ""  # e.g., U.S., a
    if run.startswith(("./", "../", "~/", "/")) or (run.endswith("/") and len(run) > 2):
        return run
    if _EXTENSION.search(run) or re.fullmatch(r"\.[A-Za-z][\w.-]+", run):
        return run
    parted = re.fullmatch(r"[\w.@+-]+(?:/[\w.@+-]+)+", run)
    return run if parted or ("*" in run and len(run) > 1) else ""


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
        yield Token(text, place, cut, Kind.WORD, word_keys(first))
        yield Token("", cut, place + len(text), Kind.WORD, word_keys(second))
        return
    value = number_of_word(plain)
    numeral = Numeral(value[0], ordinal=value[1]) if value else None
    yield Token(text, place, place + len(text), Kind.WORD, word_keys(plain), numeral)


def _compound(plain: str) -> tuple[str, ...]:
    """The two nouns of one that no lexicon knows ("scoreboard")."""
    if not 6 < len(plain) < 25 or groups_of(stem(plain)):
        return ()
    for cut in range(3, len(plain) - 2):
        parts = plain[:cut], plain[cut:]
        if all(any(key[0] == "#" for key in groups_of(stem(part))) for part in parts):
            return parts
    return ()
