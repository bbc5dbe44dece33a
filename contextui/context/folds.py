"""Which summary stands for which items."""

from collections.abc import Iterable, Mapping


class Folds:
    """Remembers what each summary stands for, by ids, so that one can look behind it.

    Example:
        >>> folds = Folds()
        >>> folds.note(["a", "b"], "summary-1")
        >>> folds.summary_of("b"), folds.items_of("summary-1")
        ('summary-1', ('a', 'b'))
    """

    def __init__(self) -> None:
        self._summaries: dict[str, str] = {}
        self._items: dict[str, list[str]] = {}

    def note(self, item_ids: Iterable[str], summary_id: str) -> None:
        """A summary stands for these items from now on."""
        for item_id in item_ids:
            self._summaries[item_id] = summary_id
            self._items.setdefault(summary_id, []).append(item_id)

    def summary_of(self, item_id: str) -> str | None:
        """The summary that stands for an item, or did last."""
        return self._summaries.get(item_id)

    def items_of(self, summary_id: str) -> tuple[str, ...]:
        """The items that a summary stands for."""
        return tuple(self._items.get(summary_id, ()))

    def among(self, item_ids: Iterable[str]) -> dict[str, str]:
        """The summaries of these items, by the items' ids."""
        found = ((item_id, self._summaries.get(item_id)) for item_id in item_ids)
        return {item_id: summary_id for item_id, summary_id in found if summary_id is not None}

    def restore(self, summaries: Mapping[str, str]) -> None:
        """Take in what `among` gave."""
        for item_id, summary_id in summaries.items():
            self.note([item_id], summary_id)
