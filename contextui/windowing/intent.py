"""What a person or a model wants a window to do, checked before it is done."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from contextui.errors import InvalidParamsError, UnknownActionError
from contextui.text import quote
from contextui.windowing import phrases
from contextui.windowing.action import Action, ActionResult
from contextui.windowing.anchors import AnyAnchor, Reference, fields_of
from contextui.windowing.preview import Preview

if TYPE_CHECKING:
    from contextui.windowing.base import Window


@dataclass(frozen=True, slots=True)
class Intent:
    """A declared action and the arguments it is to be called with, both checked.

    Attributes:
        window: The window.
        action: What it is to do; of an anchor, the action that the anchor is bound to.
        arguments: What it is called with.
        target: What of the content it is about, if an anchor was named.
        changed: Whether it was allowed before, and would now do something else.
        reads: A file that may hold secrets, whose content it would give to the model.
    """

    window: "Window"
    action: Action
    arguments: Mapping[str, Any]
    target: str | None = None
    changed: bool = False
    reads: str = ""

    @property
    def name(self) -> str:
        """The action as people and models write it: ``editor_1.save``."""
        return f"{self.window.id}.{self.action.id}"


@dataclass(frozen=True, slots=True)
class Permit:
    """What an intent was allowed for. It is checked on the window's thread just before the act.

    Attributes:
        preview: What would change, as it was shown; None if there was no preview.
        target_only: Any change of the same target is allowed.
    """

    preview: Preview | None
    target_only: bool = False

    def covers(self, now: Preview | None) -> bool:
        """Whether what would be done now is what was allowed."""
        if self.target_only and self.preview and now:
            return (self.preview.target, self.preview.verb) == (now.target, now.verb)
        return self.preview == now


Allow = Callable[[Intent], Awaitable[Permit | ActionResult | None]]
"""Asked before an intent is carried out: a permit to check again; a result, if there is nothing
to do; None, if it needs no permit. It raises if the intent must not be carried out."""


def make_out(
    window: "Window",
    action_id: str,
    params: Mapping[str, Any],
    anchors: Mapping[str, AnyAnchor],
) -> Intent:
    """What is meant by an action's or an anchor's id and params.

    Raises:
        UnknownActionError: The window declares no such action and shows no such anchor.
        InvalidParamsError: The params are not those of the action.
    """
    name, given, target = action_id, dict(params), None
    words = phrases.of(window.env.lang)
    anchor = anchors.get(action_id)
    if isinstance(anchor, Reference):
        raise UnknownActionError(words.reference.format(name=action_id))
    if anchor is not None:
        name, target = anchor.action, anchor.target
        if given.keys() - (fields := fields_of(anchor)):
            names = ", ".join(fields) or words.no_params
            raise InvalidParamsError(words.takes.format(name=action_id, names=names))
        given = {**anchor.params, **given}
    declared = window.actions.get(name)
    if declared is None:
        acting = (name for name, one in anchors.items() if not isinstance(one, Reference))
        there_is = ", ".join([*window.actions, *acting, "close"])
        raise UnknownActionError(
            words.no_action.format(id=window.id, name=quote(action_id), names=there_is)
        )
    arguments = declared.params.validate(given, f"{window.id}.{action_id}", window.env.lang)
    return Intent(window, declared, arguments, target)
