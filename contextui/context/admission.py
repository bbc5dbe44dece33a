"""The door into the context: what may enter, and in what shape."""

from collections.abc import Iterable, Mapping
from typing import Any, get_args

from contextui.context.calls import Calls
from contextui.context.item import ContextItem, Hidden, ItemType, assign
from contextui.errors import InvalidItemError
from contextui.model import Block
from contextui.names import WINDOW_ID
from contextui.text import for_model, quote

_WITH_BLOCKS = (ItemType.USER, ItemType.ASSISTANT, ItemType.TOOL)


def admit(item: ContextItem) -> None:
    """Check an item and make its text fit for a model and for the log.

    Raises:
        InvalidItemError: It has no content, blocks that are none, or no window can have that id.
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
    assign(item, revision=0)  # this is how it begins


def check_text(text: str, kind: ItemType) -> None:
    """Refuse text that is none: no provider takes an empty message."""
    if not text.strip():
        raise InvalidItemError(f"A {kind.value} item needs content.")


def check_calls(item: ContextItem, calls: Calls) -> None:
    """Refuse a result that answers nothing, and a call or a result that there is already.

    Raises:
        InvalidItemError: It is one of these.
    """
    calls.check(item)
    if item.tool_call_id is not None and item.tool_call_id not in calls.unanswered:
        raise InvalidItemError(f"No tool call {quote(item.tool_call_id)} waits for a result.")


def clean_blocks(blocks: Iterable[Any], kind: ItemType) -> tuple[Block, ...]:
    """Copies of blocks that an item of this type may have, their text made fit.

    Raises:
        InvalidItemError: One of them is no block, or not one for such an item.
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
    """A copy of JSON-like data that nobody else can change, with every text made fit."""
    match value:
        case str():
            return for_model(value)
        case Mapping():
            return {_clean(key): _clean(inner) for key, inner in value.items()}
        case list() | tuple():
            return [_clean(inner) for inner in value]
    return value
