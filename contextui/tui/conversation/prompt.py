"""The prompt: input history and large pastes; its border shows the status of the turn."""

import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from textual import events
from textual.binding import Binding
from textual.content import Content
from textual.message import Message
from textual.reactive import var
from textual.strip import Strip
from textual.widgets import TextArea

from contextui.tui.dialogs.unsaved import unsaved_mark
from contextui.tui.lines import KEY, MUTED, short
from contextui.words import Words, msg

if TYPE_CHECKING:
    from contextui.events import Event
    from contextui.tui.conversation.status import TurnStatus
    from contextui.tui.link import Desk


class InputHistory:
    """Input history; going back keeps the unfinished text.

    Example:
        >>> history = InputHistory(["first", "second"])
        >>> history.back("unfinished"), history.back(""), history.forth(), history.forth()
        ('second', 'first', 'second', 'unfinished')
    """

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._texts = list(texts)
        self._place: int | None = None
        self._unfinished = ""

    def add(self, text: str) -> None:
        """Append a sent text and reset the position."""
        if not self._texts or self._texts[-1] != text:
            self._texts.append(text)
        self._place = None

    def back(self, current: str) -> str | None:
        """Return the previous text, or None if there is none."""
        if self._place is None:
            self._unfinished = current
        place = len(self._texts) if self._place is None else self._place
        if place == 0:
            return None
        self._place = place - 1
        return self._texts[self._place]

    def forth(self) -> str | None:
        """Return the next text, at last the unfinished one; None if that is already shown."""
        if self._place is None:
            return None
        self._place += 1
        if self._place == len(self._texts):
            self._place = None
            return self._unfinished
        return self._texts[self._place]


_LARGE = 20_000  # characters
_LONG = 100  # lines


def is_large(text: str) -> bool:
    """Return whether a paste is too large for the text field."""
    return len(text) >= _LARGE or text.count("\n") >= _LONG


class Pastes:
    """Keeps large pastes, even after sending: a recalled prompt still needs them.

    Example:
        >>> pastes = Pastes()
        >>> pastes.keep("x" * 1_000_000)
        '[pasted 1: 1.0M characters]'
    """

    def __init__(self) -> None:
        self._kept: dict[str, str] = {}

    def keep(self, text: str) -> str:
        """Store a paste and return its placeholder."""
        number = len(self._kept) + 1
        word = f"[pasted {number}: {counted(text)}]"
        self._kept[word] = text
        return word

    def whole(self, text: str) -> str:
        """Return the text with every placeholder replaced by its paste."""
        for word, paste in self._kept.items():
            text = text.replace(word, paste, 1)
        return text


def counted(text: str) -> str:
    """Return the size of a text, in lines if it has many."""
    lines = text.rstrip("\n").count("\n") + 1
    return f"{short(len(text))} characters" if lines < _LONG else f"{lines:,} lines"


_BEAT = 0.1  # seconds between two frames of the spinner
_NARROWEST = 4  # minimum cells for text
_PAGES = {"pageup": -1, "pagedown": 1}
_REMEMBERED = 200  # prompts restored from an earlier run
MODES = {
    "ask": msg("asks before writing"),
    "auto": msg("writes without asking"),
    "read-only": msg("never writes"),
}
"""The description of each approval mode."""


class Prompt(TextArea):
    """The multi-line prompt; its border shows the turn's status, so that its height stays.

    Up and down at the edges browse the input history.
    """

    BINDINGS = [
        Binding("enter", "submit", "send", key_display="enter"),
        Binding("ctrl+j,shift+enter,alt+enter", "new_line", "new line", key_display="^j"),
    ]
    is_completing = var(False, bindings=True)
    """Whether completions are shown, which the arrow keys then select."""

    class Submitted(Message):
        """Posted when the person sends a message."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class SentNothing(Message):
        """Posted when the person presses Enter on an empty prompt."""

    class Completing(Message):
        """Posted to accept a completion, or to move the selection by `step`."""

        def __init__(self, step: int = 0) -> None:
            super().__init__()
            self.step = step

    class LeftDownward(Message):
        """Posted when the person presses down on the last line."""

    class Paged(Message):
        """Posted when the person scrolls the conversation by a page."""

        def __init__(self, step: int) -> None:
            super().__init__()
            self.step = step

    class NoticeClicked(Message):
        """Posted when the person clicks the notice in the border."""

    class TakenBack(Message):
        """Posted when the person wants to edit the last queued message."""

    def __init__(self, words: Words) -> None:
        placeholder = Content(words("Say what you want, or / for commands"))
        super().__init__(id="prompt", placeholder=placeholder, highlight_cursor_line=False)
        self._words = words
        self._history, self._pastes = InputHistory(), Pastes()
        self._status: TurnStatus | None = None
        self._desk: Desk | None = None
        self._new_below: Callable[[], int] = lambda: 0
        self.can_take_back = False
        """Whether messages are queued and the prompt is empty."""
        self.notice: Content | None = None
        """Shown in the border instead of the turn's status."""

    def attach(self, desk: "Desk", status: "TurnStatus", new_below: Callable[[], int]) -> None:
        """Attach a session: load the input history and show the status."""
        from contextui.context.item import ItemType  # noqa: PLC0415  (after the first frame)

        self._desk, self._status, self._new_below = desk, status, new_below
        items = desk.session.context.get_all()
        texts = [one.content for one in items[-_REMEMBERED:] if one.type is ItemType.USER]
        self._history = InputHistory(texts)
        self.set_interval(_BEAT, self._show_status)
        self._show_status()

    def render_line(self, y: int) -> Strip:
        """Render a line; blank where the field is too narrow for the base class."""
        narrow = self.scrollable_content_region.width < _NARROWEST
        return Strip.blank(self.size.width) if narrow else super().render_line(y)

    def handle(self, event: "Event") -> None:
        """Update the turn's status from an event."""
        if self._status is not None:
            self._status.handle(event)

    def pause(self, seconds: float) -> None:
        """Exclude seconds from the turn's duration."""
        if self._status is not None:
            self._status.pause(seconds)

    def on_click(self, event: events.Click) -> None:
        """Post `NoticeClicked` for a click on the notice."""
        if self.notice is not None and event.y == 0:
            event.stop()
            self.post_message(self.NoticeClicked())

    def _show_status(self) -> None:
        if self._status is None:
            return
        below = self._below()
        title = self.notice or self._status.shown(self._words, time.monotonic(), self.size.width)
        # Titles are read back as markup. This runs often, so only changes are rendered.
        if self.border_title != title.markup:
            self.border_title = title
        if self.border_subtitle != below.markup:
            self.border_subtitle = below

    def _below(self) -> Content:
        mode = self._desk.controller.tools.gate.mode if self._desk is not None else "ask"
        count = self._new_below()
        more = self._words("↓ {count} new lines", count=count) + "   " if count else ""
        lost = unsaved_mark(self._desk.session, self._words) if self._desk is not None else ""
        return Content.assemble(
            (more, KEY),
            (f"● {lost}   " if lost else "", "$text-error"),
            (self._words(MODES[mode]), MUTED),
        )

    # --- keys --------------------------------------------------------------------------
    # The base class handles a key or a paste after these, unless the default is prevented.

    async def _on_key(self, event: events.Key) -> None:
        if event.key == "enter":  # not a priority binding: it must follow the typed keys
            event.prevent_default()
            event.stop()
            self.action_submit()
            return
        if self.is_completing and event.key in ("up", "down", "tab"):
            event.prevent_default()
            event.stop()
            self.post_message(self.Completing({"up": -1, "down": 1}.get(event.key, 0)))
            return
        if event.key == "up" and self.can_take_back and not self.text:
            event.prevent_default()
            event.stop()
            self.post_message(self.TakenBack())
            return
        if event.key in _PAGES and self.max_scroll_y == 0:  # else they scroll the field
            event.prevent_default()
            event.stop()
            self.post_message(self.Paged(_PAGES[event.key]))
            return
        if event.key == "up" and self.cursor_at_first_line:
            self._recall(self._history.back(self.text), event)
        elif event.key == "down" and self.cursor_at_last_line:
            self._recall(self._history.forth(), event)
            if not self.text:
                self.post_message(self.LeftDownward())

    def _recall(self, text: str | None, event: events.Key) -> None:
        if text is not None:
            event.prevent_default()
            event.stop()
            self.text = text
            self.move_cursor(self.document.end)

    async def _on_paste(self, event: events.Paste) -> None:
        # Terminals send a carriage return for each line break of a paste.
        text = event.text.replace("\r\n", "\n").replace("\r", "\n")
        if is_large(text):
            event.prevent_default()
            event.stop()
            self.insert(self._pastes.keep(text))

    def action_submit(self) -> None:
        """Send the text, or accept the selected completion."""
        if self.is_completing:
            self.post_message(self.Completing())
            return
        text = self.whole_text.strip()
        if not text:
            self.post_message(self.SentNothing())
            return
        self._history.add(self.text.strip())
        self.clear()
        self.post_message(self.Submitted(text))

    @property
    def whole_text(self) -> str:
        """The text with placeholders replaced by their pastes."""
        return self._pastes.whole(self.text)

    def offer_again(self, draft: str) -> None:
        """Restore the draft of an earlier run; add it to the history if the prompt has text."""
        if not draft.strip():
            return
        shown = self._pastes.keep(draft) if is_large(draft) else draft
        if self.text:
            self._history.add(shown)
            return
        with self.prevent(TextArea.Changed):  # completions would open
            self.text = shown
        self.move_cursor(self.document.end)

    def action_new_line(self) -> None:
        """Insert a line break."""
        self.insert("\n")

    def say(self, text: str) -> None:
        """Send a text as it is, without completing it."""
        self.put(text)
        self.is_completing = False
        self.action_submit()

    def put(self, text: str) -> None:
        """Put a text into the prompt for editing."""
        self.text = text
        self.move_cursor(self.document.end)
        self.focus()
