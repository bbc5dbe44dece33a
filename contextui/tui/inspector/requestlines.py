"""A request line by line, with numbers, marks for what is new, and long parts folded."""

from typing import NamedTuple

from rich.cells import cell_len
from textual.content import Content
from textual.events import Click
from textual.message import Message

from contextui.tokens import TokenCounter
from contextui.tui.cells import FAINT, MUTED, fit, short
from contextui.tui.inspector.draft import Draft
from contextui.tui.inspector.outline import MARKS
from contextui.tui.inspector.parts import Part
from contextui.tui.sheet.lineview import LineView
from contextui.tui.words import Words

_MANY, _FIRST, _LAST = 40, 14, 4  # lines from which on a part is folded, and what then stays
_GROUNDS = {" ": "", "+": " on $success 12%", "~": " on $warning 12%"}


class Line(NamedTuple):
    """One line of the request, or one that stands for others.

    Attributes:
        part: The number of its part; -1 where the cache ends.
        number: Its number in the whole request.
        text: What it says.
        mark: Whether it is new or changed.
        folded: How many lines it stands for.
    """

    part: int
    number: int = 0
    text: str = ""
    mark: str = " "
    folded: int = 0


def lines_of(draft: Draft, unfolded: set[str]) -> list[Line]:
    """The lines of a request; parts that are long are folded, unless they are to be seen."""
    lines: list[Line] = []
    number = 1
    for place, part in enumerate(draft.parts):
        if place == draft.cached > 0:
            lines.append(Line(-1))
        lines += _part_lines(place, part, number, part.key in unfolded)
        number += len(part.lines)
    return lines


def _part_lines(place: int, part: Part, number: int, is_whole: bool) -> list[Line]:
    pairs = zip(part.lines, part.marks, strict=True)
    lines = [Line(place, number + n, text, mark) for n, (text, mark) in enumerate(pairs)]
    if is_whole or len(lines) <= _MANY:
        return lines
    hidden = len(lines) - _FIRST - _LAST
    return [*lines[:_FIRST], Line(place, folded=hidden), *lines[-_LAST:]]


class Bytes(LineView, can_focus=False):
    """The lines; a click chooses their part."""

    class Clicked(Message):
        """A line of this part was clicked; whether it was one that stands for others."""

        def __init__(self, part: int, is_fold: bool) -> None:
            super().__init__()
            self.part, self.is_fold = part, is_fold

    def __init__(self, words: Words) -> None:
        super().__init__(id="bytes")
        self._words = words
        self._lines: list[Line] = []
        self._part = 0
        self._draft: Draft | None = None
        self._counter: TokenCounter | None = None

    def show(self, draft: Draft, unfolded: set[str], counter: TokenCounter) -> None:
        """Show another request, or other parts of it unfolded."""
        self._draft, self._counter = draft, counter
        self._lines = lines_of(draft, unfolded)
        self.set_count(len(self._lines))

    def show_part(self, part: int) -> None:
        """Have the beginning of a part in view, with what stands before it."""
        self._part = part
        place = next((n for n, line in enumerate(self._lines) if line.part == part), 0)
        above = min(5, self.size.height // 4)
        self.scroll_to(y=max(place - above, 0), animate=False, force=True, immediate=True)

    def on_resize(self) -> None:
        """Keep the part in view that was looked at."""
        self.show_part(self._part)

    def on_click(self, event: Click) -> None:
        """Choose the part that was clicked."""
        place = event.y + self.scroll_offset.y
        if place < len(self._lines) and self._lines[place].part >= 0:
            line = self._lines[place]
            self.post_message(self.Clicked(line.part, line.folded > 0))

    def line_at(self, number: int, width: int) -> Content:
        """One line."""
        line = self._lines[number]
        if line.part < 0:
            return self._rule(width)
        if line.folded:
            told = self._words("{count} lines not shown here   Enter unfolds", count=line.folded)
            return Content.assemble(("       …  ", FAINT), (told, MUTED))
        ground = _GROUNDS[line.mark]
        return Content.assemble(
            (f"{line.number:>4} ", FAINT),
            (f"{line.mark} ", MARKS[line.mark] + ground if ground else ""),
            (fit(line.text.expandtabs(4), max(width - 7, 1)), "$foreground" + ground),
        )

    def _rule(self, width: int) -> Content:
        words = self._words
        name, told = f" {words('cache ends here')} ", ""
        if self._draft is not None and self._counter is not None:
            anew = short(self._counter.calibrated(self._draft.anew_tokens))
            told = f" {words('{tokens} below at full price', tokens=anew)}"
            if 6 + cell_len(name) + cell_len(told) > width:
                told = f" {anew}"
        rest = max(width - 5 - cell_len(name) - cell_len(told), 0)
        return Content.assemble(
            ("─────", "$warning 60%"), (name, "$text-warning"),
            ("─" * rest, "$warning 60%"), (told, "$text-warning"),
        )  # fmt: skip
