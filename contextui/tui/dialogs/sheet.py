"""A dialog with a list, a filter and a bar of keys."""

from collections.abc import Sequence
from typing import ClassVar, Generic, TypeVar

from textual import on
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.events import DescendantFocus, Key
from textual.widgets import Input

from contextui.tui.desktop.rowlist import FilterLine, RowList
from contextui.tui.dialogs.question import Dialog
from contextui.tui.footer import Hint, KeyBar
from contextui.tui.keys import run_meant
from contextui.words import Words, msg

R = TypeVar("R")
T = TypeVar("T")
_FILTER_KEYS = (("enter", msg("choose")), ("esc", msg("clear")))


class ListSheet(Dialog[R | None], Generic[R, T]):
    """A dialog with a list, a filter and a bar of keys; Esc clears the filter, then leaves."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", show=False),
        Binding("slash", "search", show=False),
    ]
    DEFAULT_CSS = """
    ListSheet {
        #box { max-width: 100%; max-height: 100%; }
        #field { display: none; }
        .keys { margin: 1 0 0 0; }
    }
    """

    def __init__(
        self, words: Words, listed: RowList[T], hint: str, *, is_filter_shown: bool = False
    ) -> None:
        super().__init__()
        self._words, self.listed = words, listed
        self.filter = FilterLine(listed, hint=hint, keeps=True, is_always_shown=is_filter_shown)
        self.field = Input(id="field", select_on_focus=False, compact=True)
        """For text that the person enters about an entry."""

    def type_in(self, text: str) -> None:
        self.field.value, self.field.display = text, True
        self.field.cursor_position = len(text)
        self.field.focus()

    def leave_field(self) -> None:
        self.field.display = False
        self.listed.focus()

    def hints(self) -> Sequence[Hint]:
        raise NotImplementedError

    @on(DescendantFocus)
    def show_keys(self) -> None:
        self.query_one(KeyBar).show(_FILTER_KEYS if self.filter.is_typing else self.hints())

    def note(self, text: str) -> None:
        """Show a message in the border, until the sheet closes or another one follows."""
        self.query_one("#box").border_subtitle = Content(text)

    def action_search(self) -> None:
        self.filter.begin()

    def action_leave(self) -> None:
        """Leave the field or clear the filter; without them, close the sheet."""
        if self.field.display and self.field.is_attached:
            self.leave_field()
        elif self.filter.query_text:
            self.filter.end()
        else:
            self.dismiss(None)

    async def on_key(self, event: Key) -> None:
        if self.focused is self.listed:
            await run_meant(self, event)
