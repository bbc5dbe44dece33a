"""The popup above the prompt: a short list to choose from while typing goes on."""

from collections.abc import Sequence
from typing import Any

from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from contextui.tui.footer import Hint, hints_in
from contextui.tui.lines import MUTED
from contextui.words import Words

_FRAME = 6  # cells of a row that the border and its padding take


class Popup(OptionList, can_focus=False):
    """A list that floats above the prompt; the prompt keeps the focus and its keys move it."""

    def __init__(self, words: Words) -> None:
        super().__init__(id="popup")
        self._words = words
        self._values: Sequence[Any] = ()
        self.display = False  # by itself: closing it with the first key would lay out everything
        self.is_moved = False
        """Whether the person moved the cursor, so that Enter means its row."""

    @property
    def row_width(self) -> int:
        around = self.parent.size.width if self.parent is not None else 0  # type: ignore[attr-defined]
        return max(around - _FRAME, 10)

    def show(
        self,
        rows: Sequence[tuple[Content, Any]],
        *,
        title: Content | None = None,
        hints: Sequence[Hint] = (),
        empty: str = "",
        keep: bool = False,
        at: int | None = 0,
    ) -> None:
        before, self.is_moved = self.highlighted, False
        self._values = [value for _, value in rows]
        with self.prevent(OptionList.OptionHighlighted):
            self.clear_options()
            if rows:
                self.add_options(Option(row) for row, _ in rows)
                self.highlighted = min(before or 0, len(rows) - 1) if keep else at
            else:
                self.add_option(Option(Content.styled(empty, MUTED), disabled=True))
        self.set_class(title is None, "-plain")
        self.border_title = title or ""
        self.border_subtitle = hints_in(self.row_width, hints, self._words) if hints else ""
        self.display = True

    def step(self, by: int) -> None:
        if self._values:
            start = (-1 if by > 0 else 0) if self.highlighted is None else self.highlighted
            self.highlighted, self.is_moved = (start + by) % len(self._values), True

    @property
    def chosen(self) -> Any:
        """The value of the row under the cursor, else of the first one; None if there are none."""
        return self._values[self.highlighted or 0] if self.display and self._values else None

    def close(self) -> None:
        self.display, self._values = False, ()
