"""The sizes of the panes: set by dividers and keys, and remembered for each folder."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual.geometry import Size
from textual.screen import Screen
from textual.timer import Timer

from contextui.errors import ContextUIError
from contextui.tui.dividers import NARROW, WIDE, Divider, Dividers
from contextui.tui.timers import sure_timer

if TYPE_CHECKING:
    from contextui.session.preferences import Preferences
    from contextui.tui.app_session import AppSession
    from contextui.tui.desktop.pane import Desktop

_NAME = "layout"  # under which they are remembered
_KEYS: Mapping[str, tuple[Divider, int]] = {
    "up": ("rows", -1),
    "down": ("rows", 1),
    "left": ("inspector", 2),
    "right": ("inspector", -2),
}
"""The divider that each arrow key moves, and by how much its pane grows."""
_FIT = "="
_SOON = 1.0  # seconds until a new order is written
_TINY = (20, 5)


class PaneSizes:
    """Sets the sizes of the panes, and remembers them for the folder of the session."""

    def __init__(self, screen: Screen[Any], dividers: Dividers) -> None:
        self._screen, self.dividers = screen, dividers
        self._preferences: Preferences | None = None
        self._desktop: Desktop | None = None
        self._session = ""
        self._timer: Timer | None = None

    def attach(self, desk: "AppSession", desktop: "Desktop") -> None:
        """Take over the sizes and the order of windows of the last run in this folder."""
        order: object = None
        from contextui.session.preferences import Preferences  # noqa: PLC0415  (after the first frame)

        self._desktop, self._session = desktop, desk.session.id
        with suppress(ContextUIError):  # without a home, nothing is remembered
            home = desk.session.path.parents[2]
            self._preferences = Preferences.of_folder(Path(desk.session.cwd), home)
            saved = self._preferences.get(_NAME)
            self.dividers.restore(saved)
            if isinstance(saved, Mapping) and saved.get("session") == self._session:
                order = saved.get("windows")
        self.fit()
        desktop.show_windows(order)

    def fit(self) -> None:
        screen = self._screen
        if not screen.is_attached:
            return
        width, height = screen.app.size
        screen.set_class(width < _TINY[0] or height < _TINY[1], "-tiny")
        shares = width >= NARROW and not screen.has_class("-zoom")
        inspector = self.dividers.inspector_columns(width)
        for one in screen.query("#inspector"):
            one.styles.width = inspector - 1 if shares else None
        shown = self._shown_inspector
        for one in screen.query("#desktop"):
            is_beside = shares and width >= WIDE
            one.styles.width = self.dividers.window_columns(width, shown) if is_beside else None
        if self._desktop is not None:
            self._desktop.refit()

    def move(self, key: str) -> bool:
        """Resize by an arrow key, or fit all to the content; return whether the key does that.

        Up and down resize the window that has the focus, and its whole area once it cannot take
        more from the others.
        """
        if key == _FIT:
            self.drop(True)
        if key not in _KEYS:
            return key == _FIT
        name, by = _KEYS[key]
        if name == "rows" and self._desktop is not None and self._desktop.grow(by):
            return True
        if name == "rows" and self._screen.size.width >= WIDE:
            name, by = "columns", 2 * by
        self._set(name, self._size(name) + by)
        self.save()
        return True

    def drag(self, divider: Divider, x: int, y: int) -> None:
        if divider == "rows":
            self._set("rows", y - 1)
        else:
            self._set("inspector", self._screen.size.width - x)

    def drop(self, is_reset: bool) -> None:
        if is_reset:
            self.dividers.restore({})
            if self._desktop is not None:
                self._desktop.reset_sizes()
            self.fit()
        self.save()

    @property
    def _shown_inspector(self) -> int:
        is_hidden = self._screen.has_class("-no-inspector")
        return 0 if is_hidden else self.dividers.inspector_columns(self._screen.size.width)

    def _size(self, name: Divider) -> int:
        if name == "inspector":
            return self.dividers.inspector_columns(self._screen.size.width)
        width, height = self._screen.size
        if name == "rows" and self.dividers.rows is not None:  # the layout may not have followed
            return self.dividers.most_rows(height)
        if name == "columns" and self.dividers.columns is not None:
            return self.dividers.window_columns(width, self._shown_inspector)
        found = self._desktop.size if self._desktop is not None else Size(0, 0)
        return found.height if name == "rows" else found.width

    def _set(self, name: Divider, size: int) -> None:
        if self._screen.size.width < NARROW:
            return
        self.dividers.put(name, size, self._screen.size)
        self.dividers.put(name, self._size(name), self._screen.size)  # as much as there is
        self.fit()

    # --- memory ------------------------------------------------------------------------

    def hand_over(self, session_id: str) -> None:
        """Remember the order and the numbers of the windows for a session that continues here."""
        self._session = session_id
        self.save()

    def save_soon(self) -> None:
        if self._timer is None:
            self._timer = sure_timer(self._screen, _SOON, self.save)

    def save(self) -> None:
        if self._timer is not None:
            self._timer.stop()
        self._timer = None
        if self._preferences is not None and self._desktop is not None:
            order, sizes = self._desktop.order_to_save, asdict(self.dividers)
            # An app in which nothing was done leaves nothing.
            if order["order"] or any(sizes.values()) or self._preferences.get(_NAME):
                saved = {**sizes, "session": self._session, "windows": order}
                self._preferences.put(_NAME, saved)
