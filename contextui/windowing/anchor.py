"""Anchors in a window's content (buttons, forms, references), and intents resolved from them."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from contextui.errors import (
    AnchorConflictError,
    ContextUIError,
    InvalidParamsError,
    InvalidSourceDataError,
    UnknownActionError,
)
from contextui.names import ANCHOR_ID
from contextui.text import quote
from contextui.windowing.action import Action, ActionResult, Effect
from contextui.windowing.preview import Preview
from contextui.windowing.snapshot import Anchor, AnchorType
from contextui.words import Words

if TYPE_CHECKING:
    from contextui.windowing.window import Window


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

MOST = 1_000
"""Maximum anchors of one render; further ones are ignored with a warning."""


def register(
    anchors: Iterable[AnyAnchor],
    actions: Mapping[str, Action],
    warn: Callable[[ContextUIError], None],
) -> dict[str, AnyAnchor]:
    """Validate the anchors of one render and return them by id.

    Args:
        anchors: The anchors that the window declares.
        actions: The window's actions, by id.
        warn: Callback for an `AnchorConflictError` per duplicate id; the first one is kept.

    Raises:
        InvalidSourceDataError: An anchor has an invalid id, an undeclared action, or params that
            the action does not have.
    """
    registry: dict[str, AnyAnchor] = {}
    for count, anchor in enumerate(anchors):
        if count == MOST:
            warn(InvalidSourceDataError(f"has more than {MOST} anchors: the rest is left out"))
            break
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


@dataclass(frozen=True, slots=True)
class Intent:
    """A declared action and its validated arguments, to be approved and run.

    Attributes:
        window: The window.
        action: The action; for an anchor, the action it is bound to.
        arguments: The arguments to call it with.
        target: The anchor's target in the content, if an anchor was named.
        changed: Whether it was approved before, but its effect has changed since.
        reads: A file that may hold secrets, whose content the model would get.
    """

    window: "Window"
    action: Action
    arguments: Mapping[str, Any]
    target: str | None = None
    changed: bool = False
    reads: str = ""

    @property
    def effect(self) -> Effect:
        """What the action changes with these arguments."""
        return self.action.effect_of(self.arguments)

    @property
    def name(self) -> str:
        """The action's full name, such as ``editor_1.save``."""
        return f"{self.window.id}.{self.action.id}"

    async def preview(self) -> Preview | None:
        """Return what the action would change outside the window; None if that is unknown.

        Raises:
            ContextUIError: The window's preview failed, or took too long.
        """
        return await self.window.runtime.preview_of(self)


@dataclass(frozen=True, slots=True)
class Permit:
    """The approval of an intent, checked on the window's thread just before the action runs.

    Attributes:
        preview: The preview that was approved; None if there was none.
        target_only: Whether any change of the same target is approved.
        arguments: The arguments to run the action with, if the person edited them; the preview is
            then of these.
        note: What the person edited, as a sentence for the model.
    """

    preview: Preview | None
    target_only: bool = False
    arguments: Mapping[str, Any] | None = None
    note: str = ""

    def covers(self, now: Preview | None) -> bool:
        """Whether the current preview matches the approved one."""
        if self.target_only and self.preview and now and self.preview.command is None:
            return (self.preview.target, self.preview.verb) == (now.target, now.verb)
        return self.preview == now


Allow = Callable[[Intent], Awaitable[Permit | ActionResult | None]]
"""Callback that approves an intent. It returns a permit to check again; a result, if there is
nothing to do; or None, if no permit is needed. It raises to refuse the intent."""


def resolve_intent(
    window: "Window",
    action_id: str,
    params: Mapping[str, Any],
    anchors: Mapping[str, AnyAnchor],
) -> Intent:
    """Resolve the id of an action or anchor, and its params, to an intent.

    Raises:
        UnknownActionError: The window has no such action or anchor.
        InvalidParamsError: The params do not match the action's.
    """
    name, given, target = action_id, dict(params), None
    words = Words(window.env.lang)
    anchor = anchors.get(action_id)
    if isinstance(anchor, Reference):
        raise UnknownActionError(words("{name} is a reference and has no action.", name=action_id))
    if anchor is not None:
        name, target = anchor.action, anchor.target
        if given.keys() - (fields := fields_of(anchor)):
            names = ", ".join(fields) or words("no params")
            raise InvalidParamsError(words("{name} takes {names}.", name=action_id, names=names))
        given = {**anchor.params, **given}
    declared = window.actions.get(name)
    if declared is None:
        acting = (name for name, one in anchors.items() if not isinstance(one, Reference))
        there_is = ", ".join([*window.actions, *acting, "close"])
        raise UnknownActionError(
            words(
                "{id} has no action {name}. It has: {names}.",
                id=window.id,
                name=quote(action_id),
                names=there_is,
            )
        )
    arguments = declared.params.validate(given, f"{window.id}.{action_id}", window.env.lang)
    return Intent(window, declared, arguments, target)
