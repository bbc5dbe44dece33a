"""Token counts and stats of the context, and its `[✓]/[X]` debug lines."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from contextui.context.item import ContextItem, ItemType
from contextui.context.messages import content_of, is_reduced, role_of
from contextui.text import one_line
from contextui.tokens import TokenCounter
from contextui.windowing.manager import WindowManager
from contextui.windowing.runtime import runtime_of

_SHOWN = 50  # characters of an item in its debug line


@dataclass(frozen=True, slots=True)
class ContextStats:
    """Item and token counts of a context.

    Attributes:
        total_items: All items, hidden ones too.
        active_items: Those that are not hidden.
        obsolete_items: Those that are.
        window_items: All references to windows, hidden ones too.
        estimated_tokens: The tokens of the active items.
        all_tokens: The tokens of all items, hidden ones too.
    """

    total_items: int = 0
    active_items: int = 0
    obsolete_items: int = 0
    window_items: int = 0
    estimated_tokens: int = 0
    all_tokens: int = 0


class Tally:
    """Updates the stats incrementally, from the items that changed."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[bool, int]] = {}
        self._total = self._active = self._windows = 0
        self._tokens = self._all_tokens = 0

    def update(self, items: Iterable[ContextItem], size: Callable[[ContextItem], int]) -> None:
        """Recount these items."""
        for item in items:
            was_active, was = self._known.get(item.id, (False, 0))
            if item.id not in self._known:
                self._total += 1
                self._windows += item.type is ItemType.WINDOW
            active, tokens = not item.is_obsolete, size(item)
            self._known[item.id] = (active, tokens)
            self._active += active - was_active
            self._tokens += tokens * active - was * was_active
            self._all_tokens += tokens - was

    def tokens_of(self, item: ContextItem) -> int:
        """The tokens of an item when it was last counted."""
        return self._known[item.id][1]

    def assume(self, items: int, windows: int, tokens: int) -> None:
        """Count hidden items that exist in the log but are not loaded."""
        self._total += items
        self._windows += windows
        self._all_tokens += tokens

    def stats(self) -> ContextStats:
        """The current stats."""
        return ContextStats(
            total_items=self._total,
            active_items=self._active,
            obsolete_items=self._total - self._active,
            window_items=self._windows,
            estimated_tokens=self._tokens,
            all_tokens=self._all_tokens,
        )


def debug_line(item: ContextItem) -> str:
    """Describe an item in one line as the model receives it: ``[✓] [0004] Window: todo_1``. A
    file that was read in an earlier turn appears as its gist."""
    mark = "[X]" if item.is_obsolete else "[✓]"
    is_gist = item.type is ItemType.TOOL and is_reduced(item)
    gist = (item.shown_gist or item.line) if is_gist else None
    words = gist or item.content or ", ".join(block.get("name", "") for block in item.blocks or ())
    return f"{mark} [{item.seq:04}] {item.type.value}: {one_line(words, _SHOWN)}"


class Meter:
    """Counts the tokens of items, and caches the counts.

    An item costs its content plus the overhead of a message; a message that contains several items
    is therefore counted slightly too high, never too low.

    Args:
        counter: Counts tokens.
        is_alone: Whether each window is a message of its own.
    """

    def __init__(self, counter: TokenCounter, *, is_alone: bool = True) -> None:
        self._counter, self._is_alone = counter, is_alone
        self._items: dict[str, tuple[tuple[int, bool], int]] = {}
        self._windows: dict[str, dict[int, int]] = {}

    def item(self, item: ContextItem) -> int:
        """The tokens of an item's own content, in the form of its current stage."""
        form = (item.revision, is_reduced(item))
        known = self._items.get(item.id)
        if known is None or known[0] != form:
            overhead = self._counter.message_overhead(role_of(item))
            tokens = overhead + self._counter.count_content(content_of(item))
            known = self._items[item.id] = (form, tokens)
        return known[1]

    def window(self, window_id: str, xml: str) -> int:
        """The tokens of a window's render."""
        counts, key = self._windows.setdefault(window_id, {}), hash(xml)
        if key not in counts:
            if len(counts) >= 4:
                counts.clear()
            counts[key] = self.render(xml)
        return counts[key]

    def render(self, xml: str) -> int:
        """The tokens of a render, counted now."""
        overhead = self._counter.message_overhead("user") if self._is_alone else 0
        return overhead + self._counter.count(xml)

    def reference(self, item: ContextItem, windows: WindowManager | None) -> int:
        """The tokens of the window that an item refers to: its render, not its id."""
        if windows is not None:
            window = windows.get(item.content)
            xml = (
                runtime_of(window).renders.latest().xml
                if window
                else windows.last_render(item.content)
            )
            if xml is not None:
                return self.window(item.content, xml)
        return self.window(item.content, item.content)
