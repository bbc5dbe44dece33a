"""Text fields: they escape control characters, and `enter` submits."""

from textual.binding import Binding
from textual.content import Content
from textual.message import Message
from textual.strip import Strip
from textual.widgets import TextArea
from textual.widgets.text_area import Edit, EditResult

from contextui.text import for_terminal

_NARROWEST = 4  # minimum cells for text


class InertArea(TextArea):
    """A text area that escapes control characters of pasted text."""

    BINDINGS = [
        Binding("ctrl+home", "text_start", show=False),
        Binding("ctrl+end", "text_end", show=False),
    ]

    def edit(self, edit: Edit) -> EditResult:
        """Apply an edit with control characters escaped."""
        edit.text = for_terminal(edit.text)
        return super().edit(edit)

    def render_line(self, y: int) -> Strip:
        """Render a line; blank where the field is too narrow for the base class."""
        narrow = self.scrollable_content_region.width < _NARROWEST
        return Strip.blank(self.size.width) if narrow else super().render_line(y)

    def action_text_start(self) -> None:
        self.move_cursor((0, 0))

    def action_text_end(self) -> None:
        self.move_cursor(self.document.end)


class Field(InertArea):
    """A text field of one or more lines: `enter` submits, `ctrl+j` starts a new line."""

    BINDINGS = [
        Binding("enter", "done", show=False, priority=True),
        Binding("ctrl+j,shift+enter,alt+enter", "new_line", "new line", key_display="^j"),
    ]
    DEFAULT_CSS = """
    Field {
        height: auto; max-height: 6; border: none; padding: 0; background: $background;
        &:focus { border: none; }
        .text-area--placeholder { color: $faint; }
    }
    """

    class Done(Message):
        """Posted when the person presses enter."""

        def __init__(self, field: "Field") -> None:
            super().__init__()
            self.field = field

    def __init__(self, text: str = "", hint: str = "") -> None:
        super().__init__(for_terminal(text), placeholder=Content(hint), highlight_cursor_line=False)
        self.move_cursor(self.document.end)

    def action_done(self) -> None:
        self.post_message(self.Done(self))

    def action_new_line(self) -> None:
        self.insert("\n")
