"""Text sanitizing for models, XML and the terminal, and helpers for short display text.

All text from a model, a file or a window passes through one of `for_model`, `for_xml` and
`for_terminal`. Each replaces characters that its destination cannot hold, or would execute, with
visible ones. Nothing is dropped silently, and clean text is returned as the same object.
"""

import re
import unicodedata
from collections.abc import Mapping
from functools import lru_cache
from itertools import chain
from pathlib import PurePath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from contextui.words import Words

_REPLACEMENT = "\ufffd"
_ZERO_WIDTH_JOINER = "\u200d"
_SURROGATES = re.compile("[\ud800-\udfff]+")


class _Filter:
    """Replaces single characters by a table; clean text costs one scan.

    On ASCII, `str.translate` takes a fifth of the time of a regular expression; on all other text
    it takes some fifteen times as long.
    """

    def __init__(self, table: Mapping[int, str]) -> None:
        self._table = table
        # The regex engine tries every range beyond the BMP for every character, so they are merged
        # into one wide range; the table decides what is replaced.
        beyond = [chr(code) for code in table if code > 0xFFFF]
        wide = f"{min(beyond)}-{max(beyond)}" if beyond else ""
        within = re.escape("".join(chr(code) for code in table if code <= 0xFFFF))
        self._suspect = re.compile(f"[{within}{wide}]")

    def __call__(self, text: str) -> str:
        if text.isascii():
            shown = text.translate(self._table)
        else:
            shown = self._suspect.sub(self._show, text)
        return text if shown == text else shown

    def _show(self, match: re.Match[str]) -> str:
        return self._table.get(ord(match[0]), match[0])


def _escape(code: int) -> str:
    return chr(code).encode("unicode_escape").decode("ascii")


_PICTURES = {code: chr(0x2400 + code) for code in range(0x20)}
_NONCHARACTERS = chain(
    range(0xFDD0, 0xFDF0),
    (plane << 16 | last for plane in range(17) for last in (0xFFFE, 0xFFFF)),
)
_ESCAPED = chain(
    range(0x80, 0xA0),  # C1: U+009B alone starts a sequence in many terminals
    (0x061C, 0x180E, 0x200B, 0x200E, 0x200F, 0xFEFF),  # bidi marks, and what has no width
    range(0x2028, 0x202F),  # line and paragraph separator, bidi embeddings and overrides
    range(0x2060, 0x2070),  # word joiner, invisible operators, bidi isolates and old formats
    range(0xFFF9, 0xFFFC),  # interlinear annotations
    range(0xE0000, 0xE0080),  # tags: invisible text
)
_xml_filter = _Filter(
    {code: picture for code, picture in _PICTURES.items() if chr(code) not in "\t\n\r"}
    | {0xFFFE: _REPLACEMENT, 0xFFFF: _REPLACEMENT}
)
_terminal_filter = _Filter(
    {code: picture for code, picture in _PICTURES.items() if chr(code) not in "\t\n"}
    | {0x7F: "\u2421"}
    | dict.fromkeys(_NONCHARACTERS, _REPLACEMENT)
    | {code: _escape(code) for code in _ESCAPED}
)


def _join_surrogates(match: re.Match[str]) -> str:
    return match[0].encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def for_model(text: str) -> str:
    r"""Make text fit for JSON, UTF-8 and the log.

    A surrogate pair becomes its character, a lone surrogate U+FFFD, and NUL its picture.

    Example:
        >>> for_model("a\0b \ud83d\ude00 \ud83d")
        'a␀b 😀 �'
    """
    try:
        text.encode()  # the fastest check for surrogates
    except UnicodeEncodeError:
        text = _SURROGATES.sub(_join_surrogates, text)
    return text.replace("\0", "\u2400")


def for_xml(text: str) -> str:
    r"""Make text legal in XML 1.0; the serializer still has to escape markup.

    Applies `for_model`; control characters become their pictures, U+FFFE and U+FFFF become U+FFFD.
    Tab, line feed and carriage return stay. A parser reads a literal carriage return as a line
    feed, so a serializer must write it as `&#13;`, as lxml does.
    """
    return _xml_filter(for_model(text))


def for_terminal(text: str, *, lines: bool = True) -> str:
    r"""Escape everything in a text that a terminal would execute.

    Control characters become pictures; C1, bidi controls, line separators, characters without a
    width, annotations and tags become escapes such as `\x9b` and `\u202e`; noncharacters become
    U+FFFD. Joiners stay: emoji and Indic scripts need them.

    Args:
        lines: Keep line feed and tab, and turn CRLF into a line feed. Otherwise each of the
            three becomes one space.

    Example:
        >>> for_terminal("\x1b]0;owned\x07")
        '␛]0;owned␇'
    """
    text = for_model(text)
    if "\r" in text:  # searching for one character is far cheaper than for two
        text = text.replace("\r\n", "\n")
    text = _terminal_filter(text)
    return text if lines else text.replace("\n", " ").replace("\t", " ")


_UNSEEN_CATEGORIES = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp", "Zs"})
_UNSEEN_OTHERS = frozenset(  # invisible, though their category is a letter, mark or symbol
    map(
        chr,
        chain(
            (0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0, 0x16FE4, 0x1D159),
            range(0x180B, 0x1810),
            range(0xFE00, 0xFE10),
            range(0xE0100, 0xE01F0),
        ),
    )
)


@lru_cache(maxsize=65_536)
def is_unseen(char: str) -> bool:
    """Whether a character is invisible, blank, or rendered unpredictably.

    True for everything in the Unicode categories of controls, formats, private use, surrogates,
    unassigned characters and separators, except the space; and for fillers and selectors.
    """
    if char == " ":
        return False
    return unicodedata.category(char) in _UNSEEN_CATEGORIES or char in _UNSEEN_OTHERS


def code_point(char: str) -> str:
    """Return the code point of an invisible character, as in ``⟨U+200B⟩``."""
    return f"⟨U+{ord(char):04X}⟩"


def one_line(text: str, limit: int = 50) -> str:
    """Collapse text into one sanitized line, truncated to `limit` characters plus "…".

    Only a bounded prefix is examined, so the cost does not grow with the text. White space beyond
    that prefix counts as more text.
    """
    limit = max(limit, 0)
    head = text[: 4 * limit + 1024]
    line = for_terminal(" ".join(head.split()), lines=False)
    if len(line) > limit:
        return line[: _cut_before(line, limit)] + "…"
    return line if len(head) == len(text) else line + "…"


def _cut_before(line: str, limit: int) -> int:
    """Return the last position up to `limit` that does not split a character from its marks."""
    end = limit
    while end > 0 and (_continues(line[end]) or line[end - 1] == _ZERO_WIDTH_JOINER):
        end -= 1
    return end or limit


def _continues(char: str) -> bool:
    return (
        char == _ZERO_WIDTH_JOINER
        or "\U0001f3fb" <= char <= "\U0001f3ff"  # skin tones
        or unicodedata.category(char).startswith("M")  # marks and variation selectors
    )


def cap(text: str, limit: int) -> str:
    """Truncate text to `limit` characters and state how many are missing."""
    if len(text) <= limit:
        return text
    return f"{text[:limit]}\n… {len(text) - limit} more characters left out"


_ONE_COLUMN_EACH = re.compile("[ -\u02ff\u2010-\u2027]*")  # Latin letters and punctuation


def width(text: str) -> int:
    """Return the columns that a line of text takes on a screen."""
    if _ONE_COLUMN_EACH.fullmatch(text):
        return len(text)
    from rich.cells import cell_len  # noqa: PLC0415  (most text does not need it)

    return cell_len(text)


def cut(text: str, columns: int) -> str:
    """Truncate a line of text to a width on a screen, with "…" at the end."""
    if width(text) <= columns:
        return text
    from rich.cells import set_cell_size  # noqa: PLC0415  (short text does not need it)

    return set_cell_size(text, max(columns - 1, 0)).rstrip() + "…"


def byte_size(count: int) -> str:
    """Format a number of bytes.

    Example:
        >>> byte_size(999), byte_size(2_560), byte_size(3_000_000)
        ('999B', '2.5KB', '2.9MB')
    """
    if count < 1024:
        return f"{count}B"
    size = count / 1024
    for unit in ("KB", "MB"):
        if round(size, 1) < 1024:
            return f"{size:.1f}{unit}"
        size /= 1024
    return f"{size:.1f}GB"


def duration(seconds: float, words: "Words") -> str:
    """Format a duration: ``0.4s``, ``14s``, ``2m 05s``, ``2h 10m``; an `int` has no tenths."""
    if seconds < 10 and not isinstance(seconds, int):
        return words("{seconds}s", seconds=f"{seconds:.1f}")
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return words("{hours}h {minutes}m", hours=f"{hours:,}", minutes=f"{minutes:02}")
    if minutes:
        return words("{minutes}m {seconds}s", minutes=minutes, seconds=f"{rest:02}")
    return words("{seconds}s", seconds=rest)


def turn_cost(dollars: float) -> str:
    """Format the cost of one turn: `$0.010`."""
    return f"${dollars:,.3f}" if dollars >= 0.001 else "<$0.001"


_MISREAD = re.compile("""['":,]|\\)$""")


def shown_name(name: str) -> str:
    """Return a name as it is, or quoted and escaped if it could be misread.

    Example:
        >>> print(shown_name("notes.txt"), shown_name("a, saved"), shown_name("b\\n"))
        notes.txt 'a, saved' 'b\\n'
    """
    plain = name.isprintable() and name == name.strip() and "  " not in name
    return name if plain and not _MISREAD.search(name) else repr(name)


def shown_path(path: PurePath) -> str:
    """Return a path as one sanitized line, whole unless it is absurdly long."""
    return one_line(str(path), 1_000)


def counted(count: int, noun: str, nouns: str = "") -> str:
    """Format a count with its noun.

    Example:
        >>> counted(1, "line"), counted(3, "line"), counted(0, "entry", "entries")
        ('1 line', '3 lines', '0 entries')
    """
    return f"{count} {noun if count == 1 else nouns or noun + 's'}"


def span(first: int, last: int) -> str:
    """Format a range of numbers: "3-5", or "3" if both are the same."""
    return str(first) if first == last else f"{first}-{last}"


def spanned(noun: str, first: int, last: int) -> str:
    """Format a noun with a range of numbers.

    Example:
        >>> spanned("line", 3, 3), spanned("line", 3, 5)
        ('line 3', 'lines 3-5')
    """
    return f"{noun}{'s' * (first != last)} {span(first, last)}"


def quote(text: str, limit: int = 40) -> str:
    """Quote text for an error message: one sanitized line in double quotes."""
    return f'"{one_line(text, limit)}"'
