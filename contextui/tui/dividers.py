"""The dividers between windows, chat and inspector: their places, and grips to drag."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Literal

from textual import events
from textual.content import Content
from textual.geometry import Size
from textual.widget import Widget

NARROW, WIDE, TWO_COLUMNS = 100, 160, 230
"""Columns of the terminal: one pane below 100, panes side by side from 160."""

Divider = Literal["rows", "columns", "inspector"]

_INSPECTOR, _INSPECTOR_WIDE, _INSPECTOR_LEAST = 42, 46, 30
_WORK_LEAST = 60
_CHAT_LEAST, _CHAT_MOST = 54, 82
_WINDOWS = 0.46  # share of a wide terminal
_MOST_ROWS = 0.6  # share of the height
_LEAST_ROWS = 5
_CHAT_ROWS = 10  # prompt and what was said last
_FRAME = 2  # rows of header and key line
_GRIP = 1


@dataclass(slots=True)
class Dividers:
    """Shares of the terminal, as the person put the dividers; None is what fits the content."""

    rows: float | None = None
    columns: float | None = None
    inspector: float | None = None

    def put(self, name: Divider, size: int, terminal: Size) -> None:
        whole = _free_rows(terminal.height) if name == "rows" else terminal.width
        setattr(self, name, max(size, 1) / max(whole, 1))

    def most_rows(self, height: int) -> int:
        free = _free_rows(height)
        if self.rows is None:
            return max(int(free * _MOST_ROWS), min(_LEAST_ROWS, free))
        return max(min(round(self.rows * free), free - _CHAT_ROWS), min(_LEAST_ROWS, free))

    def inspector_columns(self, width: int) -> int:
        usual = _INSPECTOR_WIDE if width >= WIDE else _INSPECTOR
        least = _WORK_LEAST + (_CHAT_LEAST if width >= WIDE else 0)
        chosen = usual if self.inspector is None else round(self.inspector * width)
        return max(min(chosen, width - least), min(_INSPECTOR_LEAST, width - _WORK_LEAST))

    def window_columns(self, width: int, inspector: int) -> int:
        work = width - inspector
        if self.columns is not None:
            return max(min(round(self.columns * width), work - _CHAT_LEAST), _WORK_LEAST)
        chosen = round(width * _WINDOWS)
        if width >= TWO_COLUMNS:
            chosen = max(chosen, 2 * _WORK_LEAST)
        chosen = max(min(chosen, work - _CHAT_LEAST), _WORK_LEAST)
        return max(chosen, work - _CHAT_MOST)  # a chat wider than a page is hard to read

    def restore(self, saved: object) -> None:
        """Take over what was remembered; other values are ignored."""
        if isinstance(saved, Mapping):
            for field in fields(self):
                value = saved.get(field.name)
                setattr(
                    self, field.name, value if type(value) is float and 0 < value <= 1 else None
                )


def _free_rows(height: int) -> int:
    return max(height - _FRAME - _GRIP, 0)


class Grip(Widget):
    """A divider to drag. `drag` gets the place of the mouse; `drop` gets whether to reset it."""

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    Grip {
        color: $line; background: $background; text-wrap: nowrap;
        height: 1; width: 1fr; content-align: center middle;
        &:hover, &.-dragged, &.-focused { color: $primary; }
        &#edge { width: 1; height: 1fr; }
    }
    """

    def __init__(
        self,
        divider: Divider,
        drag: Callable[[Divider, int, int], object],
        drop: Callable[[bool], object],
    ) -> None:
        super().__init__(id="grip" if divider == "rows" else "edge")
        self._divider: Divider = divider
        self._drag, self._drop = drag, drop
        self._is_moved = False

    def render(self) -> Content:
        if self._divider == "rows":
            return Content("╌" * min(5, self.size.width))
        return Content("\n".join("▏" * self.size.height))

    def on_mouse_down(self, event: events.MouseDown) -> None:
        event.stop()
        self._is_moved = False
        self.capture_mouse()
        self.add_class("-dragged")

    def on_mouse_move(self, event: events.MouseMove) -> None:
        if self.has_class("-dragged"):
            event.stop()
            self._is_moved = True
            self._drag(self._divider, event.screen_x, event.screen_y)

    def on_mouse_up(self, event: events.MouseUp) -> None:
        event.stop()
        self.release_mouse()
        self.remove_class("-dragged")
        if self._is_moved:
            self._drop(False)

    def on_click(self, event: events.Click) -> None:
        event.stop()
        if event.chain == 2:
            self._drop(True)
