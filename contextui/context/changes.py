"""Validate items, and apply a person's changes to them with undo."""

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, get_args

from contextui.context.item import ContextItem, Hidden, ItemType, assign
from contextui.context.units import Calls
from contextui.errors import InvalidItemError
from contextui.model import Block
from contextui.names import WINDOW_ID
from contextui.text import for_model, quote

_WITH_BLOCKS = (ItemType.USER, ItemType.ASSISTANT, ItemType.TOOL)


def admit(item: ContextItem) -> None:
    """Validate an item and sanitize its text for models and for the log.

    Raises:
        InvalidItemError: It has no content, invalid blocks, or an invalid window id.
    """
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


def check_calls(item: ContextItem, calls: Calls) -> None:
    """Reject a result without a pending call, and a duplicate call or result.

    Raises:
        InvalidItemError: It is one of these.
    """
    calls.check(item)
    if item.tool_call_id is not None and item.tool_call_id not in calls.unanswered:
        raise InvalidItemError(f"No tool call {quote(item.tool_call_id)} waits for a result.")


def clean_blocks(blocks: Iterable[Any], kind: ItemType) -> tuple[Block, ...]:
    """Copy and sanitize the blocks of an item.

    Raises:
        InvalidItemError: A block is malformed, or not allowed for this type of item.
    """
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


UNDO_STEPS = 100
"""The maximum number of undo steps."""

UNDO_COMPACTIONS = 5
"""The maximum number of compactions among them: each keeps all that it hid in memory."""

_BY_ITSELF = ("closed", "replaced", "trimmed", "compacted")  # undoing an edit never shows these


_FIELDS = ("content", "blocks", "gist", "whole", "hidden", "pinned")


class Before(NamedTuple):
    """The fields of an item before a step."""

    item: ContextItem
    fields: Mapping[str, Any]


class Compaction(NamedTuple):
    """An undo step of its own kind: a summary that replaces items that were visible before."""

    summary: ContextItem
    items: tuple[ContextItem, ...]


Step = list[Before] | Compaction


def items_of(step: Step) -> list[ContextItem]:
    """The items that a step changed."""
    if isinstance(step, Compaction):
        return [step.summary, *step.items]
    return [before.item for before in step]


class Changes:
    """Applies changes to items, and records the previous state for undo."""

    def __init__(self) -> None:
        self.steps: deque[Step] = deque(maxlen=UNDO_STEPS)

    def apply(self, items: Sequence[ContextItem], fields: Mapping[str, Any]) -> None:
        """Change these items as one undo step."""
        self.steps.append(
            [Before(item, {name: getattr(item, name) for name in _FIELDS}) for item in items]
        )
        for item in items:
            assign(item, **fields)

    def compact(self, items: Sequence[ContextItem], summary: ContextItem) -> None:
        """Replace items with a summary, as one step: undoing it drops the summary."""
        self.steps.append(Compaction(summary, tuple(items)))
        while sum(isinstance(step, Compaction) for step in self.steps) > UNDO_COMPACTIONS:
            self.steps.popleft()
        assign(summary, hidden=None)
        for item in items:
            assign(item, hidden="compacted")

    def undo(self) -> list[ContextItem]:
        """Undo the last step and return the items it changed, none if there was no step."""
        if not self.steps:
            return []
        step = self.steps.pop()
        if isinstance(step, Compaction):
            assign(step.summary, hidden="dropped")
            for item in step.items:
                if item.hidden == "compacted":
                    assign(item, hidden=None)
        else:
            for item, fields in step:
                gone = item.hidden in _BY_ITSELF and fields["hidden"] is None
                stays = gone or item.hidden == "closed"
                assign(item, **{**fields, "hidden": item.hidden if stays else fields["hidden"]})
        return items_of(step)


def edited(item: ContextItem, text: str) -> dict[str, Any]:
    """The fields of an item after replacing its text.

    Raises:
        InvalidItemError: The item is a window or has more than text, or the text is empty.
    """
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
    rest = tuple(
        block
        for block in item.blocks
        if block.get("type") not in ("text", "thinking", "redacted_thinking")
    )
    return ({"type": "text", "text": text}, *rest)
