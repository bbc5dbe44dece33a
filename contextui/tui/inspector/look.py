"""Snapshots of a context: its items, the next request, cached messages, and tokens.

Taking a snapshot changes nothing and waits for nothing.
"""

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import takewhile

from contextui.agent.protocol import declaration_tokens
from contextui.context.item import Carried, ItemType, ItemView
from contextui.context.manager import ContextManager
from contextui.context.messages import Composition, Piece
from contextui.context.placement.figures import PlacedBlock
from contextui.context.placement.slots import HEAD
from contextui.events import Event, RequestSent
from contextui.model import Tool
from contextui.tui.inspector.budget import Shares

REMEMBERED = 4
"""Requests to remember: as many as a provider keeps cache marks for."""


class Sent:
    """Records the last requests of a conversation as sent.

    Args:
        context: The conversation.
        model: Returns the current model's name: models do not share a cache.
    """

    def __init__(self, context: ContextManager, model: Callable[[], str] = str) -> None:
        self._context, self._model = context, model
        self._requests: deque[tuple[str, Composition]] = deque(maxlen=REMEMBERED)
        self._count = 0
        self._known: tuple[tuple[int, int, str], int] = ((-1, -1, ""), 0)
        self.stop: Callable[[], None] = context.subscribe(self._handle_event)

    @property
    def requests(self) -> list[Composition]:
        """The requests to the current model, newest last."""
        name = self._model()
        return [request for model, request in self._requests if model == name]

    def cached(self, composition: Composition) -> int:
        """Return how many leading messages of this request the provider has cached."""
        if composition.plan is not None:
            return composition.plan.cached
        # Redrawn windows create no new generation and change nothing that was sent.
        state = (composition.generation, self._count, self._model())
        if self._known[0] != state:
            self._known = (state, cached(self.requests, composition))
        return self._known[1]

    def _handle_event(self, event: Event) -> None:
        if isinstance(event, RequestSent):
            request = self._context.last_request or self._context.outlook()
            self._requests.append((self._model(), request))
            self._count += 1


def cached(sent: list[Composition], now: Composition) -> int:
    """Return the furthest cache mark of the sent requests that the next request still reaches.

    Marks are set after the system prompt, after the messages in final form, and at the end.
    """
    furthest = 0
    for request in reversed(sent):
        if len(request.messages) <= furthest:
            continue
        same, system = _shared(request, now), system_pieces(request)
        if system != system_pieces(now):
            continue  # it is sent as one block
        marks = (system, request.stable, len(request.messages))
        furthest = max(furthest, *(mark if mark <= same else 0 for mark in marks))
    return furthest


def system_pieces(composition: Composition) -> int:
    """Return how many leading messages are the system prompt."""
    pieces = composition.messages.pieces()
    return sum(1 for _ in takewhile(lambda piece: piece.message.role == "system", pieces))


def head_pieces(composition: Composition) -> int:
    """Return how many leading messages are the system prompt, project text and summaries."""
    pieces = composition.messages.pieces()
    shown = (piece.shown.items for piece in pieces)
    return sum(1 for _ in takewhile(lambda one: one and one[0].type is ItemType.SYSTEM, shown))


def _shared(before: Composition, now: Composition) -> int:
    """Return how many leading messages two requests share."""
    pairs = zip(before.messages.pieces(), now.messages.pieces(), strict=False)
    for number, (old, new) in enumerate(pairs):
        if old is not new and old.message != new.message:
            return number
    return min(len(before.messages), len(now.messages))


_MOST_COPIES = 256  # cached token counts of windows


@dataclass(frozen=True, slots=True)
class Look:
    """A snapshot of a context.

    Attributes:
        context: The context.
        items: All items.
        composition: The next request.
        cached: How many of its leading messages the provider has cached.
        tools: The tokens of the declared tools.
        copies: The tokens of the windows in the request, by message and window index; not by price.
        blocks: The blocks of windows, and those that are outdated, in order; only by price.
        shares: The tokens of its parts.
        under_way: Whether something of the current turn was sent.
        knows_cache: Whether the state of the cache is known; not for an earlier turn, and not for a
            model without a cache.
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
    blocks: Sequence[PlacedBlock] = ()

    @property
    def in_place(self) -> bool:
        """Whether windows are placed among the messages."""
        return self.context.placement == "in-place"

    @property
    def by_price(self) -> bool:
        """Whether windows are placed by price."""
        return self.context.placement == "price"

    @property
    def first_open(self) -> int:
        """The index of the first message that is not final."""
        return 0 if self.in_place else self.composition.stable

    def pieces(self, start: int = 0, stop: int | None = None) -> Iterable[Piece]:
        """Return the messages in a range."""
        return self.composition.messages.pieces(start, stop)

    @property
    def cached_tokens(self) -> int:
        """The cached tokens, by the provider's count."""
        if self.composition.plan is not None:
            return self.provider(self.composition.plan.cached_tokens)
        return self.provider(sum(piece.tokens for piece in self.pieces(0, self.cached)))

    def provider(self, counted: int) -> int:
        """Estimate the provider's count from our own."""
        return self.context.counter.calibrated(counted)


class Looker:
    """Takes snapshots of a context and caches token counts.

    Args:
        context: The context.
        tools: The tools declared to the model with every request.
        sent: The requests sent; without them the state of the cache is unknown.
        has_cache: Returns whether the model has a cache.
    """

    def __init__(
        self,
        context: ContextManager,
        tools: Sequence[Tool],
        sent: Sent | None = None,
        has_cache: Callable[[], bool] = lambda: True,
    ) -> None:
        self._context, self._sent, self._has_cache = context, sent, has_cache
        self._tools = declaration_tokens(tools, context.counter)
        self._counts: dict[str, int] = {}

    def look(self) -> Look:
        """Return a snapshot of the current context."""
        context = self._context
        composition = context.outlook()
        blocks = context.placed(composition)
        copies = self._copies(composition) if composition.plan is None else {}
        windows = sum(one.tokens for one in blocks if one.text and not one.reason)
        knows_cache = self._sent is not None and self._has_cache()
        return Look(
            context,
            context.get_all(),
            composition,
            self._sent.cached(composition) if self._sent is not None and knows_cache else 0,
            self._tools,
            copies,
            self._shares(composition, windows + sum(copies.values()), blocks),
            context.is_turn_running,
            knows_cache,
            blocks,
        )

    def _copies(self, composition: Composition) -> dict[tuple[int, int], int]:
        start = 0 if self._context.placement == "in-place" else composition.stable
        return {
            (number, index): self._copy_tokens(piece, copy)
            for number, piece in enumerate(composition.messages.pieces(start), start)
            for index, copy in enumerate(piece.shown.copies)
        }

    def _copy_tokens(self, piece: Piece, copy: Carried) -> int:
        if not piece.shown.items and len(piece.shown.copies) == 1:
            return piece.tokens
        if copy.xml not in self._counts:
            if len(self._counts) >= _MOST_COPIES:
                self._counts.clear()
            self._counts[copy.xml] = self._context.render_tokens(copy.xml)
        return self._counts[copy.xml]

    def _shares(
        self, composition: Composition, windows: int, blocks: Sequence[PlacedBlock]
    ) -> Shares:
        old = [one for one in blocks if one.reason]
        outdated = sum(one.tokens for one in old)
        pieces = composition.messages.pieces(0, head_pieces(composition))
        system = sum(piece.tokens for piece in pieces)
        system -= sum(one.tokens for one in old if one.item == HEAD)
        provider = self._context.counter.calibrated
        return Shares(
            provider(system + self._tools),
            provider(max(composition.tokens - system - windows - outdated, 0)),
            provider(windows),
            provider(outdated),
        )
