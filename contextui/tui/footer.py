"""The footer with active key bindings, and key hints for dialogs."""

from collections.abc import Sequence
from itertools import accumulate

from textual.content import Content
from textual.events import Click
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Static

from contextui.tui.lines import KEY, MUTED, line
from contextui.words import Words

_GAP = "  "
_NAMES = {
    "escape": "esc",
    "up": "↑",
    "down": "↓",
    "question_mark": "?",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "comma": ",",
    "full_stop": ".",
    "slash": "/",
    "plus": "+",
    "minus": "-",
}


class KeyFooter(Static):
    """The active key bindings, focused widget first; a click presses a key."""

    def __init__(self, words: Words) -> None:
        super().__init__(id="keys")
        self._words = words
        self._places: list[tuple[int, str]] = []

    def on_mount(self) -> None:
        """Refresh when the active bindings change, or a dialog opens or closes."""
        self.screen.bindings_updated_signal.subscribe(self, self._update)
        self.app.screen_change_signal.subscribe(self, self._update)

    def _update(self, _: Screen[object]) -> None:
        self.refresh()

    def on_click(self, event: Click) -> None:
        """Press the key that was clicked."""
        pressed = [key for start, key in self._places if event.x - self.gutter.left >= start]
        if pressed:
            self.app.simulate_key(pressed[-1])

    def render(self) -> Content:
        """Render as many keys as fit; the last one, usually help, is dropped last."""
        shown = [(name, self._words(about), key) for name, about, key in self._shown()]
        widths = [Content(f"{name} {about}").cell_length + len(_GAP) for name, about, _ in shown]
        while len(shown) > 1 and sum(widths) - len(_GAP) > self.size.width:
            del shown[-2], widths[-2]
        starts = accumulate(widths, initial=0)
        self._places = [(start, key) for start, (_, _, key) in zip(starts, shown, strict=False)]
        return Content.assemble(
            *(
                part
                for name, about, _ in shown
                for part in ((f"{name} ", f"{KEY} bold"), (about + _GAP, MUTED))
            )
        )

    def _shown(self) -> list[tuple[str, str, str]]:
        """Return display name, description and key of each action, one key per action.

        There are none below a dialog: it takes all keys, and shows its own.
        """
        shown: dict[str, tuple[str, str, str]] = {}
        if self.screen is not self.app.screen:
            return []
        for active in self.screen.active_bindings.values():
            binding = active.binding
            if not binding.show or not active.enabled:
                continue
            name = binding.key_display or _NAMES.get(binding.key, binding.key)
            shown.setdefault(binding.action, (name, binding.description, binding.key))
        return list(shown.values())


_GAPS = ("   ", "  ")
Hint = tuple[str, str]
"""A key and its description in English."""


def hints_in(width: int, hints: Sequence[Hint], words: Words, remark: str = "") -> Content:
    """Return as many hints as fit: the first and the last are dropped last."""
    left = [*hints]
    while True:
        for gap in _GAPS:
            parts = [_hint(key, words(about)) for key, about in left]
            row = Content(gap).join([*parts, *([Content.styled(remark, MUTED)] if remark else [])])
            if row.cell_length <= width:
                return row
        if remark:
            remark = ""
        elif len(left) > 1:
            left.pop(-2)
        else:
            return row


def _hint(key: str, about: str) -> Content:
    return Content.assemble((f"{key} ", f"{KEY} bold"), (about, MUTED))


class KeyHints(Widget):
    """Key hints in one row, as many as fit.

    Args:
        words: Translates into the person's locale.
        hints: The keys: the most important first, the one that exits last.
        remark: A remark to show if there is room.
    """

    DEFAULT_CSS = "KeyHints { height: 1; }"

    def __init__(self, words: Words, hints: Sequence[Hint], remark: str = "") -> None:
        super().__init__(classes="keys")
        self._words, self._hints, self._remark = words, hints, line(remark)

    def render(self) -> Content:
        """Render the row."""
        return hints_in(self.size.width, self._hints, self._words, self._remark)


class KeyButtons(Static):
    """Keys of a dialog in one row, as many as fit; a click presses a key.

    Args:
        words: Translates into the person's locale.
        keys: The keys as Textual names them, their names as displayed, and what they do. The one
            that leaves is the last.
    """

    DEFAULT_CSS = "KeyButtons { height: 1; }"

    def __init__(self, words: Words, keys: Sequence[tuple[str, str, str]]) -> None:
        super().__init__(classes="keys")
        self._words, self._keys = words, keys
        self._places: list[tuple[int, str]] = []

    def show(self, keys: Sequence[tuple[str, str, str]]) -> None:
        """Show other keys."""
        self._keys = keys
        self.refresh()

    def on_click(self, event: Click) -> None:
        """Press the key that was clicked."""
        event.stop()
        pressed = [key for start, key in self._places if event.x >= start]
        if pressed:
            self.app.simulate_key(pressed[-1])

    def render(self) -> Content:
        """Render the keys that fit: the first and the last are dropped last."""
        left = [(key, _hint(shown, self._words(about))) for key, shown, about in self._keys]
        gap = _GAPS[0]
        while len(left) > 1 and sum(one.cell_length + 3 for _, one in left) - 3 > self.size.width:
            if gap == _GAPS[0] and sum(one.cell_length + 2 for _, one in left) <= self.size.width:
                gap = _GAPS[1]
                break
            left.pop(-2)
        starts = accumulate((one.cell_length + len(gap) for _, one in left), initial=0)
        self._places = [(start, key) for start, (key, _) in zip(starts, left, strict=False)]
        return Content(gap).join([one for _, one in left])
