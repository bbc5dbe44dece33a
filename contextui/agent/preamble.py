"""Context added before the person's message: their window actions, and the code files."""

import asyncio
import hashlib
import threading
import uuid
from collections import deque
from dataclasses import dataclass
from itertools import groupby
from xml.sax.saxutils import escape

from contextui.agent.retry import Emit
from contextui.context.item import BESIDE, ContextItem, ItemType
from contextui.context.manager import ContextManager
from contextui.errors import ContextUIError
from contextui.events import (
    WOKEN,
    Event,
    Notice,
    WindowActed,
    WindowClosed,
    WindowNotified,
    WindowNotOpened,
)
from contextui.model import Block
from contextui.session.code.store import FOLDER, CodeFile, CodeStore
from contextui.text import for_xml, one_line
from contextui.windowing.manager import WindowManager
from contextui.windowing.runtime import runtime_of
from contextui.words import LANGUAGES, Lang, Words, msg

_MAX_CODE_FILES = 50  # code files that are listed
_MAX_ACTIONS = 12  # actions that are named; earlier ones are only counted
_MOST_REPORTS = 20  # reports of windows that are kept; earlier ones are dropped
_CODE = BESIDE + "code-"
_RETRIEVED = BESIDE + "retrieved"
_REPORT = BESIDE + "report"
_ACTIONS = msg("(The person did this since your last step: {actions}.)")
_NOT_OPENED = msg("(Did not open and is closed: {id}. {reason})")
_NOTIFIED = msg("(Reported by {id}: {text})")
_INTERRUPTED = msg("{name} was interrupted when the program ended.")
_REPORT_STARTS = (
    "(Meanwhile the person did:",  # as sessions of 0.1 have it
    *(
        Words(lang)(text).partition("{")[0]
        for lang in LANGUAGES
        for text in (_ACTIONS, _NOT_OPENED, _NOTIFIED, WOKEN)
    ),
)


def is_report(text: str) -> bool:
    """Whether a user message is a report of window actions, which the person did not write."""
    return text.startswith(_REPORT_STARTS)


def is_said(item: ContextItem) -> bool:
    """Whether an item holds the person's own words, and nothing that the program added."""
    is_message = item.type is ItemType.USER and not item.is_added
    return is_message and not is_report(item.content)


@dataclass(frozen=True, slots=True)
class PreambleText:
    """A text that precedes the message, the prefix of its item's id, and its blocks, if any."""

    mark: str
    text: str
    blocks: tuple[Block, ...] = ()


class Preamble:
    """Adds what precedes a person's message to the context.

    That is what the person did to windows, what windows reported, retrieved text, and the list of
    code files. The list is repeated only if it changed or if the last one was left out of the
    context: a list in the history is cached, a new one is billed in full. Closing a window with a
    summary is not reported: the context has its own item for that.
    """

    def __init__(self, context: ContextManager, windows: WindowManager) -> None:
        self._context, self._windows = context, windows
        self._words = Words(windows.lang)
        self._looked = False
        self._last_list: ContextItem | None = None
        self._actions = deque[str]()
        self._reports = deque[str](maxlen=_MOST_REPORTS)
        self._lock = threading.Lock()
        self.stop = windows.subscribe(self._on_event)
        for window in windows.windows():
            for name in runtime_of(window).interrupted:
                text = self._words(_INTERRUPTED, name=one_line(name, 200))
                self._on_event(WindowNotified(window.id, text))

    def add(self, text: PreambleText) -> ContextItem:
        """Add a text to the context."""
        name = f"{text.mark}-{uuid.uuid4().hex[:12]}"
        item = self._context.add(
            ContextItem(ItemType.USER, text.text, id=name, blocks=text.blocks or None)
        )
        if text.mark.startswith(_CODE):
            self._last_list = item
        return item

    def add_retrieved(self, text: str) -> ContextItem:
        """Add text that was retrieved for the message."""
        marked = f"<Retrieved>\n{escape(for_xml(text.strip()))}\n</Retrieved>"
        return self.add(PreambleText(_RETRIEVED, marked))

    # --- code files --------------------------------------------------------------------

    async def code_files(self, emit: Emit) -> tuple[PreambleText, ...]:
        """Return the list of code files, if it is due; emit a notice if it cannot be read."""
        if self._windows.workspace is None:
            return ()
        if not self._looked:  # once, and here: a thread must not iterate items that change
            self._looked = True
            items = reversed(self._context.get_all())
            self._last_list = next((one for one in items if one.id.startswith(_CODE)), None)
        try:
            return await asyncio.to_thread(self._list_code)
        except ContextUIError as problem:
            emit(Notice(problem.text(self._words.lang)))
            return ()

    def _list_code(self) -> tuple[PreambleText, ...]:
        workspace = self._windows.workspace
        if workspace is None or not (workspace.root / FOLDER).is_dir():
            return ()
        files = CodeStore.of(workspace).list()
        text = code_list(files, self._words.lang)
        mark = _CODE + hashlib.sha256(text.encode()).hexdigest()[:12]
        return (PreambleText(mark, text),) if files and not self._is_known(mark) else ()

    def _is_known(self, mark: str) -> bool:
        """Whether a window shows this list, or it was the last one added, even if dropped since."""
        if any(window.name == "code" for window in self._windows.windows()):
            return True
        last = self._last_list
        return last is not None and last.id.startswith(mark) and last.hidden in (None, "dropped")

    # --- window actions ----------------------------------------------------------------

    def report(self) -> ContextItem | None:
        """Add what the person did to windows, and what windows reported, if anything."""
        actions, report = self._take(self._actions), self.take_reports()
        if actions:
            if (more := len(actions) - _MAX_ACTIONS) > 0:
                earlier = self._words("{count} more before", count=more)
                actions = [earlier, *actions[-_MAX_ACTIONS:]]
            line = self._words(_ACTIONS, actions=", ".join(_counted(actions)))
            report = f"{line}\n{report}" if report else line
        return self.add(PreambleText(_REPORT, report)) if report else None

    def take_reports(self) -> str:
        """Return and clear what windows report: what `notify` says, and that one failed to open.

        Each is reported once: with the next result, or before the next message.
        """
        return "\n".join(self._take(self._reports))

    def _on_event(self, event: Event) -> None:
        words = self._words
        match event:
            case WindowNotOpened(window_id, reason):
                line = words(_NOT_OPENED, id=window_id, reason=one_line(reason, 500))
                self._note(self._reports, line)
            case WindowNotified(window_id, text):
                self._note(self._reports, words(_NOTIFIED, id=window_id, text=text))
            case WindowActed(actor="person", ok=True):
                action = f"{event.window_id}.{one_line(event.action_id, 40)}"
                self._note(self._actions, action)
            case WindowClosed(actor="person", summary=summary) if not (summary or "").strip():
                lost = words(" (unsaved, discarded: {what})", what=event.given_up)
                self._note(
                    self._actions, f"{event.window_id}.close{lost if event.given_up else ''}"
                )

    def _note(self, notes: deque[str], line: str) -> None:
        with self._lock:
            notes.append(line)

    def _take(self, notes: deque[str]) -> list[str]:
        with self._lock:
            taken = list(notes)
            notes.clear()
        return taken


def code_list(files: list[CodeFile], lang: Lang) -> str:
    """Render the list of code files and how an answer refers to them."""
    words = Words(lang)
    lines = [
        f"- {file.code_id} ({file.language}) - {file.description}"
        for file in files[:_MAX_CODE_FILES]
    ]
    if len(files) > _MAX_CODE_FILES:
        lines.append(words("… and {count} more", count=len(files) - _MAX_CODE_FILES))
    title = words("Available code files:")
    how = words("You can refer to them in an answer with <code_ref>{code_id}</code_ref>.")
    return "\n".join([title, *(line.removesuffix(" - ") for line in lines), "", how])


def _counted(actions: list[str]) -> list[str]:
    """Collapse consecutive repetitions: ``todo_1.add ×3``."""
    runs = [(action, len(list(run))) for action, run in groupby(actions)]
    return [action if count == 1 else f"{action} ×{count}" for action, count in runs]
