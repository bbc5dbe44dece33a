"""Jobs: what a window does beside its actions, with progress, cancelling and a reported end."""

import asyncio
import contextvars
import inspect
import threading
import time
import types
from collections.abc import Awaitable, Callable, Generator, Iterable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from contextui.errors import ContextUIError
from contextui.events import JobState, Progress
from contextui.text import one_line
from contextui.windowing.worker import Worker

MOST_JOBS = 32
"""Maximum number of jobs of a window that run at a time."""

_LONGEST_NAME, _LONGEST_TEXT = 200, 200  # characters
_PERIOD = 0.1  # seconds between two reports of progress
_GRACE = 2.0  # seconds that cancelled jobs have to end when their window closes


class JobError(ContextUIError):
    """A job cannot be started, or there is no such job."""


@dataclass(frozen=True, slots=True)
class CommandResult:
    """What a job returns that ran a command of a shell.

    Attributes:
        text: The result that the model reads.
        status: The exit status; None if it is not known.
        seconds: How long the command ran.
        lines: How many lines it printed, without what it drew on the whole screen.
        last: The last of these lines, as plain text.
        full_screen: Whether it used the whole screen, as an editor does.
    """

    text: str
    status: int | None
    seconds: float
    lines: int = 0
    last: tuple[str, ...] = ()
    full_screen: bool = False

    def __str__(self) -> str:
        return self.text


class Job:
    """Work that goes on beside a window's actions, started with ``self.env.job``.

    Attributes:
        number: Its number in the window.
        name: Its name, as people and models see it.
        wait: Seconds that the action which returns this job waits for its end.
        result: What it returned; None until it is done.
        error: Why it failed; None if it did not.
        ended: A future that is done when the job has ended.
        is_awaited: Whether an action waits for its end, and will report it.
        is_quiet: Whether its end is not reported.
        turn: The task of the model's turn that wants its result; None for a job that a person
            started, or that runs in the background on purpose.
    """

    def __init__(self, jobs: "Jobs", number: int, name: str, wait: float, quiet: bool) -> None:
        self.number, self.name, self.wait = number, name, wait
        self.result: object = None
        self.error: BaseException | None = None
        self.ended: Future[None] = Future()
        self.is_awaited, self.is_quiet = wait > 0, quiet
        self.turn: asyncio.Task[Any] | None = None
        self._jobs = jobs
        self._at = Progress(number, name, started=time.monotonic(), is_quiet=quiet)
        self._ends: list[Callable[[], object]] = []

    @property
    def state(self) -> JobState:
        """Whether it is running, or how it ended."""
        return self._at.state

    @property
    def at(self) -> Progress:
        """How far it is."""
        return self._at

    def progress(
        self, done: float | None = None, total: float | None = None, text: str = ""
    ) -> None:
        """Report how far the job is: shown on the screen at once, and in the next request.

        Args:
            done: How much is done.
            total: How much there is to do.
            text: A few words on where it is.
        """
        if self.state == "running":
            short = one_line(str(text), _LONGEST_TEXT)
            self._at = replace(self._at, done=done, total=total, text=short)
            self._jobs.report()

    def cancel(self) -> bool:
        """Cancel the job, from any thread; return whether it was still running.

        It counts as cancelled at once: it can change nothing any more, and its processes are
        terminated.
        """
        return self._jobs.cancel(self)

    def on_cancel(self, call: Callable[[], object]) -> None:
        """Call a function as soon as the job is cancelled, on the thread that cancels it."""
        self._ends.append(call)

    def _end(self, state: JobState) -> None:
        self._at = replace(self._at, state=state)

    def _call_ends(self) -> None:
        for call in self._ends:
            with suppress(Exception):  # the others are called all the same
                call()


current_job: contextvars.ContextVar[Job | None] = contextvars.ContextVar("job", default=None)
"""The job that the running code belongs to."""


class Jobs:
    """The jobs of one window."""

    def __init__(
        self,
        worker: Worker,
        *,
        progressed: Callable[[], object],
        listed: Callable[[], object],
        over: Callable[[Job], Awaitable[object]],
        ended: Callable[[Job, bool], object],
    ) -> None:
        self._worker, self._progressed, self._listed, self._ended = (
            worker,
            progressed,
            listed,
            ended,
        )
        self._over, self._is_closing = over, False
        self._lock = threading.Lock()
        self._running: dict[int, tuple[Job, asyncio.Task[None]]] = {}
        self._waiting: list[tuple[Job, Callable[[Job], Awaitable[object]]]] = []
        self._last = 0
        self._reports = False

    def running(self) -> list[Progress]:
        """Return the jobs that are running, in the order in which they started."""
        with self._lock:
            jobs = [job for job, _ in self._running.values()]
        return [job.at for job in jobs if job.state == "running"]

    def unended(self) -> list[str]:
        """Return the names of the jobs that have not ended, even if they were cancelled."""
        with self._lock:
            return [job.name for job, _ in self._running.values()]

    def get(self, number: int | None = None) -> Job | None:
        """Return a running job by its number; without one, the only or the last job."""
        with self._lock:
            jobs = [job for job, _ in self._running.values() if job.state == "running"]
        return next((one for one in reversed(jobs) if number in (None, one.number)), None)

    def of_turn(self, turn: "asyncio.Task[Any] | None") -> list[Job]:
        """Return the running jobs whose results a turn wants."""
        with self._lock:
            jobs = [job for job, _ in self._running.values()]
        return [job for job in jobs if job.state == "running" and job.turn is turn is not None]

    # --- on the window's thread ---------------------------------------------------------

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
        if len(self._running) + len(self._waiting) >= MOST_JOBS:
            raise JobError("{count} jobs are running, which is the maximum.", count=MOST_JOBS)
        self._last += 1
        job = Job(self, self._last, one_line(str(name), _LONGEST_NAME) or "job", wait, quiet)
        self._waiting.append((job, work))
        return job

    def launch(self) -> None:
        """Start the jobs that the committed transaction added, unless the window closes."""
        if self._is_closing:
            self.discard()
        waiting, self._waiting = self._waiting, []
        for job, work in waiting:
            context = contextvars.Context()  # not that of the action, in which the state is live
            context.run(current_job.set, job)
            task = self._worker.loop.create_task(self._run(job, work), context=context)
            with self._lock:
                self._running[job.number] = job, task
        if waiting:
            self._listed()
            self.report()

    def discard(self) -> None:
        """Cancel the jobs that a transaction added which was rolled back."""
        for job, _ in self._waiting:
            job._end("cancelled")
            job._call_ends()
            job.ended.set_result(None)
        self._waiting.clear()

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
            await self._over(job)
        with self._lock:
            self._running.pop(job.number, None)
            if job.state == "running":
                job._end(state)
            is_reported = not (job.is_awaited or job.is_quiet)
        if not self._is_closing:
            self._listed()
            self.report()
        job.turn = None
        self._ended(job, is_reported and not self._is_closing)
        job.ended.set_result(None)

    def leave(self, job: Job) -> bool:
        """Stop waiting for a job's end, which is reported from now on; False if it has ended."""
        with self._lock:
            job.is_awaited = False
            return job.number in self._running

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

    # --- on any thread ------------------------------------------------------------------

    def cancel(self, job: Job) -> bool:
        """Cancel a job; see `Job.cancel`."""
        with self._lock:
            found = self._running.get(job.number)
            if found is None or job.state != "running":
                return False
            job._end("cancelled")
        job._call_ends()
        self._worker.call_soon(found[1].cancel)
        self.report()
        return True

    def cancel_all(self) -> list[str]:
        """Cancel all jobs; return the names of those that were running."""
        with self._lock:
            jobs = [job for job, _ in self._running.values()]
        return [job.name for job in jobs if self.cancel(job)]

    def report(self) -> None:
        """Report the list and the progress, now or within a tenth of a second."""
        with self._lock:
            if self._reports:
                return
            self._reports = True
        self._worker.call_soon(lambda: self._worker.loop.call_later(_PERIOD, self._report))

    def _report(self) -> None:
        with self._lock:
            self._reports = False
        self._progressed()


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


def listed(jobs: Iterable[Progress]) -> str:
    """Return the jobs in one line, as models read them."""
    return "; ".join(f"{one.job}: {one}" for one in jobs)
