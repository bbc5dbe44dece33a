"""A text file in memory that keeps every byte that was not edited.

The text is held as it is, line ends and all, and an edit is a cut and a paste in it. So mixed
line ends, a missing last one, a byte order mark and odd separators stay without being minded.
"""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from contextui.config.choices import Lang
from contextui.files.encoding import LINE_END, UTF8, Encoding, detect, named
from contextui.files.errors import EditError, shown
from contextui.files.page import PAGE_LINES, Page, shorten
from contextui.text import counted, there_are

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
