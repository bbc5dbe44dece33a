"""Keeps the memory small: of old items that no request shows, only what describes them (S2.1)."""

from collections.abc import Mapping
from pathlib import Path

from contextui.context.item import ContextItem, Load, reload, unload
from contextui.context.manager import ContextManager
from contextui.events import Compacted, Event, ItemsChanged, TurnEnded
from contextui.model import Block
from contextui.session.entry import decode
from contextui.session.items import item_of
from contextui.session.reading import line_at

LIMIT, KEPT = 1_000, 800
"""From so many items on, those that are not among the newest may leave; and how many stay."""


class MemoryStore:
    """Lets go of the content of old hidden items; whoever asks for it reads it from the log.

    Args:
        context: The items.
        offsets: Where in the log each of them stands.
        path: The log.
    """

    def __init__(self, context: ContextManager, offsets: Mapping[str, int], path: Path) -> None:
        self._context, self._offsets, self._path = context, offsets, path
        self._candidates: dict[str, None] = {}
        context.subscribe(self._hear)

    def _hear(self, event: Event) -> None:
        if isinstance(event, ItemsChanged):
            for item in map(self._context.get, event.item_ids):
                if item.hidden:
                    self._candidates[item.id] = None
                else:
                    self._candidates.pop(item.id, None)
                    reload(item)
        elif isinstance(event, Compacted):
            self._candidates.update(dict.fromkeys(event.item_ids))
        elif isinstance(event, TurnEnded) and self._context.current_seq > LIMIT:
            self._let_go(self._context.current_seq - KEPT)

    def _let_go(self, newest: int) -> None:
        old = [item for item in map(self._context.get, self._candidates) if item.seq <= newest]
        for item in old:
            del self._candidates[item.id]
            # What was edited stands in the log as a change, not where the item stands.
            if item.id in self._offsets and not item.revision and item.is_loaded:
                unload(item, self._reader(item))

    def _reader(self, item: ContextItem) -> Load:
        offset, path = self._offsets[item.id], self._path

        def read() -> tuple[str, tuple[Block, ...] | None]:
            with path.open("rb") as file:
                stored = item_of(decode(line_at(file, offset).text))
            return (stored.content, stored.blocks) if stored else ("", None)

        return read
