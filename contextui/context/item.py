"""One item of the context, and the stages it goes through."""

import uuid
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import Enum, StrEnum, auto
from itertools import accumulate
from typing import Any, Literal, NamedTuple, TypeAlias, overload

from contextui.errors import InvalidItemError
from contextui.model import Block
from contextui.text import one_line, quote
from contextui.windowing.snapshot import ContextVersion


class ItemType(StrEnum):
    """What an item is."""

    SYSTEM = "System"
    USER = "User"
    ASSISTANT = "Assistant"
    WINDOW = "Window"
    TOOL = "Tool"


class Stage(Enum):
    """How far an item has come. A turn's items go from NEW to SENT as requests carry them, and
    all of them to FINAL when the turn ends; from then on their bytes never change."""

    NEW = auto()
    SENT = auto()
    FINAL = auto()


Hidden: TypeAlias = Literal["closed", "replaced", "dropped", "trimmed", "compacted"]
"""Why an item is left out: its window was closed, a newer reference to that window took its
place, a person dropped it, there was no room, or a summary stands for it."""


SUMMARY = "summary-"
"""How the id of an item begins that stands for others."""


PROJECT = "project-"
"""How the id of an item begins that holds what the project's folder provides."""


THINKING = ("thinking", "redacted_thinking")
"""The types of blocks that hold a model's thinking."""


BESIDE = "beside-"
"""How the id of an item begins that stands in the person's place, and was not said by them."""


class Carried(NamedTuple):
    """A copy of a window, fixed in the bytes of a request that was sent."""

    window_id: str
    version: ContextVersion
    xml: str


class Origin(NamedTuple):
    """Where an answer comes from."""

    model: str
    usage: Mapping[str, Any]


class Face(NamedTuple):
    """What of an item goes into a request."""

    content: str
    blocks: tuple[Block, ...] | None
    hidden: Hidden | None
    gist: str | None
    whole: bool = False

    @property
    def line(self) -> str | None:
        """The gist, where that stands for the content."""
        return None if self.whole else self.gist


_Body: TypeAlias = tuple[str, tuple[Block, ...] | None]

Load: TypeAlias = Callable[[], _Body]
"""Reads an item's content and blocks back from where they were put."""


class ContextItem:
    """One item: the system prompt, words, an answer, a tool's result, or a window.

    It is read-only. Its manager gives the seq (a caller's own is ignored) and makes every
    change, so that whoever listens hears of it.

    Attributes:
        type: What it is.
        id: Unique among all items.
        seq: Its place in logical time, 0 before it is added.
        pinned: Never left out to make room.
        hidden: Why it is left out, None if it is not.
        tool_call_id: The call that a tool's result answers.
        tool_name: The tool that gave the result.
        is_error: Whether the tool failed.
        gist: The line that stands for the content once the turn is over.
        whole: Whether the content stands there even so.
        stage: How far it has come.
        carried: The windows that were sent with it in the turn under way.
        held: What was sent of it, if it was changed since within the turn under way.
        origin: The model that gave an answer, and what that cost; None if nobody says.
        revision: Counts the changes of its content.
        is_owned: Whether a manager has it.

    Example:
        >>> context.add(ContextItem(ItemType.USER, "Add milk.")).seq
        1
    """

    __slots__ = (
        *("type", "id", "seq", "pinned", "hidden", "tool_call_id", "tool_name", "is_error"),
        *("gist", "whole", "stage", "carried", "held", "origin", "revision", "is_owned"),
        *("_body", "_facts"),
    )

    type: ItemType
    id: str
    seq: int
    pinned: bool
    hidden: Hidden | None
    tool_call_id: str | None
    tool_name: str | None
    is_error: bool
    gist: str | None
    whole: bool
    stage: Stage
    carried: tuple[Carried, ...]
    held: Face | None
    origin: "Origin | None"
    revision: int
    is_owned: bool
    _body: "_Body | Load"  # in one place, as other threads read it while it leaves memory
    _facts: "_Facts"

    def __init__(
        self,
        type: ItemType,  # noqa: A002  the ledger's word
        content: str = "",
        *,
        id: str | None = None,  # noqa: A002
        seq: int = 0,
        pinned: bool = False,
        hidden: Hidden | None = None,
        blocks: Iterable[Block] | None = None,
        tool_call_id: str | None = None,
        tool_name: str | None = None,
        is_error: bool = False,
        gist: str | None = None,
        origin: "Origin | None" = None,
    ) -> None:
        try:
            kind = ItemType(type)
        except ValueError:
            kinds = ", ".join(kind.value for kind in ItemType)
            raise InvalidItemError(
                f"{quote(str(type))} is no type of item. There is: {kinds}."
            ) from None
        assign(
            self,
            type=kind,
            id=id or uuid.uuid4().hex,
            seq=seq,
            pinned=pinned,
            hidden=hidden,
            tool_call_id=tool_call_id,
            tool_name=tool_name,
            is_error=is_error,
            gist=gist,
            whole=False,
            stage=Stage.NEW,
            carried=(),
            held=None,
            origin=origin,
            revision=0,
            is_owned=False,
            _body=(content, tuple(blocks) if blocks else None),
            _facts=_NO_FACTS,
        )

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{name} cannot be set: items change through their ContextManager.")

    def __repr__(self) -> str:
        state = f", hidden={self.hidden!r}" if self.hidden else ""
        pinned = ", pinned=True" if self.pinned else ""
        words = one_line(self.content)
        return f"<ContextItem [{self.seq:04}] {self.type.value}: {words!r}{pinned}{state}>"

    def __copy__(self) -> "ContextItem":
        twin = object.__new__(ContextItem)
        for name in self.__slots__:
            object.__setattr__(twin, name, getattr(self, name))
        return twin

    @property
    def content(self) -> str:
        """Its text; of a window the id only, as the content is live."""
        return self._stored()[0]

    @property
    def blocks(self) -> tuple[Block, ...] | None:
        """The provider's own blocks of an answer, verbatim."""
        return self._stored()[1]

    @property
    def is_loaded(self) -> bool:
        """Whether its content is in memory."""
        return isinstance(self._body, tuple)

    def _stored(self) -> "_Body":
        body = self._body
        return body if isinstance(body, tuple) else body()

    @property
    def is_obsolete(self) -> bool:
        """Whether it is left out, for whatever reason."""
        return self.hidden is not None

    @property
    def is_summary(self) -> bool:
        """Whether it stands for items that were compacted."""
        return self.type is ItemType.SYSTEM and self.id.startswith(SUMMARY)

    @property
    def is_background(self) -> bool:
        """Whether it is a System item that others wrote: a summary, or a project's text.

        It comes directly behind the system prompt, but as a user message: only the program's own
        words may have the rank of a system prompt.
        """
        return self.type is ItemType.SYSTEM and self.id.startswith((SUMMARY, PROJECT))

    @property
    def face(self) -> Face:
        """What goes into a request: while a turn is under way, what its first request had."""
        return self.held or self.current_face

    @property
    def current_face(self) -> Face:
        """What goes into the next turn's requests."""
        return Face(*self._stored(), self.hidden, self.gist, self.whole)

    def differs(self, fields: Mapping[str, Any]) -> bool:
        """Whether any of these fields has another value."""
        return any(getattr(self, name) != value for name, value in fields.items())

    @property
    def is_shown(self) -> bool:
        """Whether requests show it: while a turn is under way, as its first request did."""
        return (self.hidden if self.held is None else self.held.hidden) is None

    @property
    def line(self) -> str | None:
        """The gist, where that stands for the content in requests."""
        if self.held is not None:
            return self.held.line
        return None if self.whole else self.gist

    @property
    def calls(self) -> tuple[str, ...]:
        """The ids of the tool calls in it."""
        return self._known.calls

    @property
    def thinks(self) -> bool:
        """Whether there is thinking in it."""
        return self._known.thinks

    @property
    def _known(self) -> "_Facts":
        """What is known of its blocks; of content that is not in memory, without reading it."""
        if not self.is_loaded and self.held is None:
            return self._facts
        return _facts_of(self.face.blocks)


class _Facts(NamedTuple):
    """What must be known of an item's blocks at all times."""

    calls: tuple[str, ...] = ()
    thinks: bool = False


_NO_FACTS = _Facts()


def _facts_of(blocks: tuple[Block, ...] | None) -> _Facts:
    if not blocks:
        return _NO_FACTS
    calls = tuple(block["id"] for block in blocks if block.get("type") == "tool_use")
    return _Facts(calls, any(block.get("type") in THINKING for block in blocks))


def is_conversation(item: ContextItem) -> bool:
    """Whether it is a part of what person, model and tools say to each other."""
    return item.type not in (ItemType.SYSTEM, ItemType.WINDOW)


def assign(item: ContextItem, **changes: Any) -> None:
    """Change an item in place. For its manager alone: everyone else asks the manager."""
    if not changes.keys().isdisjoint(("content", "blocks")):
        content, blocks = changes.pop("content", item.content), changes.pop("blocks", item.blocks)
        changes["_body"] = (content, blocks)
        changes["revision"] = item.revision + 1
    if not changes.keys().isdisjoint(("gist", "whole")) and "revision" not in changes:
        changes["revision"] = item.revision + 1
    for name, value in changes.items():
        object.__setattr__(item, name, value)


def unload(item: ContextItem, load: Load) -> None:
    """Let go of an item's content; `load` reads it whenever it is asked for."""
    if isinstance(item._body, tuple):
        object.__setattr__(item, "_facts", _facts_of(item._body[1]))
    object.__setattr__(item, "_body", load)


def reload(item: ContextItem) -> None:
    """Take an item's content back into memory."""
    object.__setattr__(item, "_body", item._stored())


_CHUNK = 512  # seqs to a chunk: a change copies one chunk and the list of chunks


class ItemView(Sequence[ContextItem]):
    """The items as they stood when the view was asked for."""

    def __init__(self, chunks: tuple[tuple[ContextItem, ...], ...], length: int) -> None:
        self._chunks, self._length = chunks, length
        self._ends: list[int] | None = None

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[ContextItem]:
        for chunk in self._chunks:
            yield from chunk

    @overload
    def __getitem__(self, index: int) -> ContextItem: ...
    @overload
    def __getitem__(self, index: slice) -> list[ContextItem]: ...
    def __getitem__(self, index: int | slice) -> ContextItem | list[ContextItem]:
        if isinstance(index, slice):
            return [self[position] for position in range(*index.indices(self._length))]
        position = index + self._length if index < 0 else index
        if not 0 <= position < self._length:
            raise IndexError(index)
        if self._ends is None:
            self._ends = list(accumulate(map(len, self._chunks)))
        number = bisect_right(self._ends, position)
        start = self._ends[number - 1] if number else 0
        return self._chunks[number][position - start]

    def since(self, seq: int) -> Iterator[ContextItem]:
        """The items from this seq on."""
        for chunk in self._chunks[max(seq, 0) // _CHUNK :]:
            for item in chunk:
                if item.seq >= seq:
                    yield item


class ItemIndex:
    """A changing set of items, always in order. Every step costs the same at any length."""

    def __init__(self) -> None:
        self._chunks: list[tuple[ContextItem, ...]] = []
        self._length = 0
        self._view: ItemView | None = None

    def add(self, item: ContextItem) -> None:
        """Put an item in its place; one that is there already stays there once."""
        number = item.seq // _CHUNK
        while len(self._chunks) <= number:
            self._chunks.append(())
        chunk = self._chunks[number]
        place = bisect_right(chunk, item.seq, key=lambda one: one.seq)
        if place and chunk[place - 1] is item:
            return
        self._replace(number, (*chunk[:place], item, *chunk[place:]), 1)

    def discard(self, item: ContextItem) -> None:
        """Take an item out, if it is in."""
        number = item.seq // _CHUNK
        if number < len(self._chunks) and item in self._chunks[number]:
            rest = tuple(one for one in self._chunks[number] if one is not item)
            self._replace(number, rest, -1)

    def view(self) -> ItemView:
        """The items as they stand now."""
        if self._view is None:
            self._view = ItemView(tuple(self._chunks), self._length)
        return self._view

    def _replace(self, number: int, chunk: tuple[ContextItem, ...], change: int) -> None:
        self._chunks[number] = chunk
        self._length += change
        self._view = None
