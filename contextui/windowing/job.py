"""Jobs: what a window does beside its actions, with progress, cancelling and a reported end."""

import asyncio
import contextvars
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from contextui.errors import ContextUIError
from contextui.events import JobState, Progress
from contextui.text import one_line

_LONGEST_TEXT = 200  # characters


class JobError(ContextUIError):
    """A job cannot be started, or there is no such job."""


@dataclass(frozen=True, slots=True)
class CommandResult:
    """What a job returns that ran a command of a shell.

    Attributes:
        status: The exit status; None if it is not known.
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
        wait: Seconds that the action which returns this job waits for its end.
        ended: A future that is done when the job has ended.
        is_awaited: Whether an action waits for its end, and will report it.
        turn: The task of the model's turn that wants its result; None for a job that a person
            started, or that runs in the background on purpose.
    """

    def __init__(
        self,
        number: int,
        name: str,
        wait: float,
        quiet: bool,
        *,
        report: Callable[[], object],
        cancel: Callable[["Job"], bool],
    ) -> None:
        self.number, self.name, self.wait = number, name, wait
        self.at = Progress(number, name, started=time.monotonic(), is_quiet=quiet)
        self.result: object = None
        self.error: BaseException | None = None
        self.ended: Future[None] = Future()
        self.is_awaited, self.is_quiet = wait > 0, quiet
        self.turn: asyncio.Task[Any] | None = None
        self._report, self._cancel = report, cancel
        self._ends: list[Callable[[], object]] = []

    @property
    def state(self) -> JobState:
        """Whether it is running, or how it ended."""
        return self.at.state

    def progress(
        self, done: float | None = None, total: float | None = None, text: str = ""
    ) -> None:
        """Report how far the job is, and in a few words where; shown on the screen at once."""
        if self.state == "running":
            short = one_line(str(text), _LONGEST_TEXT)
            self.at = replace(self.at, done=done, total=total, text=short)
            self._report()

    def cancel(self) -> bool:
        """Cancel the job, from any thread; return whether it was still running.

        It counts as cancelled at once: it can change nothing any more, and its processes are
        terminated.
        """
        return self._cancel(self)

    def on_cancel(self, call: Callable[[], object]) -> None:
        """Call a function as soon as the job is cancelled, on the thread that cancels it."""
        self._ends.append(call)

    def _end(self, state: JobState) -> None:
        self.at = replace(self.at, state=state)

    def _call_ends(self) -> None:
        for call in self._ends:
            with suppress(Exception):  # the others are called all the same
                call()


current_job: contextvars.ContextVar[Job | None] = contextvars.ContextVar("job", default=None)
"""The job that the running code belongs to."""
