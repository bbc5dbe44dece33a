"""The page of usage: a bar for each turn, and what they cost in figures."""

from collections.abc import Sequence

from textual.binding import Binding
from textual.content import Content
from textual.events import Click
from textual.message import Message

from contextui.tui.cells import FAINT, MUTED, fit, short
from contextui.tui.inspector.items import CURSOR
from contextui.tui.inspector.plot import COLOURS, TEXTURES, plot
from contextui.tui.inspector.spending import TurnUsage
from contextui.tui.sheet.lineview import LineView
from contextui.tui.words import Words

_WIDE = 60  # cells from which on there is room for whole words
_NAMES = ("from cache", "written", "sent anew", "answered")
_SHORT = ("cache", "written", "anew", "answered")
_COLUMNS = (("turn", 6), ("from cache", 13), ("written", 12), ("sent anew", 13), ("answered", 12),
            ("full price", 13))  # fmt: skip
_NARROW = (("turn", 4), ("cache", 9), ("written", 9), ("anew", 8), ("answered", 9))
_HEAD, _LEAST_PLOT, _TABLE = 3, 6, 8  # lines
_DEEDS = {
    "drop": "{seq} was dropped: the cache was written anew",
    "restore": "{seq} was restored: the cache was written anew",
    "edit": "{seq} was edited: the cache was written anew",
    "unfold": "{seq} was unfolded: the cache was written anew",
    "fold": "{seq} was folded: the cache was written anew",
    "undo": "{seq} was undone: the cache was written anew",
    "trim": "room was made: the cache was written anew",
    "compact": "earlier turns were summed up: the cache was written anew",
}


class UsagePage(LineView, can_focus=True, inherit_bindings=False):
    """The turns of a session, the newest on top of the table."""

    BINDINGS = [
        Binding("up", "step(-1)", "move", key_display="↑↓"),
        Binding("down", "step(1)", show=False),
        Binding("home", "edge(-1)", show=False),
        Binding("pageup", "step(-10)", show=False),
        Binding("pagedown", "step(10)", show=False),
        Binding("enter", "open", "its request"),
    ]

    class Opened(Message):
        """The person wants to see the request of this turn."""

        def __init__(self, turn: int) -> None:
            super().__init__()
            self.turn = turn

    def __init__(self, words: Words) -> None:
        super().__init__(id="usage")
        self._words = words
        self._turns: Sequence[TurnUsage] = ()
        self._cursor = 0
        self._above: list[Content] = []

    def take_focus(self, may: bool) -> None:
        """Have a stop for the focus, or none: a pane has one, on the page that is shown."""
        self.can_focus = may

    def show(self, turns: Sequence[TurnUsage]) -> None:
        """Show what turns cost; the cursor stays on its turn."""
        here = self._turns[-1 - self._cursor].turn if self._turns and self._cursor else None
        self._turns = list(turns)
        if here is not None:
            place = [one.turn for one in reversed(self._turns)]
            self._cursor = place.index(here) if here in place else 0
        self._draw()

    def on_resize(self) -> None:
        """Draw for the new size."""
        self._draw()

    def _draw(self) -> None:
        """Draw what stands above the table; rows of the table are made when they are seen."""
        width, height = self.line_width, self.size.height
        if not self._turns or width <= 0:
            self._above = []
            self.set_count(1)
            return
        words = self._words
        rows = height - _HEAD - 2 - min(_TABLE, len(self._turns) + 1)
        plain = self.app.no_color
        bars = plot(self._turns, width, max(rows, _LEAST_PLOT), plain=plain)
        columns = _COLUMNS if width > _WIDE else _NARROW
        caption = "".join(fit(words(name), cells, right=True) for name, cells in columns)
        self._above = [
            Content.styled(self._summary(width), "$foreground"),
            self._legend(width, plain),
            Content(""),
            *(Content.assemble(*spans) for spans in bars),
            Content(""),
            Content.styled(caption, FAINT),
        ]
        self.set_count(len(self._above) + len(self._turns))

    def _summary(self, width: int) -> str:
        paid, sent = sum(one.paid for one in self._turns), sum(one.sent for one in self._turns)
        saved = round(100 - 100 * paid / sent) if sent else 0
        told = "{turns} turns   {paid} paid for {sent} sent   {saved}% saved by the cache"
        if width <= _WIDE:
            told = "{paid} paid for {sent} sent, {saved}% saved"
        guess = "~" if any(one.is_guess for one in self._turns) else ""
        figures = {"paid": guess + short(paid), "sent": guess + short(sent), "saved": saved}
        return self._words(told, turns=len(self._turns), **figures)

    def _legend(self, width: int, plain: bool) -> Content:
        names, gap = (_NAMES, "   ") if width > _WIDE else (_SHORT, " ")
        spans: list[tuple[str, str]] = []
        for number, name in enumerate(names):
            sign = (f"{TEXTURES[number]} ", "") if plain else ("■ ", COLOURS[number])
            spans += [sign, (self._words(name) + gap, MUTED)]
        return Content.assemble(*spans)

    # --- what the person does ----------------------------------------------------------

    def action_step(self, step: int) -> None:
        """Move the cursor."""
        self._cursor = max(min(self._cursor + step, len(self._turns) - 1), 0)
        self.show_line(len(self._above) + self._cursor if self._cursor else 0)
        self.refresh()

    def action_edge(self, step: int) -> None:
        """Go to the newest turn."""
        self.action_step(step * len(self._turns))

    def on_click(self, event: Click) -> None:
        """Choose the turn that was clicked; twice shows its request."""
        place = event.y + self.scroll_offset.y - len(self._above)
        if 0 <= place < len(self._turns):
            self.action_step(place - self._cursor)
            if event.chain == 2:
                self.action_open()

    def action_open(self) -> None:
        """Show the request of the turn."""
        if self._turns:
            self.post_message(self.Opened(self._turns[-1 - self._cursor].turn))

    # --- drawing -----------------------------------------------------------------------

    def line_at(self, number: int, width: int) -> Content:
        """A line of the plot, or a turn in figures."""
        if not self._turns:
            return Content.styled(self._words("Nothing sent yet. Each turn appears here."), FAINT)
        if number < len(self._above):
            return self._above[number]
        place = number - len(self._above)
        line = self._row(self._turns[-1 - place], width, place == 0)
        return line.stylize(CURSOR) if place == self._cursor and self.has_focus else line

    def _row(self, turn: TurnUsage, width: int, is_newest: bool) -> Content:
        columns = _COLUMNS if width > _WIDE else _NARROW
        guess = "~" if turn.is_guess else ""
        figures = [str(turn.turn), *(f"{one:,}" for one in turn.parts), f"{turn.paid:,}"]
        figures[3] = guess + figures[3]
        row = "".join(
            fit(figure, cells, right=True)
            for figure, (_, cells) in zip(figures, columns, strict=False)
        )
        told = ""
        if turn.deed is not None and width > _WIDE:
            told = "   " + self._words(_DEEDS[turn.deed.operation], seq=f"{turn.deed.seq:04}")
        style = "$foreground" if is_newest else MUTED
        return Content.assemble((row, style), (fit(told, width - len(row)), "$text-warning"))
