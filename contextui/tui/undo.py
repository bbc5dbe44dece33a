"""``/undo`` and ``/reopen``: take back edits, changes to the context, closing and rewinding."""

from typing import TYPE_CHECKING

from contextui.errors import ContextUIError, WindowBusyError
from contextui.events import Event, WindowClosed, WindowCommitted, WindowOpened
from contextui.tui.app_session import AppSession
from contextui.tui.inspector.edit import listed
from contextui.tui.rewind import Rewinder
from contextui.windowing.runtime import runtime_of
from contextui.windowing.window import Window
from contextui.words import msg

if TYPE_CHECKING:
    from contextui.tui.main import MainScreen

_UNDO = "undo"  # the action of a window that takes back its last edit


class Undo:
    """Undoes what happened last in a session."""

    def __init__(self, main: "MainScreen", desk: AppSession, rewinder: Rewinder) -> None:
        self._context, self._windows = desk.session.context, desk.session.windows
        self._main, self._words, self._rewinder = main, main.words, rewinder
        self._first = self._context.last_step
        # Windows that were edited or closed, and the last step of the context before that.
        self._done: list[tuple[str, object]] = []
        self._has_warned = False
        self._undoing: list[str] = []  # the windows whose last edit is being undone
        self._revisions = {window.id: _revision(window) for window in self._windows.windows()}
        self._windows.subscribe(self._on_event)

    def undo(self, _: str) -> None:
        context = self._context
        if self._rewinder.undo():
            return
        last = self._last_window()
        if last in self._windows.closed_titles:
            self.reopen(last)
            return
        if (window := self._windows.get(last)) is not None:
            self._main.run_worker(self._undo_edit(window, self._done.pop()), name="undo")
            return
        is_new = self._done or context.has_steps_since(self._first)
        if not is_new and self._rewinder.undo_earlier():
            return
        was_closed = any(self._windows.get(one) is None for one in context.window_ids)
        if was_closed and context.last_step and not (is_new or self._has_warned):
            self._has_warned = True
            text = msg("Nothing was changed since the session was opened; windows closed before "
                       "stay closed. /undo again undoes an older change.")  # fmt: skip
            self._main.note(text)
            return
        items = context.undo()
        if not items:
            raise ContextUIError("Nothing to undo.")
        text = msg("Undone: {items}. It was a change to the context; in a window, u undoes edits.")
        self._main.note(self._words(text, items=listed(items, self._words)))

    def reopen(self, window_id: str) -> None:
        """Open a closed window again, or raise a ContextUIError; by default the last one."""
        window = self._windows.reopen(window_id or None)
        text = self._words(
            "Reopened {old} as {new}.", old=runtime_of(window).former_id, new=window.id
        )
        self._main.note_window(text, window.id)

    def _last_window(self) -> str:
        """Return the window that was edited or closed last; empty if the context changed since."""
        closed = self._windows.closed_titles
        while self._done:
            window_id, step = self._done[-1]
            if self._context.has_steps_since(step):
                return ""
            if window_id in closed or self._windows.get(window_id) is not None:
                return window_id
            self._done.pop()
        return ""

    async def _undo_edit(self, window: Window, edit: tuple[str, object]) -> None:
        """Undo the last edit in a window; if there is none, what came before it."""
        self._undoing.append(window.id)
        try:
            result = await runtime_of(window).act(_UNDO, {}, "person")
        finally:
            self._revisions[window.id] = _revision(window)  # its event may come late
            self._undoing.remove(window.id)
        if isinstance(result.error, WindowBusyError):
            self._done.append(edit)
            self._main.note(result.text)
            return
        if result.ok:
            text = f"{window.id}: {result.text}"
            if runtime_of(window).renders.at().unsaved:
                text = self._words("{text} The file changes when you save.", text=text)
            self._main.note_window(text, window.id)
            return
        self._done = [one for one in self._done if one[0] != window.id]
        self._main.run_command("/undo")

    def _on_event(self, event: Event) -> None:
        match event:
            case WindowClosed():
                self._done.append((event.window_id, self._context.last_step))
            case WindowOpened():
                if (window := self._windows.get(event.window_id)) is not None:
                    self._revisions[window.id] = _revision(window)
            case WindowCommitted() if event.actor != "window":
                self._note_edit(event.window_id)

    def _note_edit(self, window_id: str) -> None:
        window = self._windows.get(window_id)
        if window is None or _UNDO not in window.actions:
            return
        before, self._revisions[window_id] = self._revisions.get(window_id), _revision(window)
        if before != self._revisions[window_id] and window_id not in self._undoing:
            self._done.append((window_id, self._context.last_step))


def _revision(window: Window) -> int:
    """Return how often the text of a window was changed."""
    return getattr(window.state, "revision", 0)
