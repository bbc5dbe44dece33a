"""A window's state as its last finished render showed it, for widgets on another thread."""

from typing import TypeVar

from contextui.windowing.base import Window
from contextui.windowing.state import WindowState

S = TypeVar("S", bound=WindowState)


def stated(window: Window, kind: type[S]) -> S | None:
    """The saved part of the state that the screen shows; None if there is none yet.

    The window's own thread may be changing `window.state` at this moment; this one stands still.
    """
    saved = window.runtime.renders.latest().snapshot.state.custom
    return None if saved is None else kind.from_saved(saved)
