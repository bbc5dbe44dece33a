"""What surrounds a window: the language, the clock, other windows, a timer of its own."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Protocol

from contextui.config.settings import Lang
from contextui.errors import NoWorkspaceError
from contextui.events import Event, WindowTroubled
from contextui.files.errors import FileError, SecretFileError
from contextui.windowing import phrases
from contextui.windowing.phrases import WindowWords

if TYPE_CHECKING:
    from contextui.files.workspace import Workspace
    from contextui.windowing.window import Window


Clock = Callable[[], datetime]


def utc_now() -> datetime:
    """The time, as the clock of the machine tells it."""
    return datetime.now(UTC)


class Opener(Protocol):
    """Opens another window by its class's name."""

    def __call__(self, name: str, /, **args: Any) -> "Window":
        """Open it and give it back."""
        ...


class Timer(Protocol):
    """Calls a function again and again, on the window's own thread, as a transaction."""

    def __call__(self, seconds: float, call: Callable[[], object], /) -> Callable[[], None]:
        """Start; the returned call ends it."""
        ...


@dataclass(frozen=True, slots=True)
class Env:
    """A window's surroundings, at hand as ``self.env``."""

    lang: Lang
    clock: Clock
    open: Opener
    every: Timer
    files: "Workspace | None" = None

    def say(self, english: str, chinese: str) -> str:
        """The same words in the language to speak."""
        return chinese if self.lang == "zh" else english

    @property
    def workspace(self) -> "Workspace":
        """The files of the folder that the session belongs to.

        Raises:
            NoWorkspaceError: The session belongs to no folder.
        """
        if self.files is None:
            raise NoWorkspaceError("There is no folder to work in.")
        return self.files


class Emit(Protocol):
    """Tells of an event; without `wait`, leaves that to whoever is telling already."""

    def __call__(self, event: Event, wait: bool = True, /) -> None:
        """Tell of it."""
        ...


@dataclass(frozen=True, slots=True)
class Place:
    """Where a window lives: its id, its session, its surroundings, and who hears of it."""

    window_id: str
    session_id: str
    env: "Env"
    emit: Emit
    discloses_all: Callable[[], bool] = lambda: False
    """Whether the model may read files that may hold secrets without a question."""

    @property
    def words(self) -> WindowWords:
        """What is said of windows, in the language of the person."""
        return phrases.of(self.env.lang)

    def now(self) -> datetime:
        """The time."""
        return self.env.clock()

    def warn(self, reason: str) -> None:
        """Tell whoever listens that something is wrong with this window."""
        self.emit(WindowTroubled(self.window_id, reason), False)


class Reading:
    """One call into a window, and what it reads.

    Attributes:
        allowed: The files that may be read; None: all of them, as the model gets no result.
        refused: The read that was refused first.
        disclosed: Whether the model may read more of the window afterwards.
    """

    def __init__(self, allowed: frozenset[str] | None) -> None:
        self.allowed = allowed
        self.refused: SecretFileError | None = None
        self.disclosed = False


class SecretReads:
    """What a window has read of files that may hold secrets.

    A window may read them at any time, and the person sees them. What goes to the model is
    withheld: the window's content, and the results of calls that the model makes. A call of the
    model that would read such a file is refused and rolled back; the person is asked, and the
    call is made again.

    Paths are those with all links followed. Belongs to the window's thread.
    """

    def __init__(self, window: "Window", place: "Place") -> None:
        self._window, self._place = window, place
        self._read = set[str]()
        self._disclosed = frozenset[str]()
        self._reading = Reading(None)

    @property
    def inherited(self) -> frozenset[str] | None:
        """What windows may read that are opened by the call under way."""
        return self._reading.allowed

    def guard(self, path: str, real: str) -> None:
        """Note that a file is read, or refuse it; see `Workspace.guarded`."""
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
        """Make a call into the window.

        Args:
            allowed: The files that a person allowed the model to read in this call; None for a
                call that is not the model's.
        """
        self._reading = reading = Reading(allowed)
        before = self._disclosed
        try:
            yield reading
        finally:
            self._reading = Reading(None)
            # A file that the window shows no longer is asked about when it comes back.
            self._disclosed = (before | (allowed or frozenset())) & self._shown()
            reading.disclosed = bool(self._disclosed - before)

    @staticmethod
    def check(withheld: Iterable[str], allowed: frozenset[str]) -> None:
        """Raise before a call of the model if the window shows what it may not read."""
        for real in withheld:
            if real not in allowed:
                raise SecretFileError(real, real)

    def withheld(self) -> tuple[str, ...]:
        """The files whose content the model may not see in the window."""
        if self._place.discloses_all():
            return ()
        return tuple(sorted(self._shown() - self._disclosed))

    def _shown(self) -> frozenset[str]:
        files = self._place.env.files
        try:
            paths = self._window.shown_files()
            if paths is None or files is None:
                return frozenset(self._read)
            return frozenset(_real(files, path) for path in paths if files.is_secret(path))
        except Exception:  # an author's code: when in doubt, nothing is disclosed
            return frozenset(self._read)


def _real(files: "Workspace", path: str) -> str:
    try:
        return files.real(path)
    except FileError:
        return path
