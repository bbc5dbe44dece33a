"""Giving an item other words, on a screen above the others."""

from collections.abc import Callable

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static, TextArea

from contextui.errors import ContextUIError
from contextui.text import for_terminal, one_line
from contextui.tui.cells import KEY, MUTED, line
from contextui.tui.words import Words

Save = Callable[[str], object]


_ONLY_CALLS = "It says nothing, it only calls. Your words would stand before that."


class EditScreen(ModalScreen[bool]):
    """A text field with an item's words. It tells whether they were changed.

    Args:
        words: The language of the screen.
        title: Which item it is.
        text: Its words.
        price: What changing them costs, in words.
        save: Takes the new words; what it raises is told, and the text stays.
    """

    BINDINGS = [
        Binding("ctrl+s", "save", "save", key_display="^s", priority=True),
        Binding("escape", "leave", "leave", priority=True),
    ]

    def __init__(self, words: Words, title: str, text: str, price: str, save: Save) -> None:
        super().__init__()
        self._words, self._title, self._save, self._price = words, title, save, price
        # A terminal would obey some characters: the person sees, and keeps, their pictures.
        self._shown = for_terminal(text)
        self._is_exact = self._shown == text
        self._is_leaving = False

    def compose(self) -> ComposeResult:
        """The field, and a line that says what to do."""
        with Vertical(id="edit") as box:
            box.border_title = Content(line(self._title))
            hint = self._words(_ONLY_CALLS)
            yield TextArea(self._shown, id="text", soft_wrap=True, placeholder=Content(hint))
            yield Static(self._help(), id="keys-of-edit")

    def on_mount(self) -> None:
        """Begin to write."""
        self.query_one(TextArea).focus()

    @on(TextArea.Changed)
    def _note_change(self) -> None:
        if self._is_leaving:
            self._is_leaving = False
            self._tell(self._help())

    def action_save(self) -> None:
        """Take the new words, unless they are the old ones."""
        text = self.query_one(TextArea).text
        if text == self._shown:
            self.dismiss(False)
            return
        try:
            self._save(text)
        except ContextUIError as problem:
            self._tell(Content.styled(one_line(str(problem), 200), "$text-error"))
        else:
            self.dismiss(True)

    def action_leave(self) -> None:
        """Go back; what was written is thrown away only if that is asked for twice."""
        if self._is_leaving or self.query_one(TextArea).text == self._shown:
            self.dismiss(False)
            return
        self._is_leaving = True
        self._tell(
            Content.styled(self._words("esc again throws the changes away."), "$text-warning")
        )

    def _tell(self, content: Content) -> None:
        self.query_one("#keys-of-edit", Static).update(content)

    def _help(self) -> Content:
        words = self._words
        parts = [
            ("^s ", KEY),
            (f"{words('save')}   ", MUTED),
            ("esc ", KEY),
            (words("leave"), MUTED),
        ]
        if self._price:
            parts.append((f"   {self._price}", "$text-warning"))
        if not self._is_exact:
            told = words("Control characters are shown, and saved, as pictures.")
            parts.append((f"   {told}", "$text-warning"))
        return Content.assemble(*parts)
