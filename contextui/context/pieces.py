"""The parts of a request: messages, what each shows, where it comes from, what it costs."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import NamedTuple, overload

from contextui.context.forms import Shown
from contextui.context.placement import Arrival
from contextui.model import LlmMessage


class Piece(NamedTuple):
    """One message of a request: what it shows, what it costs, where it comes from."""

    shown: Shown
    tokens: int
    seq: int

    @property
    def message(self) -> LlmMessage:
        """The message itself."""
        return self.shown.message


class Messages(Sequence[LlmMessage]):
    """The messages of several runs, one behind the other, as they were when it was made."""

    def __init__(self, runs: Iterable[list[Piece]]) -> None:
        self._parts = [(pieces, len(pieces)) for pieces in runs]

    def __len__(self) -> int:
        return sum(length for _, length in self._parts)

    def __iter__(self) -> Iterator[LlmMessage]:
        return (piece.message for piece in self.pieces())

    @overload
    def __getitem__(self, index: int) -> LlmMessage: ...
    @overload
    def __getitem__(self, index: slice) -> list[LlmMessage]: ...
    def __getitem__(self, index: int | slice) -> LlmMessage | list[LlmMessage]:
        if isinstance(index, slice):
            return [self[position] for position in range(*index.indices(len(self)))]
        position = index + len(self) if index < 0 else index
        for pieces, length in self._parts:
            if 0 <= position < length:
                return pieces[position].message
            position -= length
        raise IndexError(index)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]  # equal to lists, which have none either

    def __repr__(self) -> str:
        return f"{type(self).__name__}({list(self)!r})"

    def pieces(self) -> Iterator[Piece]:
        """The messages with what they show and cost."""
        return chain.from_iterable(islice(pieces, length) for pieces, length in self._parts)


@dataclass(frozen=True, slots=True)
class Composition:
    """A request: its messages, and what is known about them.

    Attributes:
        messages: What to send, in order; `messages.pieces()` tells where each comes from.
        tokens: What it costs at most, by our own count.
        stable: How many of the first messages are in their final form: cache marks belong here.
        through_seq: The newest item that is in it.
        generation: How often the context had changed when it was composed.
        arriving: The windows that it brings.
        fresh: The pieces that no request held before.
        in_turn: Whether anything of the turn under way is in it: else there is nothing to answer.
    """

    messages: Messages
    tokens: int
    stable: int
    through_seq: int
    generation: int
    arriving: Arrival = field(default_factory=Arrival)
    fresh: tuple[Piece, ...] = ()
    in_turn: bool = False
