"""The page of the request: its parts, and every line that goes over the wire."""

import threading

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Container
from textual.message import Message

from contextui.tokens import TokenCounter
from contextui.tui.cells import short
from contextui.tui.inspector.draft import Draft, Drafting, Order
from contextui.tui.inspector.outline import Outline
from contextui.tui.inspector.requesthead import RequestHead
from contextui.tui.inspector.requestlines import Bytes
from contextui.tui.inspector.whole import WholeText
from contextui.tui.sheet.folding import chopped
from contextui.tui.words import Words
from contextui.windowing.trouble import reason_of


class RequestPage(Container):
    """What would be sent now, byte by byte, and what of it is new."""

    BINDINGS = [
        Binding("enter", "unfold", "unfold"),
        Binding("x", "raw", "raw bytes"),
        Binding("c", "copy", "copy"),
    ]

    class Drawn(Message):
        """A request is drawn up."""

        def __init__(self, draft: Draft) -> None:
            super().__init__()
            self.draft = draft

    class NotDrawn(Message):
        """A request could not be drawn up."""

        def __init__(self, reason: str, order: Order) -> None:
            super().__init__()
            self.reason, self.order = reason, order

    def __init__(self, words: Words) -> None:
        super().__init__(id="request")
        self._words = words
        self._drafting: Drafting | None = None
        self._counter: TokenCounter | None = None
        self._draft: Draft | None = None
        self._order: Order | None = None
        self._is_drawing = False
        self._unfolded: set[str] = set()

    def compose(self) -> ComposeResult:
        """A line on top, and below it outline and lines."""
        yield RequestHead(self._words)
        with Container(id="request-body"):
            yield Outline(self._words)
            yield Bytes(self._words)

    @property
    def outline(self) -> Outline:
        """The parts."""
        return self.query_one(Outline)

    def take_focus(self, may: bool) -> None:
        """Have a stop for the focus, or none: a pane has one, on the page that is shown."""
        self.outline.can_focus = may

    def attach(self, drafting: Drafting, counter: TokenCounter) -> None:
        """Know how requests are made."""
        self._drafting, self._counter = drafting, counter

    # --- showing -----------------------------------------------------------------------

    def show(self, order: Order) -> None:
        """Have a request drawn up; what is asked for meanwhile is drawn next."""
        known, self._order = self._order, order
        is_new = known is None or known.stamp != order.stamp
        if is_new and not self._is_drawing:
            self._draw(order)

    def _draw(self, order: Order) -> None:
        self._is_drawing = True
        # A daemon: leaving does not wait for it.
        threading.Thread(target=self._drawing, args=(order,), daemon=True).start()

    def _drawing(self, order: Order) -> None:
        if self._drafting is None:
            return
        try:
            self.post_message(self.Drawn(self._drafting.draft(order)))
        except Exception as error:  # whatever a session holds, looking at it must go on
            self.post_message(self.NotDrawn(reason_of(error), order))

    @on(Drawn)
    def _show_drawn(self, message: Drawn) -> None:
        first = self._draft is None
        self._draft = message.draft
        self._show_draft()
        if first:
            self.outline.choose(self.outline.chosen)
        self._draw_next(message.draft.order)

    @on(NotDrawn)
    def _tell_reason(self, message: NotDrawn) -> None:
        self.query_one(RequestHead).show_reason(message.reason)
        self._draw_next(message.order)

    def _draw_next(self, drawn: Order) -> None:
        self._is_drawing = False
        if self._order is not None and self._order.stamp != drawn.stamp:
            self._draw(self._order)

    def _show_draft(self) -> None:
        if self._draft is not None and self._counter is not None:
            self.outline.show(self._draft, self._counter)
            self.query_one(Bytes).show(self._draft, self._unfolded, self._counter)
            self.query_one(RequestHead).show(self._draft)

    # --- what the person does ----------------------------------------------------------

    @on(Outline.Chosen)
    def _show_part(self) -> None:
        self.query_one(Bytes).show_part(self.outline.chosen)

    @on(Bytes.Clicked)
    def _choose_clicked(self, message: Bytes.Clicked) -> None:
        self.outline.choose(message.part)
        if message.is_fold:
            self.action_unfold()

    def action_unfold(self) -> None:
        """Show all lines of the chosen part, or few again."""
        part = self.outline.part
        if part is not None:
            self._unfolded ^= {part.key}
            self._show_draft()
            self.query_one(Bytes).show_part(self.outline.chosen)

    def action_raw(self) -> None:
        """Show the whole request exactly as it is sent."""
        if self._draft is not None:
            name = self._words("raw bytes")
            self.app.push_screen(WholeText(self._words, name, self._draft.exact, chopped))

    def action_copy(self) -> None:
        """Copy the chosen part exactly as it is sent."""
        part = self.outline.part
        if part is not None:
            self.app.copy_to_clipboard(part.exact)
            told = self._words("Copied {count} characters.", count=short(len(part.exact)))
            self.notify(told, markup=False)
