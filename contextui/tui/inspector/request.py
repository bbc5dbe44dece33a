"""The request page of the inspector: its parts, and what one has and differs in from the last."""

from functools import partial
from typing import ClassVar

from rich.cells import cell_len
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Container
from textual.content import Content
from textual.widget import Widget

from contextui.agent.controller import InteractionController
from contextui.text import one_line
from contextui.tokens import TokenCounter
from contextui.tui.desktop.rowlist import RowList
from contextui.tui.dialogs.diff import ChangeView, plain_lines
from contextui.tui.dialogs.whole_text import WholeText
from contextui.tui.inspector.draft import Draft, Drafting, Order
from contextui.tui.inspector.parts import Part
from contextui.tui.lines import MUTED, fit, short
from contextui.windowing.error_text import reason_of
from contextui.windowing.worker import in_daemon_thread
from contextui.words import Words, msg

MARKS = {" ": "", "+": "$text-success", "~": "$text-warning"}
"""Styles of the marks for new and changed parts."""

_NAME, _TOKENS = 13, 6  # cells


class Outline(RowList[Part | None]):
    """All parts of the request, in order, and a rule where the cache ends."""

    BINDINGS = [
        Binding("up", "step(-1)", "part", key_display="↑↓"),
        Binding("enter", "open", "whole text"),
    ]
    expands: ClassVar[bool] = False
    opens_by_click: ClassVar[bool] = False
    shows_cursor: ClassVar[bool] = True

    def __init__(self, words: Words, counter: TokenCounter) -> None:
        super().__init__(self._draw, lambda part: part and part.key, id="outline")
        self._words, self._counter = words, counter
        self._cached = 0  # tokens before the rule

    def is_entry(self, row: Part | None) -> bool:
        return row is not None

    def show_draft(self, draft: Draft) -> None:
        is_first = not self.rows
        self._cached = sum(part.tokens for part in draft.parts[: draft.cached])
        rows: list[Part | None] = [*draft.parts]
        if 0 < draft.cached < len(rows):
            rows.insert(draft.cached, None)
        self.show(rows, at=draft.parts[-1].key if is_first and draft.parts else None)

    def on_resize(self) -> None:
        self.show_line(self.cursor)

    def _draw(self, part: Part | None, width: int) -> Content:
        if part is None:
            text = f" {self._words('cache ends here')} "
            tokens = f" {self._shown_tokens(self._cached)}"
            rest = "─" * max(width - 1 - cell_len(text) - len(tokens), 0)
            return Content.assemble(
                ("─", "$warning 60%"), (text, "$text-warning"),
                (rest, "$warning 60%"), (tokens, "$text-warning"),
            )  # fmt: skip
        name = max(_NAME, cell_len(part.name) + 1)
        return Content.assemble(
            (f"{part.mark} ", MARKS[part.mark]),
            (fit(part.name, name), MUTED),
            (fit(part.text, width - 2 - name - _TOKENS), "$foreground"),
            (fit(self._shown_tokens(part.tokens), _TOKENS, right=True), MUTED),
        )

    def _shown_tokens(self, tokens: int) -> str:
        return short(self._counter.calibrated(tokens))


_WIDE, _BESIDE = 60, 90  # cells for one line, and for the whole legend


class RequestHead(Widget):
    """The headline of the request page, in two lines if narrow."""

    def __init__(self, words: Words) -> None:
        super().__init__(id="request-head")
        self._words = words
        self._draft: Draft | None = None
        self._reason = ""

    def show(self, draft: Draft) -> None:
        self._draft, self._reason = draft, ""
        self.refresh()

    def show_reason(self, reason: str) -> None:
        self._reason = one_line(reason, 400)
        self.refresh()

    def render(self) -> Content:
        if self._draft is None or self._reason:
            return Content.styled(self._reason, "$text-error")
        draft, width = self._draft, self.size.width
        parts = self._words("{count} parts", count=len(draft.parts))
        between = "   " if width >= _WIDE else "\n"
        words, is_sent = self._words, draft.is_sent or draft.order.is_earlier
        state = words(msg("sent") if is_sent else msg("not sent yet"))
        turn = words("turn {turn}", turn=draft.order.turn) + words(", ") + state
        summary = f"{parts}   {turn}{between}{draft.size / 1_000:,.1f} kB"
        return Content.assemble((summary, MUTED), *self._marks(draft, width))

    def _marks(self, draft: Draft, width: int) -> list[tuple[str, str]]:
        if not draft.is_compared:
            return []
        legend = msg("changed since the last request") if width >= _BESIDE else msg("changed")
        return [
            ("   + ", "$text-success"), (self._words("new"), MUTED),
            ("  ~ ", "$text-warning"), (self._words(legend), MUTED),
        ]  # fmt: skip


class RequestPage(Container):
    """The request that would be sent now: its parts, and the one under the cursor."""

    BINDINGS = [
        Binding("x", "raw", "raw bytes"),
        Binding("c", "copy", "copy"),
    ]

    def __init__(self, words: Words, controller: InteractionController) -> None:
        super().__init__(id="request")
        self._words, self._drafting = words, Drafting(controller, words)
        counter = controller.context.counter
        self._head = RequestHead(words)
        self._outline = Outline(words, counter)
        self._bytes = ChangeView([], id="bytes")
        self._bytes.can_focus = False
        self._draft: Draft | None = None
        self._order: Order | None = None
        self._drawn: object = None  # the stamp of the last order that was drawn
        self._is_drawing = False

    def compose(self) -> ComposeResult:
        yield self._head
        with Container(id="request-body"):
            yield self._outline
            yield self._bytes

    # --- rendering ---------------------------------------------------------------------

    def show(self, order: Order) -> None:
        self._order = order
        if not self._is_drawing:
            self._is_drawing = True
            self._draw()

    @work
    async def _draw(self) -> None:
        while self._order is not None and self._order.stamp != self._drawn:
            order, self._drawn = self._order, self._order.stamp
            try:
                draft = await in_daemon_thread(partial(self._drafting.draft, order))
            except Exception as error:  # whatever a session holds, the inspector must not fail
                self._head.show_reason(reason_of(error))
                continue
            self._draft = draft
            self._outline.show_draft(draft)
            self._head.show(draft)
            self._show_part()
        self._is_drawing = False

    # --- actions -----------------------------------------------------------------------

    @on(Outline.Moved)
    def _show_part(self) -> None:
        if (part := self._outline.row) is not None:
            marked = zip(plain_lines("\n".join(part.lines)), part.marks, strict=False)
            lines = [line._replace(kind="+" if is_new else " ") for line, is_new in marked]
            if lines != self._bytes.layout_of.lines:  # keep the place in what did not change
                self._bytes.show(lines)

    @on(Outline.Opened)
    def _open(self) -> None:
        if (part := self._outline.row) is not None:
            name = f"{part.name}  {part.text}".strip()
            lines = self._bytes.layout_of.lines
            self.app.push_screen(WholeText(self._words, name, part.exact, lines))

    def action_raw(self) -> None:
        if self._draft is not None:
            name = self._words("raw bytes")
            self.app.push_screen(WholeText(self._words, name, self._draft.exact))

    def action_copy(self) -> None:
        part = self._outline.row
        if part is not None:
            self.app.copy_to_clipboard(part.exact)
