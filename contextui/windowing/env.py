"""The environment of a window: language, clock, files, timers, and the gate for secret files."""

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from contextui.errors import NoWorkspaceError
from contextui.events import Actor, Event, Progress, WindowTroubled
from contextui.files.errors import FileError, SecretFileError
from contextui.files.protection import make_private
from contextui.words import Lang, Words

if TYPE_CHECKING:
    from contextui.files.workspace import Workspace
    from contextui.processes import Process
    from contextui.windowing.job import Job
    from contextui.windowing.window import Window


Clock = Callable[[], datetime]


def utc_now() -> datetime:
    """Return the current UTC time."""
    return datetime.now(UTC)


class Opener(Protocol):
    """Opens another window by its class's name."""

    def __call__(self, name: str, /, **args: Any) -> "Window":
        """Open the window and return it."""
        ...


class Timer(Protocol):
    """Calls a function periodically, on the window's own thread, in a transaction."""

    def __call__(self, seconds: float, call: Callable[[], object], /) -> Callable[[], None]:
        """Start the timer; returns the function that stops it."""
        ...


class JobStarter(Protocol):
    """Starts a job: work that goes on beside the window's actions."""

    def __call__(
        self,
        name: str,
        work: "Callable[[Job], Awaitable[object]]",
        /,
        *,
        wait: float = 0.0,
        quiet: bool = False,
    ) -> "Job":
        """Start the job as soon as the running action or hook has committed.

        Args:
            name: Its name, as people and models see it.
            work: An async function, called with the job, in the window's event loop. What it
                returns is the job's result.
            wait: Seconds that the action waits for the job's end if it returns the job; the job's
                result is then the action's.
            quiet: Whether its end is not reported to the model, as that of something that the
                person does.
        """
        ...


class ProcessStarter(Protocol):
    """Starts a process that ends with its job, its window and the program."""

    async def __call__(
        self,
        argv: Sequence[str],
        /,
        *,
        cwd: Path | str | None = None,
        env: Mapping[str, str] | None = None,
        **streams: Any,
    ) -> "Process":
        """Start a program, in a session of its own.

        Args:
            argv: The program and its arguments; no shell is involved.
            cwd: The folder to run in; by default that of the session.
            env: The whole environment; by default the program's own without the keys of model
                providers.
            streams: See `contextui.processes.start`.

        Raises:
            ProcessError: There is no such program or folder.
        """
        ...


@dataclass(frozen=True, slots=True)
class Env:
    """A window's environment, available as ``self.env``.

    Attributes:
        lang: The language of the person.
        clock: Returns the current time.
        open: Opens another window.
        showing: Returns the window that has a file open, if any.
        every: Starts a timer.
        job: Starts a job.
        jobs: Returns how far the running jobs are.
        change: Changes the state in a job or another task of the window, in a transaction of its
            own: it waits for the running action, and is logged and rendered as soon as it commits.
            Inside an action it is part of that action.
        process: Starts a process.
        notify: Reports a line of text to the model, with its next step, and to the person.
        files: The files of the session's folder, if there is one.
        sandbox: Whether commands must run in a sandbox.
        data: The path of the window's own folder in the session, see `data_folder`.
        actor: Returns who runs the current action, "person" or "model".

    Example:
        >>> async def _follow(self, job: Job) -> None:
        ...     async for line in lines:
        ...         async with self.env.change():
        ...             self.state.lines.append(line)
    """

    lang: Lang
    clock: Clock
    open: Opener
    showing: Callable[[str], "Window | None"]
    every: Timer
    job: JobStarter
    change: Callable[[], AbstractAsyncContextManager[None]]
    jobs: Callable[[], Sequence[Progress]]
    process: ProcessStarter
    notify: Callable[[str], None]
    files: "Workspace | None" = None
    sandbox: bool = False
    data: Path | None = None
    actor: Callable[[], Actor] = lambda: "model"

    def data_folder(self) -> Path | None:
        """Create and return the window's own folder for files that are too large for its state.

        The session keeps it beside its log: a resumed window finds its files there. It is private
        to the person, and removed when the window is closed, not when the program exits. None if
        nothing is saved; then use a temporary folder.
        """
        if self.data is not None:
            make_private(self.data)
        return self.data

    def open_file(self, path: str, line: int | None = None) -> str:
        """Open a file in an editor, or go to the one that has it; return which one, in words.

        Args:
            path: The file.
            line: The line to go to; by default an open editor stays where it is.
        """
        from contextui.windowing.host import opening_text  # noqa: PLC0415  (it imports this module)

        given = {} if line is None else {"line": line}
        return opening_text(self.open("editor", path=path, **given), Words(self.lang))

    def say(self, english: str, chinese: str = "", /, **values: object) -> str:
        """Return the text in the window's language, with the values filled in.

        The Chinese texts of contextui's own windows are in its catalogue, those of other windows
        are given here.
        """
        text = chinese if chinese and self.lang == "zh" else english
        return self.words(text, **values)

    @property
    def words(self) -> Words:
        """Translates the messages of contextui's catalogue into the person's language."""
        return Words(self.lang)

    @property
    def workspace(self) -> "Workspace":
        """The files of the session's folder.

        Raises:
            NoWorkspaceError: The session has no folder.
        """
        if self.files is None:
            raise NoWorkspaceError("There is no folder to work in.")
        return self.files


class Emit(Protocol):
    """Emits an event; without `wait`, a thread that is already delivering emits it."""

    def __call__(self, event: Event, wait: bool = True, /) -> None:
        """Emit the event."""
        ...


@dataclass(frozen=True, slots=True)
class Place:
    """A window's id, session and environment, and its event callback."""

    window_id: str
    session_id: str
    env: "Env"
    emit: Emit
    discloses_all: Callable[[], bool] = lambda: False
    """Whether the model may read files that may hold secrets without approval."""

    @property
    def words(self) -> Words:
        """Translates messages about the window into the person's language."""
        return Words(self.env.lang)

    def now(self) -> datetime:
        """Return the current time."""
        return self.env.clock()

    def warn(self, reason: str) -> None:
        """Emit a warning about this window."""
        self.emit(WindowTroubled(self.window_id, reason), False)


class Reading:
    """One call into a window, and the secret files it reads.

    Attributes:
        allowed: The files that may be read; None for all, if the model gets no result.
        refused: The first read that was refused.
        disclosed: Whether the model may read more of the window afterwards.
    """

    def __init__(self, allowed: frozenset[str] | None) -> None:
        self.allowed = allowed
        self.refused: SecretFileError | None = None
        self.disclosed = False


class SecretReads:
    """Tracks which files that may hold secrets a window has read.

    A window may read them at any time, and the person sees them. The window's content and the
    results of the model's calls are withheld from the model. A call of the model that would read
    such a file is refused and rolled back; the person is asked, and the call is retried.

    Paths are real paths, with links resolved. Belongs to the window's thread.
    """

    def __init__(self, window: "Window", place: "Place") -> None:
        self._window, self._place = window, place
        self._read = set[str]()
        self._disclosed = frozenset[str]()
        self._reading = Reading(None)

    def take_over(self, other: "SecretReads") -> None:
        """Treat all that another window has read as read by this one, which has its state."""
        self._read, self._disclosed = set(other._read), other._disclosed

    @property
    def inherited(self) -> frozenset[str] | None:
        """The files that windows opened by the current call may read."""
        return self._reading.allowed

    def guard(self, path: str, real: str) -> None:
        """Record that a file is read, or refuse it; see `Workspace.guarded`."""
        reading = self._reading
        allowed = reading.allowed
        if allowed is None or real in allowed | self._disclosed or self._place.discloses_all():
            self._read.add(real)
            return
        refused = SecretFileError(path, real)
        reading.refused = reading.refused or refused
        raise refused

    @contextmanager
    def reading(self, allowed: frozenset[str] | None) -> Iterator[Reading]:
        """Wrap a call into the window.

        Args:
            allowed: The files that the person allowed the model to read in this call; None for a
                call that is not the model's.
        """
        self._reading = reading = Reading(allowed)
        before = self._disclosed
        try:
            yield reading
        finally:
            self._reading = Reading(None)
            # A file that is no longer shown needs approval again when it comes back.
            self._disclosed = (before | (allowed or frozenset())) & self._shown()
            reading.disclosed = bool(self._disclosed - before)

    @staticmethod
    def check(withheld: Iterable[str], allowed: frozenset[str]) -> None:
        """Raise if the window shows a file that the model may not read."""
        for real in withheld:
            if real not in allowed:
                raise SecretFileError(real, real)

    def withheld(self) -> tuple[str, ...]:
        """Return the files whose content is withheld from the model."""
        if self._place.discloses_all():
            return ()
        return tuple(sorted(self._shown() - self._disclosed))

    def _shown(self) -> frozenset[str]:
        files = self._place.env.files
        try:
            paths = self._window.shown_files()
            if paths is None or files is None:
                return frozenset(self._read)
            return frozenset(real_path(files, path) for path in paths if files.is_secret(path))
        except Exception:  # author's code failed: disclose nothing
            return frozenset(self._read)


def real_path(files: "Workspace", path: str) -> str:
    """Return a path with its links resolved, or the path itself if it cannot be."""
    try:
        return files.real(path)
    except FileError:
        return path
