"""What was sent last, so that it can be told what the provider still holds of the next request."""

from collections import deque
from collections.abc import Callable
from itertools import takewhile

from contextui.context.item import ItemType
from contextui.context.manager import ContextManager
from contextui.context.pieces import Composition
from contextui.events import Event, RequestSent

REMEMBERED = 4
"""Requests that are remembered: as many as a model remembers the cache marks of."""


class Sent:
    """Remembers the last requests of a conversation, as they left.

    Args:
        context: The conversation to follow.
        model: Tells who answers: what one model holds, another one does not.
    """

    def __init__(self, context: ContextManager, model: Callable[[], str] = str) -> None:
        self._context, self._model = context, model
        self._requests: deque[tuple[str, Composition]] = deque(maxlen=REMEMBERED)
        self._count = 0
        self._known: tuple[tuple[int, int, str], int] = ((-1, -1, ""), 0)
        self.stop: Callable[[], None] = context.subscribe(self._hear)

    @property
    def requests(self) -> list[Composition]:
        """The requests to the present model, the newest last."""
        name = self._model()
        return [request for model, request in self._requests if model == name]

    def cached(self, composition: Composition) -> int:
        """With how many messages of this request the provider can begin from its cache."""
        # Windows redrawn make no new generation, and change nothing that was sent.
        state = (composition.generation, self._count, self._model())
        if self._known[0] != state:
            self._known = (state, cached(self.requests, composition))
        return self._known[1]

    def _hear(self, event: Event) -> None:
        if isinstance(event, RequestSent):
            # Right after a request left, the next one is that one: nothing new can stand in it.
            self._requests.append((self._model(), self._context.outlook()))
            self._count += 1


def cached(sent: list[Composition], now: Composition) -> int:
    """The furthest cache mark of what was sent that the next request still reaches.

    Marks stand behind the system prompt, behind what was in its final form, and at the end.
    """
    furthest = 0
    for request in reversed(sent):
        if len(request.messages) <= furthest:
            continue
        same, system = _shared(request, now), system_pieces(request)
        if system != system_pieces(now):
            continue  # it goes out as one block
        marks = (system, request.stable, len(request.messages))
        furthest = max(furthest, *(mark if mark <= same else 0 for mark in marks))
    return furthest


def system_pieces(composition: Composition) -> int:
    """How many of the first messages are the system prompt."""
    pieces = composition.messages.pieces()
    return sum(1 for _ in takewhile(lambda piece: piece.message.role == "system", pieces))


def head_pieces(composition: Composition) -> int:
    """How many of the first messages are the system prompt, the project's text and summaries."""
    pieces = composition.messages.pieces()
    shown = (piece.shown.items for piece in pieces)
    return sum(1 for _ in takewhile(lambda one: one and one[0].type is ItemType.SYSTEM, shown))


def _shared(before: Composition, now: Composition) -> int:
    """With how many same messages two requests begin."""
    pairs = zip(before.messages.pieces(), now.messages.pieces(), strict=False)
    for number, (old, new) in enumerate(pairs):
        if old is not new and old.message != new.message:
            return number
    return min(len(before.messages), len(now.messages))
