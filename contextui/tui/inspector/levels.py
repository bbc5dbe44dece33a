"""What a window would cost at another level of detail, found out without anybody waiting."""

import threading
from collections.abc import Callable

from contextui.tokens import TokenCounter
from contextui.windowing.base import Window
from contextui.windowing.snapshot import ContextVersion, Lod


class Levels:
    """Has windows drawn at the levels that they do not show, and counts that.

    Drawing is pure and changes no version, so the model never learns of it. Until a newer count
    is there, the one before is good enough.

    Args:
        counter: Counts tokens.
        tell: Called, on another thread, when a count is there.
    """

    def __init__(self, counter: TokenCounter, tell: Callable[[], object]) -> None:
        self._counter, self._tell = counter, tell
        self._sizes: dict[tuple[str, Lod], int] = {}
        self._versions: dict[str, ContextVersion] = {}
        self._counting: set[str] = set()

    def sizes(self, window: Window) -> dict[Lod, int | None]:
        """What each other level costs, None where that is not known yet."""
        if self._versions.get(window.id) != window.version and window.id not in self._counting:
            self._counting.add(window.id)
            # A daemon: leaving does not wait for a window that hangs.
            threading.Thread(target=self._count, args=(window,), daemon=True).start()
        return {lod: self._sizes.get((window.id, lod)) for lod in Lod if lod is not window.lod}

    def _count(self, window: Window) -> None:
        version = window.version
        try:
            for lod in Lod:
                if lod is not window.lod:
                    xml = window.to_xml(lod)
                    overhead = self._counter.message_overhead("user")
                    self._sizes[window.id, lod] = overhead + self._counter.count(xml)
            self._versions[window.id] = version
        finally:
            self._counting.discard(window.id)
        self._tell()
