"""The dividers between windows, chat and inspector: their places, grips to drag, and memory."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from textual import events
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.screen import Screen
from textual.timer import Timer
from textual.widget import Widget

from contextui.tui.timers import sure_timer

if TYPE_CHECKING:
    from contextui.session.memory import Memory
    from contextui.tui.app_session import AppSession
    from contextui.tui.desktop.pane import Desktop

NARROW, WIDE, TWO_COLUMNS = 100, 160, 230
"""Columns of the terminal: one pane below 100, panes side by side from 160."""

Divider = Literal["rows", "columns", "inspector"]

_INSPECTOR, _INSPECTOR_WIDE, _INSPECTOR_LEAST = 42, 46, 30
_WORK_LEAST = 60
_CHAT_LEAST, _CHAT_MOST = 54, 82
_WINDOWS = 0.46  # share of a wide terminal
_MOST_ROWS = 0.6  # share of the height
_LEAST_ROWS = 5
_CHAT_ROWS = 6  # prompt and some lines above it
_FRAME = 2  # rows of header and key line
_GRIP = 1
_NAME = "layout"


@dataclass(slots=True)
class Dividers:
    """Where the person put the dividers; None is the place that fits the content.

    Attributes:
        rows: The rows of the windows above the chat.
        columns: The columns of the windows beside the chat, on a wide terminal.
        inspector: The columns of the inspector, with its edge.
    """

    rows: int | None = None
    columns: int | None = None
    inspector: int | None = None

    def most_rows(self, height: int) -> int:
        """Return the rows that windows may take on a terminal of this height."""
        free = max(height - _FRAME - _GRIP, 0)
        if self.rows is None:
            return max(int(free * _MOST_ROWS), min(_LEAST_ROWS, free))
        return max(min(self.rows, free - _CHAT_ROWS), min(_LEAST_ROWS, free))

    def inspector_columns(self, width: int) -> int:
        """Return the columns of the inspector on a terminal of this width."""
        usual = _INSPECTOR_WIDE if width >= WIDE else _INSPECTOR
        least = _WORK_LEAST + (_CHAT_LEAST if width >= WIDE else 0)
        chosen = usual if self.inspector is None else self.inspector
        return max(min(chosen, width - least), min(_INSPECTOR_LEAST, width - _WORK_LEAST))

    def window_columns(self, width: int, inspector: int) -> int:
        """Return the columns of the windows on a wide terminal.

        Args:
            width: The columns of the terminal.
            inspector: The columns of the inspector, or 0 if it is hidden.
        """
        work = width - inspector
        if self.columns is not None:
            return max(min(self.columns, work - _CHAT_LEAST), _WORK_LEAST)
        chosen = round(width * _WINDOWS)
        if width >= TWO_COLUMNS:
            chosen = max(chosen, 2 * _WORK_LEAST)
        chosen = max(min(chosen, work - _CHAT_LEAST), _WORK_LEAST)
        return max(chosen, work - _CHAT_MOST)  # a chat wider than a page is hard to read

    def reset(self) -> None:
        """Return to the places that fit the content."""
        self.rows = self.columns = self.inspector = None

    def saved(self) -> dict[str, int | None]:
        """Return what to remember, as JSON has it."""
        return asdict(self)

    def restore(self, saved: object) -> None:
        """Take over what was remembered; other values are ignored."""
        if isinstance(saved, Mapping):
            for one in fields(self):
                value = saved.get(one.name)
                setattr(self, one.name, value if type(value) is int and value > 0 else None)


class Grip(Widget):
    """A divider to drag.

    Args:
        name: The divider.
    """

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    Grip {
        color: $line; background: $background; text-wrap: nowrap;
        height: 1; width: 1fr; content-align: center middle;
        &:hover, &.-dragged, &.-focused { color: $primary; }
        &#edge { width: 1; height: 1fr; }
    }
    """

    class Dragged(Message):
        """Posted while a divider is dragged: where the mouse is, on the screen."""

        def __init__(self, divider: Divider, x: int, y: int) -> None:
            super().__init__()
            self.divider, self.x, self.y = divider, x, y

    class Dropped(Message):
        """Posted when a divider was dragged to a new place."""

    class Reset(Message):
        """Posted on a double click: back to the place that fits the content."""

    def __init__(self, divider: Divider) -> None:
        super().__init__(id="grip" if divider == "rows" else "edge")
        self._divider: Divider = divider
        self._is_moved = False

    def render(self) -> Content:
        """Draw five dashes, or a line from top to bottom."""
        if self._divider == "rows":
            return Content("╌" * min(5, self.size.width))
        return Content("\n".join("▏" * self.size.height))

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Start to drag."""
        event.stop()
        self._is_moved = False
        self.capture_mouse()
        self.add_class("-dragged")

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Move the divider to the mouse."""
        if self.has_class("-dragged"):
            event.stop()
            self._is_moved = True
            self.post_message(self.Dragged(self._divider, event.screen_x, event.screen_y))

    def on_mouse_up(self, event: events.MouseUp) -> None:
        """Leave the divider where it is."""
        event.stop()
        self.release_mouse()
        self.remove_class("-dragged")
        if self._is_moved:
            self.post_message(self.Dropped())

    def on_click(self, event: events.Click) -> None:
        """Reset the dividers on a double click."""
        event.stop()
        if event.chain == 2:
            self.post_message(self.Reset())


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
    """Sets the sizes of the panes, and remembers them for the folder of the session.

    Args:
        screen: The main screen.
        dividers: Where the person put the dividers.
    """

    def __init__(self, screen: Screen[Any], dividers: Dividers) -> None:
        self._screen, self.dividers = screen, dividers
        self._memory: Memory | None = None
        self._desktop: Desktop | None = None
        self._session = ""
        self._timer: Timer | None = None

    def attach(self, desk: "AppSession", desktop: "Desktop") -> None:
        """Take over the sizes and the order of windows of the last run in this folder."""
        from contextui.errors import ContextUIError  # noqa: PLC0415  (after the first frame)
        from contextui.session.memory import Memory  # noqa: PLC0415

        self._desktop, self._session = desktop, desk.session.id
        with suppress(ContextUIError):  # without a home, nothing is remembered
            home = desk.session.path.parents[2]
            self._memory = Memory.of_folder(Path(desk.session.cwd), home)
            saved = self._memory.get(_NAME)
            self.dividers.restore(saved)
            if isinstance(saved, Mapping) and saved.get("session") == self._session:
                desktop.saved_order = saved.get("windows")
        self.fit()

    def fit(self) -> None:
        """Set the widths of inspector and windows, and arrange the windows."""
        screen, width = self._screen, self._screen.size.width
        if not screen.is_attached:
            return
        screen.set_class(width < _TINY[0] or screen.size.height < _TINY[1], "-tiny")
        shares = width >= NARROW and not screen.has_class("-zoom")
        inspector = self.dividers.inspector_columns(width)
        for one in screen.query("#inspector"):
            one.styles.width = inspector - 1 if shares else None
        shown = 0 if screen.has_class("-no-inspector") else inspector
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
            self.drop(is_reset=True)
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

    def drag(self, message: Grip.Dragged) -> None:
        """Move a divider to the mouse."""
        if message.divider == "rows":
            self._set("rows", message.y - 1)
        else:
            self._set("inspector", self._screen.size.width - message.x)

    def drop(self, *, is_reset: bool = False) -> None:
        """Remember the dividers where they are, or fit them to the content."""
        if is_reset:
            self.dividers.reset()
            if self._desktop is not None:
                self._desktop.reset_sizes()
            self.fit()
        self.save()

    def _size(self, name: Divider) -> int:
        if name == "inspector":
            return self.dividers.inspector_columns(self._screen.size.width)
        chosen = self.dividers.rows if name == "rows" else self.dividers.columns
        if chosen is not None:  # the layout may not have followed yet
            return chosen
        found = self._desktop.size if self._desktop is not None else Size(0, 0)
        return found.height if name == "rows" else found.width

    def _set(self, name: Divider, size: int) -> None:
        """Put a divider somewhere, within its limits."""
        width, height = self._screen.size
        if width < NARROW:
            return
        setattr(self.dividers, name, max(size, 1))
        if name == "rows":
            self.dividers.rows = self.dividers.most_rows(height)
        elif name == "inspector":
            self.dividers.inspector = self.dividers.inspector_columns(width)
        else:
            shown = 0 if self._screen.has_class("-no-inspector") else self._size("inspector")
            self.dividers.columns = self.dividers.window_columns(width, shown)
        self.fit()

    # --- memory ------------------------------------------------------------------------

    def hand_over(self, session_id: str) -> None:
        """Remember the order and the numbers of the windows for a session that continues here."""
        self._session = session_id
        self.save()

    def save_soon(self) -> None:
        """Remember the order of the windows, once it has settled."""
        if self._timer is None:
            self._timer = sure_timer(self._screen, _SOON, self.save)

    def save(self) -> None:
        """Remember the dividers and the order of the windows."""
        if self._timer is not None:
            self._timer.stop()
        self._timer = None
        if self._memory is not None and self._desktop is not None:
            order, sizes = self._desktop.order_to_save, self.dividers.saved()
            # An app in which nothing was done leaves nothing.
            if order["order"] or any(sizes.values()) or self._memory.get(_NAME):
                saved = {**sizes, "session": self._session, "windows": order}
                self._memory.put(_NAME, saved)
