"""The keys that apply now, in one line, in the person's language."""

from textual.content import Content
from textual.events import Click
from textual.screen import Screen
from textual.widgets import Static

from contextui.tui.cells import KEY, MUTED
from contextui.tui.words import Words

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


class Keys(Static):
    """The bindings of what has the focus, and of everything around it; a click presses one."""

    def __init__(self, words: Words) -> None:
        super().__init__(id="keys")
        self._words = words
        self._places: list[tuple[int, str]] = []

    def on_mount(self) -> None:
        """Follow the focus."""
        self.screen.bindings_updated_signal.subscribe(self, self._update)

    def _update(self, _: Screen[object]) -> None:
        self.refresh()

    def on_click(self, event: Click) -> None:
        """Press the key that was clicked."""
        pressed = [key for start, key in self._places if event.x - self.gutter.left >= start]
        if pressed:
            self.app.simulate_key(pressed[-1])

    def render(self) -> Content:
        """As many as fit."""
        parts: list[tuple[str, str]] = []
        self._places, used = [], 0
        for name, about, key in self._shown():
            told = self._words(about)
            width = Content(f"{name} {told}").cell_length + 2
            if used + width - 2 > self.size.width:
                break
            self._places.append((used, key))
            parts += [(f"{name} ", f"{KEY} bold"), (f"{told}  ", MUTED)]
            used += width
        return Content.assemble(*parts)

    def _shown(self) -> list[tuple[str, str, str]]:
        """Name, meaning and key of each, those of the focus first; keys of one action joined."""
        shown: dict[str, tuple[str, str, str]] = {}
        for active in self.screen.active_bindings.values():
            binding = active.binding
            if not binding.show or not active.enabled:
                continue
            name = binding.key_display or _NAMES.get(binding.key, binding.key)
            shown.setdefault(binding.action, (name, binding.description, binding.key))
        return list(shown.values())
