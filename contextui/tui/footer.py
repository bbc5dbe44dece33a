"""Bars of keys: the footer with the active key bindings, and the keys of a dialog."""

from collections.abc import Sequence
from itertools import accumulate
from typing import ClassVar

from textual.content import Content
from textual.events import Click
from textual.widgets import Static

from contextui.tui.lines import KEY, MUTED, line
from contextui.words import Words

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
_KEYS = {name: key for key, name in _NAMES.items()}
_GAPS = ("   ", "  ")
Hint = tuple[str, str]
"""A key as it is displayed, and its description in English."""


def hints_in(width: int, hints: Sequence[Hint], words: Words, remark: str = "") -> Content:
    """Return as many hints as fit: the first and the last are dropped last."""
    return _fitted(width, hints, words, _GAPS, remark)[0]


def _fitted(
    width: int, hints: Sequence[Hint], words: Words, gaps: Sequence[str], remark: str
) -> tuple[Content, list[tuple[int, str]]]:
    """Return a row of hints, and the cell and the key of each."""
    left = [
        (key, Content.assemble((f"{key} ", f"{KEY} bold"), (words(about), MUTED)))
        for key, about in hints
    ]
    while True:
        for gap in gaps:
            shown = [hint for _, hint in left]
            row = Content(gap).join([*shown, *([Content.styled(remark, MUTED)] if remark else [])])
            if row.cell_length <= width:
                break
        if row.cell_length <= width or (not remark and len(left) <= 1):
            starts = accumulate((hint.cell_length + len(gap) for hint in shown), initial=0)
            return row, [(start, key) for start, (key, _) in zip(starts, left, strict=False)]
        if remark:
            remark = ""
        else:
            left.pop(-2)


class KeyBar(Static):
    """Keys in one row, as many as fit; a click presses a key."""

    DEFAULT_CSS = "KeyBar { height: 1; }"
    GAPS: ClassVar[Sequence[str]] = _GAPS
    """The gaps between two keys, the widest first."""

    def __init__(
        self,
        words: Words,
        hints: Sequence[Hint] = (),
        remark: str = "",
        *,
        id: str | None = None,  # noqa: A002
    ) -> None:
        super().__init__(id=id, classes="keys")
        self._words, self._hints, self._remark = words, hints, line(remark)
        self._places: list[tuple[int, str]] = []

    def show(self, hints: Sequence[Hint]) -> None:
        self._hints = hints
        self.refresh()

    def hints(self) -> Sequence[Hint]:
        return self._hints

    def press(self, key: str) -> None:
        self.app.simulate_key(_KEYS.get(key, key.replace("^", "ctrl+")))

    def on_click(self, event: Click) -> None:
        event.stop()
        pressed = [key for start, key in self._places if event.x - self.gutter.left >= start]
        if pressed:
            self.press(pressed[-1])

    def render(self) -> Content:
        row, self._places = _fitted(
            self.size.width, self.hints(), self._words, self.GAPS, self._remark
        )
        return row


class KeyFooter(KeyBar):
    """The active key bindings, focused widget first."""

    GAPS: ClassVar[Sequence[str]] = _GAPS[1:]

    def __init__(self, words: Words) -> None:
        super().__init__(words, id="keys")
        self._bound: dict[str, str] = {}  # the key of each name

    def on_mount(self) -> None:
        for signal in (self.screen.bindings_updated_signal, self.app.screen_change_signal):
            signal.subscribe(self, lambda _: self.refresh())

    def press(self, key: str) -> None:
        self.app.simulate_key(self._bound[key])

    def hints(self) -> Sequence[Hint]:
        found: dict[str, Hint] = {}
        if self.screen is not self.app.screen:
            return []
        for active in self.screen.active_bindings.values():
            binding = active.binding
            if binding.show and active.enabled and binding.action not in found:
                name = binding.key_display or _NAMES.get(binding.key, binding.key)
                found[binding.action] = name, binding.description
                self._bound[name] = binding.key
        return list(found.values())
