"""What goes on beside a window's actions: jobs and their ends, processes, waits, notifications."""

import asyncio
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from contextui import text
from contextui.errors import UnknownActionError
from contextui.events import Actor, JobsChanged, WindowCommitted, WindowNotified
from contextui.windowing.action import BUILT_IN, ActionCancelledError, ActionResult
from contextui.windowing.core import WindowCore
from contextui.windowing.job import Job, JobError, Jobs, current_job, listed
from contextui.windowing.render import Renders
from contextui.windowing.worker import finished

if TYPE_CHECKING:
    from contextui.processes import Process


class Waits:
    """Those who wait until something happens in a window."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: list[Future[bool]] = []

    def add(self) -> "Future[bool]":
        """Return a future that is done at the next news: True if the person has written."""
        future: Future[bool] = Future()
        with self._lock:
            self._waiting.append(future)
        return future

    def remove(self, future: "Future[bool]") -> None:
        """Forget a future."""
        with self._lock, suppress(ValueError):
            self._waiting.remove(future)

    def end(self, *, spoken: bool = False) -> None:
        """End all waits."""
        with self._lock:
            waiting, self._waiting = self._waiting, []
        for future in waiting:
            future.set_result(spoken)


class Background:
    """The jobs of one window, their processes, and the actions that need not wait for its queue."""

    def __init__(self, core: WindowCore, renders: Renders, ended: Callable[[Job], object]) -> None:
        self._core, self._renders, self._ended = core, renders, ended
        self._processes: dict[Process, Job | None] = {}
        self.waits = Waits()
        self.jobs = Jobs(
            core.worker,
            progressed=self._show_progress,
            listed=self._save_jobs,
            over=self.end_processes,
            ended=self._end_job,
        )
        renders.jobs = self.jobs.running

    # --- processes and notifications -----------------------------------------------------

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

        if not self._core.worker.is_own_thread:
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

    def notify(self, words: str) -> None:
        """Report something to the model with its next step, and to the person."""
        self._report(str(words))
        self.waits.end()

    # --- jobs ----------------------------------------------------------------------------

    def _save_jobs(self) -> None:
        """Save which jobs are running: a resumed session reports that they were interrupted."""
        self._core.jobs = tuple(one.name for one in self.jobs.running())
        version = self._core.version.after_detail()
        if self._core.advance(version):
            self._core.emit(WindowCommitted(self._core.id, str(version), "window"), False)
            self._renders.request()

    def _show_progress(self) -> None:
        self._core.emit(JobsChanged(self._core.id, tuple(self.jobs.running())), False)
        self._renders.redraw()

    def _end_job(self, job: Job, is_reported: bool) -> None:
        """Report the end of a job that no action waits for."""
        self._ended(job)
        if is_reported:
            self._report(self._end_of(job).text)
            self.waits.end()

    def _report(self, words: str) -> None:
        self._core.emit(WindowNotified(self._core.id, text.one_line(words, 500)), False)

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
            if not self.jobs.leave(job) or job.ended.done():
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
        known = self._core.window.actions.get(action_id)
        if known is None:
            raise UnknownActionError(
                self._core.words(
                    "{id} has no action {name}. It has: {names}.",
                    id=self._core.id,
                    name=text.quote(action_id),
                    names=", ".join([*self._core.window.actions, "close"]),
                )
            )
        return text.for_model(known.described(self._core.around.lang))

    async def _wait(self, seconds: float) -> str:
        words, news = self._core.words, self.waits.add()
        try:
            if not self.jobs.running():
                return words("No job is running.")
            await finished([news], seconds)
        except asyncio.CancelledError:
            jobs = self.jobs.of_turn(asyncio.current_task())
            if jobs:
                self._stop(jobs)
            raise
        finally:
            self.waits.remove(news)
        running = listed(self.jobs.running())
        lines = [words("Running: {jobs}", jobs=running) if running else words("No job is running.")]
        if not news.done():
            lines.insert(0, words("{seconds:g} s have passed.", seconds=seconds))
        elif news.result():
            lines.insert(0, words("The person has written something."))
        return " ".join(lines)

    def _cancel(self, number: int | None) -> str:
        job = self.jobs.get(number)
        if job is None or not job.cancel():
            running = listed(self.jobs.running()) or self._core.words("none")
            raise JobError("There is no such job. Running: {jobs}.", jobs=running)
        return self._core.words("{name} was cancelled.", name=job.name)
