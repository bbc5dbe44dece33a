"""`Composition`: a composed request."""

from dataclasses import dataclass

from contextui.context.messages import Messages, Piece
from contextui.context.placement.messages import RequestPlan


@dataclass(frozen=True, slots=True)
class Composition:
    """A composed request: its messages and their metadata.

    Attributes:
        messages: What to send, in order; `messages.pieces()` has the source items of each.
        tokens: An upper bound of its tokens, by our own count.
        stable: How many of the first messages are in their final form; cache marks go here.
        through_seq: The seq of the newest item included.
        generation: The ledger's generation when it was composed.
        fresh: The pieces that no request contained before.
        in_turn: Whether it contains anything of the running turn; otherwise there is nothing to
            answer.
        plan: How it was planned, where windows are placed by price.
    """

    messages: Messages
    tokens: int
    stable: int
    through_seq: int
    generation: int
    fresh: tuple[Piece, ...] = ()
    in_turn: bool = False
    plan: RequestPlan | None = None
