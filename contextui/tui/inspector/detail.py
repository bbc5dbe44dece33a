"""The detail view of an item: its text, and the cost of changing it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from rich.cells import cell_len
from textual.content import Content
from textual.events import Click
from textual.geometry import Size
from textual.widget import Widget

from contextui.text import one_line
from contextui.tui.inspector.edit import Note
from contextui.tui.inspector.labels import fate, origin, outdated, sent_text, text_of, title
from contextui.tui.inspector.prices import Offer, Price, Prices, turns
from contextui.tui.inspector.rows import Fold, ItemRow, tokens_of
from contextui.tui.inspector.snapshot import ContextSnapshot
from contextui.tui.lines import (
    FAINT,
    KEY,
    MUTED,
    fit,
    numbered,
    short,
    wrapped,
)
from contextui.windowing.snapshot import Lod
from contextui.words import Words, msg

_OLDER = msg(
    "In a summary, or not loaded when the session was resumed. They can be read, searched, copied"
    " and restored."
)

TurnOf = Callable[[int], int | None]
"""Returns the turn of an item by its seq."""


@dataclass(frozen=True, slots=True)
class Description:
    """The description of one item."""

    title: str = ""
    tokens: str = ""
    origin: str = ""
    text: str = ""
    has_cache: bool = True
    cost: str = ""
    hints: tuple[str, ...] = ()


def describe(row: ItemRow, prices: Prices, turn_of: TurnOf, words: Words) -> Description:
    """Describe the item of a row."""
    snapshot = prices.snapshot
    context = row.home(snapshot.context)
    is_outdated = row.is_old and row.block is not None
    if is_outdated:
        facts = [words("outdated: ") + outdated(row, words)]
    else:
        facts = [fate(row.item, context, snapshot.context.counter, words)]
    if snapshot.knows_cache and (is_outdated or not row.item.hidden):
        plan, seq = snapshot.composition.plan, row.item.seq
        is_cached = plan is not None and 0 < seq < plan.uncached_seq
        is_cached = is_cached if row.block is None else row.block.is_cached
        facts.append(words(msg("cached") if is_cached else msg("not cached")))
    is_left_out = row.item.hidden and not is_outdated  # then what it would have
    counted = context.item_tokens(row.item) if is_left_out else tokens_of(row, snapshot)
    return Description(
        title(row, context.calls, words),
        short(snapshot.provider(counted)),
        words(", ").join(facts)
        if is_outdated
        else origin(row, turn_of(row.item.seq), facts, words),
        sent_text(row, context) if is_outdated else text_of(row, context),
        snapshot.knows_cache,
    )


def hints(row: ItemRow, offers: Sequence[Offer], prices: Prices, words: Words) -> Iterator[str]:
    """Explain a drop that saves more than the item has, and levels that are longer."""
    own = prices.snapshot.provider(tokens_of(row, prices.snapshot))
    for offer in offers:
        each = offer.price.each or 0 if offer.price is not None else 0
        if offer.name == "drop" and -each > own:
            yield words(_also_dropped(row, prices.snapshot))
        elif offer.lod is not None and offer.key in "-g" and offer.lod is not Lod.FULL and each > 0:
            yield words("{lod} is longer than what is shown.", lod=words(offer.lod.value))


def _also_dropped(row: ItemRow, snapshot: ContextSnapshot) -> str:
    calls = snapshot.context.calls
    if row.block is not None and sum(block.item == row.block.item for block in snapshot.blocks) > 1:
        return msg("Drop includes its other versions.")
    if any(result is not row.item and not result.hidden for result in calls.results(row.item)):
        return msg("Drop includes the results of its calls.")
    if calls.asker(row.item) is not row.item:
        return msg("Drop includes its call.")
    return msg("Drop includes what is outdated.")


def describe_fold(fold: Fold, words: Words) -> Description:
    """Describe the items that a resumed session did not load."""
    text = words(_OLDER)
    if fold.reason:
        text = words("The log cannot be read: {reason}", reason=one_line(words(fold.reason), 200))
    return Description(words("Earlier items"), text=text)


_LOW, _TALL = 26, 48  # screen heights: below the first no text fits, above the second much does
_HEIGHTS = {"low": 4, "tight": 8, "usual": 11, "tall": 18}
_NAME, _EACH, _ONCE, _BACK = 7, 10, 7, 12  # cells
_PAIR, _GAP = 34, 4  # cells of an offer where two are side by side, and between them
_HEAD = 65_536  # maximum characters of a text to consider


class Detail(Widget):
    """The detail of one item, adapted to the available size."""

    def __init__(self, words: Words, press: Callable[[str], object]) -> None:
        super().__init__(id="detail")
        self._words, self._press = words, press
        self._item = Description()
        self._offers: list[Offer] = []
        self._note = Note("")

    def show(self, item: Description, offers: list[Offer], note: Note) -> None:
        if (item, offers, note) != (self._item, self._offers, self._note):
            self._item, self._offers, self._note = item, offers, note
            self.refresh()

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002
        """Return a height that depends only on the screen, so that nothing jumps."""
        if viewport.height < _LOW:
            return _HEIGHTS["low" if width >= 2 * _PAIR + _GAP else "tight"]
        return _HEIGHTS["tall" if viewport.height > _TALL else "usual"]

    def on_click(self, event: Click) -> None:
        column, line = event.x - self.gutter.left, event.y - self.gutter.top
        count = len(self._offers)
        row = line - (self.size.height - ((count + 1) // 2 if self._is_low else count))
        if row < 0:
            return
        place = 2 * row + column // (_PAIR + _GAP) if self._is_low else row
        if place < len(self._offers):
            self._press(self._offers[place].key)

    # --- rendering ---------------------------------------------------------------------

    @property
    def _is_low(self) -> bool:
        return self.size.height <= _HEIGHTS["low"]

    def render(self) -> Content:
        width = self.size.width
        lines = self._low(width) if self._is_low else self._roomy(width, self.size.height)
        return Content("\n").join(lines)

    def _roomy(self, width: int, height: int) -> list[Content]:
        tokens = max(cell_len(self._item.tokens) + 1, 6)
        head = Content.assemble(
            (fit(self._item.title, width - tokens), "bold"),
            (fit(self._item.tokens, tokens, right=True), MUTED),
        )
        spare = height - 3 - len(self._offers)
        below = self._below(width, max(spare, 1))
        table = [self._caption(width), *(self._offer(offer, width) for offer in self._offers)]
        return [
            head,
            Content.styled(fit(self._item.origin, width), FAINT),
            *self._lines(width, spare - len(below)),
            *below,
            *(table if self._offers else [Content("")]),
        ]

    def _below(self, width: int, room: int) -> list[Content]:
        if self._note.text:
            style = _note_style(self._note)
            rows = islice(wrapped(self._note.text, width), min(room, 2))
            return [Content.styled(fit(row, width), style) for row in rows]
        lines = [Content.styled(fit(hint, width), FAINT) for hint in self._item.hints]
        if self._item.cost:
            cost = self._item.cost.strip(" ()")
            text = self._words("a change costs up to {cost} once", cost=cost)
            lines.append(Content.styled(fit(text, width, right=True), FAINT))
        return lines[:room] or [Content.styled(" " * width, _note_style(self._note))]

    def _lines(self, width: int, room: int) -> list[Content]:
        if room <= 1:
            only = fit(one_line(self._item.text, 4 * width), width)
            return [Content.styled(only, "$foreground 80%")] * room
        pieces = list(islice(numbered(self._item.text[:_HEAD], width), room + 1))
        lines = [Content.styled(piece, "$foreground 80%") for _, piece in pieces]
        if len(pieces) > room or len(self._item.text) > _HEAD:
            first_missing, _ = pieces[min(room, len(pieces)) - 1]
            more = self._item.text.count("\n") + 1 - first_missing
            text = self._words.plural(more, "… 1 more line", "… {count} more lines")
            lines = [*lines[: room - 1], Content.styled(text, FAINT)]
        return lines + [Content("")] * (room - len(lines))

    def _low(self, width: int) -> list[Content]:
        note = self._note.text or " ".join((self._item.origin, *self._item.hints))
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
        drawn = [self._offer(offer, _PAIR) for offer in self._offers]
        for place in range(0, len(drawn), 2):
            lines.append(Content(" " * _GAP).join(drawn[place : place + 2]))
        return lines

    def _caption(self, width: int) -> Content:
        words = self._words
        if not self._item.has_cache:
            return Content.styled(fit(words("each turn"), width, right=True), FAINT)
        each = fit(words("each turn"), width - _ONCE - _BACK, right=True)
        rest = fit(words("once"), _ONCE, right=True) + fit(words("breaks even"), _BACK, right=True)
        return Content.styled(each + rest, FAINT)

    def _offer(self, offer: Offer, width: int) -> Content:
        room = width - 2 - (_ONCE + _BACK) * self._item.has_cache
        name = max(room - _EACH, _NAME)
        each, once, back = self._figures(offer.price)
        is_dear = offer.price is not None and offer.price.is_dear
        row = Content.assemble(
            (offer.key, f"{KEY} bold"),
            (" " + fit(self._words(offer.name), name), "$foreground"),
            (fit(each, room - name, right=True), "$text-success" if each[:1] == "−" else MUTED),
        )
        if not self._item.has_cache:
            return row
        return Content.assemble(
            row,
            (fit(once, _ONCE, right=True), "$text-warning" if once[:1] == "+" else MUTED),
            (fit(back, _BACK, right=True), "$text-warning" if is_dear else MUTED),
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
        return self._words("1 turn" if count == 1 else "{count} turns", count=short(count))


def signed(tokens: int) -> str:
    """Format a number of tokens with its sign.

    Example:
        >>> signed(-6_400), signed(0), signed(1_600)
        ('−6.4k', '0', '+1.6k')
    """
    sign = "−" if tokens < 0 else "+" if tokens else ""
    return sign + short(abs(tokens))


def _note_style(note: Note) -> str:
    return "$text-warning" if note.is_warning else "$text-success"
