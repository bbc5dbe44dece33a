"""``/undo`` and ``/reopen``: take back a change to the context, a closed window or a rewind."""

from collections.abc import Callable

from contextui.errors import ContextUIError
from contextui.events import Event, WindowClosed
from contextui.tui.commands import Choice, Command
from contextui.tui.inspector.edit import listed
from contextui.tui.link import Desk
from contextui.tui.rewind import Rewinder
from contextui.windowing.host import former_id
from contextui.words import Words, msg

Notify = Callable[[str], object]


class Undo:
    """Undoes what happened last in a session.

    Args:
        desk: The session.
        words: Translates into the person's locale.
        notify: Shows a message to the person.
        rewinder: Undoes a rewind that led to this session.
        with_number: Adds to a message which key leads to a window.
    """

    def __init__(
        self,
        desk: Desk,
        words: Words,
        notify: Notify,
        rewinder: Rewinder,
        with_number: Callable[[str, str], str],
    ) -> None:
        self._context, self._windows = desk.session.context, desk.session.windows
        self._words, self._notify, self._rewinder = words, notify, rewinder
        self._with_number = with_number
        self._first = self._context.last_step
        self._before: dict[str, object] = {}  # the last step before each window was closed
        self._windows.subscribe(self._on_event)

    def commands(self) -> list[Command]:
        """Return the commands."""
        return [
            Command("undo", "undo the last change, closed window or rewind", self.undo, alias="u"),
            Command("reopen", "open a closed window again, as it was", self.reopen, "ID",
                    choices=lambda: map(Choice, self._windows.closed_ids)),
        ]  # fmt: skip

    def undo(self, _: str) -> None:
        """Undo the last thing.

        Raises:
            ContextUIError: There is nothing to undo.
        """
        context, closed = self._context, self._windows.closed_ids
        if self._rewinder.undo():
            return
        if closed and not context.has_steps_since(self._before.get(closed[0])):
            self.reopen(closed[0])
            return
        is_rewind_last = not closed and not context.has_steps_since(self._first)
        if is_rewind_last and self._rewinder.undo_earlier():
            return
        items = context.undo()
        if not items:
            raise ContextUIError(self._words("Nothing to undo."))
        text = msg("Undone: {items}. It was a change to the context; in a window, u undoes edits.")
        self._notify(self._words(text, items=listed(items, self._words)))

    def reopen(self, window_id: str) -> None:
        """Open a closed window again; by default the one that was closed last.

        Raises:
            ContextUIError: It cannot be opened.
        """
        window = self._windows.reopen(window_id or None)
        text = self._words("Reopened {old} as {new}.", old=former_id(window), new=window.id)
        self._notify(self._with_number(text, window.id))

    def _on_event(self, event: Event) -> None:
        if isinstance(event, WindowClosed):
            self._before[event.window_id] = self._context.last_step
