"""Keeps the memory small: of old items only what describes them (S2.1)."""

from collections.abc import Mapping
from pathlib import Path

from contextui.context.item import ContextItem, Load, Stage, is_conversation, reload, unload
from contextui.context.manager import ContextManager
from contextui.errors import ContextUIError
from contextui.events import Event, ItemsChanged, TurnEnded
from contextui.model import Block
from contextui.session.entry import decode
from contextui.session.items import TWIN, item_of
from contextui.session.reading import line_at

LIMIT, KEPT = 1_000, 800
"""From so many items on, those that are not among the newest leave; and how many stay."""

_UNREADABLE = (OSError, ContextUIError, KeyError, TypeError, ValueError)


class MemoryStore:
    """Lets go of the content of old items; it is read from the log when it is asked for.

    What requests show of them was built before and stays, so a turn reads nothing back.

    Args:
        context: The items.
        offsets: Where in the log each of them stands.
        path: The log.
    """

    def __init__(self, context: ContextManager, offsets: Mapping[str, int], path: Path) -> None:
        self._context, self._offsets, self._path = context, offsets, path
        self._through = 0  # up to this seq all items were looked at
        self._reloaded: dict[str, None] = {}  # older ones whose content is here again
        context.subscribe(self._hear)

    def _hear(self, event: Event) -> None:
        if isinstance(event, ItemsChanged):
            for item in map(self._context.get, event.item_ids):
                if not item.is_loaded and not item.hidden:
                    reload(item)
                    self._reloaded[item.id] = None
        elif isinstance(event, TurnEnded) and self._context.current_seq > LIMIT:
            self._let_go(self._context.current_seq - KEPT)

    def _let_go(self, newest: int) -> None:
        self._context.outlook()  # build what requests show of them while it is at hand
        old = [self._context.get(item_id) for item_id in self._reloaded]
        for item in self._context.get_all().since(self._through + 1):
            if item.seq > newest:
                break
            old.append(item)
            self._through = item.seq
        self._reloaded.clear()
        for item in old:
            # What was edited stands in the log as a change, not where the item stands.
            unchanged = not item.revision and item.held is None and item.stage is Stage.FINAL
            if item.id in self._offsets and unchanged and item.is_loaded and is_conversation(item):
                unload(item, self._reader(item))

    def _reader(self, item: ContextItem) -> Load:
        def read() -> tuple[str, tuple[Block, ...] | None]:
            try:
                with self._path.open("rb") as file:
                    stored = item_of(decode(line_at(file, self._offsets[item.id]).text))
            except _UNREADABLE:
                stored = None
            if stored is not None and stored.id == item.id.partition(TWIN)[0]:
                return stored.content, stored.blocks
            return self._as_shown(item)

        return read

    def _as_shown(self, item: ContextItem) -> tuple[str, tuple[Block, ...] | None]:
        """What requests show of an item, where the log was damaged or removed."""
        shown = self._context.ledger.shown_content(item)
        if shown is None or isinstance(shown, str):
            return shown or item.gist or "", None
        texts = (str(block.get("text", "")) for block in shown if block.get("type") == "text")
        return "\n".join(texts), tuple(shown)
