"""Each window in one line, however much of itself it shows."""

from collections.abc import Callable
from concurrent.futures import Future

from contextui.text import one_line
from contextui.windowing.base import Window
from contextui.windowing.snapshot import Lod

_LONGEST = 200  # characters: more than a line of the widest screen needs


class Gists:
    """Has gists drawn, and remembers them.

    Args:
        tell: Called with a window's id, on any thread, when its gist is there.
    """

    def __init__(self, tell: Callable[[str], object]) -> None:
        self._tell = tell
        self._known: dict[str, str] = {}
        self._asked: dict[str, int] = {}

    def of(self, window: Window) -> str:
        """The gist as it was drawn last; a new one is on its way if the window has changed."""
        major = window.version.major
        if self._asked.get(window.id) != major:
            self._asked[window.id] = major
            drawing = window.runtime.renders.request(Lod.GIST)
            drawing.add_done_callback(lambda done: self._take(window, done))
        return self._known.get(window.id, "")

    def forget(self, window_id: str) -> None:
        """Let go of a window that was closed."""
        self._known.pop(window_id, None)
        self._asked.pop(window_id, None)

    def _take(self, window: Window, drawing: "Future[None]") -> None:
        """On the window's thread, so that its render is there and nobody waits for it."""
        if drawing.cancelled() or drawing.exception() is not None:
            return
        snapshot = window.runtime.renders.at(Lod.GIST).snapshot
        self._known[window.id] = "" if snapshot.error else one_line(snapshot.content, _LONGEST)
        self._tell(window.id)
