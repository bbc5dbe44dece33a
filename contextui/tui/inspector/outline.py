"""The parts of a request, one line each, and where the cache ends."""

from rich.cells import cell_len
from textual.binding import Binding
from textual.content import Content
from textual.events import Click
from textual.message import Message

from contextui.tokens import TokenCounter
from contextui.tui.cells import MUTED, fit, short
from contextui.tui.inspector.draft import Draft
from contextui.tui.inspector.items import CURSOR
from contextui.tui.inspector.parts import Part
from contextui.tui.sheet.lineview import LineView
from contextui.tui.words import Words

MARKS = {" ": "", "+": "$text-success", "~": "$text-warning"}
"""What new and changed things are marked in."""

_NAME, _TOKENS = 13, 6  # cells


class Outline(LineView, can_focus=True, inherit_bindings=False):
    """All parts, in order; the cursor stays on the same part."""

    BINDINGS = [
        Binding("up", "step(-1)", "part", key_display="↑↓"),
        Binding("down", "step(1)", show=False),
        Binding("pageup", "page(-1)", show=False),
        Binding("pagedown", "page(1)", show=False),
        Binding("home", "edge(-1)", show=False),
        Binding("end", "edge(1)", show=False),
    ]

    class Chosen(Message):
        """The cursor stands on another part."""

    def __init__(self, words: Words) -> None:
        super().__init__(id="outline")
        self._words = words
        self._draft: Draft | None = None
        self._counter: TokenCounter | None = None
        self._cursor = 0

    @property
    def chosen(self) -> int:
        """The number of the part under the cursor."""
        return self._cursor

    @property
    def part(self) -> Part | None:
        """The part under the cursor."""
        parts = self._draft.parts if self._draft is not None else []
        return parts[self._cursor] if self._cursor < len(parts) else None

    def show(self, draft: Draft, counter: TokenCounter) -> None:
        """Show another request."""
        key = self.part.key if self.part is not None else None
        self._draft, self._counter = draft, counter
        keys = [part.key for part in draft.parts]
        if key is None:
            self._cursor = max(len(keys) - 1, 0)
        elif key in keys:
            self._cursor = keys.index(key)
        self._cursor = min(self._cursor, max(len(keys) - 1, 0))
        self.set_count(len(keys) + self._has_rule)
        self.show_line(self._line_of(self._cursor))

    @property
    def _has_rule(self) -> bool:
        return self._draft is not None and 0 < self._draft.cached < len(self._draft.parts)

    def _line_of(self, part: int) -> int:
        is_behind = self._has_rule and self._draft is not None and part >= self._draft.cached
        return part + is_behind

    def choose(self, part: int) -> None:
        """Put the cursor on a part."""
        last = len(self._draft.parts) - 1 if self._draft is not None else 0
        self._cursor = max(min(part, last), 0)
        self.show_line(self._line_of(self._cursor))
        self.refresh()
        self.post_message(self.Chosen())

    def action_step(self, step: int) -> None:
        """Move the cursor."""
        self.choose(self._cursor + step)

    def action_page(self, step: int) -> None:
        """Move the cursor by what is in view."""
        self.choose(self._cursor + step * max(self.size.height - 1, 1))

    def action_edge(self, step: int) -> None:
        """Move the cursor to the first or the last part."""
        self.choose(0 if step < 0 else self.count)

    def on_resize(self) -> None:
        """Keep the cursor in view."""
        self.show_line(self._line_of(self._cursor))

    def on_click(self, event: Click) -> None:
        """Choose what was clicked."""
        line = event.y + self.scroll_offset.y
        if self._draft is None or line >= self.count:
            return
        if self._has_rule and line >= self._draft.cached:
            line = max(line - 1, self._draft.cached)
        self.choose(line)

    def line_at(self, number: int, width: int) -> Content:
        """A part, or the line at which the cache ends."""
        draft = self._draft
        if draft is None:
            return Content("")
        if self._has_rule and number == draft.cached:
            return self._rule(draft, width)
        place = number - (self._has_rule and number > draft.cached)
        part = draft.parts[place]
        line = Content.assemble(
            (f"{part.mark} ", MARKS[part.mark]),
            (fit(part.name, _NAME), MUTED),
            (fit(part.text, width - 2 - _NAME - _TOKENS), "$foreground"),
            (fit(self._told(part.tokens), _TOKENS, right=True), MUTED),
        )
        return line.stylize(CURSOR) if place == self._cursor else line

    def _rule(self, draft: Draft, width: int) -> Content:
        name, tokens = f" {self._words('cache ends here')} ", f" {self._told(draft.cached_tokens)}"
        rest = max(width - 1 - cell_len(name) - len(tokens), 0)
        return Content.assemble(
            ("─", "$warning 60%"), (name, "$text-warning"),
            ("─" * rest, "$warning 60%"), (tokens, "$text-warning"),
        )  # fmt: skip

    def _told(self, tokens: int) -> str:
        return short(self._counter.calibrated(tokens)) if self._counter is not None else ""
