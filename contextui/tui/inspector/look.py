"""One look at a context: what there is, what the next request holds, and what that costs.

Looking changes nothing and waits for nothing.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

from contextui.agent.protocol import declaring
from contextui.context.item import Carried
from contextui.context.manager import ContextManager
from contextui.context.pieces import Composition, Piece
from contextui.context.sequence import ItemView
from contextui.model import Tool
from contextui.tui.inspector.sending import Sent, head_pieces

_MOST_COPIES = 256  # counts of windows that are kept


@dataclass(frozen=True, slots=True)
class Shares:
    """What the parts of a request cost, in the provider's tokens."""

    system: int = 0
    history: int = 0
    windows: int = 0

    @property
    def total(self) -> int:
        """All of it."""
        return self.system + self.history + self.windows


@dataclass(frozen=True, slots=True)
class Look:
    """What there is to see at one moment.

    Attributes:
        context: What was looked at.
        items: All items.
        composition: The next request as it would be.
        cached: With how many of its messages the provider can begin from its cache.
        tools: What the declared tools cost.
        copies: What the windows in the request cost, each by its place: message, then window.
        shares: What the parts cost.
        under_way: Whether something of the turn under way was sent.
        knows_cache: Whether it is known what the provider holds; of an earlier turn, it is not.
    """

    context: ContextManager
    items: ItemView
    composition: Composition
    cached: int
    tools: int
    copies: dict[tuple[int, int], int]
    shares: Shares
    under_way: bool
    knows_cache: bool = True

    @property
    def in_place(self) -> bool:
        """Whether windows stand among the conversation."""
        return self.context.placement == "in-place"

    @property
    def first_open(self) -> int:
        """The number of the first message that is not in its final form."""
        return 0 if self.in_place else self.composition.stable

    def pieces(self, start: int = 0, stop: int | None = None) -> Iterable[Piece]:
        """The messages from one number up to another."""
        return islice(self.composition.messages.pieces(), start, stop)

    @property
    def cached_tokens(self) -> int:
        """What comes from the cache, in the provider's tokens."""
        return self.provider(sum(piece.tokens for piece in self.pieces(0, self.cached)))

    def provider(self, counted: int) -> int:
        """Tokens as the provider will probably count them."""
        return self.context.counter.calibrated(counted)


class Looker:
    """Looks at a context again and again, and counts nothing twice.

    Args:
        context: What to look at.
        tools: What is declared to the model with every request.
        sent: What was sent of it; without that, it is not known what is in a cache.
    """

    def __init__(
        self, context: ContextManager, tools: Sequence[Tool], sent: Sent | None = None
    ) -> None:
        self._context, self._sent = context, sent
        self._tools = declaring(tools, context.counter)
        self._counts: dict[str, int] = {}

    def look(self) -> Look:
        """The context as it is now."""
        context = self._context
        composition = context.outlook()
        copies = self._copies(composition)
        return Look(
            context,
            context.get_all(),
            composition,
            self._sent.cached(composition) if self._sent is not None else 0,
            self._tools,
            copies,
            self._shares(composition, sum(copies.values())),
            context.ledger.under_way,
            self._sent is not None,
        )

    def _copies(self, composition: Composition) -> dict[tuple[int, int], int]:
        start = 0 if self._context.placement == "in-place" else composition.stable
        return {
            (number, index): self._copy_tokens(piece, copy)
            for number, piece in enumerate(
                islice(composition.messages.pieces(), start, None), start
            )
            for index, copy in enumerate(piece.shown.copies)
        }

    def _copy_tokens(self, piece: Piece, copy: Carried) -> int:
        if not piece.shown.items and len(piece.shown.copies) == 1:
            return piece.tokens
        if copy.xml not in self._counts:
            if len(self._counts) >= _MOST_COPIES:
                self._counts.clear()
            counter = self._context.counter
            self._counts[copy.xml] = counter.message_overhead("user") + counter.count(copy.xml)
        return self._counts[copy.xml]

    def _shares(self, composition: Composition, windows: int) -> Shares:
        pieces = composition.messages.pieces()
        system = sum(piece.tokens for piece in islice(pieces, head_pieces(composition)))
        provider = self._context.counter.calibrated
        return Shares(
            provider(system + self._tools),
            provider(max(composition.tokens - system - windows, 0)),
            provider(windows),
        )
