"""Where a window lives: its surroundings, and who hears of it."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from contextui.events import Event, WindowTroubled
from contextui.windowing import phrases
from contextui.windowing.phrases import WindowWords

if TYPE_CHECKING:
    from contextui.windowing.env import Env


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
