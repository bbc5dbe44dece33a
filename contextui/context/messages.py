"""How one unit looks as messages: as it is sent while its turn runs, and in its final form."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import NamedTuple, overload
from xml.sax.saxutils import escape

from contextui.context.item import THINKING, Carried, ContextItem, ItemType, Stage
from contextui.context.placement import Arrival
from contextui.context.units import Unit
from contextui.model import Block, LlmMessage, Role
from contextui.text import for_xml

_NO_OUTPUT = "(no output)"
_NOTHING = Arrival()


class Shown(NamedTuple):
    """A message, the items whose own content it shows, and the windows that it shows."""

    message: LlmMessage
    items: tuple[ContextItem, ...]
    copies: tuple[Carried, ...] = ()


def unit_messages(unit: Unit, arriving: Arrival = _NOTHING) -> list[Shown]:
    """The messages of a unit of the conversation, windows that stand with it included."""
    head = unit.head
    match head.type:
        case ItemType.ASSISTANT:
            return _answer(unit, arriving)
        case ItemType.TOOL:
            return _loose(unit.items, arriving)
        case ItemType.SYSTEM:
            return [Shown(LlmMessage(role_of(head), content_of(head)), (head,))]
        case _:
            words = LlmMessage("user", content_of(head))
            return [*_copies(head, arriving), Shown(words, (head,))]


def window_message(copy: Carried) -> Shown:
    """A window as the model is shown it."""
    return Shown(LlmMessage("user", copy.xml), (), (copy,))


def content_of(item: ContextItem) -> str | tuple[Block, ...]:
    """An item's own content: verbatim while its turn runs, in its final form from then on."""
    match item.type:
        case ItemType.ASSISTANT:
            return _answer_blocks(item)
        case ItemType.TOOL:
            return _result_content(item)
        case ItemType.SYSTEM if item.is_summary:
            return f"<Summary>\n{escape(for_xml(item.face.content))}\n</Summary>"
        case _:
            return item.face.blocks or item.face.content


def role_of(item: ContextItem) -> Role:
    """The role of the message that shows an item."""
    match item.type:
        case ItemType.ASSISTANT:
            return "assistant"
        case ItemType.SYSTEM if not item.is_background:
            return "system"
    return "user"


def head_first(items: Iterable[ContextItem]) -> list[ContextItem]:
    """System items in the order in which requests begin with them: the system prompt, what the
    project provides, summaries of what was said before all that is left."""
    return sorted(items, key=lambda item: (item.is_background, item.is_summary, item.seq))


def is_reduced(item: ContextItem) -> bool:
    """Whether its final form is less than what was sent of it, and it has taken that form."""
    if item.stage is not Stage.FINAL:
        return False
    if item.type is ItemType.TOOL:
        return item.line is not None
    return item.type is ItemType.ASSISTANT and item.thinks


def _answer_blocks(item: ContextItem) -> str | tuple[Block, ...]:
    """The answer's blocks; once its turn is over, without thinking."""
    face = item.face
    if face.blocks is None:
        return face.content
    left_out = THINKING if item.stage is Stage.FINAL else ()
    return tuple(block for block in face.blocks if block.get("type") not in left_out)


def _result_content(item: ContextItem) -> str | tuple[Block, ...]:
    """What a tool gave; once its turn is over, its gist."""
    if item.line and item.stage is Stage.FINAL:
        return item.line
    face = item.face
    return face.blocks or (face.content if face.content.strip() else _NO_OUTPUT)


def _answer(unit: Unit, arriving: Arrival) -> list[Shown]:
    head = unit.head
    # A result that came after its answer was sent has no call in those bytes to stand behind.
    answering = tuple(
        one for one in unit.results if one.tool_call_id is not None and one.stage is head.stage
    )
    shown: list[Shown] = []
    if content := _with_answered_calls(head, {one.tool_call_id for one in answering}):
        shown.append(Shown(LlmMessage("assistant", content), (head,)))
    if answering:
        blocks = tuple(_result_block(one, arriving.with_item(one)) for one in answering)
        copies = tuple(copy for one in answering for copy in arriving.with_item(one))
        shown.append(Shown(LlmMessage("user", blocks), answering, copies))
    return shown + _loose((one for one in unit.results if one.tool_call_id is None), arriving)


def _with_answered_calls(item: ContextItem, answered: set[str | None]) -> str | tuple[Block, ...]:
    content = _answer_blocks(item)
    if isinstance(content, str):
        return content
    kept = tuple(
        block for block in content if block.get("type") != "tool_use" or block["id"] in answered
    )
    # Thinking alone is no answer, and no provider takes it for one.
    return kept if any(block.get("type") not in THINKING for block in kept) else ()


def _result_block(item: ContextItem, copies: tuple[Carried, ...]) -> Block:
    given = _result_content(item)
    content: object = given
    if copies or not isinstance(given, str):
        own = [{"type": "text", "text": given}] if isinstance(given, str) else given
        content = [*own, *({"type": "text", "text": copy.xml} for copy in copies)]
    block = {"type": "tool_result", "tool_use_id": item.tool_call_id, "content": content}
    return {**block, "is_error": True} if item.is_error else block


def _loose(results: Iterable[ContextItem], arriving: Arrival) -> list[Shown]:
    """Results of the text protocol: words like any other, with their windows behind them."""
    shown: list[Shown] = []
    for one in results:
        shown += [Shown(LlmMessage("user", _result_content(one)), (one,)), *_copies(one, arriving)]
    return shown


def _copies(item: ContextItem, arriving: Arrival) -> list[Shown]:
    return [window_message(copy) for copy in arriving.with_item(item)]


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
