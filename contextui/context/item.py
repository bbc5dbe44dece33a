"""`ContextItem`: one item of the context, its stages, its validation, and indexes of items."""

import uuid
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import Enum, StrEnum, auto
from operator import attrgetter
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

from contextui.errors import InvalidItemError
from contextui.events import CallFinished
from contextui.model import Block
from contextui.names import BESIDE, WINDOW_ID
from contextui.text import for_model, one_line, quote


class ItemType(StrEnum):
    """What an item is: words of the system or of a side, a window, or a tool's result."""

    SYSTEM = "System"
    USER = "User"
    ASSISTANT = "Assistant"
    WINDOW = "Window"
    TOOL = "Tool"


class Stage(Enum):
    """The lifecycle of an item: requests carry it, and when the turn ends its bytes are fixed."""

    NEW = auto()
    SENT = auto()
    FINAL = auto()


Hidden: TypeAlias = Literal["closed", "replaced", "dropped", "trimmed", "compacted"]
"""Why an item is hidden: its window was closed, a newer reference to that window replaced it, a
person dropped it, it was trimmed to fit the budget, or a summary replaces it."""


SUMMARY = "summary-"
"""Prefix of the id of a summary, which replaces other items."""


PROJECT = "project-"
"""Prefix of the id of an item with content that the project's folder provides."""


THINKING = ("thinking", "redacted_thinking")
"""The block types that hold a model's thinking."""


class Origin(NamedTuple):
    """The model that gave an answer, and its token usage."""

    model: str
    usage: Mapping[str, Any]


_Body: TypeAlias = tuple[str, tuple[Block, ...] | None]

Load: TypeAlias = Callable[[], _Body]
"""Loads an item's content and blocks from the log."""


class ContextItem:
    """One item: the system prompt, a user message, an answer, a tool result, or a window.

    Read-only: its `ContextManager` assigns the seq (a caller's own is ignored) and makes every
    change, so that each one emits an event.

    Attributes:
        type: The type of the item.
        id: Unique among all items.
        seq: Its position in logical time, 0 before it is added.
        pinned: Never removed to make room.
        hidden: Why it is hidden, None if it is visible.
        tool_call_id: The call that a tool result answers.
        tool_name: The tool that gave the result.
        is_error: Whether the tool failed.
        gist: The line that replaces the content once the turn is over.
        whole: Whether the full content is sent in spite of a gist.
        shown_gist: The gist that requests contain instead of a tool result, empty if they contain
            it whole; None if that depends on the stage.
        stage: Where it is in its lifecycle.
        origin: The model that gave an answer, and its usage; None if unknown.
        revision: Counts the changes of its content.
        outcome: What is known of a tool's call beside its result, as `CallFinished` has it.
        is_owned: Whether a manager has it.

    Example:
        >>> context.add(ContextItem(ItemType.USER, "Add milk.")).seq
        1
    """

    __slots__ = (
        *("type", "id", "seq", "pinned", "hidden", "tool_call_id", "tool_name", "is_error"),
        *("gist", "whole", "shown_gist", "stage", "origin", "revision"),
        *("outcome", "is_owned", "_body", "_facts"),
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
    shown_gist: str | None
    stage: Stage
    origin: Origin | None
    revision: int
    outcome: Mapping[str, Any]
    is_owned: bool
    _body: _Body | Load  # one attribute: other threads read it during `unload`
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
        origin: Origin | None = None,
        outcome: Mapping[str, Any] | None = None,
    ) -> None:
        try:
            kind = ItemType(type)
        except ValueError:
            kinds = ", ".join(kind.value for kind in ItemType)
            raise InvalidItemError(
                f"{quote(str(type))} is not an item type. Available: {kinds}."
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
            shown_gist=None,
            stage=Stage.NEW,
            origin=origin,
            revision=0,
            outcome=outcome or {},
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
        """The text; for a window its id, as the content is live."""
        return self._stored()[0]

    @property
    def blocks(self) -> tuple[Block, ...] | None:
        """The provider's own blocks of an answer, verbatim."""
        return self._stored()[1]

    @property
    def finished(self) -> CallFinished:
        """The end of the tool's call that this is the result of, without its text."""
        return CallFinished(0, self.tool_name or "", not self.is_error, "", **self.outcome)

    @property
    def is_loaded(self) -> bool:
        """Whether the content is in memory."""
        return isinstance(self._body, tuple)

    def _stored(self) -> _Body:
        body = self._body
        return body if isinstance(body, tuple) else body()

    @property
    def is_obsolete(self) -> bool:
        """Whether it is hidden, for whatever reason."""
        return self.hidden is not None

    @property
    def is_summary(self) -> bool:
        """Whether it is a summary that replaces compacted items."""
        return self.type is ItemType.SYSTEM and self.id.startswith(SUMMARY)

    @property
    def is_added(self) -> bool:
        """Whether it is a user item that the program added and the person did not write."""
        return self.type is ItemType.USER and self.id.startswith(BESIDE)

    @property
    def is_background(self) -> bool:
        """Whether it is a System item with text from elsewhere: a summary, or a project's text.

        It follows the system prompt, but as a user message: only the program's own text may have
        the authority of a system prompt.
        """
        return self.type is ItemType.SYSTEM and self.id.startswith((SUMMARY, PROJECT))

    @property
    def line(self) -> str | None:
        """The gist, if requests contain it instead of the content."""
        return None if self.whole else self.gist

    @property
    def calls(self) -> tuple[str, ...]:
        """The ids of the tool calls in it."""
        return self._known.calls

    @property
    def thinks(self) -> bool:
        """Whether it contains thinking."""
        return self._known.thinks

    @property
    def _known(self) -> "_Facts":
        """Facts about its blocks; cached while the content is not in memory."""
        return _facts_of(self.blocks) if self.is_loaded else self._facts


class _Facts(NamedTuple):
    """Facts about an item's blocks that stay available after `unload`."""

    calls: tuple[str, ...] = ()
    thinks: bool = False


_NO_FACTS = _Facts()


def _facts_of(blocks: tuple[Block, ...] | None) -> _Facts:
    if not blocks:
        return _NO_FACTS
    calls = tuple(block["id"] for block in blocks if block.get("type") == "tool_use")
    return _Facts(calls, any(block.get("type") in THINKING for block in blocks))


def is_conversation(item: ContextItem) -> bool:
    """Whether it belongs to the conversation: a user message, an answer or a tool result."""
    return item.type not in (ItemType.SYSTEM, ItemType.WINDOW)


def assign(item: ContextItem, **changes: Any) -> None:
    """Change an item in place. Only for its manager: all other code calls the manager."""
    if not changes.keys().isdisjoint(("content", "blocks")):
        content, blocks = changes.pop("content", item.content), changes.pop("blocks", item.blocks)
        changes["_body"] = (content, blocks)
        changes["revision"] = item.revision + 1
    if not changes.keys().isdisjoint(("gist", "whole")) and "revision" not in changes:
        changes["revision"] = item.revision + 1
    for name, value in changes.items():
        object.__setattr__(item, name, value)


def unload(item: ContextItem, load: Load) -> None:
    """Release an item's content from memory; `load` reads it on demand."""
    if isinstance(item._body, tuple):
        object.__setattr__(item, "_facts", _facts_of(item._body[1]))
    object.__setattr__(item, "_body", load)


def reload(item: ContextItem) -> None:
    """Load an item's content back into memory."""
    object.__setattr__(item, "_body", item._stored())


_SEQ: Callable[[ContextItem], int] = attrgetter("seq")
_WITH_BLOCKS = (ItemType.USER, ItemType.ASSISTANT, ItemType.TOOL)


def admit(item: ContextItem) -> None:
    """Validate an item and sanitize its text for models and for the log."""
    if not isinstance(item.content, str) or not isinstance(item.id, str):
        raise InvalidItemError("An item's content and id are text.")
    if item.hidden not in (None, *get_args(Hidden)):
        raise InvalidItemError(f"An item cannot be hidden as {quote(str(item.hidden))}.")
    if item.type is ItemType.WINDOW and not WINDOW_ID.fullmatch(item.content):
        raise InvalidItemError(f"{quote(item.content)} cannot be a window's id.")
    if item.blocks and item.type not in _WITH_BLOCKS:
        raise InvalidItemError(f"A {item.type.value} item has text only, no blocks.")
    if not item.blocks and item.type is not ItemType.TOOL:
        check_text(item.content, item.type)
    blocks = clean_blocks(item.blocks or (), item.type)
    words = item.content or "\n".join(b["text"] for b in blocks if b["type"] == "text")
    assign(item, content=for_model(words), blocks=blocks or None)
    assign(item, revision=0)  # `assign` counted this as a change


def check_text(text: str, kind: ItemType) -> None:
    """Raise `InvalidItemError` for blank text: no provider accepts an empty message."""
    if not text.strip():
        raise InvalidItemError(f"A {kind.value} item needs content.")


def clean_blocks(blocks: Iterable[Any], kind: ItemType) -> tuple[Block, ...]:
    """Copy and sanitize the blocks of an item."""
    return tuple(_block(block, kind) for block in blocks)


def _block(block: Any, kind: ItemType) -> Block:
    if not isinstance(block, Mapping) or not isinstance(block.get("type"), str):
        raise InvalidItemError("A block is a mapping that names its type.")
    needed = {"text": ("text",), "tool_use": ("id", "name")}.get(block["type"], ())
    for name in needed:
        if not isinstance(block.get(name), str):
            raise InvalidItemError(f"A {block['type']} block needs its {name}.")
    if block["type"] == "tool_use" and kind is not ItemType.ASSISTANT:
        raise InvalidItemError(f"A {kind.value} item cannot call a tool.")
    try:
        clean: Block = _clean(block)
    except RecursionError:
        raise InvalidItemError("A block is nested too deeply.") from None
    return clean


def _clean(value: Any) -> Any:
    """Deep-copy JSON-like data and sanitize every string in it."""
    match value:
        case str():
            return for_model(value)
        case Mapping():
            return {_clean(key): _clean(inner) for key, inner in value.items()}
        case list() | tuple():
            return [_clean(inner) for inner in value]
    return value


def edited(item: ContextItem, text: str) -> dict[str, Any]:
    """The fields of an item after replacing its text."""
    if item.type is ItemType.WINDOW:
        raise InvalidItemError(f"{item.content} is a window: act on it instead.")
    check_text(text, item.type)
    words = for_model(text)
    return {"content": words, "blocks": _edited_blocks(item, words), "gist": None}


def _edited_blocks(item: ContextItem, text: str) -> tuple[Block, ...] | None:
    """Replace the text blocks of an answer: calls stay, thinking goes."""
    if item.blocks is None:
        return None
    if item.type is not ItemType.ASSISTANT:
        raise InvalidItemError("Only text can be edited, and this item has more than text.")
    rest = tuple(block for block in item.blocks if block.get("type") not in ("text", *THINKING))
    return ({"type": "text", "text": text}, *rest)


class ItemView(tuple[ContextItem, ...]):
    """The items at the time it was created, by rising seq."""

    __slots__ = ()

    def since(self, seq: int) -> Iterator[ContextItem]:
        """Iterate over the items from this seq on."""
        return iter(self[bisect_left(self, seq, key=_SEQ) :])


class ItemIndex:
    """A mutable set of items, ordered by seq."""

    def __init__(self) -> None:
        self._items: list[ContextItem] = []
        self._view: ItemView | None = None

    def add(self, item: ContextItem) -> None:
        """Insert an item at its position; a no-op if it is already there."""
        place = bisect_right(self._items, item.seq, key=_SEQ)
        if not place or self._items[place - 1] is not item:
            self._items.insert(place, item)
            self._view = None

    def discard(self, item: ContextItem) -> None:
        """Remove an item if present."""
        place = bisect_right(self._items, item.seq, key=_SEQ) - 1
        if place >= 0 and self._items[place] is item:
            del self._items[place]
            self._view = None

    def view(self) -> ItemView:
        """A view of the current items, cached until the next change."""
        if self._view is None:
            self._view = ItemView(self._items)
        return self._view


class TurnItems:
    """The items of the turn under way, and the windows that are live."""

    def __init__(self) -> None:
        self.new: list[ContextItem] = []
        self.sent: list[ContextItem] = []
        self._references = ItemIndex()

    @property
    def under_way(self) -> bool:
        """Whether a part of this turn was sent."""
        return bool(self.sent)

    @property
    def newest(self) -> ContextItem | None:
        """The newest item of the conversation that is not final."""
        turn = self.new or self.sent
        return turn[-1] if turn else None

    @property
    def references(self) -> Sequence[ContextItem]:
        """The window items that are not hidden."""
        return self._references.view()

    def add(self, item: ContextItem) -> None:
        """Register a new item."""
        if item.type is ItemType.WINDOW:
            self._references.add(item)
        elif is_conversation(item) and item.stage is not Stage.FINAL:
            self.new.append(item)

    def changed(self, window: ContextItem) -> None:
        """Follow a change of a window's item."""
        (self._references.discard if window.is_obsolete else self._references.add)(window)

    def send(self) -> None:
        """Note that a request was sent."""
        self.sent += (item for item in self.new if item.stage is Stage.SENT)
        self.new = [item for item in self.new if item.stage is Stage.NEW]

    def finish(self) -> None:
        """End the turn; what is not final yet is new again."""
        rest = [item for item in (*self.sent, *self.new) if item.stage is Stage.NEW]
        self.new = sorted(rest, key=lambda item: item.seq)
        self.sent = []


class Calls:
    """Maps each tool call to the answer that made it and to its result."""

    def __init__(self) -> None:
        self._askers: dict[str, ContextItem] = {}
        self._results: dict[str, ContextItem] = {}
        self._unanswered: dict[str, None] = {}

    @property
    def unanswered(self) -> tuple[str, ...]:
        """The ids of the calls without a result, in the order in which they were made."""
        return tuple(self._unanswered)

    @property
    def known(self) -> Iterable[str]:
        """The ids of all calls that were ever made."""
        return self._askers.keys()

    def end_turn(self) -> None:
        """Expect no more results: the turn is over."""
        self._unanswered.clear()

    def check(self, item: ContextItem) -> None:
        """Reject a duplicate call id or a second result for a call."""
        calls = item.calls
        for call in calls:
            if call in self._askers or calls.count(call) > 1:
                raise InvalidItemError(f"The id of tool call {quote(call)} was used before.")
        if item.tool_call_id in self._results:
            raise InvalidItemError(f"Tool call {quote(item.tool_call_id)} has its result already.")

    def note(self, item: ContextItem) -> None:
        """Register the calls, or the result, of an item; a final one expects no results."""
        for call in item.calls:
            self._askers[call] = item
        if item.stage is not Stage.FINAL:
            # In a log, a result may precede its call.
            open_calls = (call for call in item.calls if call not in self._results)
            self._unanswered.update(dict.fromkeys(open_calls))
        if item.tool_call_id is not None:
            self._results[item.tool_call_id] = item
            self._unanswered.pop(item.tool_call_id, None)

    def asker(self, item: ContextItem) -> ContextItem:
        """The answer whose call this item is the result of; otherwise the item itself."""
        return self._askers.get(item.tool_call_id or "", item)

    def together(self, item: ContextItem) -> list[ContextItem]:
        """An item, the answer that called for it, and the results of its own calls, by seq."""
        return sorted({self.asker(item), item, *self.results(item)}, key=lambda one: one.seq)

    def results(self, item: ContextItem) -> list[ContextItem]:
        """The results of the calls in this item."""
        return [self._results[call] for call in item.calls if call in self._results]


class Folds:
    """Maps summaries to the ids of the items they replace, so that these can be looked up."""

    def __init__(self) -> None:
        self._summaries: dict[str, str] = {}
        self._items: dict[str, list[str]] = {}

    def note(self, item_ids: Iterable[str], summary_id: str) -> None:
        """Record that a summary replaces these items."""
        for item_id in item_ids:
            self._summaries[item_id] = summary_id
            self._items.setdefault(summary_id, []).append(item_id)

    def summary_of(self, item_id: str) -> str | None:
        """The id of the summary that replaces an item, or did last."""
        return self._summaries.get(item_id)

    def items_of(self, summary_id: str) -> tuple[str, ...]:
        """The ids of the items that a summary replaces."""
        return tuple(self._items.get(summary_id, ()))

    def among(self, item_ids: Iterable[str]) -> dict[str, str]:
        """The summary ids of these items, by item id."""
        found = ((item_id, self._summaries.get(item_id)) for item_id in item_ids)
        return {item_id: summary_id for item_id, summary_id in found if summary_id is not None}

    def restore(self, summaries: Mapping[str, str]) -> None:
        """Restore what `among` returned."""
        for item_id, summary_id in summaries.items():
            self.note([item_id], summary_id)
