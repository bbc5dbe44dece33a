"""What surrounds a window: the language, the clock, other windows, a timer of its own."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Protocol

from contextui.config.choices import Lang
from contextui.errors import NoWorkspaceError

if TYPE_CHECKING:
    from contextui.files.workspace import Workspace
    from contextui.windowing.base import Window

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
