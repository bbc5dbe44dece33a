"""What there is and what it costs, in figures and in `[✓]/[X]` lines."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from contextui.context.forms import is_reduced
from contextui.context.item import ContextItem, ItemType
from contextui.text import one_line

_SHOWN = 50  # characters of an item in its line


@dataclass(frozen=True, slots=True)
class ContextStats:
    """How many items there are, and what they cost.

    Attributes:
        total_items: All items, hidden ones too.
        active_items: Those that are not hidden.
        obsolete_items: Those that are.
        window_items: All references to windows, hidden ones too.
        estimated_tokens: What the active items cost.
        all_tokens: What all items would cost.
    """

    total_items: int = 0
    active_items: int = 0
    obsolete_items: int = 0
    window_items: int = 0
    estimated_tokens: int = 0
    all_tokens: int = 0


class Tally:
    """Keeps the stats up to date by looking only at what changed."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[bool, int]] = {}
        self._total = self._active = self._windows = 0
        self._tokens = self._all_tokens = 0

    def update(self, items: Iterable[ContextItem], size: Callable[[ContextItem], int]) -> None:
        """Count these items anew."""
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
        """What an item cost when it was counted last."""
        return self._known[item.id][1]

    def assume(self, items: int, windows: int, tokens: int) -> None:
        """Count hidden items that are not at hand but known to exist."""
        self._total += items
        self._windows += windows
        self._all_tokens += tokens

    def stats(self) -> ContextStats:
        """The figures."""
        return ContextStats(
            total_items=self._total,
            active_items=self._active,
            obsolete_items=self._total - self._active,
            window_items=self._windows,
            estimated_tokens=self._tokens,
            all_tokens=self._all_tokens,
        )


def debug_line(item: ContextItem) -> str:
    """One item in one line: ``[✓] [0004] Window: todo_1``; as the model gets it, so of a file that
    was read in an earlier turn the gist."""
    mark = "[X]" if item.is_obsolete else "[✓]"
    gist = item.line if item.type is ItemType.TOOL and is_reduced(item) else None
    words = gist or item.content or ", ".join(block.get("name", "") for block in item.blocks or ())
    return f"{mark} [{item.seq:04}] {item.type.value}: {one_line(words, _SHOWN)}"
