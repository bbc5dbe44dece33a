"""Messages of a request, with the items and windows that each of them shows, and their tokens."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from operator import attrgetter
from typing import NamedTuple, overload
from xml.sax.saxutils import escape

from contextui.context.item import THINKING, ContextItem, ItemType, Stage
from contextui.model import Block, LlmMessage, Role
from contextui.text import for_xml, one_line
from contextui.tokens import TokenCounter
from contextui.windowing.manager import WindowManager
from contextui.windowing.runtime import runtime_of
from contextui.windowing.snapshot import ContextVersion

_NO_OUTPUT = "(no output)"

Content = str | tuple[Block, ...]
"""The content of a message."""


class WindowCopy(NamedTuple):
    """A window as a request shows it: the whole block, or a block with what changed."""

    window_id: str
    version: ContextVersion
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


_SHOWN = 50  # characters of an item in its debug line


def debug_line(item: ContextItem) -> str:
    """Describe an item in one line as the model receives it: ``[✓] [0004] Window: todo_1``. A
    file that was read in an earlier turn appears as its gist."""
    mark = "[X]" if item.is_obsolete else "[✓]"
    is_gist = item.type is ItemType.TOOL and is_reduced(item)
    gist = (item.shown_gist or item.line) if is_gist else None
    words = gist or item.content or ", ".join(block.get("name", "") for block in item.blocks or ())
    return f"{mark} [{item.seq:04}] {item.type.value}: {one_line(words, _SHOWN)}"


class Meter:
    """Counts the tokens of items, and caches the counts.

    An item costs its content plus the overhead of a message; a message that contains several items
    is therefore counted slightly too high, never too low.

    Args:
        counter: Counts tokens.
        is_alone: Whether each window is a message of its own.
    """

    def __init__(self, counter: TokenCounter, *, is_alone: bool = True) -> None:
        self._counter, self._is_alone = counter, is_alone
        self._items: dict[str, tuple[tuple[int, bool], int]] = {}
        self._windows: dict[str, dict[int, int]] = {}

    def item(self, item: ContextItem) -> int:
        """The tokens of an item's own content, in the form of its current stage."""
        form = (item.revision, is_reduced(item))
        known = self._items.get(item.id)
        if known is None or known[0] != form:
            overhead = self._counter.message_overhead(role_of(item))
            tokens = overhead + self._counter.count_content(content_of(item))
            known = self._items[item.id] = (form, tokens)
        return known[1]

    def window(self, window_id: str, xml: str) -> int:
        """The tokens of a window's render."""
        counts, key = self._windows.setdefault(window_id, {}), hash(xml)
        if key not in counts:
            if len(counts) >= 4:
                counts.clear()
            counts[key] = self.render(xml)
        return counts[key]

    def render(self, xml: str) -> int:
        """The tokens of a render, counted now."""
        overhead = self._counter.message_overhead("user") if self._is_alone else 0
        return overhead + self._counter.count(xml)

    def reference(self, item: ContextItem, windows: WindowManager | None) -> int:
        """The tokens of the window that an item refers to: its render, not its id."""
        if windows is not None:
            window = windows.get(item.content)
            xml = (
                runtime_of(window).renders.latest().xml
                if window
                else windows.last_render(item.content)
            )
            if xml is not None:
                return self.window(item.content, xml)
        return self.window(item.content, item.content)
