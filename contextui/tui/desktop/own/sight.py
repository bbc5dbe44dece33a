"""What the screen shows of a file: some of its lines, and how places there and here correspond.

A file is never rebuilt from what is shown. What is typed becomes a splice of the file's own
characters, so line ends, odd separators and everything outside of it stay as they are.
"""

from bisect import bisect_right
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate

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
        file: All of its text; None if it can only be read.
        revision: Which text it is.
        first: The number of the first line.
        lines: The lines, as the file has them.
        cursor: The line and the column where the window is, the line counted from 1.
        has_more: Whether lines follow.
        is_changed: Whether there is something to save.
        note: What is odd about it, in the words of a state.
    """

    path: str = ""
    file: TextFile | None = None
    revision: int = -1
    first: int = 1
    lines: tuple[str, ...] = ()
    cursor: tuple[int, int] = (1, 0)
    has_more: bool = False
    is_changed: bool = False
    note: str = ""

    @cached_property
    def shown(self) -> str:
        """The text on the screen; at the end of a file, an empty line behind its last end."""
        rows = [for_terminal(shorten(line)) for line in self.lines]
        if self.file is not None and not self.has_more and self.lines:
            last = self.file.endings[self.first + len(self.lines) - 2]
            rows += [""] * bool(last)
        return "\n".join(rows)

    def spliced(self, typed: str) -> Splice | None:
        """The change of the file that makes this of what is shown; None if there is none.

        Raises:
            ValueError: It touches a place that is not shown as it is.
        """
        made = change(self.shown, typed)
        if made is None or self.file is None:
            return None
        start, end = self._in_file(made.start), self._in_file(made.end)
        return Splice(start, end, made.text.replace("\n", self.file.ending))

    def showing(self, splice: Splice) -> str | None:
        """What is shown once the file is changed so; None if that is elsewhere."""
        start, end = self._on_screen(splice.start), self._on_screen(splice.end)
        if start is None or end is None:
            return None
        return Splice(start, end, splice.text.replace("\r\n", "\n").replace("\r", "\n")).of(
            self.shown
        )

    def after(self, splice: Splice, typed: str) -> "Sight":
        """The same lines once the file was changed so, which is what was typed."""
        assert self.file is not None
        file = replace(self.file, text=splice.of(self.file.text))
        count = typed.count("\n") + 1
        lines = file.lines[self.first - 1 : self.first - 1 + count]
        return replace(self, file=file, lines=lines)

    # --- places ------------------------------------------------------------------------

    @cached_property
    def _starts(self) -> list[int]:
        """Where each row that is shown begins in the file."""
        assert self.file is not None
        ends = list(zip(self.file.lines, self.file.endings, strict=True))
        sizes = [len(line) + len(end) for line, end in ends]
        begin = sum(sizes[: self.first - 1])
        own = sizes[self.first - 1 : self.first - 1 + len(self.lines)]
        return list(accumulate(own, initial=begin))

    @cached_property
    def _rows(self) -> list[int]:
        """Where each row begins in what is shown."""
        return list(accumulate((len(row) + 1 for row in self.shown.split("\n")), initial=0))[:-1]

    def _in_file(self, offset: int) -> int:
        row = bisect_right(self._rows, offset) - 1
        column = offset - self._rows[row]
        if row >= len(self.lines):  # the empty line behind the last end
            return self._starts[row] if self.lines else 0
        return self._starts[row] + self._column(self.lines[row], column)

    def _column(self, line: str, column: int) -> int:
        """The character of a line at a column of how it is shown."""
        if len(line) > LINE_LIMIT and column > LINE_LIMIT:
            raise ValueError("the line is too long to be shown whole")
        if for_terminal(line[:LINE_LIMIT]) == line[:LINE_LIMIT]:
            return column
        ends = list(accumulate((len(for_terminal(char)) for char in line), initial=0))
        if column not in ends:
            raise ValueError("a character there is shown as several")
        return ends.index(column)

    def _on_screen(self, place: int) -> int | None:
        if not self.lines:
            return 0 if place == 0 else None
        row = bisect_right(self._starts, place) - 1
        if row == len(self._rows) and place == self._starts[-1] == len(self._text):
            row -= 1  # behind the last line, which has no end
        if not 0 <= row < len(self._rows):
            return None
        line = self.lines[row] if row < len(self.lines) else ""
        column = min(place - self._starts[row], len(line))
        return self._rows[row] + len(for_terminal(line[:column]))

    @property
    def _text(self) -> str:
        return self.file.text if self.file is not None else ""


def sight_of(window: EditorWindow) -> Sight:
    """What an editor shows. To be called on the window's own thread: there it stands still."""
    state, page = window.state, window.state.page
    file = state.buffer.file if state.buffer else None
    lines = page.lines if file is None else file.lines[page.start - 1 : page.end]
    if state.trouble:
        lines = (state.trouble,)
    return Sight(
        path=state.path,
        file=None if state.trouble else file,
        revision=state.revision,
        first=page.start,
        lines=tuple(lines),
        cursor=(state.line, state.column),
        has_more=page.more,
        is_changed=bool(state.edits),
        note="" if state.on_disk == "same" else f"{state.on_disk} on disk",
    )
