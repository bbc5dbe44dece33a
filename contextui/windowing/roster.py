"""Which windows are open, which of them was used last, and what those that were closed showed."""

import threading
from collections.abc import Mapping

from contextui.errors import UnknownWindowError
from contextui.text import quote
from contextui.windowing.base import Window
from contextui.windowing.numbering import Numbering
from contextui.windowing.phrases import WindowWords


class Roster:
    """The windows of a session by their ids. All methods may be called from any thread.

    Args:
        words: What is said of windows that are not there.
    """

    def __init__(self, words: WindowWords) -> None:
        self._words = words
        self._windows: dict[str, Window] = {}
        self._last_renders: dict[str, str] = {}
        self._numbering = Numbering()
        self._used: dict[str, int] = {}
        self._last_use = 0
        self._lock = threading.RLock()

    @property
    def numbers(self) -> dict[str, int]:
        """The highest number that a window of each name has had."""
        return self._numbering.highest

    def get(self, window_id: str) -> Window | None:
        """The open window of this id, if there is one."""
        return self._windows.get(window_id)

    def require(self, window_id: str) -> Window:
        """The open window of this id.

        Raises:
            UnknownWindowError: There is none; the text says what there is.
        """
        window = self._windows.get(window_id)
        if window is None:
            raise self.unknown(window_id)
        return window

    def unknown(self, window_id: str) -> UnknownWindowError:
        """What to say of a window that is not open."""
        if window_id in self._last_renders:
            return UnknownWindowError(self._words.is_closed.format(id=window_id))
        there_is = ", ".join(self._windows) or self._words.none
        return UnknownWindowError(self._words.no_window.format(id=quote(window_id), names=there_is))

    def open_windows(self) -> list[Window]:
        """The open windows, in the order in which they were opened."""
        with self._lock:
            return list(self._windows.values())

    def last_render(self, window_id: str) -> str | None:
        """The XML that a closed window showed last."""
        return self._last_renders.get(window_id)

    def used_at(self, window_id: str) -> int:
        """When a window was last in use; higher is later, 0 is never."""
        return self._used.get(window_id, 0)

    # --- changing ----------------------------------------------------------------------

    def next_id(self, name: str) -> str:
        """An id for a new window of this name, which none ever had."""
        with self._lock:
            return self._numbering.next_id(name)

    def note_id(self, window_id: str) -> None:
        """Know of an id that is in use, so that it is not used again."""
        with self._lock:
            self._numbering.note_id(window_id)

    def remember(self, last_renders: Mapping[str, str], numbers: Mapping[str, int]) -> None:
        """Know of windows that were closed in an earlier run."""
        with self._lock:
            self._last_renders.update(last_renders)
            self._numbering.note(numbers)

    def enter(self, window: Window) -> None:
        """A window is open, and in use."""
        with self._lock:
            self._windows[window.id] = window
            self._use(window.id)

    def leave(self, window_id: str, last_render: str) -> None:
        """A window is closed.

        Raises:
            UnknownWindowError: It was closed already.
        """
        with self._lock:
            self.require(window_id)
            self._last_renders[window_id] = last_render
            del self._windows[window_id]
            self._used.pop(window_id, None)

    def use(self, window_id: str) -> bool:
        """A window is in use; whether another one was before.

        Raises:
            UnknownWindowError: It is not open.
        """
        self.require(window_id)
        with self._lock:
            if self._used.get(window_id) == self._last_use:
                return False
            self._use(window_id)
            return True

    def _use(self, window_id: str) -> None:
        self._last_use += 1
        self._used[window_id] = self._last_use
