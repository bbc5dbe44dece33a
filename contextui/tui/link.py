"""Hands over what happens in a session, on any thread, to the screen, in batches."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from contextui.events import (
    Event,
    WindowActed,
    WindowChanged,
    WindowClosed,
    WindowDetailChanged,
    WindowOpened,
    WindowReady,
    WindowRestored,
    WindowTroubled,
)
from contextui.tui.desk import Desk


@dataclass(slots=True)
class Changes:
    """What happened since the screen looked last.

    Attributes:
        windows: The ids of windows that look different now, or have come or gone.
        acted: Who acted on each window last.
        troubles: What went wrong in windows, in words.
        context: Whether anything of the context changed.
    """

    windows: set[str] = field(default_factory=set)
    acted: dict[str, str] = field(default_factory=dict)
    troubles: list[str] = field(default_factory=list)
    context: bool = False


class Link:
    """Listens to a session and gathers what changed.

    Args:
        desk: Whose session.
        wake: Called, on any thread, when there is something to take and there was nothing before.
    """

    def __init__(self, desk: Desk, wake: Callable[[], object]) -> None:
        self._wake = wake
        self._changes: Changes | None = None
        self._lock = threading.Lock()
        self._ends = [
            desk.session.windows.subscribe(self._hear_window),
            desk.session.context.subscribe(self._hear_context),
        ]

    def take(self) -> Changes:
        """What changed since the last time."""
        with self._lock:
            changes, self._changes = self._changes or Changes(), None
        return changes

    def close(self) -> None:
        """Listen no more."""
        for end in self._ends:
            end()

    def _hear_context(self, _: Event) -> None:
        self._note(lambda changes: setattr(changes, "context", True))

    def _hear_window(self, event: Event) -> None:
        def note(changes: Changes) -> None:
            changes.context = True
            match event:
                case WindowActed():
                    changes.acted[event.window_id] = event.actor
                    changes.windows.add(event.window_id)
                case WindowTroubled():
                    changes.troubles.append(f"{event.window_id} {event.reason}")
                case (
                    WindowOpened() | WindowReady() | WindowRestored() | WindowChanged()
                    | WindowClosed() | WindowDetailChanged()
                ):  # fmt: skip
                    changes.windows.add(event.window_id)

        self._note(note)

    def _note(self, note: Callable[[Changes], object]) -> None:
        with self._lock:
            first = self._changes is None
            self._changes = self._changes or Changes()
            note(self._changes)
        if first:
            self._wake()
