"""`Runtime` of one open window: runs hooks, actions and timers in transactions, and previews."""

import asyncio
import inspect
import os
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, Field

from contextui import text
from contextui.errors import (
    ActionError,
    ActionFailedError,
    ConflictError,
    ContextUIError,
    UnknownActionError,
    WindowBusyError,
)
from contextui.events import (
    Actor,
    JobsChanged,
    WindowActed,
    WindowCommitted,
    WindowNotified,
)
from contextui.files.errors import SecretFileError
from contextui.text import one_line
from contextui.windowing.action import Action, ActionResult, Params
from contextui.windowing.anchor import Allow, Intent, Permit, resolve_intent
from contextui.windowing.blocks import change_block, is_same
from contextui.windowing.env import Place, SecretReads
from contextui.windowing.job import Job, JobError, Jobs, current_job, listed
from contextui.windowing.preview import Preview, PreviewError, checked
from contextui.windowing.render import MOST_CONTENT, Renders
from contextui.windowing.snapshot import ContextVersion, HistoryEntry, Lod, Snapshot
from contextui.windowing.transaction import Call, StateStore
from contextui.windowing.trouble import reason_in
from contextui.windowing.worker import PATIENCE, Time, Worker, finished
from contextui.words import Lang, Words, msg

if TYPE_CHECKING:
    from contextui.processes import Process
    from contextui.windowing.window import Window


class History:
    """The actions run on a window and their results; the oldest are dropped.

    Args:
        limit: The maximum number of entries.
    """

    def __init__(self, limit: int) -> None:
        self._limit, self._round = limit, 0
        self._lock = threading.Lock()
        self.entries: tuple[HistoryEntry, ...] = ()

    def note(self, action_id: str, result: ActionResult, now: datetime) -> None:
        """Append an action and its result."""
        with self._lock:
            self._round += 1
            entry = HistoryEntry(
                round=self._round,
                action=action_id,
                result=one_line(result.text, 200),
                timestamp=now,
            )
            self.entries = self._newest((*self.entries, entry))

    def recall(self, entries: Sequence[HistoryEntry]) -> None:
        """Restore the entries of an earlier run."""
        with self._lock:
            self.entries = self._newest(tuple(entries))
            self._round = entries[-1].round if entries else 0

    def _newest(self, entries: tuple[HistoryEntry, ...]) -> tuple[HistoryEntry, ...]:
        return entries[max(0, len(entries) - self._limit) :]


_WINDOW = "contextui.windowing.window"  # the module of `Window`
_TICK_FAILURES = 3  # consecutive failures after which a timer is stopped
_MAX_APPROVALS = 5  # times that an action may change between approval and execution


class _ChangedError(ContextUIError):
    """The action's effect differs from what was approved."""


def _close(window: object, summary: str | None = None) -> None:
    """Declare the params of `close`, which every window has."""


class _CloseAction(Action):
    def labelled(self, lang: Lang) -> str:
        return Words(lang)(self.label)


CLOSE = _CloseAction("close", msg("Close"), "state", Params(_close, "Window"))
"""The `close` action that every window has."""

ClosingReason = Literal["closed", "exit"]
"""Why a window closes: it was closed, or the program exits."""


def _wait(window: object, seconds: Annotated[float, Field(ge=0, le=3_600)] = 60) -> None:
    """Declare the params of `wait`."""


def _cancel(window: object, job: int | None = None) -> None:
    """Declare the params of `cancel`."""


def _describe(window: object, action_id: str) -> None:
    """Declare the params of `describe`."""


BUILT_IN = {
    "wait": Params(_wait, "Window"),
    "cancel": Params(_cancel, "Window"),
    "describe": Params(_describe, "Window"),
}
"""The actions that every window has beside its queue; its own of the same name comes first."""

News = Literal["ended", "notified", "spoken", "closed"]
"""What ends a wait: a job's end, a notification, the person's words, or that the window closed."""


class Waits:
    """Those who wait until something happens in a window."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: list[Future[News]] = []

    def add(self) -> "Future[News]":
        """Return a future that is done at the next news."""
        future: Future[News] = Future()
        with self._lock:
            self._waiting.append(future)
        return future

    def remove(self, future: "Future[News]") -> None:
        """Forget a future."""
        with self._lock, suppress(ValueError):
            self._waiting.remove(future)

    def end(self, news: News) -> None:
        """End all waits."""
        with self._lock:
            waiting, self._waiting = self._waiting, []
        for future in waiting:
            future.set_result(news)


def _done(text: str) -> ActionResult:
    return ActionResult(True, text)


class Runtime:
    """The framework's side of an open window.

    All code of the window's author runs on `worker`; the rest of the program takes finished renders
    only.

    Attributes:
        place: The window's id, session and environment.
        worker: The window's own thread.
        store: The current state and its version.
        renders: The finished renders.
        history: The actions run on it.
        focus_id: The target of the anchor that was acted on last.
        secrets: The files it has read that may hold secrets.
        jobs: Its jobs.
        commit_input: Commits what the person has typed on the screen and not submitted yet.
    """

    def __init__(self, window: "Window", place: Place, lod: Lod, version: ContextVersion) -> None:
        self.window, self.place = window, place
        clock = place.env.clock
        self.worker = Worker(place.window_id, clock if isinstance(clock, Time) else None)
        self.store = StateStore(window, place, lod, version)
        self.secrets = SecretReads(window, place)
        self.renders = Renders(window, place, self.store, self.worker, self.secrets)
        self.history = History(window.history_limit)
        self.focus_id: str | None = None
        self.commit_input: Callable[[], Awaitable[None]] | None = None
        self.interrupted: tuple[str, ...] = ()
        """The jobs that were running when an earlier run ended."""
        self.is_new = False
        """Whether the window was opened in this run, not restored."""
        self.ending: Future[None] | None = None
        """Done when the window has ended; None until `end` is called."""
        self.jobs = Jobs(
            self.worker,
            progressed=self._show_progress,
            listed=self._save_jobs,
            over=self._end_processes,
            ended=self._end_job,
        )
        self.renders.jobs = self.jobs.running
        self._waits = Waits()
        self._processes: dict[Process, Job | None] = {}
        self._seen: tuple[ContextVersion, str] | None = None
        self._warned = ContextVersion(0)
        self._new_timers: list[Callable[[], None]] = []
        self._opening: tuple[Call, Future[Any]] | None = None

    def take_over(self, other: "Runtime") -> None:
        """Continue for a window of the same id that has ended: its class was replaced."""
        self.history.recall(other.history.entries)
        self.focus_id, self.is_new = other.focus_id, other.is_new
        self.store.changed_by_others = other.store.changed_by_others
        self.secrets.take_over(other.secrets)
        self._seen, self._warned = other._seen, other._warned

    def snapshot(self, lod: Lod | None = None) -> Snapshot:
        """Return the render's snapshot, with the current history and focus."""
        snapshot = self.renders.at(lod).snapshot
        custom = self.store.frozen(snapshot.state.custom)
        state = snapshot.state.model_copy(update={"focus_id": self.focus_id, "custom": custom})
        history = self.history.entries or None
        return snapshot.model_copy(update={"history": history, "state": state})

    # --- actions -----------------------------------------------------------------------

    def start(
        self,
        hook: Callable[..., Any],
        arguments: dict[str, Any],
        *,
        first: bool,
        allowed: frozenset[str] | None = None,
    ) -> "Future[Any]":
        """Run the hook that opens the window, then render it; the future has its exception.

        Args:
            hook: `opened` or `restored`.
            arguments: Its arguments.
            first: Whether its result is the window's first version instead of a newer one.
            allowed: See `SecretReads.reading`.
        """

        call = Call(hook, arguments)
        self.is_new, self.store.is_opening = first, True

        def open_it() -> None:
            self.store.publish()
            self.store.edited_by_person = not first  # restored edits may be the person's
            try:
                with self.secrets.reading(allowed):
                    self._transact(call, "window", first=first)
            except SecretFileError:  # the person is asked, then the window is opened again
                raise
            except ContextUIError as problem:
                lang = self.place.env.lang
                notice = self.place.words(
                    "did not open: {reason}", reason=text.one_line(problem.text(lang), 1_000)
                )
                self.renders.replacement = f"{self.place.window_id} {notice}"
                self.place.warn(notice)
                raise
            finally:
                self.store.is_opening = False

        opening = self.worker.submit(open_it)
        self._opening = call, opening
        self.renders.request()
        return opening

    @property
    def opening(self) -> "Future[Any] | None":
        """The future of the hook that opens the window; it may be done."""
        return self._opening[1] if self._opening else None

    def stop_opening(self) -> None:
        """Cancel the hook that opens the window, if it still runs: its changes are discarded."""
        if self._opening is not None:
            self._opening[0].cancel()

    def end(self, reason: ClosingReason = "closed") -> "Future[None]":
        """Cancel its jobs, run the window's `closed` hook, then stop its thread.

        Returns:
            A future that is done after that.
        """
        self.stop_opening()
        self.ending = ended = Future[None]()

        def run_closed_hook() -> None:
            try:
                if self.worker.alone is not None:
                    self.worker.run(self.jobs.end())
                hook = self.window.closed
                given = (reason,) if inspect.signature(hook).parameters else ()
                with self.store.inside():
                    Call(partial(hook, *given), {}).run(self.worker.run)
            except BaseException as problem:
                self.place.warn(
                    self.place.words("closed() failed: {reason}", reason=self._reason(problem))
                )
            finally:
                if self._processes:
                    self.worker.run(self._end_processes())
                ended.set_result(None)

        self._waits.end("closed")
        self.worker.stop(run_closed_hook)
        return ended

    @property
    def has_end(self) -> bool:
        """Whether something has to be done when the window closes."""
        return self.worker.alone is not None or type(self.window).closed.__module__ != _WINDOW

    async def act(
        self,
        action_id: str,
        params: Mapping[str, Any],
        actor: Actor,
        allow: Allow | None = None,
    ) -> ActionResult:
        """Run an action, or an anchor's action, and return its result."""
        try:
            if action_id in BUILT_IN and action_id not in self.window.actions:
                result = await self._act_beside(action_id, params)
            else:
                result = await self._act(action_id, params, actor, allow)
        except ContextUIError as error:
            result = ActionResult.failed(error, self.window.env.lang)
        named = text.one_line(action_id, 120)  # the requested id may be anything
        self.history.note(named, result, self.place.now())
        self.place.emit(WindowActed(self.place.window_id, named, actor, result.ok, result.text))
        return result

    async def _act(
        self, action_id: str, params: Mapping[str, Any], actor: Actor, allow: Allow | None
    ) -> ActionResult:
        await self._await_anchors(action_id)
        intent = resolve_intent(self.window, action_id, params, self.renders.latest().anchors)
        if actor == "model" and intent.effect != "read":
            await self.commit_typed()
            self._check_conflict()
        result = await self._carry_out_allowed(intent, actor, allow)
        self.focus_id = intent.target or self.focus_id
        return result

    def note_seen(self, version: ContextVersion) -> None:
        """Note the version that the model saw last: it is in the request that is sent now."""
        shown = self.renders.latest()
        self._seen = version, shown.xml if shown.version == version else ""

    def _check_conflict(self) -> None:
        """Refuse a model's action once if others have changed the window since it saw it.

        Raises:
            ConflictError: With the change.
        """
        theirs = self.store.changed_by_others
        if self._seen is None or theirs is None or theirs <= max(self._seen[0], self._warned):
            return
        before, now = self._seen[1], self.renders.latest()
        if before and is_same(before, now.xml):
            return
        self._warned = theirs
        shown = (before and change_block(before, now.xml)) or now.xml
        raise ConflictError(
            self.place.words(
                "Not carried out: {id} has changed since you saw it. Call the action again if it "
                "still fits.\n{change}",
                id=self.place.window_id,
                change=shown,
            )
        )

    async def preview(self, action_id: str, params: Mapping[str, Any]) -> Preview | None:
        """Return what an action, or an anchor's action, would change outside the window.

        Returns:
            The window's preview; None if it provides none.

        Raises:
            ContextUIError: The action cannot be called like this, or its preview failed.
        """
        await self._await_anchors(action_id)
        intent = resolve_intent(self.window, action_id, params, self.renders.latest().anchors)
        return await self.preview_of(intent)

    async def preview_of(self, intent: Intent) -> Preview | None:
        """Return the preview of a resolved intent."""
        making = self.worker.submit(lambda: self._preview(intent))
        await finished([making], PATIENCE)
        if not making.done():
            making.cancel()
            raise self._no_preview(
                self.place.words("{id} did not answer in time.", id=self.place.window_id)
            )
        return making.result()

    def every(self, seconds: float, function: Callable[[], object]) -> Callable[[], None]:
        """Call the function periodically, each time in a transaction; returns the stop function."""
        failures = 0

        def tick() -> None:
            nonlocal failures
            try:
                self._transact(Call(function, {}), "window")
                failures = 0
            except BaseException as problem:
                failures += 1
                self.place.warn(
                    self.place.words("a timer failed: {reason}", reason=self._reason(problem))
                )
                if failures == _TICK_FAILURES:
                    end()

        end = self.worker.every(seconds, tick)
        self._new_timers.append(end)
        return end

    # --- jobs and notifications ----------------------------------------------------------

    @asynccontextmanager
    async def change(self) -> AsyncIterator[None]:
        """Change the state in a transaction of its own; see `Env.change`."""
        store, job = self.store, current_job.get()
        if store.is_inside:  # part of the running transaction
            yield
            return
        if self.worker.alone is None or not self.worker.is_own_thread:
            raise JobError("change() is only for the window's own jobs and tasks.")
        async with self.worker.alone:
            await self._check_not_cancelled(job)
            self._new_timers.clear()
            store.begin()
            try:
                with store.inside():
                    yield
                changed = store.check()
                await self._check_not_cancelled(job)
            except BaseException:
                self._undo()
                raise
            store.commit()
            self.jobs.launch()
            self._publish(changed, "window", is_job=True)

    @staticmethod
    async def _check_not_cancelled(job: Job | None) -> None:
        if job is not None and job.state == "cancelled":
            await asyncio.sleep(0)  # even a job that goes on regardless must not block the thread
            raise asyncio.CancelledError

    async def process(
        self,
        argv: Sequence[str],
        *,
        cwd: Path | str | None = None,
        env: Mapping[str, str] | None = None,
        **streams: Any,
    ) -> "Process":
        """Start a process that ends with its job and with the window; see `ProcessStarter`."""
        from contextui.processes import start, without_keys  # noqa: PLC0415  (few windows need it)

        if not self.worker.is_own_thread:
            raise JobError("A process is started only inside the window's own async code.")
        files, job = self.place.env.files, current_job.get()
        folder = cwd if cwd is not None else files.root if files is not None else os.getcwd()
        environ = env if env is not None else without_keys(os.environ)
        process = await start(argv, cwd=folder, env=environ, **streams)
        self._processes[process] = job
        if job is not None:
            job.on_cancel(process.terminate)
            if job.state == "cancelled":
                process.terminate()
        return process

    async def _end_processes(self, job: Job | None = None) -> None:
        """End the processes of a job; without one, all of the window."""
        ending = [one for one, its in self._processes.items() if job is None or its is job]
        for one in ending:
            self._processes.pop(one, None)
        await asyncio.gather(*(one.end() for one in ending))

    def notify(self, words: str) -> None:
        """Report something to the model with its next step, and to the person."""
        self.place.emit(WindowNotified(self.place.window_id, one_line(str(words), 500)), False)
        self._waits.end("notified")

    def end_waits(self) -> None:
        """End all waits, because the person has written something."""
        self._waits.end("spoken")

    def _save_jobs(self) -> None:
        """Save which jobs are running: a resumed session reports that they were interrupted."""
        self.store.jobs = tuple(one.name for one in self.jobs.running())
        version = self.store.version.after_detail()
        if self.store.advance(version):
            self.place.emit(WindowCommitted(self.place.window_id, str(version), "window"), False)
            self.renders.request()

    def _show_progress(self) -> None:
        self.place.emit(JobsChanged(self.place.window_id, tuple(self.jobs.running())), False)
        self.renders.redraw()

    def _end_job(self, job: Job, is_reported: bool) -> None:
        """Run the `job_ended` hook, and report the end of a job that no action waits for."""
        hook = self.window.job_ended
        if type(self.window).job_ended.__module__ != _WINDOW:
            self.worker.submit(lambda: self._after_job(partial(hook, job)))
        if not is_reported:
            return
        words = text.one_line(self._end_of(job).text, 500)
        self.place.emit(WindowNotified(self.place.window_id, words), False)
        self._waits.end("ended")

    def _after_job(self, hook: Callable[[], object]) -> None:
        try:
            self._transact(Call(hook, {}), "window")
        except BaseException as problem:
            self.place.warn(
                self.place.words("job_ended() failed: {reason}", reason=self._reason(problem))
            )

    def _end_of(self, job: Job) -> ActionResult:
        words, name = self.place.words, job.name
        match job.state:
            case "cancelled":
                return ActionResult(False, words("{name} was cancelled.", name=name))
            case "failed":
                reason = self._reason(job.error) if job.error else ""
                return ActionResult(
                    False, words("{name} failed: {reason}", name=name, reason=reason)
                )
            case _ if job.result is None:
                return _done(words("{name} is done.", name=name))
        return _done(self._result_text(job.result))

    async def _result_of(self, job: Job) -> ActionResult:
        """Wait for a job that an action returned, as long as the action wants."""
        await finished([job.ended], job.wait)
        if not self.jobs.leave(job) or job.ended.done():
            await finished([job.ended], None)
            return self._end_of(job)
        return _done(
            self.place.words(
                "{name} goes on as job {number}. wait(seconds) waits for it, cancel(job) ends it.",
                name=job.name,
                number=job.number,
            )
        )

    async def _act_beside(self, action_id: str, params: Mapping[str, Any]) -> ActionResult:
        """Run an action that every window has, beside its queue."""
        name, lang = f"{self.place.window_id}.{action_id}", self.place.env.lang
        given = BUILT_IN[action_id].validate(params, name, lang)
        if action_id == "describe":
            return _done(self._described(given["action_id"]))
        if action_id == "wait":
            return await self._wait_for_news(float(given.get("seconds", 60)))
        number = given.get("job")
        job = self.jobs.get(number)
        if job is None or not job.cancel():
            running = listed(self.jobs.running()) or self.place.words("none")
            raise JobError("There is no such job. Running: {jobs}.", jobs=running)
        return _done(self.place.words("{name} was cancelled.", name=job.name))

    def _described(self, action_id: str) -> str:
        lang, known = self.place.env.lang, self.window.actions.get(action_id)
        if known is None:
            raise UnknownActionError(
                self.place.words(
                    "{id} has no action {name}. It has: {names}.",
                    id=self.place.window_id,
                    name=text.quote(action_id),
                    names=", ".join([*self.window.actions, "close"]),
                )
            )
        return text.for_model(known.described(lang))

    async def _wait_for_news(self, seconds: float) -> ActionResult:
        words, news = self.place.words, self._waits.add()
        try:
            if not self.jobs.running():
                return _done(words("No job is running."))
            await finished([news], seconds)
        finally:
            self._waits.remove(news)
        running = listed(self.jobs.running())
        lines = [words("Running: {jobs}", jobs=running) if running else words("No job is running.")]
        if not news.done():
            lines.insert(0, words("{seconds:g} s have passed.", seconds=seconds))
        elif news.result() == "spoken":
            lines.insert(0, words("The person has written something."))
        return _done(" ".join(lines))

    async def commit_typed(self) -> None:
        """Commit what the person is typing: before a model acts, or the window's code changes."""
        if self.commit_input is not None:
            with suppress(Exception):  # a failure of the screen must not stop the model
                async with asyncio.timeout(PATIENCE):
                    await self.commit_input()

    async def _await_anchors(self, action_id: str) -> None:
        """Wait until the window is open, and for a pending render that may have the anchor.

        Raises:
            WindowBusyError: The window is still opening.
        """
        if self._opening is not None and self.store.is_opening:
            await finished([self._opening[1]], PATIENCE)
        if self.store.is_opening:
            raise WindowBusyError(
                self.place.words(
                    "{id} is still opening. Try again when it has opened.", id=self.place.window_id
                )
            )
        if action_id not in self.window.actions and (drawing := self.renders.pending()):
            await finished([drawing], PATIENCE)

    async def _carry_out_allowed(
        self, intent: Intent, actor: Actor, allow: Allow | None
    ) -> ActionResult:
        """Ask for approval and run the action; ask again if its preview has changed since."""
        if allow is None:
            return await self._carry_out(intent, actor)
        allowed = frozenset[str]()
        note = ""
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
                return await self._carry_out_noted(note, intent, actor, permit, allowed)
            except _ChangedError:
                intent = replace(intent, changed=permit is not None)
            except SecretFileError as error:
                await allow(replace(intent, reads=error.path))
                allowed |= {error.real}
        raise PreviewError(
            self.place.words(
                "{name} did not run: its effect changed each time after it was approved.",
                name=intent.name,
            )
        )

    async def _carry_out_noted(
        self,
        note: str,
        intent: Intent,
        actor: Actor,
        permit: Permit | None,
        allowed: frozenset[str],
    ) -> ActionResult:
        """Run the action; its result or its error begins with what the person edited."""
        try:
            result = await self._carry_out(intent, actor, permit, allowed)
        except (_ChangedError, SecretFileError):
            raise
        except ContextUIError as error:
            if not note:
                raise
            words, reason = self.place.words, error.text(self.place.env.lang)
            raise ActionError(words("{note}\n{reason}", note=note, reason=reason)) from error
        return replace(result, text=f"{note}\n{result.text}") if note else result

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
            if permit.covers(await self.preview_of(intent)):
                return None
            intent = replace(intent, changed=True)
        raise PreviewError(
            self.place.words(
                "{name} did not run: its effect changed each time after it was approved.",
                name=intent.name,
            )
        )

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
            if allowed is not None:  # the state may be newer than the render
                self.secrets.check(self.secrets.withheld(), allowed)
            if permit is not None and not permit.covers(self._preview(intent)):
                raise _ChangedError
            # Without a permit there was no preview: the window may have been too busy for one, and
            # edits of the person may be queued before this action.
            if permit is None and allowed is not None and self._discards_edits(intent):
                raise _ChangedError
            if actor == "model" and intent.effect != "read":
                self._check_conflict()
            with self.secrets.reading(allowed) as reading:
                try:
                    result = self._transact(call, actor)
                except ContextUIError as problem:
                    if reading.refused is not None:
                        raise reading.refused from problem
                    raise
            if reading.disclosed:
                self.renders.redraw()
            return result

        outcome = self.worker.submit(run)
        seconds = self.window.action_seconds
        try:
            await finished([outcome], seconds)
        finally:  # timed out or cancelled: unless it has committed, roll it back
            cancelled = not outcome.done() and call.cancel()
            if cancelled:
                outcome.cancel()
        if cancelled:
            late = self.place.words(
                "{id} did not answer within {seconds:g} s.",
                id=self.place.window_id,
                seconds=seconds,
            )
            raise WindowBusyError(
                self.place.words("{reason} The window is unchanged.", reason=late)
            )
        await finished([outcome], None)
        result = outcome.result()
        return await self._result_of(result) if isinstance(result, Job) else _done(result)

    def _preview(self, intent: Intent) -> Preview | None:
        """Compute the preview on the window's thread, where the state does not change."""
        window, words = self.window, self.place.words
        call = Call(lambda: window.preview(intent.action.id, intent.arguments), {})
        with self.store.read_only("preview()"):
            try:
                if intent.action is CLOSE:
                    return self._closing_preview(call, intent)
                return checked(call.run(self.worker.run), intent.name, words)
            except ContextUIError as problem:
                raise self._no_preview(problem.text(self.place.env.lang)) from problem
            except BaseException as problem:
                raise self._no_preview(self._reason(problem)) from problem

    def _discards_edits(self, intent: Intent) -> bool:
        """Whether an action without the effect `write` would discard edits of the person."""
        if intent.effect == "write" or not self.store.edited_by_person:
            return False
        try:
            preview = self._preview(intent)
        except PreviewError:  # a window need not have a preview of every action
            return False
        return preview is not None and preview.verb == "close" and preview.changes

    def _closing_preview(self, call: Call, intent: Intent) -> Preview:
        """Return what closing would discard: the window's preview, or else its `unsaved` text."""
        unsaved = text.one_line(self.window.unsaved() or "", 1_000)
        if not unsaved:
            return Preview(self.place.window_id, verb="close", changes=False)
        with suppress(Exception):  # not every window's preview knows `close`
            preview = checked(call.run(self.worker.run), intent.name, self.place.words)
            if preview and preview.verb == "close" and preview.changes:
                return preview
        return Preview(self.place.window_id, text=unsaved, verb="close")

    def _no_preview(self, reason: str) -> PreviewError:
        return PreviewError(
            self.place.words(
                "There is no preview, so it cannot be approved: {reason}",
                reason=text.one_line(reason, 1_000),
            )
        )

    def _transact(self, call: Call, actor: Actor, first: bool = False) -> str | Job:
        """Run a call on the window's thread: execute, validate, and commit or roll back."""
        store = self.store
        self._new_timers.clear()
        try:
            store.begin()
            with store.inside():
                result = self._checked_result(call.run(self.worker.run))
            changed = store.check()
            if not call.commit():
                raise WindowBusyError(
                    self.place.words("{id}: cancelled before it finished.", id=self.place.window_id)
                )
        except BaseException as problem:
            self._undo()
            if isinstance(problem, ContextUIError):
                raise
            reason = f"{self._reason(problem)}."
            if not first:
                reason = self.place.words("{reason} The window is unchanged.", reason=reason)
            raise ActionFailedError(reason) from problem
        store.commit()
        self.jobs.launch()
        if first:
            store.publish()
            return result
        self._publish(changed, actor)
        return result

    def _undo(self) -> None:
        """Roll back the running transaction."""
        for end_timer in self._new_timers:
            end_timer()
        self.jobs.discard()
        self.store.rollback()

    def _publish(self, changed: bool, actor: Actor, *, is_job: bool = False) -> None:
        """Save and render the committed state."""
        store, renders = self.store, self.renders
        renders.replacement = None
        if changed:
            store.edited_by_person |= actor == "person"
            store.publish(store.version.after_data())
            if actor == "person" or (is_job and self.window.job_conflicts):
                store.changed_by_others = store.version
            version = str(store.version)
            self.place.emit(WindowCommitted(self.place.window_id, version, actor), False)
            renders.request()
        elif (shown := renders.current()) and shown.snapshot.error:
            renders.redraw()

    def _reason(self, problem: BaseException) -> str:
        return reason_in(type(self.window), problem, self.place.env.lang)

    def _checked_result(self, result: object) -> str | Job:
        return result if isinstance(result, Job) else self._result_text(result)

    def _result_text(self, result: object) -> str:
        if isinstance(result, BaseModel):
            result = result.model_dump_json()
        shown = self.place.words("Done.") if result is None else str(result)
        return text.for_model(text.cap(shown, min(self.window.max_content, MOST_CONTENT)))
