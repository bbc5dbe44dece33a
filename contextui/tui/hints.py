"""The last row of what opens over the screen: which keys do what there."""

from collections.abc import Sequence

from textual.content import Content
from textual.widget import Widget

from contextui.tui.cells import KEY, MUTED, line
from contextui.tui.words import Words

_GAPS = ("   ", "  ")
Hint = tuple[str, str]
"""A key, and in English what it does."""


def hints_in(width: int, hints: Sequence[Hint], words: Words, remark: str = "") -> Content:
    """As many hints as there is room for: the first and the last are the last to go."""
    left = [*hints]
    while True:
        for gap in _GAPS:
            parts = [_hint(key, words(about)) for key, about in left]
            row = Content(gap).join([*parts, *([Content.styled(remark, MUTED)] if remark else [])])
            if row.cell_length <= width:
                return row
        if remark:
            remark = ""
        elif len(left) > 1:
            left.pop(-2)
        else:
            return row


def _hint(key: str, about: str) -> Content:
    return Content.assemble((f"{key} ", f"{KEY} bold"), (about, MUTED))


class KeyHints(Widget):
    """Tells the keys in one row, in as much room as there is.

    Args:
        words: The language.
        hints: The keys, the most important one first, that which leaves last.
        remark: What else there is to say, if there is room.
    """

    DEFAULT_CSS = "KeyHints { height: 1; }"

    def __init__(self, words: Words, hints: Sequence[Hint], remark: str = "") -> None:
        super().__init__(classes="keys")
        self._words, self._hints, self._remark = words, hints, line(remark)

    def render(self) -> Content:
        """The row."""
        return hints_in(self.size.width, self._hints, self._words, self._remark)
