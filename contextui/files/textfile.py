"""Text files in memory: encoding detection, pages, and edits that keep all other bytes.

The text is stored as it is, including line ends, and an edit replaces a range of it. So mixed line
ends, a missing last one, a byte order mark and unusual separators are preserved without special
cases.
"""

import codecs
import os
import re
import unicodedata
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b

from contextui.files.errors import (
    BinaryFileError,
    EditError,
    UnreadableFileError,
    shown,
)
from contextui.words import Message, Text

LINE_END = re.compile(r"\r\n|\n|\r")
"""A line end in a file. U+2028, U+0085, form feed and the like do not end a line."""

_CONTROLS = bytes({*range(0x20), 0x7F} - set(b"\t\n\v\f\r\x1b\b\a"))
_UNDEFINED_IN_CP1252 = re.compile(rb"[\x81\x8d\x8f\x90\x9d]")
_MARKS = (  # the mark of UTF-32 LE begins with that of UTF-16 LE, so it comes first
    (codecs.BOM_UTF32_LE, "utf-32-le", 4),
    (codecs.BOM_UTF32_BE, "utf-32-be", 4),
    (codecs.BOM_UTF8, "utf-8", 1),
    (codecs.BOM_UTF16_LE, "utf-16-le", 2),
    (codecs.BOM_UTF16_BE, "utf-16-be", 2),
)


@dataclass(frozen=True, slots=True)
class Encoding:
    """A text encoding.

    Attributes:
        bom: The byte order mark at the start of the file; not part of its text.
        unit: The bytes of the smallest code unit.
    """

    codec: str = "utf-8"
    bom: bytes = b""
    unit: int = 1

    def __str__(self) -> str:
        return f"{self.codec} with BOM" if self.bom else self.codec

    def decode(self, data: bytes, path: str = "") -> str:
        """Decode a whole file; damaged text raises an error and is never replaced."""
        try:
            text = data[len(self.bom) :].decode(self.codec)
        except (UnicodeError, LookupError) as error:
            raise UnreadableFileError(
                path, "{name} is not valid {encoding}: {why}.", encoding=self, why=error
            ) from error
        if "\0" in text:
            raise BinaryFileError(path, "{name} is not text: it contains NUL characters.")
        return text

    def encode(self, text: str, path: str = "") -> bytes:
        """Encode a whole file."""
        self.check(text, path)
        return self.bom + text.encode(self.codec)

    def check(self, text: str, path: str = "") -> None:
        """Raise an error that names the first character that cannot be encoded."""
        at = text.find("\0")
        if at < 0:
            try:
                text.encode(self.codec)
                return
            except UnicodeEncodeError as error:
                at = error.start
        char = text[at]
        line = len(LINE_END.findall(text, 0, at)) + 1
        raise EditError(
            path,
            "{name} is kept as {encoding}, which cannot hold U+{code:04X} ({character}) in line "
            "{line} of the text. Nothing was changed.",
            encoding=self,
            code=ord(char),
            character=unicodedata.name(char, "no character of its own"),
            line=line,
        )


UTF8 = Encoding()


def detect(data: bytes, path: str = "", *, whole: bool = True) -> Encoding:
    """Detect the encoding of these bytes, or raise an error that says why they are not text.

    Unicode with a BOM and UTF-8 are recognized by their form. Anything else that looks like text is
    decoded as cp1252 or latin-1, whichever can restore the same bytes.

    Args:
        whole: Whether this is the whole file; otherwise the last character may be incomplete.
    """
    for mark, codec, unit in _MARKS:
        if data.startswith(mark):
            return Encoding(codec, mark, unit)
    if b"\0" in data:
        raise BinaryFileError(path, "{name} is not text: it contains NUL bytes.")
    try:
        codecs.getincrementaldecoder("utf-8")().decode(data, final=whole)
        return UTF8
    except UnicodeDecodeError:
        pass
    controls = len(data) - len(data.translate(None, _CONTROLS))
    if controls * 50 > len(data):
        raise BinaryFileError(
            path,
            "{name} is not text: {controls:,} of {size:,} bytes are control characters.",
            controls=controls,
            size=len(data),
        )
    return Encoding("latin-1" if _UNDEFINED_IN_CP1252.search(data) else "cp1252")


def _named(codec: str, data: bytes, path: str) -> Encoding:
    """Look up an encoding that the caller named, if it restores the same bytes."""
    try:
        name = codecs.lookup(codec).name
        "".encode(codec)  # "hex" and "rot13" are codecs too, but not text encodings
    except (LookupError, ValueError) as error:
        raise UnreadableFileError(
            path, "There is no encoding {name}.", name=shown(codec)
        ) from error
    marks = [mark for mark in _MARKS if data.startswith(mark[0]) and mark[1] == name]
    encoding = Encoding(name, *marks[0][::2]) if marks else Encoding(name)
    if encoding.encode(encoding.decode(data, path), path) != data:
        raise UnreadableFileError(
            path, "{name} read as {encoding} could not be saved again as it is.", encoding=codec
        )
    return encoding


PAGE_LINES = 100
LINE_LIMIT = 2_000
"""Characters of one line that are shown; a minified file may have millions in one."""


@dataclass(frozen=True, slots=True)
class Page:
    """A page of a file: some of its lines.

    Attributes:
        lines: The lines without their ends; a very long one is truncated with a note.
        total: How many lines the file has; None if not counted yet.
    """

    start: int
    lines: tuple[str, ...]
    total: int | None
    more: bool

    @property
    def end(self) -> int:
        """The number of the last line on this page; `start - 1` if there is none."""
        return self.start + len(self.lines) - 1

    def numbered(self, *, is_aligned: bool = False) -> str:
        """The lines with line numbers.

        Args:
            is_aligned: Whether numbers are aligned, for people. It takes about a token per line,
                and every line changes where the last number gets another digit.
        """
        width = len(str(self.end)) if is_aligned else 0
        return "\n".join(
            f"{number:>{width}} {line}" for number, line in enumerate(self.lines, self.start)
        )


def shorten(line: str, limit: int = LINE_LIMIT) -> str:
    """Truncate a very long line for display."""
    if len(line) <= limit:
        return line
    return f"{line[:limit]} … ({len(line) - limit:,} more characters in this line)"


def split(lines: Sequence[str], room: int, most: int = PAGE_LINES) -> list[range]:
    """Split lines into pages that fit a size limit; return the line indexes of each, from 0.

    Args:
        room: The limit for one page in characters, weighted: about two per token at worst.
    """
    starts, left = [0], room
    for at, line in enumerate(lines):
        # XML escaping adds its own: &amp; &lt; &gt;
        cost = len(line) + 4 * line.count("&") + 3 * (line.count("<") + line.count(">")) + 1
        if not line.isascii():  # such letters, Chinese above all, take more tokens than bytes
            cost += 2 * (len(line.encode(errors="replace")) - len(line))
        if at > starts[-1] and (cost > left or at - starts[-1] == most):
            starts.append(at)
            left = room
        left -= cost
    return [range(*ends) for ends in zip(starts, [*starts[1:], len(lines)], strict=True)]


_ENDING_NAMES = {"\n": "LF", "\r\n": "CRLF", "\r": "CR"}
_ANY_LINE_END = r"(?:\r\n|\r(?!\n)|(?<!\r)\n)"  # a whole line end, never half of a CRLF


@dataclass(frozen=True)
class TextFile:
    r"""The text and encoding of a file: immutable, so undo can go back to an older value.

    Lines are numbered from 1 and do not contain their ends.

    Example:
        >>> file = TextFile.from_bytes(b"one\r\ntwo\r\nthree")
        >>> file.replace_lines(2, 2, "2\n2a").to_bytes()
        b'one\r\n2\r\n2a\r\nthree'
    """

    text: str = ""
    encoding: Encoding = UTF8
    path: str = field(default="", compare=False)

    @classmethod
    def from_bytes(cls, data: bytes, path: str = "", *, encoding: str | None = None) -> "TextFile":
        """Decode a file's bytes with the named encoding, or detect it."""
        found = _named(encoding, data, path) if encoding else detect(data, path)
        return cls(found.decode(data, path), found, path)

    def to_bytes(self) -> bytes:
        """Encode the text for saving."""
        return self.encoding.encode(self.text, self.path)

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """The lines without their ends. An end closes its line: `"a\\n"` is one line."""
        lines = LINE_END.split(self.text)
        return tuple(lines if lines[-1] else lines[:-1])

    @cached_property
    def endings(self) -> tuple[str, ...]:
        """The end of each line; the last may have none."""
        ends = LINE_END.findall(self.text)
        return tuple(ends) if len(ends) == len(self._starts) else (*ends, "")

    @property
    def ending_names(self) -> list[str]:
        """The kinds of line ends that occur: LF, CRLF, CR."""
        return sorted(_ENDING_NAMES[end] for end in set(self.endings) if end)

    @cached_property
    def ending(self) -> str:
        """The line end for new lines: the most common one, or the first of those tied."""
        most = Counter(end for end in self.endings if end).most_common(1)
        return most[0][0] if most else "\n"

    @cached_property
    def _starts(self) -> list[int]:
        starts = [0, *(match.end() for match in LINE_END.finditer(self.text))]
        if starts[-1] == len(self.text):  # the last line end starts no further line
            starts.pop()
        return starts

    def page(self, start: int = 1, count: int = PAGE_LINES) -> Page:
        """Return a page of lines, as `Workspace.read_page` does for files on disk."""
        start = max(start, 1)
        shown = tuple(shorten(line) for line in self.lines[start - 1 : start - 1 + max(count, 0)])
        total = len(self.lines)
        return Page(start, shown, total, start - 1 + len(shown) < total)

    def find(self, text: str, *, ignore_case: bool = False) -> Iterator[tuple[int, int]]:
        """Find all occurrences of a text: line and column of each, both from 1."""
        if not text:
            return
        pattern = _exactly(text, re.IGNORECASE if ignore_case else 0)
        for match in pattern.finditer(self.text):
            line = bisect_right(self._starts, match.start())
            yield line, match.start() - self._starts[line - 1] + 1

    def lines_with(self, text: str) -> list[int]:
        """The numbers of the lines in which a text begins."""
        return list(dict.fromkeys(line for line, _ in self.find(text)))

    # --- edits: each returns a new value, or raises and changes nothing ------------------

    def replace_lines(self, first: int, last: int, text: str) -> "TextFile":
        """Replace lines `first` to `last`; the end of the last one is kept."""
        self._check_range(first, last)
        stop = self._stop(last) - len(self.endings[last - 1])
        return self._paste(self._starts[first - 1], stop, self.ending.join(_as_lines(text)))

    def insert_lines(self, before: int, text: str) -> "TextFile":
        """Insert lines before a line; use the number after the last line to append."""
        count = len(self.lines)
        if not 1 <= before <= count + 1:
            raise EditError(
                self.path,
                "Lines can be inserted before {places}, not {before}.",
                places=_range(1, count + 1),
                before=before,
            )
        new = _as_lines(text)
        if before <= count:
            at = self._starts[before - 1]
        else:
            at = len(self.text)
            if count and not self.endings[-1]:  # the file still has no line end after its last line
                return self._paste(at, at, "".join(self.ending + line for line in new))
        return self._paste(at, at, "".join(line + self.ending for line in new))

    def delete_lines(self, first: int, last: int) -> "TextFile":
        """Delete lines, each with its end."""
        self._check_range(first, last)
        return self._paste(self._starts[first - 1], self._stop(last), "")

    def replace_text(self, old: str, new: str, *, count: int = 1) -> "TextFile":
        """Replace a text that occurs exactly `count` times.

        A line end in `old` matches any line end; those in `new` are converted to the file's own.
        """
        if not old:
            raise EditError(self.path, "The text to be replaced is empty.")
        pattern = _exactly(old)
        places = [match.span() for match in pattern.finditer(self.text)]
        if count == 1 == len(places) and pattern.search(self.text, places[0][0] + 1):
            raise EditError(
                self.path,
                "{text} occurs 2 times, not 1: two that overlap. Nothing was changed. Quote more "
                "around it.",
                text=shown(old),
            )
        if len(places) != count:
            raise self._wrong_count(old, len(places), count)
        self.encoding.check(new, self.path)
        parts, end = list[str](), 0
        for start, stop in places:
            parts += (self.text[end:start], _fitted(self.text[start:stop], new, self.ending))
            end = stop
        text = "".join([*parts, self.text[end:]])
        return TextFile(text, encoding=self.encoding, path=self.path)

    def _paste(self, start: int, stop: int, new: str) -> "TextFile":
        self.encoding.check(new, self.path)
        return TextFile(
            self.text[:start] + new + self.text[stop:], encoding=self.encoding, path=self.path
        )

    def _stop(self, line: int) -> int:
        return self._starts[line] if line < len(self._starts) else len(self.text)

    def _check_range(self, first: int, last: int) -> None:
        count = len(self.lines)
        if not 1 <= first <= last <= count:
            asked = _range(first, last)
            if not count:
                raise EditError(self.path, "There are no lines, not {asked}.", asked=asked)
            if count == 1:
                raise EditError(self.path, "There is line 1, not {asked}.", asked=asked)
            raise EditError(
                self.path, "There are lines 1 to {count}, not {asked}.", count=count, asked=asked
            )

    def _wrong_count(self, old: str, found: int, count: int) -> EditError:
        """The error for a text that does not occur `count` times, with its line numbers."""
        if not found:
            return EditError(
                self.path,
                "{text} occurs 0 times, not {count}. Nothing was changed.",
                text=shown(old),
                count=count,
            )
        return EditError(
            self.path,
            "{text} occurs {found}, {where}; not {count}. Nothing was changed. Quote more around "
            "it, or give count={number}.",
            text=shown(old),
            found=Message("{count} time" if found == 1 else "{count} times", {"count": found}),
            where=in_lines(self.lines_with(old)),
            count=count,
            number=found,
        )


def _range(first: int, last: int) -> Text:
    if first == last:
        return str(first)
    return Message("{first} to {last}", {"first": first, "last": last})


def in_lines(numbers: Sequence[int]) -> Message:
    """Format line numbers: "in line 3", "in lines 5, 8"; a long list is truncated."""
    listed = shorten(", ".join(map(str, numbers)), 100)
    return Message(
        "in line {numbers}" if len(numbers) == 1 else "in lines {numbers}", {"numbers": listed}
    )


def _as_lines(text: str) -> list[str]:
    """Split into lines: `"a"` and `"a\\n"` are one line, `""` is an empty one."""
    lines = LINE_END.split(text)
    return lines[:-1] if len(lines) > 1 and not lines[-1] else lines


def _exactly(text: str, flags: int = 0) -> re.Pattern[str]:
    return re.compile(_ANY_LINE_END.join(map(re.escape, LINE_END.split(text))), flags)


def _fitted(old: str, new: str, ending: str) -> str:
    """Convert the new text to the file's line ends; unchanged lines keep theirs."""
    old_ends, old_lines = LINE_END.findall(old), LINE_END.split(old)
    lines = LINE_END.split(new)
    ends = [ending] * (len(lines) - 1)
    for at in range(min(len(old_ends), len(ends))):
        if old_lines[at] != lines[at]:
            break
        ends[at] = old_ends[at]
    for at in range(1, min(len(old_ends), len(ends)) + 1):
        if old_lines[-at] != lines[-at]:
            break
        ends[-at] = old_ends[-at]
    return "".join(line + end for line, end in zip(lines, [*ends, ""], strict=True))


@dataclass(frozen=True, slots=True)
class Version:
    """The version of a file on disk. Plain numbers and text, so it can be stored in a window's
    state.

    Attributes:
        inode: Its inode; a file that was replaced has another one.
        digest: A hash of the content, if all of it was read.
    """

    size: int
    mtime_ns: int
    inode: int
    digest: str | None = None

    @classmethod
    def of(cls, info: os.stat_result, data: bytes | None = None) -> "Version":
        """The version of an open file, with a digest if its content is given."""
        digest = None if data is None else blake2b(data, digest_size=16).hexdigest()
        size = info.st_size if data is None else len(data)
        return cls(size, info.st_mtime_ns, info.st_ino, digest)

    def same_content(self, other: "Version") -> bool:
        """Whether the file is unchanged.

        If both digests are known, the content decides: a file that was touched, or restored by a
        checkout, is unchanged. Otherwise size, time and inode must all agree.
        """
        if self.digest is not None and other.digest is not None:
            return self.digest == other.digest
        return (self.size, self.mtime_ns, self.inode) == (other.size, other.mtime_ns, other.inode)
