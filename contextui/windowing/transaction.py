"""Actions on their way into a window.

An `Intent` is what an action is asked to do. It is previewed and approved (`Permit`), checked for
changes that the model has not seen (`Conflicts`), and run: each `Call` into a window commits or is
rolled back as a whole (`Transactions`).
"""

import asyncio
import inspect
import os
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from contextui import text
from contextui.errors import (
    ActionFailedError,
    ConflictError,
    ContextUIError,
    InvalidParamsError,
    UnknownActionError,
    WindowBusyError,
)
from contextui.events import Actor, WindowCommitted
from contextui.windowing.action import (
    CLOSE,
    Action,
    ActionResult,
    AnyAnchor,
    Effect,
    Reference,
    unknown_action,
)
from contextui.windowing.background import Jobs
from contextui.windowing.blocks import change_block, is_same
from contextui.windowing.core import WindowCore
from contextui.windowing.job import Job, JobError, current_job
from contextui.windowing.preview import CommandPreview, Preview, PreviewError, checked
from contextui.windowing.render import Renders
from contextui.windowing.snapshot import ContextVersion
from contextui.windowing.window import Window
from contextui.windowing.worker import PATIENCE, finished
from contextui.words import Message, Text

_TICK_FAILURES = 3  # consecutive failures after which a timer is stopped


@dataclass(frozen=True, slots=True)
class Intent:
    """A declared action and its validated arguments, to be approved and run.

    Attributes:
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
    anchor = anchors.get(action_id)
    if isinstance(anchor, Reference):
        raise UnknownActionError("{name} is a reference and has no action.", name=action_id)
    if anchor is not None:
        name, target = anchor.action, anchor.target
        if given.keys() - anchor.fields:
            names = ", ".join(anchor.fields) or Message("no params")
            raise InvalidParamsError("{name} takes {names}.", name=action_id, names=names)
        given = {**anchor.params, **given}
    declared = window.actions.get(name)
    if declared is None:
        acting = (name for name, one in anchors.items() if not isinstance(one, Reference))
        raise unknown_action(window.id, action_id, [*window.actions, *acting])
    arguments = declared.params.validate(given, f"{window.id}.{action_id}", window.env.lang)
    return Intent(window, declared, arguments, target)


class Call:
    """A call into a window, which its caller may cancel.

    Either it commits first, and cancelling it has no effect; or it is cancelled first, and its
    changes are rolled back. Exactly one of the two happens.
    """

    def __init__(self, function: Callable[..., Any], arguments: dict[str, Any]) -> None:
        self._function, self._arguments = function, arguments
        self._lock = threading.Lock()
        self._outcome: str | None = None
        self._cancel: Callable[[], object] | None = None

    def run(self, follow: Callable[[Coroutine[Any, Any, Any]], Any]) -> Any:
        """Run the function on this thread, whether it is async or not."""
        if self._outcome is not None:
            raise WindowBusyError("cancelled before it started")
        result = self._function(**self._arguments)
        if not inspect.isawaitable(result):
            return result
        outcome, problem = follow(self._follow(result))
        if problem is not None:
            raise problem
        return outcome

    async def _follow(self, awaitable: Any) -> tuple[Any, BaseException | None]:
        task = asyncio.ensure_future(_outcome(awaitable))
        loop = asyncio.get_running_loop()
        with self._lock:
            self._cancel = lambda: loop.call_soon_threadsafe(task.cancel)
            if self._outcome is not None:
                task.cancel()
        try:
            return await task
        finally:
            with self._lock:
                self._cancel = None
            if inspect.iscoroutine(awaitable):
                awaitable.close()  # cancelled before its first step

    def commit(self) -> bool:
        """Mark the call as committed; False if it was cancelled before."""
        with self._lock:
            self._outcome = self._outcome or "committed"
            return self._outcome == "committed"

    def cancel(self) -> bool:
        """Mark the call as cancelled, to be rolled back; False if it has committed already."""
        with self._lock:
            self._outcome = self._outcome or "cancelled"
            if self._outcome == "cancelled" and self._cancel is not None:
                self._cancel()
            return self._outcome == "cancelled"


async def _outcome(awaitable: Any) -> tuple[Any, BaseException | None]:
    """Await something and return its outcome: some exceptions would stop the event loop."""
    try:
        return await awaitable, None
    except (SystemExit, KeyboardInterrupt) as problem:
        return None, problem


class Previews:
    """Computes the previews of one window's actions, on its thread."""

    def __init__(self, core: WindowCore) -> None:
        self._core = core

    async def get(self, intent: Intent) -> Preview | None:
        """Return what an action would change outside the window; None if it does not say."""
        making = self._core.worker.submit(lambda: self._compute(intent))
        await finished([making], PATIENCE)
        if not making.done():
            making.cancel()
            raise self._missing(Message("{id} did not answer in time.", {"id": self._core.id}))
        preview = making.result()
        if preview is None or preview.command is None:
            return preview
        return await asyncio.to_thread(self._with_programs, preview, preview.command)

    def compute(self, intent: Intent) -> Preview | None:
        """As `get`, on the window's thread, where the state does not change."""
        preview = self._compute(intent)
        if preview is None or preview.command is None:
            return preview
        return self._with_programs(preview, preview.command)

    def _with_programs(self, preview: Preview, command: CommandPreview) -> Preview:
        """Add the programs that the command starts because a repository names them.

        It takes as long as git and the disk need, up to `contextui.git.inspection.SECONDS`.
        """
        from contextui.git.inspection import named_programs  # noqa: PLC0415  (first command)

        files, folder = self._core.env.files, Path(command.folder)
        environment = {**os.environ, **({"PATH": command.search} if command.search else {})}
        workspace, words = files.root if files else folder, self._core.words
        argv = command.argv
        found = named_programs(argv, folder, workspace, environment, words) if argv else ()
        return replace(preview, command=replace(command, programs=found))

    def _compute(self, intent: Intent) -> Preview | None:
        call = Call(lambda: self._core.window.preview(intent.action.id, intent.arguments), {})
        with self._core.read_only("preview()"):
            try:
                if intent.action is CLOSE:
                    return self._of_closing(call, intent)
                return checked(call.run(self._core.worker.run), intent.name)
            except ContextUIError as problem:
                raise self._missing(problem) from problem
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
            preview = checked(call.run(self._core.worker.run), intent.name)
            if preview and preview.verb == "close" and preview.changes:
                return preview
        return Preview(window_id, text=unsaved, verb="close")

    def _missing(self, reason: Text) -> PreviewError:
        return PreviewError(
            "There is no preview, so it cannot be approved: {reason}",
            reason=text.one_line(self._core.words(reason), 1_000),
        )


class Conflicts:
    """Refuses an action of the model once if the window is not what the model saw."""

    def __init__(self, core: WindowCore, renders: Renders) -> None:
        self._core, self._renders = core, renders
        self._seen: tuple[ContextVersion, str] | None = None  # the version and its XML
        self._changed = ContextVersion(0)
        self._reported = ContextVersion(0)

    def take_over(self, other: "Conflicts") -> None:
        """Continue for a window of the same id, whose class was replaced."""
        self._seen, self._changed, self._reported = other._seen, other._changed, other._reported

    def note_seen(self, version: ContextVersion) -> None:
        """Note the version that the model saw last: it is in the request that is sent now."""
        shown = self._renders.latest()
        self._seen = version, shown.xml if shown.version == version else ""

    def note_change(self, version: ContextVersion) -> None:
        """Note a version that the person, or a job, made."""
        self._changed = version

    @property
    def is_possible(self) -> bool:
        """Whether others have made a version that the model does not know."""
        return self._seen is not None and self._changed > max(self._seen[0], self._reported)

    def check(self) -> None:
        """Check that the window is what the model saw, or that the model knows the change.

        If a conflict is possible, the current version must have been rendered.
        """
        if self._seen is None or not self.is_possible:
            return
        before, now = self._seen[1], self._renders.latest()
        if before and is_same(before, now.xml):
            return
        self._reported = self._changed
        shown = (before and change_block(before, now.xml)) or now.xml
        raise ConflictError(
            "Not carried out: {id} has changed since you saw it. Call the action again if it "
            "still fits.\n{change}",
            id=self._core.id,
            change=shown,
        )


class Transactions:
    """Runs the calls, timers and changes by jobs of one window, one at a time, on its thread."""

    def __init__(
        self, core: WindowCore, renders: Renders, jobs: Jobs, conflicts: Conflicts
    ) -> None:
        self._core, self._renders, self._jobs, self._conflicts = core, renders, jobs, conflicts
        self._new_timers: list[Callable[[], None]] = []
        self.actor: Actor = "model"
        """Who runs the current call."""

    def run(self, call: Call, actor: Actor, *, first: bool = False) -> str | Job:
        """Execute a call, then commit or roll back; return its result in words, or its job."""
        core = self._core
        self._new_timers.clear()
        try:
            core.begin()
            self.actor = actor
            with core.inside():
                returned: object = call.run(core.worker.run)
                result = returned if isinstance(returned, Job) else core.result_text(returned)
            changed = core.keeper.check()
            if not call.commit():
                raise WindowBusyError("{id}: cancelled before it finished.", id=core.id)
        except BaseException as problem:
            self._undo()
            if isinstance(problem, ContextUIError):
                raise
            reason = f"{core.reason(problem)}."
            if not first:
                reason = core.words("{reason} The window is unchanged.", reason=reason)
            raise ActionFailedError(reason) from problem
        finally:
            self.actor = "model"
        core.keeper.commit()
        self._jobs.launch()
        if first:
            core.publish()
        else:
            self._publish(changed, actor)
        return result

    @asynccontextmanager
    async def change(self) -> AsyncIterator[None]:
        """Change the state in a transaction of its own; see `Env.change`."""
        core, worker, job = self._core, self._core.worker, current_job.get()
        if core.is_inside:  # part of the running transaction
            yield
            return
        if worker.alone is None or not worker.is_own_thread:
            raise JobError("change() is only for the window's own jobs and tasks.")
        async with worker.alone:
            await _check_not_cancelled(job)
            self._new_timers.clear()
            core.begin()
            try:
                with core.inside():
                    yield
                changed = core.keeper.check()
                await _check_not_cancelled(job)
            except BaseException:
                self._undo()
                raise
            core.keeper.commit()
            self._jobs.launch()
            self._publish(changed, "window", is_job=True)

    def every(self, seconds: float, function: Callable[[], object]) -> Callable[[], None]:
        """Call the function periodically, each time in a transaction; returns the stop function."""
        failures = 0

        def tick() -> None:
            nonlocal failures
            try:
                self.run(Call(function, {}), "window")
                failures = 0
            except BaseException as problem:
                failures += 1
                self._core.warn("a timer failed: {reason}", reason=self._core.reason(problem))
                if failures == _TICK_FAILURES:
                    end()

        end = self._core.worker.every(seconds, tick)
        self._new_timers.append(end)
        return end

    def _undo(self) -> None:
        for end_timer in self._new_timers:
            end_timer()
        self._jobs.discard()
        self._core.keeper.rollback()

    def _publish(self, changed: bool, actor: Actor, *, is_job: bool = False) -> None:
        core, renders = self._core, self._renders
        renders.replacement = None
        if changed:
            core.edited_by_person |= actor == "person"
            core.publish(core.version.after_data())
            core.touched = actor, core.around.clock()
            if actor == "person" or (is_job and core.window.job_conflicts):
                self._conflicts.note_change(core.version)
            core.emit(WindowCommitted(core.id, str(core.version), actor), False)
            renders.request()
        elif (shown := renders.current()) and shown.snapshot.error:
            renders.redraw()


async def _check_not_cancelled(job: Job | None) -> None:
    if job is not None and job.state == "cancelled":
        await asyncio.sleep(0)  # even a job that goes on regardless must not block the thread
        raise asyncio.CancelledError
