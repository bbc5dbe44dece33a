"""Finding items by their words, a little at a time, so that nobody waits for it."""

import time
from collections.abc import Iterable, Iterator
from itertools import chain

from textual.binding import Binding
from textual.message import Message
from textual.widgets import Input

from contextui.context.item import ItemType
from contextui.text import one_line
from contextui.tui.inspector.labels import label
from contextui.tui.inspector.look import Look
from contextui.tui.inspector.older import OlderItems
from contextui.tui.inspector.rows import head_of
from contextui.tui.inspector.spans import Row
from contextui.tui.words import Words

_SLICE = 0.008  # seconds of looking before others have their turn


class Search:
    """Looks through items for a text, in their order; capitals do not matter.

    Args:
        query: What to look for.
        words: The language in which items are told.
        older: Items that only the log has.

    Attributes:
        found: The rows that contain it, as far as was looked.
    """

    def __init__(self, query: str, words: Words, older: Iterable[Row] = ()) -> None:
        self.query = query
        self.found: list[Row] = []
        self._words = words
        self._sought = query.casefold()
        self._looked_through = 0
        self._older = iter(older)
        self._rest: Iterator[Row] = iter(())
        self._look: Look | None = None

    def extend(self, look: Look) -> None:
        """Look through what came since, too."""
        self._look = look
        head = {row.item.id: row for row in head_of(look)}  # with what the tools cost
        newer = look.items.since(self._looked_through + 1)
        self._rest = chain(self._older, (head.get(item.id, Row(item)) for item in newer))

    def go_on(self) -> bool:
        """Look for a moment; whether there is more to look through."""
        end = time.monotonic() + _SLICE
        for row in self._rest:
            if row.log is None:
                self._looked_through = row.item.seq
            if self._has(row):
                self.found.append(row)
            if time.monotonic() > end:
                return True
        return False

    def _has(self, row: Row) -> bool:
        item = row.item
        if self._sought in item.content.casefold():
            return True
        if self._look is None or item.type in (ItemType.USER, ItemType.SYSTEM):
            return False
        context = row.home(self._look.context)
        if item.type is ItemType.WINDOW:
            window = context.windows.get(item.content) if context.windows is not None else None
            return (
                window is not None
                and self._sought in window.runtime.renders.latest().xml.casefold()
            )
        if item.type is ItemType.ASSISTANT and item.content:
            return False
        return self._sought in label(item, context.ledger.calls, self._words).casefold()


class Finding:
    """What a person looks for, if anything, and what was found of it so far.

    Args:
        words: The language in which items are told.
    """

    def __init__(self, words: Words) -> None:
        self._words = words
        self._search: Search | None = None
        self.remark = ""
        """What to say of it: that there is no such item."""

    @property
    def is_on(self) -> bool:
        """Whether something is looked for."""
        return self._search is not None

    @property
    def rows(self) -> list[Row]:
        """What was found so far."""
        return list(self._search.found) if self._search is not None else []

    def begin(self, query: str, older: OlderItems | None) -> None:
        """Look for this from now on, also in what was read of the log; or for nothing."""
        rows = older.rows if older is not None else None
        self._search = Search(query, self._words, rows or ()) if query else None

    def begin_again(self, older: OlderItems | None) -> None:
        """Look for the same from the beginning: there is something else to look through."""
        if self._search is not None:
            self.begin(self._search.query, older)

    def extend(self, look: Look) -> None:
        """Look through what came since, too."""
        if self._search is not None:
            self._search.extend(look)

    def go_on(self) -> bool:
        """Look for a moment; whether there is more to look through."""
        search = self._search
        if search is None:
            return False
        more, self.remark = search.go_on(), ""
        if not more and not search.found:
            query = one_line(search.query, 40)
            self.remark = self._words('No item contains "{query}". Esc clears.', query=query)
        return more


class Filter(Input):
    """One line to say what to look for; it is there only while something is looked for."""

    BINDINGS = [Binding("escape", "clear", "clear"), Binding("down", "submit", show=False)]

    class Wanted(Message):
        """The person looks for something else, or for nothing any more."""

        def __init__(self, query: str) -> None:
            super().__init__()
            self.query = query

    class Left(Message):
        """The person goes on in the list."""

    def __init__(self, words: Words) -> None:
        super().__init__(id="filter", compact=True)
        self._words = words
        self.display = self.can_focus = False  # until somebody asks

    def ask(self) -> None:
        """Ask what to look for."""
        self.placeholder = self._words("Which items? Enter keeps, Esc clears.")
        self.display = self.can_focus = True
        self.focus()

    def clear_it(self) -> None:
        """Look for nothing any more."""
        with self.prevent(Input.Changed):
            self.value = ""
        self.display = self.can_focus = False
        self.post_message(self.Wanted(""))
        self.post_message(self.Left())

    def on_input_changed(self, message: Input.Changed) -> None:
        """Look while it is written."""
        message.stop()
        self.post_message(self.Wanted(self.value.strip()))

    def on_input_submitted(self, message: Input.Submitted) -> None:
        """Go on in what was found."""
        message.stop()
        if self.value.strip():
            self.can_focus = False
            self.post_message(self.Left())
        else:
            self.clear_it()

    def action_clear(self) -> None:
        """Look for nothing any more."""
        self.clear_it()
