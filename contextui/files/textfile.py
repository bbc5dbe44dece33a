"""A text file in memory that keeps every byte that was not edited.

The text is held as it is, line ends and all, and an edit is a cut and a paste in it. So mixed
line ends, a missing last one, a byte order mark and odd separators stay without being minded.
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
from xml.sax.saxutils import escape

from contextui.config.settings import Lang
from contextui.files.errors import (
    BinaryFileError,
    EditError,
    UnencodableTextError,
    UnreadableFileError,
    shown,
)
from contextui.text import counted, there_are

LINE_END = re.compile(r"\r\n|\n|\r")
"""What ends a line in a file. U+2028, U+0085, form feed and the like do not."""

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
    """A way to read bytes as text.

    Attributes:
        codec: Python's name of it.
        bom: The byte order mark at the file's start; it belongs to the file, not to its text.
        unit: The bytes of the smallest unit.
    """

    codec: str = "utf-8"
    bom: bytes = b""
    unit: int = 1

    def __str__(self) -> str:
        return f"{self.codec} with BOM" if self.bom else self.codec

    def decode(self, data: bytes, path: str = "") -> str:
        """The text of a whole file; damaged text is an error, never a replacement."""
        try:
            text = data[len(self.bom) :].decode(self.codec)
        except (UnicodeDecodeError, LookupError) as error:
            raise UnreadableFileError(
                path,
                f"{shown(path)} is no valid {self}: {error}.",
                f"{shown(path)} 不是有效的 {self}：{error}。",
            ) from error
        if "\0" in text:
            en = f"{shown(path)} is no text: it contains NUL characters."
            raise BinaryFileError(path, en, f"{shown(path)} 不是文本：含有 NUL 字符。")
        return text

    def encode(self, text: str, path: str = "") -> bytes:
        """The bytes of a whole file."""
        self.check(text, path)
        return self.bom + text.encode(self.codec)

    def check(self, text: str, path: str = "") -> None:
        """Raise an error that names the first character there are no bytes for."""
        at = text.find("\0")
        if at < 0:
            try:
                text.encode(self.codec)
                return
            except UnicodeEncodeError as error:
                at = error.start
        char = text[at]
        name = unicodedata.name(char, "no character of its own")
        line = len(LINE_END.findall(text, 0, at)) + 1
        raise UnencodableTextError(
            path,
            f"{shown(path)} is kept as {self}, which cannot hold U+{ord(char):04X} ({name}) "
            f"in line {line} of the text. Nothing was changed.",
            f"{shown(path)} 的编码是 {self}，不能容纳第 {line} 行的 U+{ord(char):04X}（{name}）。"
            "没有任何改动。",
        )


UTF8 = Encoding()


def detect(data: bytes, path: str = "", *, whole: bool = True) -> Encoding:
    """Find out how these bytes are text, or say why they are none.

    Marked Unicode and UTF-8 are known by their form. Whatever else looks like text is read as
    one of the two 8-bit encodings that give the same bytes back whatever they are.

    Args:
        data: A file's bytes, or the first of them.
        path: The file, for the error.
        whole: Whether this is all of it; otherwise a character may be cut off at the end.
    """
    for mark, codec, unit in _MARKS:
        if data.startswith(mark):
            return Encoding(codec, mark, unit)
    if b"\0" in data:
        en = f"{shown(path)} is no text: it contains NUL bytes."
        raise BinaryFileError(path, en, f"{shown(path)} 不是文本：含有 NUL 字节。")
    try:
        codecs.getincrementaldecoder("utf-8")().decode(data, final=whole)
        return UTF8
    except UnicodeDecodeError:
        pass
    controls = len(data) - len(data.translate(None, _CONTROLS))
    if controls * 50 > len(data):
        raise BinaryFileError(
            path,
            f"{shown(path)} is no text: {controls:,} of {len(data):,} bytes are controls.",
            f"{shown(path)} 不是文本：{len(data):,} 字节中有 {controls:,} 个控制字符。",
        )
    return Encoding("latin-1" if _UNDEFINED_IN_CP1252.search(data) else "cp1252")


def named(codec: str, data: bytes, path: str = "") -> Encoding:
    """An encoding that the user asked for, if it gives these bytes back as they are."""
    for mark, of_mark, unit in _MARKS:
        if data.startswith(mark) and codecs.lookup(of_mark) == _lookup(codec, path):
            return Encoding(of_mark, mark, unit)
    encoding = Encoding(_lookup(codec, path).name)
    if encoding.decode(data, path).encode(encoding.codec) != data:
        raise UnreadableFileError(
            path,
            f"{shown(path)} read as {codec} could not be saved again as it is.",
            f"{shown(path)} 按 {codec} 读取后无法原样保存。",
        )
    return encoding


def _lookup(codec: str, path: str) -> codecs.CodecInfo:
    try:
        found = codecs.lookup(codec)
        "".encode(codec)  # "hex" and "rot13" are codecs too, of other things
    except (LookupError, ValueError, TypeError) as error:
        en, zh = f"There is no encoding {shown(codec)}.", f"没有编码 {shown(codec)}。"
        raise UnreadableFileError(path, en, zh) from error
    return found


PAGE_LINES = 100
LINE_LIMIT = 2_000
"""Characters of one line that are shown; a minified file may have millions in one."""


@dataclass(frozen=True, slots=True)
class Page:
    """Some lines of a file.

    Attributes:
        start: The number of the first line, from 1.
        lines: The lines without their ends; a very long one is cut and says so.
        total: How many lines there are; None if nobody has looked that far yet.
        more: Whether lines follow.
    """

    start: int
    lines: tuple[str, ...]
    total: int | None
    more: bool

    @property
    def end(self) -> int:
        """The number of the last line here; `start - 1` if there is none."""
        return self.start + len(self.lines) - 1

    def numbered(self) -> str:
        """The lines with their numbers, as an editor shows them."""
        width = len(str(self.end))
        return "\n".join(
            f"{number:>{width}} {line}" for number, line in enumerate(self.lines, self.start)
        )


def shorten(line: str, limit: int = LINE_LIMIT) -> str:
    """A line for a page, cut if it is very long."""
    if len(line) <= limit:
        return line
    return f"{line[:limit]} … ({len(line) - limit:,} more characters in this line)"


def split(lines: Sequence[str], room: int, most: int = PAGE_LINES) -> list[range]:
    """Which lines, counted from 0, stand on which page; none of them is too long to be read.

    Args:
        lines: All lines.
        room: What the lines of one page may cost: about two letters for a token, at worst.
        most: How many they may be.

    Returns:
        One page at least. Each has one line at least, whatever that costs, if there are any.
    """
    starts, left = [0], room
    for at, line in enumerate(lines):
        # Letters beyond ASCII, Chinese above all, take more tokens than their bytes tell; XML
        # adds its own.
        cost = len(escape(line)) + 2 * (len(line.encode(errors="replace")) - len(line)) + 1
        if at > starts[-1] and (cost > left or at - starts[-1] == most):
            starts.append(at)
            left = room
        left -= cost
    return [range(*ends) for ends in zip(starts, [*starts[1:], len(lines)], strict=True)]


_ENDING_NAMES = {"\n": "LF", "\r\n": "CRLF", "\r": "CR"}
_ANY_LINE_END = r"(?:\r\n|\r(?!\n)|(?<!\r)\n)"  # a whole one, never half of CRLF


@dataclass(frozen=True)
class TextFile:
    r"""A file's text and encoding: a value, so an older one is what undo goes back to.

    Lines are numbered from 1 and do not contain their ends.

    Attributes:
        text: All of it, with its line ends.
        encoding: How it is written to disk.
        path: Named in errors only.

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
        """Read a file's bytes, as the named encoding or as what they turn out to be."""
        found = named(encoding, data, path) if encoding else detect(data, path)
        return cls(found.decode(data, path), found, path)

    def to_bytes(self) -> bytes:
        """The bytes to be saved."""
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
        """The end that new lines get: what most lines have, the first of them if in doubt."""
        most = Counter(end for end in self.endings if end).most_common(1)
        return most[0][0] if most else "\n"

    @cached_property
    def _starts(self) -> list[int]:
        starts = [0, *(match.end() for match in LINE_END.finditer(self.text))]
        if starts[-1] == len(self.text):  # nothing follows the last end: no line either
            starts.pop()
        return starts

    def page(self, start: int = 1, count: int = PAGE_LINES) -> Page:
        """Some lines to be shown, as `Workspace.read_page` gives them for files on disk."""
        start = max(start, 1)
        shown = tuple(shorten(line) for line in self.lines[start - 1 : start - 1 + max(count, 0)])
        total = len(self.lines)
        return Page(start, shown, total, start - 1 + len(shown) < total)

    def find(self, text: str, *, ignore_case: bool = False) -> Iterator[tuple[int, int]]:
        """Where a text stands: line and column of each place, both from 1."""
        if not text:
            return
        pattern = _exactly(text, re.IGNORECASE if ignore_case else 0)
        for match in pattern.finditer(self.text):
            line = bisect_right(self._starts, match.start())
            yield line, match.start() - self._starts[line - 1] + 1

    def lines_with(self, text: str) -> list[int]:
        """The numbers of the lines in which a text begins."""
        return list(dict.fromkeys(line for line, _ in self.find(text)))

    # --- edits: each gives a new value, or an error and the old one stays ----------------

    def replace_lines(self, first: int, last: int, text: str) -> "TextFile":
        """Put other lines in the place of `first` to `last`; the last one's end stays."""
        self._check_range(first, last)
        stop = self._stop(last) - len(self.endings[last - 1])
        return self._paste(self._starts[first - 1], stop, self.ending.join(_as_lines(text)))

    def insert_lines(self, before: int, text: str) -> "TextFile":
        """Put new lines before a line; before the one after the last, to append."""
        count = len(self.lines)
        if not 1 <= before <= count + 1:
            en, zh = ("1", "1") if not count else (f"1 to {count + 1}", f"1 到 {count + 1}")
            raise self._wrong(
                f"Lines can be inserted before {en}, not {before}.",
                f"可以在第 {zh} 行之前插入，不能是 {before}。",
            )
        new = _as_lines(text)
        if before <= count:
            at = self._starts[before - 1]
        else:
            at = len(self.text)
            if count and not self.endings[-1]:  # the file stays one without a last line end
                return self._paste(at, at, "".join(self.ending + line for line in new))
        return self._paste(at, at, "".join(line + self.ending for line in new))

    def delete_lines(self, first: int, last: int) -> "TextFile":
        """Take lines out, each with its end."""
        self._check_range(first, last)
        return self._paste(self._starts[first - 1], self._stop(last), "")

    def replace_text(self, old: str, new: str, *, count: int = 1) -> "TextFile":
        """Put one text in the place of another that occurs exactly `count` times.

        A line end in either text stands for the file's own.
        """
        if not old:
            raise self._wrong("The text to be replaced is empty.", "要替换的文字是空的。")
        pattern = _exactly(old)
        places = [match.span() for match in pattern.finditer(self.text)]
        if count == 1 == len(places) and pattern.search(self.text, places[0][0] + 1):
            said = "occurs 2 times, not 1: two that overlap. Nothing was changed."
            raise self._wrong(
                f"{shown(old)} {said} Quote more around it.",
                f"{shown(old)} 出现 2 次且相互重叠，不是 1 次。没有任何改动。请多引用一些前后文。",
            )
        if len(places) != count:
            raise self._not_so_often(old, len(places), count)
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
            asked = (f"{first}",) if first == last else (f"{first}", f"{last}")
            raise self._wrong(
                f"{there_are('line', count)}, not {' to '.join(asked)}.",
                f"行号从 1 到 {count}，不是 {' 到 '.join(asked)}。"
                if count
                else "文件中没有任何行。",
            )

    def _not_so_often(self, old: str, found: int, count: int) -> EditError:
        """What to say of a text that does not occur as often as it was said to."""
        where, advice, zh_where, zh_advice = ",", "", "", ""
        if found:
            lines = self.lines_with(old)
            where, zh_where = f", {in_lines(lines)};", f"（{in_lines(lines, 'zh')}）"
            advice = f" Quote more around it, or give count={found}."
            zh_advice = f"请多引用一些前后文，或给出 count={found}。"
        name, said = shown(old), f"occurs {counted(found, 'time')}{where} not {count}."
        return self._wrong(
            f"{name} {said} Nothing was changed.{advice}",
            f"{name} 出现 {found} 次{zh_where}，不是 {count} 次。没有任何改动。{zh_advice}",
        )

    def _wrong(self, message: str, zh: str) -> EditError:
        return EditError(self.path, message, zh)


def in_lines(numbers: Sequence[int], lang: Lang = "en") -> str:
    """Where something is, in words: "in line 3", "in lines 5, 8"; of very many only the first."""
    listed = shorten(", ".join(map(str, numbers)), 100)
    return f"第 {listed} 行" if lang == "zh" else f"in line{'s' * (len(numbers) > 1)} {listed}"


def _as_lines(text: str) -> list[str]:
    """What stands on the lines: `"a"` and `"a\\n"` are one line, `""` is an empty one."""
    lines = LINE_END.split(text)
    return lines[:-1] if len(lines) > 1 and not lines[-1] else lines


def _exactly(text: str, flags: int = 0) -> re.Pattern[str]:
    return re.compile(_ANY_LINE_END.join(map(re.escape, LINE_END.split(text))), flags)


def _fitted(old: str, new: str, ending: str) -> str:
    """The new text with the file's line ends; those of the lines that stay are kept."""
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
    """A file at one moment. Plain numbers and text, so it can be kept in a window's state.

    Attributes:
        size: Its bytes.
        mtime_ns: When it was changed last, as the file system says.
        inode: Which file it was; a file that was replaced has another one.
        digest: A hash of the content, where all of it was read.
    """

    size: int
    mtime_ns: int
    inode: int
    digest: str | None = None

    @classmethod
    def of(cls, info: os.stat_result, data: bytes | None = None) -> "Version":
        """The version of an open file, with its content if that was read."""
        digest = None if data is None else blake2b(data, digest_size=16).hexdigest()
        size = info.st_size if data is None else len(data)
        return cls(size, info.st_mtime_ns, info.st_ino, digest)

    def same_content(self, other: "Version") -> bool:
        """Whether nothing was changed in between.

        The content decides where both are known by it: a file that was touched, or put back by
        a checkout, is the same. Otherwise size, time and inode must all agree.
        """
        if self.digest is not None and other.digest is not None:
            return self.digest == other.digest
        return (self.size, self.mtime_ns, self.inode) == (other.size, other.mtime_ns, other.inode)
