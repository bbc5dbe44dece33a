"""Who asked for what and who answered: tool calls and their results, across all items."""

from collections.abc import Iterable

from contextui.context.item import ContextItem, Stage
from contextui.errors import InvalidItemError
from contextui.text import quote


class Calls:
    """Knows the answer that made each call, and the result that each call got."""

    def __init__(self) -> None:
        self._askers: dict[str, ContextItem] = {}
        self._results: dict[str, ContextItem] = {}
        self._unanswered: dict[str, None] = {}

    @property
    def unanswered(self) -> tuple[str, ...]:
        """The calls that still wait for their results, in the order in which they were made."""
        return tuple(self._unanswered)

    @property
    def known(self) -> Iterable[str]:
        """The ids of all calls that were ever made."""
        return self._askers.keys()

    def give_up(self) -> None:
        """Expect no results any more: the turn is over."""
        self._unanswered.clear()

    def check(self, item: ContextItem) -> None:
        """Refuse an item that would make two of what there must be one of.

        Raises:
            InvalidItemError: A call's id was used before, or the call has its result already.
        """
        calls = item.calls
        for call in calls:
            if call in self._askers or calls.count(call) > 1:
                raise InvalidItemError(f"The id of tool call {quote(call)} was used before.")
        if item.tool_call_id in self._results:
            raise InvalidItemError(f"Tool call {quote(item.tool_call_id)} has its result already.")

    def note(self, item: ContextItem) -> None:
        """Take note of the calls, or of the result, in a new item. One that is final already
        expects no results any more."""
        for call in item.calls:
            self._askers[call] = item
        if item.stage is not Stage.FINAL:
            # A log may have a result before its call.
            open_calls = (call for call in item.calls if call not in self._results)
            self._unanswered.update(dict.fromkeys(open_calls))
        if item.tool_call_id is not None:
            self._results[item.tool_call_id] = item
            self._unanswered.pop(item.tool_call_id, None)

    def asker(self, item: ContextItem) -> ContextItem:
        """The answer whose call this item is the result of; else the item itself."""
        return self._askers.get(item.tool_call_id or "", item)

    def together(self, item: ContextItem) -> list[ContextItem]:
        """An item, the answer that asked for it, and the results of its own calls, in order."""
        return sorted({self.asker(item), item, *self.results(item)}, key=lambda one: one.seq)

    def results(self, item: ContextItem) -> list[ContextItem]:
        """The results of the calls in this item."""
        return [self._results[call] for call in item.calls if call in self._results]
