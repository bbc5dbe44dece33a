"""Anchors: places in a window's content that can be acted on, or pointed at."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from contextui.errors import InvalidSourceDataError
from contextui.names import ANCHOR_ID
from contextui.text import quote
from contextui.windowing.snapshot import Anchor, AnchorType


@dataclass(frozen=True, slots=True)
class Button:
    """An action with all its params given: one press carries it out.

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
    """An action with fields left to fill, by the names of its params."""

    id: str
    action: str
    fields: tuple[str, ...]
    params: Mapping[str, Any] = field(default_factory=dict)
    target: str | None = None
    label: str | None = None


@dataclass(frozen=True, slots=True)
class Reference:
    """A place that can be pointed at. It locates; it does not act."""

    id: str
    target: str | None = None


AnyAnchor = Button | Form | Reference


def register(
    anchors: Iterable[AnyAnchor], actions: Iterable[str], warn: Callable[[str], None]
) -> dict[str, AnyAnchor]:
    """The anchors of one render by id. Of two with one id the first stays, and that is told.

    Raises:
        InvalidSourceDataError: An id that is none, or an action that is not declared.
    """
    declared = set(actions)
    registry: dict[str, AnyAnchor] = {}
    for anchor in anchors:
        if not ANCHOR_ID.fullmatch(anchor.id):
            raise InvalidSourceDataError(f"{quote(anchor.id)} cannot be an anchor's id.")
        if not isinstance(anchor, Reference) and anchor.action not in declared:
            raise InvalidSourceDataError(
                f"Anchor {anchor.id} names an action that is not declared: {quote(anchor.action)}."
            )
        if anchor.id in registry or anchor.id in declared:
            warn(f"two anchors or actions are called {anchor.id}: the first stays")
            continue
        registry[anchor.id] = anchor
    return registry


def entry(anchor: AnyAnchor) -> Anchor:
    """The anchor as the snapshot lists it."""
    match anchor:
        case Button():
            return Anchor(type=AnchorType.BUTTON, target=anchor.target)
        case Form():
            return Anchor(type=AnchorType.FORM, params=anchor.fields, target=anchor.target)
        case Reference():
            return Anchor(type=AnchorType.REFERENCE, target=anchor.target)
