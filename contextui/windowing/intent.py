"""Intents: actions to be approved and run, their previews, and the permits that approve them."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from contextui import text
from contextui.errors import ContextUIError, InvalidParamsError, UnknownActionError
from contextui.windowing.action import CLOSE, Action, ActionResult, AnyAnchor, Effect, Reference
from contextui.windowing.core import WindowCore
from contextui.windowing.preview import Preview, PreviewError, checked, with_programs
from contextui.windowing.transaction import Call
from contextui.windowing.window import Window
from contextui.windowing.worker import PATIENCE, finished
from contextui.words import Words


@dataclass(frozen=True, slots=True)
class Intent:
    """A declared action and its validated arguments, to be approved and run.

    Attributes:
        action: The action; for an anchor, the action it is bound to.
        target: The anchor's target in the content, if an anchor was named.
        changed: Whether it was approved before, but its effect has changed since.
        reads: A file that may hold secrets, whose content the model would get.
    """

    window: Window
    action: Action
    arguments: Mapping[str, Any]
    target: str | None = None
    changed: bool = False
    reads: str = ""

    @property
    def effect(self) -> Effect:
        """What the action changes with these arguments."""
        return self.action.effect_of(self.arguments, self.window)

    @property
    def name(self) -> str:
        """The action's full name, such as ``editor_1.save``."""
        return f"{self.window.id}.{self.action.id}"


@dataclass(frozen=True, slots=True)
class Permit:
    """The approval of an intent, checked on the window's thread just before the action runs.

    Attributes:
        preview: The preview that was approved; None if there was none.
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
    window: Window,
    action_id: str,
    params: Mapping[str, Any],
    anchors: Mapping[str, AnyAnchor],
) -> Intent:
    """Resolve the id of an action or anchor, and its params, to an intent."""
    name, given, target = action_id, dict(params), None
    words = Words(window.env.lang)
    anchor = anchors.get(action_id)
    if isinstance(anchor, Reference):
        raise UnknownActionError(words("{name} is a reference and has no action.", name=action_id))
    if anchor is not None:
        name, target = anchor.action, anchor.target
        if given.keys() - anchor.fields:
            names = ", ".join(anchor.fields) or words("no params")
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
                name=text.quote(action_id),
                names=there_is,
            )
        )
    arguments = declared.params.validate(given, f"{window.id}.{action_id}", window.env.lang)
    return Intent(window, declared, arguments, target)


class Previews:
    """Computes the previews of one window's actions, on its thread."""

    def __init__(self, core: WindowCore) -> None:
        self._core = core

    async def get(self, intent: Intent) -> Preview | None:
        """Return what an action would change outside the window.

        Returns:
            The window's preview; None if it provides none.
        """
        making = self._core.worker.submit(lambda: self._compute(intent))
        await finished([making], PATIENCE)
        if not making.done():
            making.cancel()
            raise self._missing(self._core.words("{id} did not answer in time.", id=self._core.id))
        preview = making.result()
        if preview is None or preview.command is None:
            return preview
        return await asyncio.to_thread(self._with_programs, preview)

    def compute(self, intent: Intent) -> Preview | None:
        """As `get`, on the window's thread, where the state does not change."""
        return self._with_programs(self._compute(intent))

    def _with_programs(self, preview: Preview | None) -> Preview | None:
        files = self._core.env.files
        return with_programs(preview, files.root if files else None, self._core.words)

    def _compute(self, intent: Intent) -> Preview | None:
        call = Call(lambda: self._core.window.preview(intent.action.id, intent.arguments), {})
        with self._core.read_only("preview()"):
            try:
                if intent.action is CLOSE:
                    return self._of_closing(call, intent)
                return checked(call.run(self._core.worker.run), intent.name, self._core.words)
            except ContextUIError as problem:
                raise self._missing(problem.text(self._core.around.lang)) from problem
            except BaseException as problem:
                raise self._missing(self._core.reason(problem)) from problem

    def discards_edits(self, intent: Intent) -> bool:
        """Whether an action without the effect `write` would discard edits of the person."""
        if intent.effect == "write" or not self._core.edited_by_person:
            return False
        try:
            preview = self.compute(intent)
        except PreviewError:  # a window need not have a preview of every action
            return False
        return preview is not None and preview.verb == "close" and preview.changes

    def _of_closing(self, call: Call, intent: Intent) -> Preview:
        """Return what closing would discard: the window's preview, or else its `unsaved` text."""
        window_id = self._core.id
        unsaved = text.one_line(self._core.window.unsaved() or "", 1_000)
        if not unsaved:
            return Preview(window_id, verb="close", changes=False)
        with suppress(Exception):  # not every window's preview knows `close`
            preview = checked(call.run(self._core.worker.run), intent.name, self._core.words)
            if preview and preview.verb == "close" and preview.changes:
                return preview
        return Preview(window_id, text=unsaved, verb="close")

    def _missing(self, reason: str) -> PreviewError:
        return PreviewError(
            self._core.words(
                "There is no preview, so it cannot be approved: {reason}",
                reason=text.one_line(reason, 1_000),
            )
        )
