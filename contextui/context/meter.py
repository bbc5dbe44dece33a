"""What items cost in tokens, counted once: per item and form, per window and version."""

from collections.abc import Iterable

from contextui.context import forms
from contextui.context.item import Carried, ContextItem
from contextui.tokens import TokenCounter
from contextui.windowing.manager import WindowManager


class Meter:
    """Counts what items cost, and remembers it.

    An item costs its content and what its message adds; a message that shows several items is
    so counted a little too high, never too low.
    """

    def __init__(self, counter: TokenCounter) -> None:
        self._counter = counter
        self._items: dict[str, tuple[tuple[int, bool, bool], int]] = {}
        self._windows: dict[str, dict[int, int]] = {}

    def item(self, item: ContextItem) -> int:
        """The tokens of an item's own content, in the form that its stage has."""
        form = (item.revision, item.held is not None, forms.is_reduced(item))
        known = self._items.get(item.id)
        if known is None or known[0] != form:
            overhead = self._counter.message_overhead(forms.role_of(item))
            tokens = overhead + self._counter.count_content(forms.content_of(item))
            known = self._items[item.id] = (form, tokens)
        return known[1]

    def window(self, window_id: str, xml: str) -> int:
        """The tokens of a window's render."""
        counts, key = self._windows.setdefault(window_id, {}), hash(xml)
        if key not in counts:
            if len(counts) >= 4:
                counts.clear()
            counts[key] = self._counter.message_overhead("user") + self._counter.count(xml)
        return counts[key]

    def copies(self, copies: Iterable[Carried]) -> int:
        """The tokens of windows that stand in a request."""
        return sum(self.window(copy.window_id, copy.xml) for copy in copies)

    def reference(self, item: ContextItem, windows: WindowManager | None) -> int:
        """The tokens of the window that an item refers to: its render, not its id."""
        if windows is not None:
            window = windows.get(item.content)
            xml = (
                window.runtime.renders.latest().xml if window else windows.last_render(item.content)
            )
            if xml is not None:
                return self.window(item.content, xml)
        return self.window(item.content, item.content)
