"""Convert units of items to messages, while their turn runs and in final form.

Also defines `Composition`, the composed request.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple, overload
from xml.sax.saxutils import escape

from contextui.context.arrival import Arrival
from contextui.context.item import THINKING, Carried, ContextItem, ItemType, Stage
from contextui.context.units import Unit
from contextui.model import Block, LlmMessage, Role
from contextui.text import for_xml

if TYPE_CHECKING:
    from contextui.context.placement.messages import Plan

_NO_OUTPUT = "(no output)"
_NOTHING = Arrival()


class Shown(NamedTuple):
    """A message, the items whose content it contains, and the windows that it contains."""

    message: LlmMessage
    items: tuple[ContextItem, ...]
    copies: tuple[Carried, ...] = ()


def unit_messages(unit: Unit, arriving: Arrival = _NOTHING) -> list[Shown]:
    """The messages of a unit of the conversation, including the windows attached to it."""
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
    """The message that shows a window to the model."""
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
    """The role of an item's message."""
    match item.type:
        case ItemType.ASSISTANT:
            return "assistant"
        case ItemType.SYSTEM if not item.is_background:
            return "system"
    return "user"


def head_first(items: Iterable[ContextItem]) -> list[ContextItem]:
    """Sort System items as requests begin with them: the system prompt, the project's text,
    summaries."""
    return sorted(items, key=lambda item: (item.is_background, item.is_summary, item.seq))


def is_reduced(item: ContextItem) -> bool:
    """Whether it is in a final form that is shorter than what was sent."""
    if item.shown_gist is not None:
        return bool(item.shown_gist)
    if item.stage is not Stage.FINAL:
        return False
    if item.type is ItemType.TOOL:
        return item.line is not None
    return item.type is ItemType.ASSISTANT and item.thinks


def _answer_blocks(item: ContextItem) -> str | tuple[Block, ...]:
    """The blocks of an answer; without thinking once its turn is over."""
    face = item.face
    if face.blocks is None:
        return face.content
    left_out = THINKING if item.stage is Stage.FINAL else ()
    return tuple(block for block in face.blocks if block.get("type") not in left_out)


def _result_content(item: ContextItem) -> str | tuple[Block, ...]:
    """The content of a tool result; its gist once its turn is over."""
    if item.line and item.stage is Stage.FINAL:
        return item.line
    face = item.face
    return face.blocks or (face.content if face.content.strip() else _NO_OUTPUT)


def _answer(unit: Unit, arriving: Arrival) -> list[Shown]:
    head = unit.head
    # A result that came after its answer was sent has no call in those bytes to follow.
    answering = tuple(
        one for one in unit.results if one.tool_call_id is not None and one.stage is head.stage
    )
    shown: list[Shown] = []
    if content := _with_answered_calls(head, {one.tool_call_id for one in answering}):
        shown.append(Shown(LlmMessage("assistant", content), (head,)))
    if answering:
        blocks = tuple(
            result_block(
                one.tool_call_id,
                _result_content(one),
                arriving.with_item(one),
                is_error=one.is_error,
            )
            for one in answering
        )
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
    # No provider accepts an answer that has nothing but thinking.
    return kept if any(block.get("type") not in THINKING for block in kept) else ()


def result_block(
    call: str | None,
    given: str | tuple[Block, ...],
    copies: Sequence[Carried],
    *,
    is_error: bool,
) -> Block:
    """The result of a call, with windows inside of it."""
    content: object = given
    if copies or not isinstance(given, str):
        own = [{"type": "text", "text": given}] if isinstance(given, str) else given
        content = [*own, *({"type": "text", "text": copy.xml} for copy in copies)]
    block = {"type": "tool_result", "tool_use_id": call, "content": content}
    return {**block, "is_error": True} if is_error else block


def _loose(results: Iterable[ContextItem], arriving: Arrival) -> list[Shown]:
    """Results of the text protocol: plain user messages, each followed by its windows."""
    shown: list[Shown] = []
    for one in results:
        shown += [Shown(LlmMessage("user", _result_content(one)), (one,)), *_copies(one, arriving)]
    return shown


def _copies(item: ContextItem, arriving: Arrival) -> list[Shown]:
    return [window_message(copy) for copy in arriving.with_item(item)]


class Piece(NamedTuple):
    """One message of a request, with its source items, its tokens and its seq."""

    shown: Shown
    tokens: int
    seq: int

    @property
    def message(self) -> LlmMessage:
        """The message itself."""
        return self.shown.message


def own_content(piece: Piece, item: ContextItem) -> str | tuple[Block, ...]:
    """What a message contains of one of its items."""
    content = piece.message.content
    if item.tool_call_id is None or isinstance(content, str):
        return content
    given = (block for block in content if block.get("tool_use_id") == item.tool_call_id)
    result = next(given, {}).get("content", "")
    return result if isinstance(result, str) else tuple(result)


_message: Callable[[Piece], LlmMessage] = attrgetter("shown.message")


class Messages(Sequence[LlmMessage]):
    """An immutable sequence of messages over several lists of pieces, as of its creation.

    The lists may only be appended to later; any other change makes new lists.
    """

    def __init__(self, runs: Iterable[list[Piece]]) -> None:
        self._parts = [(pieces, len(pieces)) for pieces in runs]

    def __len__(self) -> int:
        return sum(length for _, length in self._parts)

    def __iter__(self) -> Iterator[LlmMessage]:
        return map(_message, self.pieces())

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

    __hash__ = None  # type: ignore[assignment]  # equal to lists, which are unhashable too

    def __repr__(self) -> str:
        return f"{type(self).__name__}({list(self)!r})"

    def shared_with(self, other: "Messages") -> int:
        """How many first messages both have from the same lists; no message is visited."""
        shared = 0
        for (ours, length), (theirs, other_length) in zip(self._parts, other._parts, strict=False):
            if ours is not theirs:
                break
            shared += min(length, other_length)
            if length != other_length:
                break
        return shared

    def after(self, start: int) -> list[LlmMessage]:
        """The messages from a place on; no message before it is visited."""
        return list(map(_message, self.pieces(start)))

    def pieces(self, start: int = 0, stop: int | None = None) -> Iterator[Piece]:
        """The messages in a range, with their source items and tokens."""
        return chain.from_iterable(self._ranges(start, stop))

    def _ranges(self, start: int, stop: int | None) -> Iterator[Iterable[Piece]]:
        for pieces, length in self._parts:
            end = length if stop is None else min(length, stop)
            if start < end:
                yield pieces[start:end] if start else islice(pieces, end)
            start = max(start - length, 0)
            stop = None if stop is None else stop - length


@dataclass(frozen=True, slots=True)
class Composition:
    """A composed request: its messages and their metadata.

    Attributes:
        messages: What to send, in order; `messages.pieces()` has the source items of each.
        tokens: An upper bound of its tokens, by our own count.
        stable: How many of the first messages are in their final form; cache marks go here.
        through_seq: The seq of the newest item included.
        generation: The ledger's generation when it was composed.
        arriving: The windows that it adds.
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
    arriving: Arrival = field(default_factory=Arrival)
    fresh: tuple[Piece, ...] = ()
    in_turn: bool = False
    plan: "Plan | None" = None
