"""The items of a context as rows, in the order in which a request shows them.

Nothing is built for rows that nobody looks at: of the finished turns, of which there may be a
hundred thousand items, a row is made when it is asked for.
"""

from collections.abc import Iterator, Sequence

from contextui.context.item import ContextItem, is_conversation
from contextui.context.pieces import Piece
from contextui.tui.inspector.look import Look
from contextui.tui.inspector.sending import head_pieces
from contextui.tui.inspector.spans import Line, Row, Rows, Rule, Span, place_of


def rows_of(look: Look) -> Rows:
    """All rows, with the rules between them."""
    items, ledger = look.items, look.context.ledger
    if look.in_place:
        return _with_rules(look, [], (), len(items), [])
    head = list(head_of(look))
    open_items = [one.seq for one in list(ledger.open) if is_conversation(one)]
    turn_start = min(open_items, default=ledger.seq + 1)
    live = [one for one in ledger.live_references if one.hidden is None]
    moved = [*(row.item for row in head), *live]
    end = place_of(items, turn_start)
    places = sorted(place_of(items, one.seq) for one in moved)
    elsewhere = tuple(place for place in places if place < end)
    return _with_rules(look, head, elsewhere, end, list(_turn(look, turn_start, live)))


def head_of(look: Look) -> Iterator[Row]:
    """The system prompt and what follows it directly: the project's text and summaries.

    What the tools cost is shown with the prompt, as they are sent together.
    """
    tools = look.tools
    for piece in look.pieces(0, head_pieces(look.composition)):
        for item in piece.shown.items:
            yield Row(item, tokens=look.context.ledger.size(item) + tools)
            tools = 0


def _with_rules(
    look: Look, head: list[Row], elsewhere: tuple[int, ...], end: int, turn: list[tuple[int, Row]]
) -> Rows:
    """The rows with a rule before what comes from the cache, and one before the rest."""
    items = look.items
    finished = Span(items, 0, end, elsewhere)
    rows = [row for _, row in turn]
    if not look.knows_cache or not (look.cached or finished or turn):
        return Rows([head, finished, rows])  # there is nothing to tell apart
    if not look.cached:
        return Rows([[Rule(False, _tokens(look, 0))], head, finished, rows])
    if look.cached < len(head):
        anew = _tokens(look, look.cached)
        cached = Rule(True, max(look.shares.total - anew, 0))
        start, rest_of_head = head[: look.cached], head[look.cached :]
        return Rows([[cached], start, [Rule(False, anew)], rest_of_head, finished, rows])
    place = end
    if look.cached < look.first_open or look.in_place:
        place = min(place_of(items, _first_anew(look)), end)
    cut = len([number for number, _ in turn if number < look.cached])
    anew = _tokens(look, look.cached)
    everything = look.shares.total
    runs: list[Sequence[Line]] = [
        [Rule(True, max(everything - anew, 0))],
        head,
        Span(items, 0, place, elsewhere),
    ]
    rest: list[Sequence[Line]] = [Span(items, place, end, elsewhere), rows[cut:]]
    if place == end:
        runs.append(rows[:cut])
    if any(rest):
        runs += [[Rule(False, anew)], *rest]
    return Rows(runs)


def _tokens(look: Look, start: int) -> int:
    """What the messages from this number on cost, in the provider's tokens."""
    if not start:
        return look.shares.total
    return look.provider(sum(piece.tokens for piece in look.pieces(start)))


def _first_anew(look: Look) -> int:
    """The seq of the first item that is not in the cache."""
    for piece in look.pieces(look.cached):
        return _seq(look, piece)
    return look.context.ledger.seq + 1


def _seq(look: Look, piece: Piece) -> int:
    if piece.shown.items or not look.in_place:
        return piece.seq
    references = look.context.ledger.references
    return min(references[copy.window_id][-1].seq for copy in piece.shown.copies)


def _turn(look: Look, start: int, live: Sequence[ContextItem]) -> Iterator[tuple[int, Row]]:
    """The rows of the turn under way, each with the number of its message.

    Items that the request does not show stand before the next one that it shows.
    """
    shown = list(_shown(look))
    there = {row.item.id for _, row in shown}
    known = there | {item.id for item in live}
    left = [item for item in look.items.since(start) if item.id not in known]
    for number, row in shown:
        while left and row.copy is None and left[0].seq < row.item.seq:
            yield number, Row(left.pop(0))
        yield number, row
    behind = len(look.composition.messages)
    yield from ((behind, Row(item)) for item in left)
    # A window that was opened since the last request arrives with the next step.
    yield from ((behind, Row(item)) for item in live if item.id not in there)


def _shown(look: Look) -> Iterator[tuple[int, Row]]:
    pieces = list(enumerate(look.pieces(look.first_open), look.first_open))
    newest = {copy.window_id: copy for _, piece in pieces for copy in piece.shown.copies}
    references = look.context.ledger.references
    for number, piece in pieces:
        for item in piece.shown.items:
            yield number, Row(item)
        for index, copy in enumerate(piece.shown.copies):
            item = references[copy.window_id][-1]
            is_old = copy is not newest[copy.window_id] or item.hidden is not None
            yield number, Row(item, copy, look.copies[number, index], is_old)
