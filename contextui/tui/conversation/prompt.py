"""Where the person types."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from textual import events
from textual.binding import Binding
from textual.content import Content
from textual.message import Message
from textual.reactive import var
from textual.strip import Strip
from textual.widgets import TextArea

from contextui.agent.events import (
    AnswerGiven,
    CallFinished,
    CallStarted,
    CompactionFinished,
    CompactionStarted,
    RetryScheduled,
    StepStarted,
    TurnFinished,
    TurnStarted,
    UsageSpent,
)
from contextui.context.item import ItemType
from contextui.events import Event
from contextui.model import TextDelta, ThinkingDelta
from contextui.tui.dialogs.disk import unsaved_mark
from contextui.tui.lines import KEY, MUTED, line, short
from contextui.tui.link import Desk
from contextui.tui.words import Words


class Past:
    """Prompts by age. Going back keeps what was being written.

    Example:
        >>> past = Past(["first", "second"])
        >>> past.back("unfinished"), past.back(""), past.forth(), past.forth()
        ('second', 'first', 'second', 'unfinished')
    """

    def __init__(self, said: Iterable[str] = ()) -> None:
        self._said = list(said)
        self._place: int | None = None
        self._unfinished = ""

    def add(self, text: str) -> None:
        """It was said; the next step back leads to it."""
        if not self._said or self._said[-1] != text:
            self._said.append(text)
        self._place = None

    def back(self, current: str) -> str | None:
        """What was said before; None if there is nothing older."""
        if self._place is None:
            self._unfinished = current
        place = len(self._said) if self._place is None else self._place
        if place == 0:
            return None
        self._place = place - 1
        return self._said[self._place]

    def forth(self) -> str | None:
        """What was said after that, at last what was being written; None if that is shown."""
        if self._place is None:
            return None
        self._place += 1
        if self._place == len(self._said):
            self._place = None
            return self._unfinished
        return self._said[self._place]


_LARGE = 20_000  # characters
_LONG = 100  # lines


def is_large(text: str) -> bool:
    """Whether a paste is too large to be put into the field itself."""
    return len(text) >= _LARGE or text.count("\n") >= _LONG


class Pastes:
    """Keeps large pastes, also once they were sent: who calls up old words wants all of them.

    Example:
        >>> pastes = Pastes()
        >>> pastes.keep("x" * 1_000_000)
        '[pasted 1: 1.0M characters]'
    """

    def __init__(self) -> None:
        self._kept: dict[str, str] = {}

    def keep(self, text: str) -> str:
        """The word that stands for a paste."""
        number = len(self._kept) + 1
        word = f"[pasted {number}: {counted(text)}]"
        self._kept[word] = text
        return word

    def whole(self, text: str) -> str:
        """The text with every paste that is still named in it."""
        for word, paste in self._kept.items():
            text = text.replace(word, paste, 1)
        return text


def counted(text: str) -> str:
    """How much it is, in lines if it has many."""
    lines = text.rstrip("\n").count("\n") + 1
    return f"{short(len(text))} characters" if lines < _LONG else f"{lines:,} lines"


_ROOMY = 52  # cells in which all of it can be told
SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"


@dataclass(slots=True)
class TurnStatus:
    """How far the turn under way is.

    Attributes:
        is_running: Whether there is one.
        step: The request under way.
        characters: What was streamed of the answer, from which its tokens are guessed.
        retry: The countdown before the next try, in words.
        doing: What it is doing: compacting before it begins, thinking, answering, or a tool.
    """

    is_running: bool = False
    step: int = 0
    tokens: int = 0
    characters: int = 0
    retry: tuple[str, int] | None = None
    doing: str = "working"
    _began: float = field(default=0.0)

    def hear(self, event: Event) -> None:
        """Take note of what happens."""
        match event:
            case TurnStarted() | CompactionStarted():
                self.is_running, self._began, self.retry = True, time.monotonic(), None
                self.step = self.tokens = self.characters = 0
                self.doing = "working" if isinstance(event, TurnStarted) else "compacting"
            case StepStarted():
                self.step, self.characters, self.retry, self.doing = event.step, 0, None, "working"
            case RetryScheduled():
                self.retry = (event.reason, event.seconds)
            case ThinkingDelta():
                self.characters += len(event.text)
                self.retry, self.doing = None, "thinking"
            case TextDelta():
                self.characters += len(event.text)
                self.retry, self.doing = None, "answering"
            case CallStarted():
                self.doing = "acting"
            case AnswerGiven() | CallFinished():
                self.doing = "working"
            case UsageSpent():
                self.tokens += event.usage.output_tokens or self.characters // 4
                self.characters = 0
            case TurnFinished() | CompactionFinished():
                self.is_running, self.retry = False, None

    def pause(self, seconds: float) -> None:
        """Leave out a time in which the person was waited for."""
        self._began += seconds

    def shown(self, words: Words, now: float, room: int) -> Content:
        """The title of the prompt's border; empty while nothing runs.

        Args:
            words: The person's language.
            now: The time by the clock that does not jump.
            room: Cells there are; where they are few, it tells less.
        """
        if not self.is_running:
            return Content("")
        spinner = SPINNER[int(now * 10) % len(SPINNER)]
        why = ""
        if self.retry is not None:  # where there is little room, the reason is cut, not the rest
            reason, seconds = self.retry
            told, why = words("next try in {seconds}s", seconds=seconds), f"   {line(reason)}"
        elif self.doing == "compacting":
            told = words("compacting {seconds}s", seconds=int(now - self._began))
        else:
            tokens = self.tokens + self.characters // 4
            told = words(
                "{doing} {seconds}s   step {step}   {tokens} tokens"
                if room >= _ROOMY
                else "{doing} {seconds}s",
                doing=words(self.doing),
                seconds=int(now - self._began),
                step=self.step,
                tokens=short(tokens),
            )
        return Content.assemble(
            (f"{spinner} ", "$text-accent"),
            (told, MUTED),
            ("   esc ", KEY),
            (words("stops"), MUTED),
            (why, MUTED),
        )


_BEAT = 0.1  # seconds between two pictures of the spinner
_NARROWEST = 4  # cells in which there can be text
_PAGES = {"pageup": -1, "pagedown": 1}
_REMEMBERED = 200  # prompts of an earlier run
MODES = {
    "ask": "asks before writing",
    "auto": "writes without asking",
    "read-only": "never writes",
}
"""What each mode of approval means."""


class Prompt(TextArea):
    """A field of several lines; its border tells what goes on, so that nothing changes height.

    Up and down at the edges lead through what was said before.
    """

    BINDINGS = [
        Binding("enter", "submit", "send", key_display="enter"),
        Binding("ctrl+j,shift+enter,alt+enter", "new_line", "new line", key_display="^j"),
    ]
    is_completing = var(False, bindings=True)
    """Whether a list of commands is shown that the keys lead through."""

    class Submitted(Message):
        """The person said something."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class SentNothing(Message):
        """The person pressed Enter, and there was nothing to send."""

    class Completing(Message):
        """The person wants the slash command completed, or chooses among several."""

        def __init__(self, step: int = 0) -> None:
            super().__init__()
            self.step = step

    class LeftDownward(Message):
        """The person wants to go further down than the last line."""

    class Paged(Message):
        """The person wants to see what was said before, or after that."""

        def __init__(self, step: int) -> None:
            super().__init__()
            self.step = step

    class NoticeClicked(Message):
        """The person clicked the notice in the border."""

    class TakenBack(Message):
        """The person wants to change what they said last, which still waits."""

    def __init__(self, words: Words) -> None:
        placeholder = Content(words("Say what you want, or / for commands"))
        super().__init__(id="prompt", placeholder=placeholder, highlight_cursor_line=False)
        self._words = words
        self._past, self._pastes = Past(), Pastes()
        self._status = TurnStatus()
        self._desk: Desk | None = None
        self._new_below: Callable[[], int] = lambda: 0
        self.can_take_back = False
        """Whether there are words that wait, and nothing is written yet."""
        self.notice: Content | None = None
        """What the border says instead of how far the turn is."""

    def attach(self, desk: Desk, new_below: Callable[[], int]) -> None:
        """Know what was said before, who is asked, and how much stands below what is seen."""
        self._desk, self._new_below = desk, new_below
        items = desk.session.context.get_all()
        said = [one.content for one in items[-_REMEMBERED:] if one.type is ItemType.USER]
        self._past = Past(said)
        self.set_interval(_BEAT, self._show_status)
        self._show_status()

    def render_line(self, y: int) -> Strip:
        """A line of the field; where there is no room for any, the base would fail."""
        narrow = self.scrollable_content_region.width < _NARROWEST
        return Strip.blank(self.size.width) if narrow else super().render_line(y)

    def hear(self, event: Event) -> None:
        """Show how far the turn is."""
        self._status.hear(event)

    def pause(self, seconds: float) -> None:
        """Leave a time out of what the turn took."""
        self._status.pause(seconds)

    def on_click(self, event: events.Click) -> None:
        """A click on the notice opens what it is about."""
        if self.notice is not None and event.y == 0:
            event.stop()
            self.post_message(self.NoticeClicked())

    def _show_status(self) -> None:
        below = self._below()
        title = self.notice or self._status.shown(self._words, time.monotonic(), self.size.width)
        # A title is read back as markup. Only what differs is drawn: this is asked all the time.
        if self.border_title != title.markup:
            self.border_title = title
        if self.border_subtitle != below.markup:
            self.border_subtitle = below

    def _below(self) -> Content:
        mode = self._desk.controller.tools.gate.mode if self._desk is not None else "ask"
        count = self._new_below()
        told = self._words("↓ {count} new lines", count=count) + "   " if count else ""
        lost = unsaved_mark(self._desk.session, self._words) if self._desk is not None else ""
        return Content.assemble(
            (told, KEY),
            (f"● {lost}   " if lost else "", "$text-error"),
            (self._words(MODES[mode]), MUTED),
        )

    # --- keys --------------------------------------------------------------------------
    # What the field itself does with a key or a paste comes after these, unless it is prevented.

    async def _on_key(self, event: events.Key) -> None:
        if event.key == "enter":  # here, and not by priority: after all that was typed before it
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
        if event.key in _PAGES and self.max_scroll_y == 0:  # else they lead through the field
            event.prevent_default()
            event.stop()
            self.post_message(self.Paged(_PAGES[event.key]))
            return
        if event.key == "up" and self.cursor_at_first_line:
            self._recall(self._past.back(self.text), event)
        elif event.key == "down" and self.cursor_at_last_line:
            self._recall(self._past.forth(), event)
            if not self.text:
                self.post_message(self.LeftDownward())

    def _recall(self, text: str | None, event: events.Key) -> None:
        if text is not None:
            event.prevent_default()
            event.stop()
            self.text = text
            self.move_cursor(self.document.end)

    async def _on_paste(self, event: events.Paste) -> None:
        # Terminals send the key that begins a line, enter, where a paste has the end of one.
        text = event.text.replace("\r\n", "\n").replace("\r", "\n")
        if is_large(text):
            event.prevent_default()
            event.stop()
            self.insert(self._pastes.keep(text))

    def action_submit(self) -> None:
        """Say it; of a list of commands, choose the one that is marked."""
        if self.is_completing:
            self.post_message(self.Completing())
            return
        text = self.whole_text.strip()
        if not text:
            self.post_message(self.SentNothing())
            return
        self._past.add(self.text.strip())
        self.clear()
        self.post_message(self.Submitted(text))

    @property
    def whole_text(self) -> str:
        """What is written, with everything that was pasted."""
        return self._pastes.whole(self.text)

    def offer_again(self, draft: str) -> None:
        """Put back what was typed in an earlier run; ↑ has it if something is typed already."""
        if not draft.strip():
            return
        shown = self._pastes.keep(draft) if is_large(draft) else draft
        if self.text:
            self._past.add(shown)
            return
        with self.prevent(TextArea.Changed):  # the list of commands would open
            self.text = shown
        self.move_cursor(self.document.end)

    def action_new_line(self) -> None:
        """Go on in the next line."""
        self.insert("\n")

    def say(self, text: str) -> None:
        """Say something whole, whatever else it could become."""
        self.put(text)
        self.is_completing = False
        self.action_submit()

    def put(self, text: str) -> None:
        """Have something in the field, to be changed before it is said."""
        self.text = text
        self.move_cursor(self.document.end)
        self.focus()
