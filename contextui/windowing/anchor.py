"""Anchors in a window's content: buttons, forms and references."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from contextui.errors import (
    AnchorConflictError,
    ContextUIError,
    InvalidSourceDataError,
)
from contextui.names import ANCHOR_ID
from contextui.text import quote
from contextui.windowing.action import Action
from contextui.windowing.snapshot import Anchor, AnchorType


@dataclass(frozen=True, slots=True)
class Button:
    """An action with all its params given; one press runs it.

    Example:
        >>> Button("expand-entry-1", "expand", {"entry": 1}, target="entry-1")
    """

    id: str
    action: str
    params: Mapping[str, Any] = field(default_factory=dict)
    target: str | None = None
    label: str | None = None


@dataclass(frozen=True, slots=True)
class Form:
    """An action with fields to fill in, named after its params."""

    id: str
    action: str
    fields: tuple[str, ...]
    params: Mapping[str, Any] = field(default_factory=dict)
    target: str | None = None
    label: str | None = None


@dataclass(frozen=True, slots=True)
class Reference:
    """A place that can be referred to, without an action."""

    id: str
    target: str | None = None


AnyAnchor = Button | Form | Reference


def register(
    anchors: Iterable[AnyAnchor],
    actions: Mapping[str, Action],
    warn: Callable[[ContextUIError], None],
) -> dict[str, AnyAnchor]:
    """Validate the anchors of one render and return them by id."""
    registry: dict[str, AnyAnchor] = {}
    for anchor in anchors:
        if not ANCHOR_ID.fullmatch(anchor.id):
            raise InvalidSourceDataError(f"{quote(anchor.id)} cannot be an anchor's id.")
        if not isinstance(anchor, Reference):
            _check_binding(anchor, actions)
        if anchor.id in registry or anchor.id in actions or anchor.id == "close":
            warn(
                AnchorConflictError(
                    f"two anchors or actions are called {anchor.id}: the first stays"
                )
            )
            continue
        registry[anchor.id] = anchor
    return registry


def fields_of(anchor: Button | Form) -> tuple[str, ...]:
    """Return the params left to fill in."""
    return tuple(anchor.fields) if isinstance(anchor, Form) else ()


def _check_binding(anchor: Button | Form, actions: Mapping[str, Action]) -> None:
    if anchor.action not in actions:
        raise InvalidSourceDataError(
            f"Anchor {anchor.id} names an action that is not declared: {quote(anchor.action)}."
        )
    params = actions[anchor.action].params
    for name in (*fields_of(anchor), *anchor.params):
        if name not in {param.name for param in params.listing}:
            raise InvalidSourceDataError(
                f"Anchor {anchor.id} names a param that {anchor.action} does not have: "
                f"{quote(name)}."
            )


def entry(anchor: AnyAnchor) -> Anchor:
    """Convert the anchor to its entry in the snapshot."""
    match anchor:
        case Button():
            return Anchor(type=AnchorType.BUTTON, target=anchor.target)
        case Form():
            return Anchor(type=AnchorType.FORM, params=anchor.fields, target=anchor.target)
        case Reference():
            return Anchor(type=AnchorType.REFERENCE, target=anchor.target)
