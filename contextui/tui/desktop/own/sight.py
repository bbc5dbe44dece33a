"""What the screen shows of a file: some of its lines, and how places there and here correspond.

A file is never rebuilt from what is shown. What is typed becomes a splice of the file's own
characters, so line ends, odd separators and everything outside of it stay as they are.
"""

from bisect import bisect_right
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate

from contextui.files.encoding import LINE_END
from contextui.files.page import LINE_LIMIT, shorten
from contextui.files.textfile import TextFile
from contextui.text import for_terminal
from contextui.tui.desktop.own.splices import Splice, change
from contextui.windows.editor import EditorWindow


@dataclass(frozen=True)
class Sight:
    """Some lines of a file, as a person sees them.

    Attributes:
        path: The file.
        text: All of its text; None if it can only be read.
        ending: The end that new lines get.
        revision: Which text it is.
        first: The number of the first line.
        begin: Where that line begins in the text.
        lines: The lines, as the file has them.
        ends: The end of each.
        cursor: The line and the column where the window is, both from 1; column 0 is none.
        has_more: Whether lines follow.
        is_changed: Whether there is something to save.
        note: What is odd about the file, in a word or two.
    """

    path: str = ""
    text: str | None = None
    ending: str = "\n"
    revision: int = -1
    first: int = 1
    begin: int = 0
    lines: tuple[str, ...] = ()
    ends: tuple[str, ...] = ()
    cursor: tuple[int, int] = (1, 0)
    has_more: bool = False
    is_changed: bool = False
    note: str = ""

    @classmethod
    def of_file(cls, file: TextFile, first: int, count: int) -> "Sight":
        """So many lines of a file, from this one on."""
        before, stop = first - 1, first - 1 + count
        begin = sum(map(len, file.lines[:before])) + sum(map(len, file.endings[:before]))
        return cls(
            text=file.text,
            ending=file.ending,
            first=first,
            begin=begin,
            lines=file.lines[before:stop],
            ends=file.endings[before:stop],
            has_more=stop < len(file.lines),
        )

    @cached_property
    def shown(self) -> str:
        """The text on the screen; at the end of a file, an empty line behind its last end."""
        rows = [for_terminal(shorten(line)) for line in self.lines]
        if self.ends and self.ends[-1] and not self.has_more:
            rows.append("")
        return "\n".join(rows)

    def spliced(self, typed: str) -> Splice | None:
        """The change of the file that makes this of what is shown; None if there is none.

        Raises:
            ValueError: It touches a place that is not shown as it is.
        """
        made = change(self.shown, typed)
        if made is None or self.text is None:
            return None
        start, end = self._in_file(made.start), self._in_file(made.end)
        return Splice(start, end, made.text.replace("\n", self.ending))

    def showing(self, splice: Splice) -> str | None:
        """What is shown once the file is changed so; None if that is elsewhere."""
        start, end = self._on_screen(splice.start), self._on_screen(splice.end)
        if start is None or end is None:
            return None
        return Splice(start, end, LINE_END.sub("\n", splice.text)).of(self.shown)

    def after(self, splice: Splice) -> "Sight":
        """The same lines once the file was changed so, within them."""
        assert self.text is not None
        text = splice.of(self.text)
        stop = self._starts[-1] + len(text) - len(self.text)
        piece = text[self.begin : stop]
        lines, ends = LINE_END.split(piece), LINE_END.findall(piece)
        if not lines[-1]:
            lines.pop()
        ends += [""] * (len(lines) - len(ends))
        now = self.revision + 1
        return replace(self, text=text, revision=now, lines=tuple(lines), ends=tuple(ends))

    # --- places ------------------------------------------------------------------------

    @cached_property
    def _starts(self) -> list[int]:
        """Where each line begins in the file, and where the last one ends."""
        sizes = (len(line) + len(end) for line, end in zip(self.lines, self.ends, strict=True))
        return list(accumulate(sizes, initial=self.begin))

    @cached_property
    def _rows(self) -> list[int]:
        """Where each row begins in what is shown."""
        return list(accumulate((len(row) + 1 for row in self.shown.split("\n")), initial=0))[:-1]

    def _in_file(self, offset: int) -> int:
        row = bisect_right(self._rows, offset) - 1
        if row >= len(self.lines):  # the empty line behind the last end
            return self._starts[-1]
        return self._starts[row] + _column(self.lines[row], offset - self._rows[row])

    def _on_screen(self, place: int) -> int | None:
        row = bisect_right(self._starts, place) - 1
        if row == len(self._rows) and place == self._starts[-1] and not self.ends[-1]:
            row -= 1  # behind the last line, which has no end
        if not 0 <= row < len(self._rows):
            return None
        line = self.lines[row] if row < len(self.lines) else ""
        column = min(place - self._starts[row], len(line))
        return self._rows[row] + len(for_terminal(line[:column]))


def sight_of(window: EditorWindow) -> Sight:
    """What an editor shows. To be called on the window's own thread: there it stands still."""
    state, page = window.state, window.state.page
    if state.buffer and not state.trouble:
        sight = Sight.of_file(state.buffer.file, page.start, len(page.lines))
    else:
        sight = Sight(first=page.start, lines=(state.trouble,) if state.trouble else page.lines)
    return replace(
        sight,
        path=state.path,
        revision=state.revision,
        cursor=(state.line, state.column),
        has_more=page.more,
        is_changed=bool(state.edits),
        note="" if state.on_disk == "same" else f"{state.on_disk} on disk",
    )


def _column(line: str, column: int) -> int:
    """The character of a line at a column of how it is shown."""
    if len(line) > LINE_LIMIT and column > LINE_LIMIT:
        raise ValueError("the line is too long to be shown whole")
    if for_terminal(line[:LINE_LIMIT]) == line[:LINE_LIMIT]:
        return column
    ends = list(accumulate((len(for_terminal(char)) for char in line), initial=0))
    if column not in ends:
        raise ValueError("a character there is shown as several")
    return ends.index(column)
