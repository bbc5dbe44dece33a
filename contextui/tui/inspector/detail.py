"""The chosen item: its text, and what each change to it would cost, before any key is pressed."""

from itertools import islice

from rich.cells import cell_len
from textual.content import Content
from textual.events import Click
from textual.geometry import Size
from textual.message import Message
from textual.widget import Widget

from contextui.text import one_line
from contextui.tui.cells import FAINT, KEY, MUTED, fit, short
from contextui.tui.inspector.changing import Note
from contextui.tui.inspector.describing import Description
from contextui.tui.inspector.prices import Offer, Price, turns
from contextui.tui.sheet.folding import numbered
from contextui.tui.words import Words

_LOW, _TALL = 26, 48  # lines of the screen under which there is no room for text; and much
_HEIGHTS = {"low": 4, "tight": 8, "usual": 11, "tall": 18}
_NAME, _EACH, _ONCE, _BACK = 7, 10, 8, 11  # cells
_PAIR, _GAP = 34, 4  # cells of an offer where two stand side by side, and between them
_HEAD = 65_536  # characters of a text that could be shown here


class Detail(Widget):
    """What there is to know of one item, in as much room as there is."""

    class Pressed(Message):
        """An offer was clicked, which does what its key does."""

        def __init__(self, key: str) -> None:
            super().__init__()
            self.key = key

    def __init__(self, words: Words) -> None:
        super().__init__(id="detail")
        self._words = words
        self._item = Description()
        self._offers: list[Offer] = []
        self._note = Note("")

    def show(self, item: Description, offers: list[Offer], note: Note) -> None:
        """Show another item, or the same anew."""
        if (item, offers, note) != (self._item, self._offers, self._note):
            self._item, self._offers, self._note = item, offers, note
            self.refresh()

    def get_content_height(
        self,
        container: Size,  # noqa: ARG002
        viewport: Size,
        width: int,
    ) -> int:
        """Always the same on the same screen, so that nothing jumps."""
        if viewport.height < _LOW:
            return _HEIGHTS["low" if width >= 2 * _PAIR + _GAP else "tight"]
        return _HEIGHTS["tall" if viewport.height > _TALL else "usual"]

    def on_click(self, event: Click) -> None:
        """Press the offer that was clicked."""
        column, line = event.x - self.gutter.left, event.y - self.gutter.top
        row = line - (self.size.height - self._table_height())
        if row < 0:
            return
        place = 2 * row + column // (_PAIR + _GAP) if self._is_low else row
        if place < len(self._offers):
            self.post_message(self.Pressed(self._offers[place].key))

    # --- drawing -----------------------------------------------------------------------

    @property
    def _is_low(self) -> bool:
        return self.size.height <= _HEIGHTS["low"]

    def _table_height(self) -> int:
        count = len(self._offers)
        return (count + 1) // 2 if self._is_low else count

    def render(self) -> Content:
        """The whole of it."""
        width = self.size.width
        lines = self._low(width) if self._is_low else self._roomy(width, self.size.height)
        return Content("\n").join(lines)

    def _roomy(self, width: int, height: int) -> list[Content]:
        tokens = max(cell_len(self._item.tokens) + 1, 6)
        head = Content.assemble(
            (fit(self._item.title, width - tokens), "bold"),
            (fit(self._item.tokens, tokens, right=True), MUTED),
        )
        room = height - 4 - len(self._offers)
        note = Content.styled(fit(self._note.text, width), _note_style(self._note))
        table = [self._caption(width), *(self._offer(one, width) for one in self._offers)]
        return [
            head,
            Content.styled(fit(self._item.origin, width), FAINT),
            *self._lines(width, room),
            note,
            *(table if self._offers else [Content("")]),
        ]

    def _lines(self, width: int, room: int) -> list[Content]:
        """As much of the text as there is room for, and how much more there is."""
        if room <= 1:
            only = fit(one_line(self._item.text, 4 * width), width)
            return [Content.styled(only, "$foreground 80%")] * room
        pieces = list(islice(numbered(self._item.text[:_HEAD], width), room + 1))
        lines = [Content.styled(piece, "$foreground 80%") for _, piece in pieces]
        if len(pieces) > room or len(self._item.text) > _HEAD:
            first_missing, _ = pieces[min(room, len(pieces)) - 1]
            more = self._item.text.count("\n") + 1 - first_missing
            lines = [*lines[: room - 1], Content.styled(self._more(more), FAINT)]
        return lines + [Content("")] * (room - len(lines))

    def _more(self, count: int) -> str:
        if count == 1:
            return self._words("… 1 more line")
        return self._words("… {count} more lines", count=count)

    def _low(self, width: int) -> list[Content]:
        note = self._note.text or self._item.origin
        style = _note_style(self._note) if self._note.text else FAINT
        title = min(cell_len(fit(self._item.title, width).rstrip()) + 4, width - 40)
        lines = [
            Content.assemble(
                (fit(self._item.title, title), "bold"),
                (fit(note, width - title - 6), style),
                (fit(self._item.tokens, 6, right=True), MUTED),
            )
        ]
        if self._offers:
            caption = self._caption(_PAIR)
            lines.append(Content.assemble(caption, " " * _GAP, caption if self._offers[1:] else ""))
        drawn = [self._offer(one, _PAIR) for one in self._offers]
        for place in range(0, len(drawn), 2):
            lines.append(Content(" " * _GAP).join(drawn[place : place + 2]))
        return lines

    def _caption(self, width: int) -> Content:
        words = self._words
        each = fit(words("each turn"), width - _ONCE - _BACK, right=True)
        rest = fit(words("once"), _ONCE, right=True) + fit(words("pays back"), _BACK, right=True)
        return Content.styled(each + rest, FAINT)

    def _offer(self, offer: Offer, width: int) -> Content:
        room = width - 2 - _ONCE - _BACK
        name = max(room - _EACH, _NAME)
        each, once, back = self._figures(offer.price)
        return Content.assemble(
            (offer.key, f"{KEY} bold"),
            (" " + fit(self._words(offer.name), name), "$foreground"),
            (fit(each, room - name, right=True), "$text-success" if each[:1] == "−" else MUTED),
            (fit(once, _ONCE, right=True), "$text-warning" if once[:1] == "+" else MUTED),
            (fit(back, _BACK, right=True), _dear(offer.price)),
        )

    def _figures(self, price: Price | None) -> tuple[str, str, str]:
        if price is None:
            return "…", "…", "…"
        each = "±" if price.each is None else signed(price.each)
        return each, signed(price.once), self._back(price)

    def _back(self, price: Price) -> str:
        count = turns(price)
        if count is None:
            return self._words("never") if price.each else "–"
        if not count:
            return self._words("at once")
        if count == 1:
            return self._words("1 turn")
        return self._words("{count} turns", count=short(count))


def signed(tokens: int) -> str:
    """A number of tokens with its sign.

    Example:
        >>> signed(-6_400), signed(0), signed(1_600)
        ('−6.4k', '0', '+1.6k')
    """
    sign = "−" if tokens < 0 else "+" if tokens else ""
    return sign + short(abs(tokens))


def _dear(price: Price | None) -> str:
    return "$text-warning" if price is not None and price.is_dear else MUTED


def _note_style(note: Note) -> str:
    return "$text-warning" if note.is_warning else "$text-success"
