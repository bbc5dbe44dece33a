"""The prompt: input history and large pastes; its border shows the status of the turn."""

import os
import time
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING

from rich.style import Style
from rich.text import Text as RichText
from textual import events
from textual._context import NoActiveAppError
from textual.binding import Binding
from textual.content import Content
from textual.message import Message
from textual.reactive import var
from textual.widgets import TextArea

from contextui.text import for_terminal
from contextui.tui.desktop.field import InertArea
from contextui.tui.dialogs.unsaved import unsaved_mark
from contextui.tui.lines import KEY, MUTED, short
from contextui.words import Words, msg

if TYPE_CHECKING:
    from contextui.session.history import PromptHistory
    from contextui.tui.app_session import AppSession
    from contextui.tui.conversation.status import TurnStatus


class InputHistory:
    """Input history; going back keeps the unfinished text.

    Example:
        >>> history = InputHistory(["first", "second"])
        >>> history.back("unfinished"), history.back(""), history.forth(), history.forth()
        ('second', 'first', 'second', 'unfinished')
    """

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self.texts = list(texts)
        self._place: int | None = None
        self._unfinished = ""

    def add(self, text: str) -> None:
        if text in self.texts:
            self.texts.remove(text)  # its place is now the last
        self.texts.append(text)
        self._place = None

    def put_before(self, texts: Iterable[str]) -> None:
        before = [text for text in texts if text not in set(self.texts)]
        self.texts = [*before, *self.texts]
        if self._place is not None:
            self._place += len(before)

    def back(self, current: str) -> str | None:
        if self._place is None:
            self._unfinished = current
        place = len(self.texts) if self._place is None else self._place
        if place == 0:
            return None
        self._place = place - 1
        return self.texts[self._place]

    def forth(self) -> str | None:
        if self._place is None:
            return None
        self._place += 1
        if self._place == len(self.texts):
            self._place = None
            return self._unfinished
        return self.texts[self._place]


_LARGE = 20_000  # characters
_LONGEST_PATH = 4_096
_LONG = 100  # lines
_LONGEST_FIRST = 1_000  # characters of a draft's first line that is shown before its paste


MOST_PASTED = 10_000_000
"""Characters of a paste: far more than any model reads."""


def is_large(text: str) -> bool:
    """Return whether a paste is too large for the text field."""
    return len(text) >= _LARGE or text.count("\n") >= _LONG


def too_large(text: str, words: Words) -> str:
    """Return the notice about a paste that is refused."""
    return words(
        "The paste is too large: {size} characters. Up to {most} are kept.",
        size=short(len(text)),
        most=short(MOST_PASTED),
    )


class Pastes:
    """Keeps large pastes, even after sending: a recalled prompt still needs them.

    Example:
        >>> pastes = Pastes()
        >>> pastes.keep("x" * 1_000_000)
        '[pasted 1: 1.0M characters]'
    """

    def __init__(self) -> None:
        self._kept: dict[str, str] = {}

    def keep(self, text: str, *, once: bool = False) -> str:
        if once and text in self._kept.values():
            return next(word for word, one in self._kept.items() if one == text)
        number = len(self._kept) + 1
        word = f"[pasted {number}: {counted(text)}]"
        self._kept[word] = text
        return word

    def whole(self, text: str) -> str:
        for word, paste in self._kept.items():
            text = text.replace(word, paste, 1)
        return text


def pasted_image(text: str) -> str | None:
    """Return the path of an image, if a paste is nothing else: terminals paste a dropped file so.

    Terminals quote such a path as a shell does, or not at all.
    """
    text = text.strip()
    if not text.startswith(("/", "'/", '"/')) or "\n" in text or len(text) > _LONGEST_PATH:
        return None
    from contextui.agent.image import is_image_name  # noqa: PLC0415  (after the first frame)

    unquoted = text[1:-1] if text[0] in "'\"" and text[-1] == text[0] else text
    for path in (unquoted, text.replace("\\ ", " ")):
        if is_image_name(path) and os.path.isfile(path):
            return path
    return None


def counted(text: str) -> str:
    """Return the size of a text, in lines if it has many."""
    lines = text.rstrip("\n").count("\n") + 1
    return f"{short(len(text))} characters" if lines < _LONG else f"{lines:,} lines"


_BEAT = 0.1  # seconds between two frames of the spinner
_SCROLLS = {
    "pageup": "page_up",
    "pagedown": "page_down",
    "ctrl+home": "scroll_home",
    "ctrl+end": "scroll_end",
}
"""The actions of the conversation that the prompt has the keys of."""
_REMEMBERED = 200  # prompts restored from an earlier run
MODES = {
    "ask": msg("asks before writing"),
    "auto": msg("writes without asking"),
    "read-only": msg("refuses every write"),
}
"""The description of each approval mode."""


class Prompt(InertArea):
    """The multi-line prompt; its border shows the turn's status, so that its height stays.

    Up and down at the edges browse the input history.
    """

    BINDINGS = [
        Binding("enter", "take", "take", key_display="enter"),
        Binding("enter", "submit", "send", key_display="enter"),
        Binding("ctrl+j,shift+enter,alt+enter", "new_line", "new line", key_display="^j"),
    ]
    is_completing = var(False, bindings=True)
    """Whether completions are shown, which the arrow keys then select."""

    class Submitted(Message):
        """Posted when the person sends a message, or presses Enter in an empty prompt."""

        def __init__(
            self,
            text: str,  # pastes included
            *,
            is_shell: bool = False,  # whether a visible `!` began it: a large paste cannot
            visible: str = "",  # as the field showed it: large pastes are placeholders
            mentions: frozenset[str] = frozenset(),  # those chosen from the list of files
        ) -> None:
            super().__init__()
            self.text, self.is_shell = text, is_shell
            self.visible, self.mentions = visible, mentions

    class Completing(Message):
        """Posted to accept a completion, or to move the selection by `step`."""

        def __init__(self, step: int = 0, *, is_enter: bool = False) -> None:
            super().__init__()
            self.step, self.is_enter = step, is_enter

    class EditorRequested(Message):
        """Posted when the person wants to edit the text in their own editor."""

    def __init__(self, words: Words) -> None:
        placeholder = Content(words("Say what you want   @ file   ! command   / commands"))
        super().__init__(id="prompt", placeholder=placeholder, highlight_cursor_line=False)
        self._words = words
        self._history, self._pastes = InputHistory(), Pastes()
        self._status: TurnStatus | None = None
        self._desk: AppSession | None = None
        self._new_below: Callable[[], int] = lambda: 0
        self._kept: PromptHistory | None = None
        self._writers = ThreadPoolExecutor(1, "history")  # one thread: in order
        self._set_aside: str | None = None
        self._mentions: set[str] = set()
        self._is_chord = False  # whether ctrl+x was pressed
        self._before_stray: tuple[str, str] | None = None  # the text before a key, and that key
        self.recalled: str | None = None
        """A text that was recalled or pasted: nothing is offered for it until it is edited."""
        self.can_take_back = False
        """Whether messages are queued."""
        self.notice: Content | None = None
        """Shown in the border instead of the turn's status."""
        self.finding: Content | None = None
        """What was found, while it holds words to find in the conversation; shown as a notice."""
        # What some keys and a click do around the prompt.
        self.leave_downward: Callable[[], object] = lambda: None
        self.scroll_log: Callable[[str], object] = lambda _: None  # by one of its actions
        self.open_notice: Callable[[], object] = lambda: None
        self.take_back: Callable[[], object] = lambda: None  # the last queued message

    def attach(
        self, desk: "AppSession", status: "TurnStatus", new_below: Callable[[], int]
    ) -> None:
        from contextui.agent.prompt import is_said  # noqa: PLC0415  (after the first frame)
        from contextui.session.history import PromptHistory, collapse  # noqa: PLC0415

        self._desk, self._status, self._new_below = desk, status, new_below
        items = desk.session.context.get_all()
        texts = [item.content for item in items[-_REMEMBERED:] if is_said(item)]
        typed = self._history.texts  # before the session was open
        self._history = InputHistory(collapse([*texts, *typed]))
        self._kept = PromptHistory.beside(desk.session.path, desk.session.cwd)
        self._keep(typed)
        self.run_worker(self._load_history, thread=True, name="history")
        self.set_interval(_BEAT, self._show_status)
        self._show_status()

    def _load_history(self) -> None:
        assert self._kept is not None
        texts = self._kept.texts()
        with suppress(RuntimeError, NoActiveAppError):  # the app may have quit
            self.app.call_from_thread(self._history.put_before, texts)

    def _keep(self, texts: Iterable[str]) -> None:
        """Keep sent prompts for later sessions; off the screen's thread, as it may wait."""
        kept, new = self._kept, list(texts)
        if kept is not None and new:
            self._writers.submit(lambda: [kept.add(one) for one in new])

    def load_text(self, text: str) -> None:
        super().load_text(for_terminal(text))

    def on_click(self, event: events.Click) -> None:
        if self.notice is not None and event.y == 0:
            event.stop()
            self.open_notice()

    def _show_status(self) -> None:
        if self._status is None:
            return
        below = self._below()
        title = self.notice or self.finding
        title = title or self._status.shown(self._words, time.monotonic(), self.size.width)
        # Titles are read back as markup. This runs often, so only changes are rendered.
        if self.border_title != title.markup:
            self.border_title = title
        if self.border_subtitle != below.markup:
            self.border_subtitle = below

    def _below(self) -> Content:
        mode = self._desk.controller.tools.gate.mode if self._desk is not None else "ask"
        count = self._new_below()
        new = self._words.plural(count, "↓ {count} new line", "↓ {count} new lines")
        more = f"ctrl+end {new}   " if count else ""
        lost = unsaved_mark(self._desk.session, self._words) if self._desk is not None else ""
        if self.is_shell:
            return Content.assemble((self._words("! runs in the terminal"), "$text-warning"))
        return Content.assemble(
            (more, KEY),
            (f"● {lost}   " if lost else "", "$text-error"),
            (self._words(MODES[mode]), MUTED),
        )

    # --- keys --------------------------------------------------------------------------
    # The base class handles a key or a paste after these, unless the default is prevented.

    async def _on_key(self, event: events.Key) -> None:
        is_chord, self._is_chord = self._is_chord, False
        if self._takes(event.key, is_chord):
            event.prevent_default()
            event.stop()

    def _takes(self, key: str, is_chord: bool) -> bool:
        """Handle a key that does not edit the text; return whether it is one."""
        if key == "ctrl+x" and self.selection.is_empty:  # else it cuts
            self._is_chord = True
        elif key == "ctrl+e" and is_chord:
            self.post_message(self.EditorRequested())
        elif key == "enter":  # not a priority binding: it must follow the typed keys
            self.action_submit()
        elif self.is_completing and key in ("up", "down", "tab"):
            self.post_message(self.Completing({"up": -1, "down": 1}.get(key, 0)))
        elif key == "up" and self.can_take_back and not self.text:
            self.take_back()
        elif key in _SCROLLS and self.max_scroll_y == 0:  # else they scroll the field
            self.scroll_log(_SCROLLS[key])
        elif key == "up" and self.cursor_at_first_line:
            return self._recall(self._history.back(self.text))
        elif key == "down" and self.cursor_at_last_line:
            is_recalled = self._recall(self._history.forth())
            if self.text:
                return is_recalled
            self.leave_downward()
        else:
            return False
        return True

    def _recall(self, text: str | None) -> bool:
        if text is not None:
            self.recall(text)
        return text is not None

    def recall(self, text: str) -> None:
        self.text = self._shortened(text)
        self.recalled = self.text
        self.move_cursor(self.document.end)

    async def _on_paste(self, event: events.Paste) -> None:
        # Terminals send a carriage return for each line break of a paste.
        text = event.text = event.text.replace("\r\n", "\n").replace("\r", "\n")
        if is_large(text):
            event.prevent_default()
            event.stop()
            word = self._pastes.keep(text)
            self.replace(word, *self.selection, maintain_selection_offset=False)
        elif (path := pasted_image(text)) is not None:
            from contextui.agent.mention import mention_of  # noqa: PLC0415  (see above)

            event.prevent_default()
            event.stop()
            self.insert_mention(mention_of(path), 0)
        elif len(text) > 1:  # some terminals paste a typed character
            event.prevent_default()
            event.stop()
            self.replace(text, *self.selection, maintain_selection_offset=False)
            self.recalled = self.text

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in ("take", "submit"):
            return self.is_searching == (action == "take")
        return super().check_action(action, parameters)

    def action_take(self) -> None:
        self.post_message(self.Completing(is_enter=True))

    def action_submit(self) -> None:
        if self.is_completing:
            self.post_message(self.Completing(is_enter=True))
            return
        text = self.whole_text.strip()
        if not text:
            self.post_message(self.Submitted(""))
            return
        if self._is_stray():
            self._before_stray = None
            words = self._words("The key went into the prompt. Enter again sends the text.")
            self.notify(words, severity="warning", markup=False)
            return
        sent = self.Submitted(
            text, is_shell=self.is_shell, visible=self.text, mentions=self.mentions
        )
        self._history.add(self.text.strip())
        self._keep([text])
        self._before_stray = None
        self.clear()
        self.post_message(sent)

    @property
    def is_shell(self) -> bool:
        return self.text.startswith("!") and not self.is_searching

    @property
    def whole_text(self) -> str:
        return self._pastes.whole(self.text if self._set_aside is None else self._set_aside)

    # --- mentions ----------------------------------------------------------------------

    @property
    def text_before_cursor(self) -> str:
        row, column = self.cursor_location
        return self.document.get_line(row)[:column]

    @property
    def mentions(self) -> frozenset[str]:
        return frozenset(mention for mention in self._mentions if mention in self.text)

    def insert_mention(self, mention: str, instead_of: int) -> None:
        """Put a mention in the place of the characters before the cursor, and a space after it."""
        self._mentions.add(mention)
        row, column = self.cursor_location
        behind = self.document.get_line(row)[column : column + 1]
        text = mention if behind == " " else f"{mention} "
        self.replace(text, (row, column - instead_of), (row, column))
        self.move_cursor((row, column - instead_of + len(mention) + 1))

    def _mention_columns(self, text: str) -> list[tuple[int, int]]:
        if not self._mentions or "@" not in text:
            return []
        from contextui.agent.mention import mentions_in  # noqa: PLC0415  (after the first frame)

        found = mentions_in(text)
        return [
            (one.start, one.end) for one in found if text[one.start : one.end] in self._mentions
        ]

    def action_delete_left(self) -> None:
        self._delete(is_left=True)

    def action_delete_right(self) -> None:
        self._delete(is_left=False)

    def _delete(self, *, is_left: bool) -> None:
        """Delete a character, or the whole mention that it is part of."""
        row, column = self.cursor_location
        mentions = self._mention_columns(self.document.get_line(row))
        for start, end in mentions if self.selection.is_empty else ():
            if (start < column <= end) if is_left else (start <= column < end):
                self.delete((row, start), (row, end), maintain_selection_offset=False)
                return
        (super().action_delete_left if is_left else super().action_delete_right)()

    def get_line(self, line_index: int) -> RichText:
        """Return a line with its mentions on a ground of their own."""
        found = super().get_line(line_index)
        columns = self._mention_columns(found.plain)
        if columns:
            variables = self.app.theme_variables
            ground = variables.get("soft") or variables["panel"]
            style = Style(color=variables["primary"], bgcolor=ground)
            for start, end in columns:
                found.stylize(style, start, end)
        return found

    # --- history search ----------------------------------------------------------------

    @property
    def is_searching(self) -> bool:
        """Whether the field holds a query instead of the person's text."""
        return self._set_aside is not None

    @property
    def past(self) -> list[str]:
        return self._history.texts

    def begin_search(self) -> None:
        if self._set_aside is None:
            self._set_aside = self.text
            self.text = ""

    def end_search(self, found: str | None = None) -> None:
        """Put the found prompt into the field, or the text that was set aside."""
        if self._set_aside is None:
            return
        unfinished, self._set_aside = self._set_aside, None
        text = unfinished if found is None else self._shortened(found)
        if found is not None and unfinished.strip():
            self._history.add(unfinished.strip())  # ↑ has it again
        with self.prevent(TextArea.Changed):
            self.text = text
        self.move_cursor(self.document.end)

    def offer_again(self, draft: str) -> None:
        """Restore the draft of an earlier run; add it to the history if the prompt has text."""
        if not draft.strip():
            return
        shown = self._shortened(draft)
        if self.text:
            self._history.add(shown)
            return
        with self.prevent(TextArea.Changed):  # completions would open
            self.text = shown
        self.move_cursor(self.document.end)

    def _shortened(self, draft: str) -> str:
        """Return a text as the field shows it: of a large one, the first line."""
        if not is_large(draft):
            return draft
        first, end, rest = draft.partition("\n")
        if not end or len(first) > _LONGEST_FIRST or not is_large(rest):
            first, end, rest = "", "", draft
        return first + end + self._pastes.keep(rest, once=True)

    def replace_text(self, text: str) -> None:
        if text != self.whole_text:
            self.put(self._pastes.keep(text) if is_large(text) else text)

    def action_new_line(self) -> None:
        self.insert("\n")

    def type(self, text: str) -> None:
        """Insert a key that was pressed in another pane, instead of what is selected.

        It may have been meant as a key of that pane, so Enter right after it does not send.
        """
        self._before_stray = self.text, text
        self.replace(text, *self.selection, maintain_selection_offset=False)

    def _is_stray(self) -> bool:
        """Whether nothing was typed but a key from another pane, once or repeatedly."""
        if self._before_stray is None:
            return False
        before, key = self._before_stray
        typed = Counter(self.text)
        typed.subtract(before)
        return typed.pop(key, 0) > 0 and not any(typed.values())

    def say(self, text: str) -> None:
        self.put(text)
        self.is_completing = False
        self.action_submit()

    def watch_text(self) -> None:
        self.set_class(self.is_shell, "-shell")
        self._show_status()

    def put(self, text: str) -> None:
        self.text = text
        self.move_cursor(self.document.end)
        self.focus()
