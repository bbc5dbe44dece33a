"""What a person does to items: each can be taken back."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

from contextui.context.changes import edited
from contextui.context.item import ContextItem
from contextui.context.ledger import Ledger
from contextui.errors import InvalidItemError
from contextui.events import Operation


class Edits(ABC):
    """The part of a `ContextManager` that is the person's hand."""

    ledger: Ledger

    @abstractmethod
    def get(self, item_id: str) -> ContextItem:
        """The item of this id."""

    @abstractmethod
    def _writing(self) -> AbstractContextManager[None]: ...

    @abstractmethod
    def _tell(
        self, items: Iterable[ContextItem], operation: Operation, fields: Mapping[str, Any]
    ) -> None: ...

    def pin(self, item_id: str) -> None:
        """Never leave this item out to make room."""
        self._change([self.get(item_id)], "pin", pinned=True)

    def unpin(self, item_id: str) -> None:
        """Let it go when there is no room."""
        self._change([self.get(item_id)], "unpin", pinned=False)

    def drop(self, item_id: str) -> None:
        """Leave an item out, an answer together with the results of its calls."""
        item = self.get(item_id)
        together = [item, *self.ledger.calls.results(item)]
        self._change([one for one in together if not one.hidden], "drop", hidden="dropped")

    def restore(self, item_id: str) -> None:
        """Bring an item back, a result together with its call.

        What was left out for want of room, or stands in a summary, comes back pinned, or it would
        go again at once.

        Raises:
            InvalidItemError: It refers to a window that is closed.
        """
        item = self.get(item_id)
        if item.hidden in ("closed", "replaced"):
            raise InvalidItemError(f"{item.content} is {item.hidden}; it cannot be brought back.")
        back = [one for one in self.ledger.calls.together(item) if one.hidden]
        pinned = {"pinned": True} if item.hidden in ("trimmed", "compacted") else {}
        self._change(back, "restore", hidden=None, **pinned)

    def edit(self, item_id: str, text: str) -> None:
        """Change the words of an item.

        Raises:
            InvalidItemError: A window shows what it shows; and no item can be empty.
        """
        item = self.get(item_id)
        self._change([item], "edit", **edited(item, text))

    def unfold(self, item_id: str) -> None:
        """Have the model read the whole text of a result, and no longer its gist."""
        self._change([self._with_gist(item_id)], "unfold", whole=True)

    def fold(self, item_id: str) -> None:
        """Have the gist of a result stand for its text again."""
        self._change([self._with_gist(item_id)], "fold", whole=False)

    def undo(self) -> list[ContextItem]:
        """Take back the last of all these; the items that it concerned."""
        with self._writing():
            items = self.ledger.undo()
            if items:
                self._tell(items, "undo", {})
            return items

    def _with_gist(self, item_id: str) -> ContextItem:
        item = self.get(item_id)
        if not item.gist:
            raise InvalidItemError(f"Item {item.seq:04} has no gist.")
        return item

    def _change(self, items: Sequence[ContextItem], operation: Operation, **fields: Any) -> None:
        with self._writing():
            if different := [item for item in items if item.differs(fields)]:
                self.ledger.step(different, fields)
                self._tell(different, operation, fields)
