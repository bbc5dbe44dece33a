"""Where the person is: one stop in each pane, and the ways between them."""

from collections.abc import Callable, Mapping
from typing import TypeAlias

from textual.screen import Screen
from textual.widget import Widget

from contextui.tui.desktop.pane import Desktop
from contextui.tui.header import Panes

Hold: TypeAlias = Callable[[Callable[[], bool]], object]
"""Has the keys wait until the place is reached that they are meant for."""

_PLACES = {"c": "chat", "i": "context", "p": "prompt"}
_NUMBERS = frozenset("123456789")
_BARS = {"prompt": "chat", "chat": "chat", "windows": "windows", "context": "context"}


class Navigation:
    """Moves the focus from pane to pane.

    On a narrow terminal, where only one pane is shown, going to a pane shows it.

    Args:
        screen: The screen that they are on.
        panes: The panes by name, in the order in which they are gone through.
        desktop: The windows, which are gone to by number.
        hold: Has the keys wait until something holds.
    """

    def __init__(
        self, screen: "Screen[None]", panes: Mapping[str, Widget], desktop: Desktop, hold: Hold
    ) -> None:
        self._screen, self._panes, self._desktop, self._hold = screen, panes, desktop, hold

    def next(self, step: int) -> None:
        """Go to the next pane that can be gone to."""
        names = [name for name in self._panes if self._can_show(name)]
        here = names.index(self.present) if self.present in names else -1
        if names:
            self.enter(names[(here + step) % len(names)])

    def enter(self, name: str) -> None:
        """Go to a pane; at once, so that what is typed next arrives there."""
        self._hold(lambda: self.present == name)
        self._screen.query_one(Panes).show(_BARS[name])
        if not self._focus(name):  # it is about to be shown
            self._screen.call_after_refresh(self._focus, name)

    def expect(self, key: str) -> None:
        """A key that names a place was pressed: those behind it are meant for there."""
        if key in _PLACES:
            self._hold(lambda: self.present == _PLACES[key])
        elif key in _NUMBERS:
            self._hold(lambda: self._desktop.is_at(int(key)))

    def go(self, key: str | None) -> None:
        """Go to the place that a key names, or to the window of that number."""
        if key and key in _PLACES:
            self.enter(_PLACES[key])
        elif key and key in _NUMBERS:
            self._screen.query_one(Panes).show("windows")
            self._screen.call_after_refresh(self._desktop.go_to, int(key))

    @property
    def present(self) -> str:
        """The pane that has the focus."""
        focused = self._screen.focused
        around = focused.ancestors_with_self if focused is not None else []
        return next((name for name, pane in self._panes.items() if pane in around), "")

    def zoom(self) -> None:
        """Give the pane with the focus all the room, or take it back."""
        zoomed, present = self._screen.has_class("-zoom"), _BARS.get(self.present, "chat")
        kinds = {"chat": "-zoom-chat", "windows": "-zoom-window", "context": "-zoom-inspector"}
        self._screen.set_class(not zoomed, "-zoom")
        for name, kind in kinds.items():
            self._screen.set_class(not zoomed and name == present, kind)

    def _focus(self, name: str) -> bool:
        stop = _stop_in(self._panes[name])
        if stop is not None:
            stop.focus()
        return stop is not None

    def _can_show(self, name: str) -> bool:
        hidden = {"windows": "-no-windows", "context": "-no-inspector"}
        if name in hidden and self._screen.has_class(hidden[name]):
            return False
        return self._screen.has_class("-narrow") or _stop_in(self._panes[name]) is not None


def _stop_in(pane: Widget) -> Widget | None:
    """The one place in a pane that takes the focus."""
    if pane.focusable:
        return pane
    return next((one for one in pane.query("*") if one.focusable), None)
