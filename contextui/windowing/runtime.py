"""`Runtime` of one open window: opens and ends it, and runs its actions once they are approved."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, Literal

from contextui import text
from contextui.errors import ActionError, ContextUIError, WindowBusyError, WindowClosedError
from contextui.events import Actor, WindowActed
from contextui.files.errors import SecretFileError
from contextui.windowing.action import BUILT_IN, CLOSE, ActionCancelledError, ActionResult
from contextui.windowing.background import Jobs
from contextui.windowing.core import Surroundings, WindowCore
from contextui.windowing.job import Job
from contextui.windowing.preview import Preview, PreviewError
from contextui.windowing.render import Renders, SecretReads
from contextui.windowing.snapshot import History, Lod, Snapshot
from contextui.windowing.state import freeze
from contextui.windowing.transaction import (
    Allow,
    Call,
    Conflicts,
    Intent,
    Permit,
    Previews,
    Transactions,
    resolve_intent,
)
from contextui.windowing.window import Env, Window
from contextui.windowing.worker import PATIENCE, finished
from contextui.words import Message

_WINDOW = "contextui.windowing.window"  # the module of `Window`
_MAX_APPROVALS = 5  # times that an action may change between approval and execution


class _ChangedError(ContextUIError):
    """The action's effect differs from what was approved."""


ClosingReason = Literal["closed", "exit"]
"""Why a window closes: it was closed, or the program exits."""


class Runtime:
    """The framework's side of an open window.

    All code of the window's author runs on `worker`; the rest of the program takes finished renders
    only.

    Attributes:
        focus_id: The target of the anchor that was acted on last.
        commit_input: Commits what the person has typed on the screen and not submitted yet.
    """

    def __init__(self, core: WindowCore) -> None:
        self.core, self.window, self.worker = core, core.window, core.worker
        self.secrets = SecretReads(core)
        self.renders = Renders(core, self.secrets)
        self.history = History(core.window.history_limit)
        self.focus_id: str | None = None
        self.commit_input: Callable[[], Awaitable[None]] | None = None
        self.interrupted: tuple[str, ...] = ()
        """The jobs that were running when an earlier run ended."""
        self.former_id = ""
        """The id that the window had before it was closed and reopened."""
        self.was_open = False
        """Whether the window was open when it was asked for last."""
        self.is_new = False
        """Whether the window was opened in this run, not restored."""
        self.ending: Future[None] | None = None
        """Done when the window has ended; None until `end` is called."""
        self.jobs = Jobs(core, self.renders, self._note_ended)
        self.conflicts = Conflicts(core, self.renders)
        self.previews = Previews(core)
        self.transactions = Transactions(core, self.renders, self.jobs, self.conflicts)
        core.env = self._env(core.around)
        core.window._runtime = self
        self.opening: Future[Any] | None = None
        """Done when the hook that opens the window has ended; None until `start` is called."""
        self._opening_call: Call | None = None
        self._ended_jobs: list[Job] = []  # whose hook has not run yet

    def take_over(self, other: "Runtime") -> None:
        """Continue for a window of the same id that has ended: its class was replaced."""
        self.history.recall(other.history.entries)
        self.focus_id, self.is_new = other.focus_id, other.is_new
        self.secrets.take_over(other.secrets)
        self.conflicts.take_over(other.conflicts)

    def _env(self, around: Surroundings) -> Env:
        def open_another(name: str, /, **args: Any) -> Window:
            return around.open(name, args, self.secrets.inherited, self.transactions.actor)

        return Env(
            lang=around.lang,
            clock=around.clock,
            open=open_another,
            showing=around.showing,
            every=self.transactions.every,
            job=self.jobs.add,
            change=self.transactions.change,
            jobs=self.jobs.running,
            process=self.jobs.process,
            notify=self.jobs.notify,
            files=around.files.guarded(self.secrets.guard) if around.files else None,
            sandbox=around.sandbox,
            data=around.data / self.core.id if around.data else None,
            actor=lambda: self.transactions.actor,
        )

    def xml(self, lod: Lod | None = None) -> str:
        """Return the `<Window>` block that the model reads."""
        return self.renders.at(lod).xml

    def snapshot(self, lod: Lod | None = None) -> Snapshot:
        """Return the render's snapshot, with the current history and focus."""
        snapshot = self.renders.at(lod).snapshot
        custom = freeze(snapshot.state.custom)
        state = snapshot.state.model_copy(update={"focus_id": self.focus_id, "custom": custom})
        history = self.history.entries or None
        return snapshot.model_copy(update={"history": history, "state": state})

    # --- opening and ending ---------------------------------------------------------------

    def start(
        self,
        hook: Callable[..., Any],
        arguments: dict[str, Any],
        *,
        first: bool,
        allowed: frozenset[str] | None = None,
        actor: Actor = "window",
    ) -> "Future[Any]":
        """Run the hook that opens the window, then render it; the future has its exception.

        Args:
            first: Whether its result is the window's first version instead of a newer one.
        """

        call = Call(hook, arguments)
        self.is_new, self.core.is_opening = first, True

        def open_it() -> None:
            self.core.publish()
            self.core.edited_by_person = not first  # restored edits may be the person's
            try:
                with self.secrets.reading(allowed):
                    self.transactions.run(call, actor, first=first)
            except SecretFileError:  # the person is asked, then the window is opened again
                raise
            except ContextUIError as problem:
                reason = text.one_line(self.core.words(problem), 1_000)
                notice = self.core.words("did not open: {reason}", reason=reason)
                self.renders.replacement = f"{self.core.id} {notice}"
                self.core.warn(notice)
                raise
            finally:
                self.core.is_opening = False

        self._opening_call, self.opening = call, self.worker.submit(open_it)
        self.renders.request()
        return self.opening

    def open_again(
        self, arguments: dict[str, Any], actor: Actor, allowed: frozenset[str] | None
    ) -> "Future[Any]":
        """Run the hook `opened_again`; the future has its exception."""
        self.was_open = True
        call = Call(self.window.opened_again, arguments)

        def run() -> None:
            self._check_shown(allowed)
            self._run(call, actor, allowed)

        return self.worker.submit(run)

    @property
    def is_first_opening(self) -> bool:
        """Whether the `opened` hook of a new window is still running."""
        return self.core.is_opening and self.is_new

    def stop_opening(self) -> None:
        """Cancel the hook that opens the window, if it still runs: its changes are discarded."""
        if self._opening_call is not None:
            self._opening_call.cancel()

    def end(self, reason: ClosingReason = "closed") -> "Future[None]":
        """Cancel its jobs, run the hooks `job_ended` and `closed`, then stop its thread."""
        if self.ending is not None:
            return self.ending
        self.stop_opening()
        self.ending = ended = Future[None]()

        def run_hooks() -> None:
            try:
                if self.worker.alone is not None:
                    self.worker.run(self.jobs.end())
                self._run_job_hooks()
                hook = self.window.closed
                given = (reason,) if inspect.signature(hook).parameters else ()
                with self.core.inside():
                    Call(partial(hook, *given), {}).run(self.worker.run)
            except BaseException as problem:
                self.core.warn("closed() failed: {reason}", reason=self.core.reason(problem))
            finally:
                if self.jobs.has_processes:
                    self.worker.run(self.jobs.end_processes())
                ended.set_result(None)

        self.jobs.end_waits()
        self.worker.stop(run_hooks)
        return ended

    @property
    def has_end(self) -> bool:
        """Whether something has to be done when the window closes."""
        return self.worker.alone is not None or type(self.window).closed.__module__ != _WINDOW

    def _note_ended(self, job: Job) -> None:
        """Queue the `job_ended` hook; if the window is closing, it runs before `closed`."""
        if type(self.window).job_ended.__module__ != _WINDOW:
            self._ended_jobs.append(job)
            self.worker.submit(self._run_job_hooks)

    def _run_job_hooks(self) -> None:
        ended, self._ended_jobs = self._ended_jobs, []
        for job in ended:
            try:
                self.transactions.run(Call(partial(self.window.job_ended, job), {}), "window")
            except BaseException as problem:
                self.core.warn("job_ended() failed: {reason}", reason=self.core.reason(problem))

    # --- actions --------------------------------------------------------------------------

    async def act(
        self,
        action_id: str,
        params: Mapping[str, Any],
        actor: Actor,
        allow: Allow | None = None,
    ) -> ActionResult:
        """Run an action, or an anchor's action, and return its result."""
        stopped: ActionCancelledError | None = None
        try:
            if action_id in BUILT_IN and action_id not in self.window.actions:
                result = await self.jobs.act(action_id, params)
            else:
                result = await self._act(action_id, params, actor, allow)
        except ContextUIError as error:
            result = ActionResult.failed(error, self.core.around.lang)
        except ActionCancelledError as error:
            result, stopped = error.result, error
        named = text.one_line(action_id, 120)  # the requested id may be anything
        now = self.core.around.clock()
        if result.ok:  # a busy window refused it, and another one did it
            self.core.touched = actor, now
        self.history.note(named, result.text, now, actor)
        self.core.emit(WindowActed(self.core.id, named, actor, result.ok, result.text))
        if stopped is not None:
            raise stopped
        return result

    async def _act(
        self, action_id: str, params: Mapping[str, Any], actor: Actor, allow: Allow | None
    ) -> ActionResult:
        intent = await self._intent(action_id, params)
        if actor == "model" and intent.effect != "read":
            await self.commit_typed()
            if self.conflicts.is_possible and (drawing := self.renders.pending()) is not None:
                await finished([drawing], PATIENCE)
            self.conflicts.check()
        result = await self._carry_out_allowed(intent, actor, allow)
        self.focus_id = intent.target or self.focus_id
        return result

    async def preview(self, action_id: str, params: Mapping[str, Any]) -> Preview | None:
        """Return what an action, or an anchor's action, would change outside the window."""
        return await self.previews.get(await self._intent(action_id, params))

    def commit_input_with(self, commit: Callable[[], Awaitable[None]]) -> Callable[[], None]:
        """Register the callback that commits what the person has typed and not submitted yet.

        It is called before a model acts on the window. The returned function unregisters it.
        """
        self.commit_input = commit

        def unregister() -> None:
            if self.commit_input == commit:
                self.commit_input = None

        return unregister

    async def commit_typed(self) -> None:
        """Commit what the person is typing: before a model acts, or the window's code changes."""
        if self.commit_input is not None:
            with suppress(Exception):  # a failure of the screen must not stop the model
                async with asyncio.timeout(PATIENCE):
                    await self.commit_input()

    async def _intent(self, action_id: str, params: Mapping[str, Any]) -> Intent:
        """Wait until the window is open, and for a pending render that may have the anchor."""
        if self.opening is not None and self.core.is_opening:
            await finished([self.opening], PATIENCE)
        if self.core.is_opening:
            raise WindowBusyError(
                "{id} is still opening. Try again when it has opened.", id=self.core.id
            )
        if action_id not in self.window.actions and (drawing := self.renders.pending()):
            await finished([drawing], PATIENCE)
        return resolve_intent(self.window, action_id, params, self.renders.latest().anchors)

    async def _carry_out_allowed(
        self, intent: Intent, actor: Actor, allow: Allow | None
    ) -> ActionResult:
        """Ask for approval and run the action; ask again if its preview has changed since."""
        if allow is None:
            return await self._carry_out(intent, actor)
        allowed = frozenset[str]()
        note = ""  # what the person edited: the result, or the error, begins with it
        for _ in range(_MAX_APPROVALS):
            await self.commit_typed()
            try:
                self.secrets.check(self.renders.latest().withheld, allowed)
                permit = await allow(intent)
                if isinstance(permit, ActionResult):
                    return permit
                await self.commit_typed()
                if permit is not None and permit.arguments is not None:
                    intent = replace(intent, arguments=permit.arguments)
                    note = permit.note
                result = await self._carry_out(intent, actor, permit, allowed)
                return replace(result, text=f"{note}\n{result.text}") if note else result
            except _ChangedError:
                intent = replace(intent, changed=permit is not None)
            except SecretFileError as error:
                await allow(replace(intent, reads=error.path))
                allowed |= {error.real}
            except ContextUIError as error:
                if not note:
                    raise
                undone = Message(
                    "{name} was not carried out: {reason}", {"name": intent.name, "reason": error}
                )
                raise ActionError("{note}\n{reason}", note=note, reason=undone) from error
        raise self._unstable(intent)

    async def allow_closing(
        self, arguments: Mapping[str, Any], allow: Allow
    ) -> ActionResult | None:
        """Ask for approval to close the window; return a result if it stays open."""
        intent = Intent(self.window, CLOSE, arguments)
        for _ in range(_MAX_APPROVALS):
            await self.commit_typed()
            permit = await allow(intent)
            if not isinstance(permit, Permit):
                return permit
            await self.commit_typed()
            if permit.covers(await self.previews.get(intent)):
                return None
            intent = replace(intent, changed=True)
        raise self._unstable(intent)

    async def _carry_out(
        self,
        intent: Intent,
        actor: Actor,
        permit: Permit | None = None,
        allowed: frozenset[str] | None = None,
    ) -> ActionResult:
        function = intent.action.call or getattr(self.window, intent.action.id)
        call = Call(function, dict(intent.arguments))

        def run() -> str | Job:
            # On the window's thread, where nothing can run between the check and the action.
            self._check_shown(allowed)
            if permit is not None and not permit.covers(self.previews.compute(intent)):
                raise _ChangedError
            # Without a permit there was no preview: the window may have been too busy for one, and
            # edits of the person may be queued before this action.
            if permit is None and allowed is not None and self.previews.discards_edits(intent):
                raise _ChangedError
            if actor == "model" and intent.effect != "read":
                if self.conflicts.is_possible:
                    self.renders.draw()
                self.conflicts.check()
            return self._run(call, actor, allowed)

        outcome = self.worker.submit(run)
        try:
            await self._answered(call, outcome)
        except asyncio.CancelledError:
            if not call.cancel():  # it has committed, and may have started a job
                await finished([outcome], None)
                self.jobs.stop_started(outcome.result(), actor)
            raise
        result = outcome.result()
        if isinstance(result, Job):
            return await self.jobs.result_of(result, actor)
        return ActionResult(True, result)

    async def _answered(self, call: Call, outcome: "Future[str | Job]") -> None:
        """Wait for the outcome of a call, unless the window is too slow."""
        seconds = self.window.action_seconds
        try:
            await finished([outcome], seconds)
        finally:  # timed out or cancelled: unless it has committed, roll it back
            cancelled = not outcome.done() and call.cancel()
            if cancelled:
                outcome.cancel()
        if cancelled:
            values = {"id": self.core.id, "seconds": seconds}
            late = Message("{id} did not answer within {seconds:g} s.", values)
            raise WindowBusyError("{reason} The window is unchanged.", reason=late)
        await finished([outcome], None)

    def _check_shown(self, allowed: frozenset[str] | None) -> None:
        """Raise if the model acts and may not read what the window shows."""
        if allowed is not None:  # the state may be newer than the render
            self.secrets.check(self.secrets.withheld(), allowed)

    def _run(self, call: Call, actor: Actor, allowed: frozenset[str] | None) -> str | Job:
        with self.secrets.reading(allowed) as reading:
            try:
                result = self.transactions.run(call, actor)
            except ContextUIError as problem:
                if reading.refused is not None:
                    raise reading.refused from problem
                raise
        if reading.disclosed:
            self.renders.redraw()
        return result

    def _unstable(self, intent: Intent) -> PreviewError:
        return PreviewError(
            "{name} did not run: its effect changed each time after it was approved.",
            name=intent.name,
        )


def runtime_of(window: Window) -> Runtime:
    """Return the framework's side of an open window, for the program and for widgets.

    It is a function and not an attribute: a window's actions may have any name.
    """
    if not isinstance(window._runtime, Runtime):
        raise WindowClosedError("This {name} window was never opened.", name=window.name)
    return window._runtime
