"""What goes on beside a window's actions: jobs and their ends, processes, waits, notifications."""

import asyncio
import contextvars
import inspect
import os
import threading
import types
from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from contextui import text
from contextui.events import Actor, JobsChanged, JobState, Progress, WindowCommitted, WindowNotified
from contextui.windowing.action import BUILT_IN, ActionCancelledError, ActionResult, unknown_action
from contextui.windowing.core import WindowCore
from contextui.windowing.job import Job, JobError, current_job
from contextui.windowing.render import Renders
from contextui.windowing.worker import Worker, finished
from contextui.words import Message

if TYPE_CHECKING:
    from contextui.processes import Process

MOST_JOBS = 32
"""Maximum number of jobs of a window that run at a time."""

_LONGEST_NAME = 200  # characters
_PERIOD = 0.1  # seconds between two reports of progress
_GRACE = 2.0  # seconds that cancelled jobs have to end when their window closes


class Jobs:
    """The jobs of one window, their processes, and the actions that need not wait for its queue."""

    def __init__(self, core: WindowCore, renders: Renders, ended: Callable[[Job], object]) -> None:
        self._core, self._worker, self._renders = core, core.worker, renders
        self._ended, self._is_closing = ended, False
        self._lock = threading.Lock()
        self._running: dict[int, tuple[Job, asyncio.Task[None]]] = {}
        self._added: list[tuple[Job, Callable[[Job], Awaitable[object]]]] = []
        self._last = 0
        self._reports = False
        self._processes: dict[Process, Job | None] = {}
        self.waiting = set[Future[bool]]()  # for something to happen: True if a person has written
        renders.jobs = self.running

    def _unended(self) -> list[Job]:
        with self._lock:
            return [job for job, _ in self._running.values()]

    def _live(self) -> list[Job]:
        return [job for job in self._unended() if job.state == "running"]

    def running(self) -> list[Progress]:
        """Return the jobs that are running, in the order in which they started."""
        return [job.at for job in self._live()]

    def unended(self) -> list[str]:
        """Return the names of the jobs that have not ended, even if they were cancelled."""
        return [job.name for job in self._unended()]

    def get(self, number: int | None = None) -> Job | None:
        """Return a running job by its number; without one, the only or the last job."""
        return next((one for one in reversed(self._live()) if number in (None, one.number)), None)

    # --- on the window's thread ----------------------------------------------------------

    def add(
        self,
        name: str,
        work: Callable[[Job], Awaitable[object]],
        *,
        wait: float = 0.0,
        quiet: bool = False,
    ) -> Job:
        """Start a job when the running transaction is committed; see `JobStarter`."""
        if not self._worker.is_own_thread:
            raise JobError("A job is started only inside the window's own actions, hooks and jobs.")
        if len(self._running) + len(self._added) >= MOST_JOBS:
            raise JobError("{count} jobs are running, which is the maximum.", count=MOST_JOBS)
        self._last += 1
        short = text.one_line(str(name), _LONGEST_NAME) or "job"
        job = Job(self._last, short, wait, quiet, report=self._report, cancel=self.cancel)
        self._added.append((job, work))
        return job

    def launch(self) -> None:
        """Start the jobs that the committed transaction added, unless the window closes."""
        if self._is_closing:
            self.discard()
        added, self._added = self._added, []
        for job, work in added:
            context = contextvars.Context()  # not that of the action, in which the state is live
            context.run(current_job.set, job)
            task = self._worker.loop.create_task(self._run(job, work), context=context)
            with self._lock:
                self._running[job.number] = job, task
        if added:
            self._save()

    def discard(self) -> None:
        """Cancel the jobs that a transaction added which was rolled back."""
        for job, _ in self._added:
            job._end("cancelled")
            job._call_ends()
            job.ended.set_result(None)
        self._added.clear()

    async def _run(self, job: Job, work: Callable[[Job], Awaitable[object]]) -> None:
        try:
            with self._worker.busy():
                awaitable = work(job)
            if not inspect.isawaitable(awaitable):
                raise TypeError(f"the work of the job {job.name!r} is not async: write async def")
            result = await _stepped(awaitable, self._worker)
        except asyncio.CancelledError:
            await self._finish(job, "cancelled")
        except BaseException as problem:
            job.error = problem
            await self._finish(job, "failed")
        else:
            job.result = result
            await self._finish(job, "done")

    async def _finish(self, job: Job, state: JobState) -> None:
        with suppress(Exception, asyncio.CancelledError):  # its processes end with the window, too
            await self.end_processes(job)
        with self._lock:
            self._running.pop(job.number, None)
            if job.state == "running":
                job._end(state)
            is_reported = not (job.is_awaited or job.is_quiet or self._is_closing)
        if not self._is_closing:
            self._save()
        job.turn = None
        self._ended(job)
        if is_reported:
            self.notify(self._end_of(job).text)
        job.ended.set_result(None)

    def _save(self) -> None:
        """Save which jobs are running: a resumed session reports that they were interrupted."""
        self._core.jobs = tuple(one.name for one in self.running())
        version = self._core.version.after_detail()
        if self._core.advance(version):
            self._core.emit(WindowCommitted(self._core.id, str(version), "window"), False)
            self._renders.request()
        self._report()

    async def end(self) -> None:
        """Cancel all jobs because the window closes, and wait a moment until they have ended.

        They are still listed as running, so that a resumed session reports them as interrupted.
        """
        self._is_closing = True
        with self._lock:
            running = list(self._running.values())
        for job, _ in running:
            self.cancel(job)
        if running:
            await asyncio.wait([task for _, task in running], timeout=_GRACE)

    # --- on any thread -------------------------------------------------------------------

    def cancel(self, job: Job) -> bool:
        """Cancel a job; see `Job.cancel`."""
        with self._lock:
            found = self._running.get(job.number)
            if found is None or job.state != "running":
                return False
            job._end("cancelled")
        job._call_ends()
        self._worker.call_soon(found[1].cancel)
        self._report()
        return True

    def cancel_all(self) -> list[str]:
        """Cancel all jobs; return the names of those that were running."""
        return [job.name for job in self._unended() if self.cancel(job)]

    def _report(self) -> None:
        """Report how far the jobs are, now or within a tenth of a second."""
        with self._lock:
            if self._reports:
                return
            self._reports = True
        self._worker.call_soon(lambda: self._worker.loop.call_later(_PERIOD, self._report_now))

    def _report_now(self) -> None:
        with self._lock:
            self._reports = False
        self._core.emit(JobsChanged(self._core.id, tuple(self.running())), False)
        self._renders.redraw()

    def notify(self, words: str) -> None:
        """Report something to the model with its next step, and to the person."""
        line = text.one_line(str(words), 500)
        self._core.emit(WindowNotified(self._core.id, line), False)
        self.end_waits()

    def end_waits(self, *, spoken: bool = False) -> None:
        """End every `wait`, because something was reported or the person has written."""
        with self._lock:
            waiting, self.waiting = self.waiting, set()
        for future in waiting:
            future.set_result(spoken)

    # --- processes -----------------------------------------------------------------------

    @property
    def has_processes(self) -> bool:
        """Whether a process that the window started has not been ended."""
        return bool(self._processes)

    async def process(
        self,
        argv: Sequence[str],
        /,
        *,
        cwd: Path | str | None = None,
        env: Mapping[str, str] | None = None,
        **streams: Any,
    ) -> "Process":
        """Start a process that ends with its job and with the window; see `ProcessStarter`."""
        from contextui.processes import start, without_keys  # noqa: PLC0415  (few windows need it)

        if not self._worker.is_own_thread:
            raise JobError("A process is started only inside the window's own async code.")
        files, job = self._core.env.files, current_job.get()
        folder = cwd if cwd is not None else files.root if files is not None else os.getcwd()
        environ = env if env is not None else without_keys(os.environ)
        process = await start(argv, cwd=folder, env=environ, **streams)
        self._processes[process] = job
        if job is not None:
            job.on_cancel(process.terminate)
            if job.state == "cancelled":
                process.terminate()
        return process

    async def end_processes(self, job: Job | None = None) -> None:
        """End the processes of a job; without one, all of the window."""
        ending = [one for one, its in self._processes.items() if job is None or its is job]
        for one in ending:
            self._processes.pop(one, None)
        await asyncio.gather(*(one.end() for one in ending))

    # --- the ends of jobs ----------------------------------------------------------------

    def _end_of(self, job: Job) -> ActionResult:
        words, name = self._core.words, job.name
        match job.state:
            case "cancelled":
                return ActionResult(False, words("{name} was cancelled.", name=name))
            case "failed":
                reason = self._core.reason(job.error) if job.error else ""
                return ActionResult(
                    False, words("{name} failed: {reason}", name=name, reason=reason)
                )
            case _ if job.result is None:
                return ActionResult(True, words("{name} is done.", name=name))
        return ActionResult(True, self._core.result_text(job.result))

    async def result_of(self, job: Job, actor: Actor) -> ActionResult:
        """Wait for a job that an action returned, as long as the action wants."""
        if actor == "model" and job.is_awaited:
            job.turn = asyncio.current_task()
        try:
            await finished([job.ended], job.wait)
            if not self._leave(job) or job.ended.done():
                await finished([job.ended], None)
                return replace(self._end_of(job), job=job)
        except asyncio.CancelledError:
            self.stop_started(job, actor)
            raise
        return ActionResult(
            True,
            self._core.words(
                "{name} goes on as job {number}. wait(seconds) waits for it, cancel(job) ends it.",
                name=job.name,
                number=job.number,
            ),
            job=job,
        )

    def _leave(self, job: Job) -> bool:
        """Stop waiting for a job's end, which is reported from now on; False if it has ended."""
        with self._lock:
            job.is_awaited = False
            return job.number in self._running

    def stop_started(self, result: str | Job, actor: Actor) -> None:
        """Cancel the job that an action returned, if the stopped turn of a model waits for it."""
        if actor == "model" and isinstance(result, Job) and result.wait > 0:
            self._stop([result])

    def _stop(self, jobs: Sequence[Job]) -> NoReturn:
        for job in jobs:
            job.is_awaited = True  # the error reports its end
            job.cancel()  # one that has ended by now has a result
        ends = [self._end_of(job) for job in jobs]
        words = "\n".join(one.text for one in ends)
        raise ActionCancelledError(ActionResult(all(one.ok for one in ends), words)) from None

    # --- actions that every window has ---------------------------------------------------

    async def act(self, action_id: str, params: Mapping[str, Any]) -> ActionResult:
        """Run an action out of `BUILT_IN`."""
        name, lang = f"{self._core.id}.{action_id}", self._core.around.lang
        given = BUILT_IN[action_id].validate(params, name, lang)
        match action_id:
            case "describe":
                words = self._described(given["action_id"])
            case "wait":
                words = await self._wait(float(given.get("seconds", 60)))
            case _:
                words = self._cancel(given.get("job"))
        return ActionResult(True, words)

    def _described(self, action_id: str) -> str:
        window = self._core.window
        known = window.actions.get(action_id)
        if known is None:
            raise unknown_action(window.id, action_id, window.actions)
        return text.for_model(known.described(self._core.around.lang))

    async def _wait(self, seconds: float) -> str:
        words, news = self._core.words, Future[bool]()
        with self._lock:
            self.waiting.add(news)
        try:
            if not self.running():
                return words("No job is running.")
            await finished([news], seconds)
        except asyncio.CancelledError:
            turn = asyncio.current_task()
            if jobs := [job for job in self._live() if job.turn is turn]:
                self._stop(jobs)
            raise
        finally:
            with self._lock:
                self.waiting.discard(news)
        running = self._listed()
        lines = [words("Running: {jobs}", jobs=running) if running else words("No job is running.")]
        if not news.done():
            lines.insert(0, words("{seconds:g} s have passed.", seconds=seconds))
        elif news.result():
            lines.insert(0, words("The person has written something."))
        return " ".join(lines)

    def _cancel(self, number: int | None) -> str:
        job = self.get(number)
        if job is None or not job.cancel():
            running = self._listed() or Message("none")
            raise JobError("There is no such job. Running: {jobs}.", jobs=running)
        return self._core.words("{name} was cancelled.", name=job.name)

    def _listed(self) -> str:
        """The running jobs in one line, as models read them."""
        return "; ".join(f"{one.job}: {one}" for one in self.running())


@types.coroutine
def _stepped(awaitable: Awaitable[object], worker: Worker) -> Generator[Any, Any, object]:
    """Await something step by step, each recorded as code of the window."""
    steps = awaitable.__await__()
    value: Any = None
    problem: BaseException | None = None
    while True:
        try:
            with worker.busy():
                waited = steps.throw(problem) if problem else steps.send(value)
        except StopIteration as done:
            return done.value
        value = problem = None
        try:
            value = yield waited
        except BaseException as thrown:
            problem = thrown
