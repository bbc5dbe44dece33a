"""Messages of a request: what each item says, what slots show, and what the last request had.

Every message is kept with the items and windows that it shows, and with its tokens.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, groupby, islice
from operator import attrgetter
from typing import Any, NamedTuple, overload
from xml.sax.saxutils import escape

from contextui.context.gists.result import result_gist
from contextui.context.item import THINKING, Calls, ContextItem, ItemType, Stage
from contextui.context.placement.slots import HEAD, Decision, Form, Kind, Request, Slot, size_of
from contextui.context.placement.transcript import Row, Transcript
from contextui.model import Block, LlmMessage, Role
from contextui.text import for_xml, one_line
from contextui.tokens import TokenCounter
from contextui.windowing.blocks import with_reference
from contextui.words import Lang

_NO_OUTPUT = "(no output)"

Content = str | tuple[Block, ...]
"""The content of a message."""


class WindowCopy(NamedTuple):
    """A window as a request shows it: the whole block, or a block with what changed."""

    window_id: str
    xml: str


class Shown(NamedTuple):
    """A message, the items whose content it contains, and the windows that it contains."""

    message: LlmMessage
    items: tuple[ContextItem, ...]
    copies: tuple[WindowCopy, ...] = ()


def content_of(item: ContextItem) -> Content:
    """An item's own content: verbatim while its turn runs, in its final form from then on.

    The final form of an answer is without thinking, that of a tool result is its gist.
    """
    is_final = item.stage is Stage.FINAL
    match item.type:
        case ItemType.ASSISTANT if item.blocks is not None:
            left_out = THINKING if is_final else ()
            return tuple(block for block in item.blocks if block.get("type") not in left_out)
        case ItemType.TOOL:
            return (item.line if is_final else "") or result_content(item)
        case ItemType.SYSTEM if item.is_summary:
            return f"<Summary>\n{escape(for_xml(item.content))}\n</Summary>"
    return item.blocks or item.content


def result_content(item: ContextItem) -> Content:
    """What a tool result says as a whole."""
    return item.blocks or (item.content if item.content.strip() else _NO_OUTPUT)


def role_of(item: ContextItem) -> Role:
    """The role of an item's message."""
    match item.type:
        case ItemType.ASSISTANT:
            return "assistant"
        case ItemType.SYSTEM if not item.is_background:
            return "system"
    return "user"


def head_first(items: Iterable[ContextItem]) -> list[ContextItem]:
    """Sort System items as requests begin: the prompt, the project's text, summaries."""
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


def result_block(
    call: str | None,
    given: Content,
    copies: Sequence[WindowCopy],
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


class Piece(NamedTuple):
    """One message of a request, with its source items, its tokens and its seq."""

    shown: Shown
    tokens: int
    seq: int

    @property
    def message(self) -> LlmMessage:
        """The message itself."""
        return self.shown.message


def own_content(piece: Piece, item: ContextItem) -> Content:
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

    def pieces(self, start: int = 0) -> Iterator[Piece]:
        """The messages from a place on, with their source items and tokens."""
        for pieces, length in self._parts:
            yield from islice(pieces, start, length) if not start else pieces[start:length]
            start = max(start - length, 0)


_SHOWN = 50  # characters of an item in its debug line


def debug_line(item: ContextItem) -> str:
    """Describe an item in one line as the model receives it: ``[✓] [0004] Window: todo_1``. A
    file that was read in an earlier turn appears as its gist."""
    mark = "[X]" if item.is_obsolete else "[✓]"
    is_gist = item.type is ItemType.TOOL and is_reduced(item)
    gist = (item.shown_gist or item.line) if is_gist else None
    words = gist or item.content or ", ".join(block.get("name", "") for block in item.blocks or ())
    return f"{mark} [{item.seq:04}] {item.type.value}: {one_line(words, _SHOWN)}"


# --- a request by price --------------------------------------------------------------------


@dataclass(slots=True)
class Head:
    """What every request begins with: the system prompt and the project's text."""

    items: list[ContextItem] = field(default_factory=list)
    shown: tuple[Shown, ...] = ()
    sent: tuple[Shown, ...] = ()
    key: tuple[object, ...] = ()


@dataclass(slots=True, eq=False)
class RequestPlan:
    """How a composed request was planned, and what is needed to note it as sent.

    The first `kept` messages of the last request stay, `new` ones follow, each with its first slot.
    Of these the provider is expected to read `cached` from its cache; `uncached_seq` is the seq of
    the first item after them. `placed` are the blocks of windows and summaries that are rewritten
    or appended, `looks` the whole block of each window that gets a new one. Once it is sent,
    `marks` says after how many messages there are cache marks, and `facts` is what the log keeps.
    """

    made: Decision
    kept: int
    new: list[tuple[Slot, Piece]]
    tokens: int
    cached: int = 0
    cached_tokens: int = 0
    uncached_seq: int = 0
    placed: list[Row] = field(default_factory=list)
    looks: dict[Slot, str] = field(default_factory=dict)
    marks: tuple[int, ...] = ()
    request: Request | None = None
    facts: dict[str, Any] = field(default_factory=dict)


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


class SentMessages:
    """The messages of the last request, with their gists and tokens; a sweep replaces their end."""

    def __init__(self, calls: Calls, counter: TokenCounter, lang: Lang) -> None:
        self._calls, self._counter, self._lang = calls, counter, lang
        self.items: dict[str, ContextItem] = {}
        self.next_seq = 1
        self.head = Head()
        self.pieces: list[Piece] = []
        self.starts: list[int] = []  # the place of the first slot of each of them

    def clear(self) -> None:
        """Forget what was sent."""
        self.head.key = ()
        self.pieces, self.starts = [], []

    def count_before(self, at: int) -> int:
        """How many messages begin before a place."""
        return bisect_left(self.starts, at)

    def cut(self, kept: int) -> None:
        """Keep only so many. The lists are new: compositions share the old ones."""
        if kept < len(self.pieces):
            self.pieces, self.starts = self.pieces[:kept], self.starts[:kept]

    def append(self, new: Iterable[tuple[Slot, Piece]]) -> None:
        """Add messages, each with its first slot."""
        for slot, piece in new:
            self.pieces.append(piece)
            self.starts.append(slot.at)

    def move(self, places: Sequence[int]) -> None:
        """Follow slots that left: of the others, these are the places that they had."""
        self.starts = [bisect_left(places, at) for at in self.starts]

    def undo_of(self, kept: int) -> Callable[[], None]:
        """What brings back the messages after so many, once others have replaced them."""
        head, pieces, starts = self.head.sent, self.pieces[kept:], self.starts[kept:]

        def undo() -> None:
            self.head.sent = head
            # New lists: compositions that were made in the meantime share the old ones.
            self.pieces = [*self.pieces[:kept], *pieces]
            self.starts = [*self.starts[:kept], *starts]

        return undo

    def shift(self, first: int, count: int) -> None:
        """Move the messages from a place on, after slots that were put there."""
        self.starts = [one if one < first else one + count for one in self.starts]

    def put(self, at: int, role: Role, content: Any) -> None:
        """Put a message that can no longer be made from the items back in its place."""
        number = self.starts.index(at)
        shown = self.pieces[number].shown
        given = content if isinstance(content, str) else tuple(content)
        shown = shown._replace(message=LlmMessage(role, given))
        self.pieces[number] = self.pieces[number]._replace(shown=shown)

    def made_of(self, rows: Iterable[Row]) -> Iterator[tuple[Slot, Piece]]:
        """The messages that slots form, each with its first slot; sent ones are used again."""
        numbered = ((row[0].group or f"{number}", row) for number, row in enumerate(rows))
        windows: list[tuple[Slot, Piece]] = []  # they get the seq of what follows them
        for _, group in groupby(numbered, key=lambda pair: pair[0]):
            message = [row for _, row in group]
            (slot, first, _), seq = message[0], self.seq(message[0][0])
            found = list(self.as_sent(slot)) if all(map(_is_as_sent, message)) else []
            if not found and slot.item == HEAD:
                head = self.head.shown if first == slot.full else self.head.sent
                found = [(slot, Piece(one, self.head_size([one]), 0)) for one in head]
            elif not found and (shown := self._rest_of(message) or self.message_of(message)):
                tokens = sum(size_of(form, label) for _, form, label in message)
                found = [(slot, Piece(shown, tokens, seq))]
            if slot.text:
                windows += found
            elif found:
                yield from ((one, piece._replace(seq=seq)) for one, piece in windows)
                yield from found
                windows = []
        yield from ((one, piece._replace(seq=self.next_seq)) for one, piece in windows)

    def as_sent(self, slot: Slot) -> Iterator[tuple[Slot, Piece]]:
        """The messages that begin with a slot, as the last request had them."""
        number = bisect_left(self.starts, slot.at)
        while number < len(self.starts) and self.starts[number] == slot.at:
            yield slot, self.pieces[number]
            number += 1

    def _rest_of(self, rows: Sequence[Row]) -> Shown | None:
        """What is left of a sent answer if parts of it only go; the item is not read for that."""
        slot, kept = rows[0][0], list[Block]()
        item = self.items.get(slot.item)
        is_less = all(row[1] is None or _is_as_sent(row) for row in rows)
        if slot.at < 0 or item is None or item.type is not ItemType.ASSISTANT or not is_less:
            return None
        sent = next((piece.message.content for _, piece in self.as_sent(slot)), "")
        parts = [one for one, _, _ in rows if one.sent is not None]
        if isinstance(sent, str) or len(sent) != sum(len(part.parts) for part in parts):
            return None
        blocks = iter(sent)
        for one, form, _ in rows:
            own = list(islice(blocks, len(one.parts))) if one.sent is not None else []
            kept += own if form is not None else []
        return _answer(item, tuple(kept))

    def message_of(self, rows: Sequence[Row]) -> Shown | None:
        """The message that a group of slots forms; None if nothing is shown of it."""
        live = [(slot, form, label) for slot, form, label in rows if form is not None]
        if not live:
            return None
        slot, form, _ = live[0]
        if form.kind == "summary" and form.source:
            summary = self.items[form.source]
            return Shown(LlmMessage("user", content_of(summary)), (summary,))
        if form.kind in ("whole", "change"):
            copy = self.copy_of(*live[0])
            return Shown(LlmMessage("user", copy.xml), (), (copy,))
        item = self.items[slot.item]
        if item.type is ItemType.ASSISTANT:
            return _answer(item, parts_of(item, tuple(n for one, *_ in live for n in one.parts)))
        if item.type is ItemType.TOOL:
            return self._results(live)
        return Shown(LlmMessage(role_of(item), content_of(item)), (item,))

    def _results(self, live: Sequence[tuple[Slot, Form, str]]) -> Shown:
        """The message with the results of an answer, and with the windows inside of them."""
        items: list[ContextItem] = []
        blocks: list[Block] = []
        copies: list[WindowCopy] = []
        for call, rows in groupby(live, key=lambda row: row[0].call):
            (slot, form, _), *inner = rows
            item = self.items[slot.item]
            given = self.gist(item) if form.kind == "gist" else result_content(item)
            if call is None:  # of the text protocol, or too late for its call
                return Shown(LlmMessage("user", given), (item,))
            items.append(item)
            windows = [self.copy_of(*row) for row in inner]
            copies += windows
            blocks.append(result_block(call, given, windows, is_error=item.is_error))
        return Shown(LlmMessage("user", tuple(blocks)), tuple(items), tuple(copies))

    def copy_of(self, slot: Slot, form: Form, label: str) -> WindowCopy:
        """The block of a window, as a request contains it."""
        text = slot.text
        if form.kind == "whole" and label.startswith("ref:"):
            text = with_reference(text, label.removeprefix("ref:"))
        return WindowCopy(slot.item, text)

    def seq(self, slot: Slot) -> int:
        """The seq of the item that a slot belongs to."""
        item = self.items.get(slot.item)
        return item.seq if item is not None else 0

    def seq_from(self, script: Transcript, at: int, in_tail: int = 0) -> int:
        """The seq of the first item after a place."""
        slots, tail = script.slots, script.tail
        after = chain((slots[one] for one in range(at, len(slots))), tail[in_tail:])
        return next((self.seq(one) for one in after if not one.text), self.next_seq)

    def content_of(self, first: Slot, item: ContextItem) -> Content | None:
        """What the message that begins with a slot contains of an item; None if nothing."""
        for _, piece in self.as_sent(first):
            if any(one is item for one in piece.shown.items):
                return own_content(piece, item)
        return None

    def gist(self, item: ContextItem) -> str:
        """The gist of a result."""
        calls = self._calls.asker(item).blocks or ()
        call = next((one for one in calls if one.get("id") == item.tool_call_id), None)
        return result_gist(item, self._lang, call=call if item.tool_call_id else None)

    def size(self, role: str, content: Content) -> int:
        """The tokens of a message."""
        return self._counter.message_overhead(role) + self._counter.count_content(content)

    def part_size(self, item: ContextItem, parts: tuple[int, ...]) -> int:
        """The tokens of some blocks of an item; the last one has the overhead of the message."""
        content = parts_of(item, parts)
        is_last = item.blocks is None or len(item.blocks) - 1 in parts
        tokens = self._counter.count_content(content)
        return tokens + (self._counter.message_overhead(role_of(item)) if is_last else 0)

    def result_size(self, item: ContextItem, content: Content) -> int:
        """The tokens of a result; that of the first call has the overhead of the message."""
        calls = self._calls.asker(item).calls
        is_first = item.tool_call_id is None or item.tool_call_id in calls[:1] or not calls
        tokens = self._counter.count_content(content)
        return tokens + (self._counter.message_overhead("user") if is_first else 0)

    def head_size(self, shown: Sequence[Shown]) -> int:
        """The tokens of the messages that every request begins with."""
        return sum(self.size(one.message.role, one.message.content) for one in shown)


def _is_as_sent(row: Row) -> bool:
    slot, form, label = row
    return slot.at >= 0 and slot.sent == form and slot.actions == label


def _answer(item: ContextItem, content: Content) -> Shown | None:
    """The message of an answer; None if nothing but thinking is left of it."""
    is_said = isinstance(content, str) or any(one.get("type") not in THINKING for one in content)
    return Shown(LlmMessage("assistant", content), (item,)) if content and is_said else None


def is_placed(slot: Slot, form: Form) -> bool:
    """Whether a block has another place than its item."""
    return bool(slot.text) or (form.kind == "summary" and bool(form.source))


def layout_of(item: ContextItem) -> list[tuple[Kind, tuple[int, ...], str | None]]:
    """The slots of an item: their kinds, which of its blocks they are, and calls."""
    if item.type is not ItemType.ASSISTANT or item.blocks is None:
        return [("summary" if item.is_summary else "text", (0,), None)]
    found: list[tuple[Kind, tuple[int, ...], str | None]] = []
    for number, block in enumerate(item.blocks):
        if block.get("type") in THINKING:
            found.append(("thinking", (number,), None))
        elif block.get("type") == "tool_use":
            found.append(("call", (number,), block["id"]))
        else:
            found.append(("text", (number,), None))
    return found


def parts_of(item: ContextItem, parts: tuple[int, ...]) -> Content:
    """Some blocks of an item; its content where it has none."""
    blocks = item.blocks if item.type is ItemType.ASSISTANT else None
    if blocks is None:
        return content_of(item)
    return tuple(blocks[number] for number in parts if number < len(blocks))
