"""Where a window lives, and what must be kept of it to bring it back."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from contextui.events import Event
from contextui.windowing.snapshot import ContextVersion, Lod

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
    emit: "Emit"


class Kept(NamedTuple):
    """What must be kept of a window to bring it back: its state, and which render it stands at."""

    version: ContextVersion
    lod: Lod
    state: Mapping[str, Any] | None

    def data(self) -> dict[str, Any]:
        """The same, ready for JSON."""
        return {"version": str(self.version), "lod": self.lod.value, "state": self.state}
