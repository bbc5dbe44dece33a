"""`SecretReads`: the gate for files that may hold secrets and that a window reads."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from contextui.files.errors import FileError, SecretFileError
from contextui.windowing.core import WindowCore

if TYPE_CHECKING:
    from contextui.files.workspace import Workspace


class Reading:
    """One call into a window, and the secret files it reads.

    Attributes:
        allowed: The files that may be read; None for all, if the model gets no result.
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

    def __init__(self, core: WindowCore) -> None:
        self._core = core
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
        if (
            allowed is None
            or real in allowed | self._disclosed
            or self._core.around.discloses_all()
        ):
            self._read.add(real)
            return
        refused = SecretFileError(path, real)
        reading.refused = reading.refused or refused
        raise refused

    @contextmanager
    def reading(self, allowed: frozenset[str] | None) -> Iterator[Reading]:
        """Wrap a call into the window."""
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
        if self._core.around.discloses_all():
            return ()
        return tuple(sorted(self._shown() - self._disclosed))

    def _shown(self) -> frozenset[str]:
        files = self._core.env.files
        try:
            paths = self._core.window.shown_files()
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
