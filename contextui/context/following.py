"""Keeps a context in step with its windows."""

from typing import TYPE_CHECKING

from contextui.context.item import ContextItem, ItemType
from contextui.events import Event, WindowChanged, WindowClosed, WindowOpened
from contextui.text import cap
from contextui.windowing.manager import WindowManager

if TYPE_CHECKING:
    from contextui.context.manager import ContextManager

_LONGEST_SUMMARY = 2_000  # characters of a closing that stay in the context
GAVE_UP = {"en": " (not saved, given up: {what})", "zh": "（未保存，已放弃：{what}）"}
"""What a closing gave up, behind what is said of it."""

_CLOSED = {"en": "{window} closed: {summary}", "zh": "{window} 已关闭：{summary}"}


class WindowFollower:
    """Gives every opened window an item, and makes the items of a closed one obsolete."""

    def __init__(self, context: "ContextManager", windows: WindowManager) -> None:
        self._context, self._windows = context, windows
        windows.subscribe(self._hear)
        for window in windows.windows():
            self._opened(window.id)

    def _hear(self, event: Event) -> None:
        match event:
            case WindowChanged():
                # Only noted: a window's thread does not wait for whoever is composing.
                self._context.ledger.redrawn(event.window_id)
            case WindowOpened():
                self._opened(event.window_id)
            case WindowClosed():
                self._closed(event)

    def _opened(self, window_id: str) -> None:
        if window_id not in self._context.ledger.references:
            self._context.add(ContextItem(ItemType.WINDOW, window_id))

    def _closed(self, event: WindowClosed) -> None:
        """A person's closing words stay; a model reads its own as the result of its call."""
        self._context.mark_window_obsolete(event.window_id)
        summary = (event.summary or "").strip()
        if summary and event.actor == "person":
            words = _CLOSED[self._windows.lang]
            text = words.format(window=event.window_id, summary=cap(summary, _LONGEST_SUMMARY))
            if event.given_up:
                text += GAVE_UP[self._windows.lang].format(what=event.given_up)
            self._context.add(ContextItem(ItemType.USER, text))
