"""The door into the context: what may enter, and in what shape."""

from collections.abc import Mapping
from typing import Any

from contextui.context.item import ContextItem, ItemType, assign
from contextui.errors import InvalidItemError
from contextui.names import WINDOW_ID
from contextui.text import for_model, quote


def admit(item: ContextItem) -> None:
    """Check an item and make its text fit for a model and for the log.

    Raises:
        InvalidItemError: It has no content, or no window can have that id.
    """
    if item.type is ItemType.WINDOW and not WINDOW_ID.fullmatch(item.content):
        raise InvalidItemError(f"{quote(item.content)} cannot be a window's id.")
    if not item.blocks and item.type is not ItemType.TOOL:
        check_text(item.content, item.type)
    assign(
        item,
        content=for_model(item.content),
        blocks=tuple(map(_clean, item.blocks)) if item.blocks else None,
    )


def check_text(text: str, kind: ItemType) -> None:
    """Refuse text that is none: no provider takes an empty message."""
    if not text.strip():
        raise InvalidItemError(f"A {kind.value} item needs content.")


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
