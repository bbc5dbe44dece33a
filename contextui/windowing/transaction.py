"""Transactions: calls into a window, each of which commits or is rolled back as a whole."""

import asyncio
import inspect
import threading
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

from contextui.errors import ActionFailedError, ContextUIError, WindowBusyError
from contextui.events import Actor, WindowCommitted
from contextui.windowing.conflict import Conflicts
from contextui.windowing.core import WindowCore
from contextui.windowing.job import Job, JobError, Jobs, current_job
from contextui.windowing.render import Renders

_TICK_FAILURES = 3  # consecutive failures after which a timer is stopped


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
        """Execute a call and validate the state, then commit or roll back.
        Returns:
            What the model reads of its result; or the job that it returned.
        """
        core, words = self._core, self._core.words
        self._new_timers.clear()
        try:
            core.begin()
            self.actor = actor
            with core.inside():
                returned: object = call.run(core.worker.run)
                result = returned if isinstance(returned, Job) else core.result_text(returned)
            changed = core.check()
            if not call.commit():
                raise WindowBusyError(words("{id}: cancelled before it finished.", id=core.id))
        except BaseException as problem:
            self._undo()
            if isinstance(problem, ContextUIError):
                raise
            reason = f"{core.reason(problem)}."
            if not first:
                reason = words("{reason} The window is unchanged.", reason=reason)
            raise ActionFailedError(reason) from problem
        finally:
            self.actor = "model"
        core.commit()
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
                changed = core.check()
                await _check_not_cancelled(job)
            except BaseException:
                self._undo()
                raise
            core.commit()
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
                self._core.warn(
                    self._core.words("a timer failed: {reason}", reason=self._core.reason(problem))
                )
                if failures == _TICK_FAILURES:
                    end()

        end = self._core.worker.every(seconds, tick)
        self._new_timers.append(end)
        return end

    def _undo(self) -> None:
        for end_timer in self._new_timers:
            end_timer()
        self._jobs.discard()
        self._core.rollback()

    def _publish(self, changed: bool, actor: Actor, *, is_job: bool = False) -> None:
        core, renders = self._core, self._renders
        renders.replacement = None
        if changed:
            core.edited_by_person |= actor == "person"
            core.publish(core.version.after_data())
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
