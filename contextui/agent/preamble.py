"""Context added before the person's message: code files, named files, window actions."""

import asyncio
import hashlib
import re
import threading
import uuid
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from xml.sax.saxutils import escape

from contextui.agent.retry import Emit
from contextui.context.gists.gist import gist, gist_of_size
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
from contextui.files.errors import FileError
from contextui.files.workspace import Workspace
from contextui.model import Block
from contextui.session.code.store import FOLDER, CodeFile, CodeStore
from contextui.text import for_xml, one_line
from contextui.windowing.runtime import runtime_of
from contextui.words import LANGUAGES, Lang, Words, msg

_MAX_CODE_FILES = 50  # code files that are listed
_MAX_FILES = 10  # files that get a line each
_CODE = BESIDE + "code-"
_FILES = BESIDE + "files-"
_RETRIEVED = BESIDE + "retrieved"
_REPORT = BESIDE + "report"
_MENTION = re.compile(r"""(?<![\w@/.])@(?:"([^"\n]{1,500})"|([^\s"'，。；！？、（）]{1,500}))""")
_TRAILING = ".,;:!?)]}"  # punctuation that ends a sentence is not part of a name


@dataclass(frozen=True, slots=True)
class PreambleText:
    """A text that precedes the message, the prefix of its item's id, and its blocks, if any."""

    mark: str
    text: str
    blocks: tuple[Block, ...] = ()


def retrieved(text: str) -> tuple[PreambleText, ...]:
    """Wrap text that was retrieved for the message; empty if there is none."""
    if not text.strip():
        return ()
    marked = f"<Retrieved>\n{escape(for_xml(text.strip()))}\n</Retrieved>"
    return (PreambleText(_RETRIEVED, marked),)


class Preamble:
    """Collects the texts that precede a person's message.

    The list of code files is repeated only if it changed or if the last one was left out of the
    context: a list in the history is cached, a new one is billed in full.

    Args:
        context: The conversation.
    """

    def __init__(self, context: ContextManager) -> None:
        self._context = context
        self._looked = False
        self._last_list: ContextItem | None = None

    async def gather(self, message: str, emit: Emit) -> tuple[PreambleText, ...]:
        """Return the texts that precede this message; emit a notice for what fails."""
        windows = self._context.windows
        if windows is None or windows.workspace is None:
            return ()
        workspace, lang = windows.workspace, windows.lang
        if not self._looked:  # once, and here: a thread must not iterate items that change
            self._looked, self._last_list = True, self._find_last_list()
        code: list[PreambleText] = []
        try:
            code = await asyncio.to_thread(self._code, workspace, lang)
        except ContextUIError as problem:
            emit(Notice(problem.text(lang)))
        readable = windows.files_for_model() or workspace
        files = await asyncio.to_thread(_named_files, readable, message, lang)
        if files:
            title = Words(lang)("Files that the person refers to (read_file reads them):")
            code.append(PreambleText(_FILES, "\n".join([title, *files])))
        return tuple(code)

    def add(self, text: PreambleText) -> ContextItem:
        """Add the text to the context."""
        name = f"{text.mark}-{uuid.uuid4().hex[:12]}"
        item = self._context.add(
            ContextItem(ItemType.USER, text.text, id=name, blocks=text.blocks or None)
        )
        if text.mark.startswith(_CODE):
            self._last_list = item
        return item

    def _find_last_list(self) -> ContextItem | None:
        """Find the last list of code files in a resumed session."""
        return next(
            (one for one in reversed(self._context.get_all()) if one.id.startswith(_CODE)), None
        )

    def _code(self, workspace: Workspace, lang: Lang) -> list[PreambleText]:
        if not (workspace.root / FOLDER).is_dir():
            return []
        files = CodeStore.of(workspace).list()
        text = code_list(files, lang)
        mark = _CODE + hashlib.sha256(text.encode()).hexdigest()[:12]
        return [PreambleText(mark, text)] if files and not self._is_known(mark) else []

    def _is_known(self, mark: str) -> bool:
        """Whether a window shows this list, or it was the last one added, even if dropped since."""
        windows = self._context.windows
        if windows is not None and any(one.name == "code" for one in windows.windows()):
            return True
        last = self._last_list
        return last is not None and last.id.startswith(mark) and last.hidden in (None, "dropped")


def code_list(files: list[CodeFile], lang: Lang) -> str:
    """Render the list of code files and how an answer refers to them."""
    words = Words(lang)
    lines = [
        f"- {one.code_id} ({one.language}) - {one.description}" for one in files[:_MAX_CODE_FILES]
    ]
    if len(files) > _MAX_CODE_FILES:
        lines.append(words("… and {count} more", count=len(files) - _MAX_CODE_FILES))
    title = words("Available code files:")
    how = words("You can refer to them in an answer with <code_ref>{code_id}</code_ref>.")
    return "\n".join([title, *(line.removesuffix(" - ") for line in lines), "", how])


def _named_files(workspace: Workspace, message: str, lang: Lang) -> list[str]:
    """Return a line for each existing file that the message names with an @."""
    lines: dict[str, str] = {}
    for quoted, plain in _MENTION.findall(message):
        for path in dict.fromkeys((quoted or plain, plain.rstrip(_TRAILING))):
            if path and path not in lines and (line := _describe(workspace, path, lang)):
                lines[path] = line
                break
        if len(lines) == _MAX_FILES:
            break
    return list(lines.values())


def _describe(workspace: Workspace, path: str, lang: Lang) -> str | None:
    try:
        info = workspace.stat(path)
    except FileError:  # not a file: something else was meant
        return None
    if info.kind != "file":
        return None
    try:
        content = workspace.read_bytes(info.path)
    except FileError:  # too large to load, or it may hold secrets
        return gist_of_size(info.path, info.size, lang, was_read=False)
    return gist(info.path, content, lang, was_read=False)


_MAX_ACTIONS = 12  # actions that are named; earlier ones are only counted
_ACTIONS = msg("(The person did this since your last step: {actions}.)")
_NOT_OPENED = msg("(Did not open and is closed: {id}. {reason})")
_NOTIFIED = msg("(Reported by {id}: {text})")
_INTERRUPTED = msg("{name} was interrupted when the program ended.")
_MOST_REPORTS = 20  # reports of windows that are kept; earlier ones are dropped
_REPORT_STARTS = (
    "(Meanwhile the person did:",  # as sessions of 0.1 have it
    *(
        Words(one)(text).partition("{")[0]
        for one in LANGUAGES
        for text in (_ACTIONS, _NOT_OPENED, _NOTIFIED, WOKEN)
    ),
)


def is_report(text: str) -> bool:
    """Whether a user message is a report of `PersonActions`, which the person did not write."""
    return text.startswith(_REPORT_STARTS)


def is_said(item: ContextItem) -> bool:
    """Whether an item holds the person's own words, and nothing that the program added."""
    is_message = item.type is ItemType.USER and not item.is_added
    return is_message and not is_report(item.content)


class PersonActions:
    """Reports the person's window actions to the model before their next message.

    Closing a window with a summary is not reported: the context has its own item for that.
    """

    def __init__(self, context: ContextManager) -> None:
        self._context = context
        self._actions: list[str] = []
        self._reports: deque[str] = deque(maxlen=_MOST_REPORTS)
        self._lock = threading.Lock()
        self.stop: Callable[[], None] = lambda: None
        if context.windows is not None:
            self.stop = context.windows.subscribe(self._on_event)
            for window in context.windows.windows():
                for name in runtime_of(window).interrupted:
                    text = Words(self._lang)(_INTERRUPTED, name=one_line(name, 200))
                    self._on_event(WindowNotified(window.id, text))

    def report(self) -> ContextItem | None:
        """Add the report to the context, if there is anything to report."""
        with self._lock:
            actions, self._actions = self._actions, []
        report = self.take_reports()
        if actions:
            words, more = Words(self._lang), len(actions) - _MAX_ACTIONS
            if more > 0:
                earlier = words("{count} more before", count=more)
                actions = [earlier, *actions[-_MAX_ACTIONS:]]
            line = words(_ACTIONS, actions=", ".join(_counted(actions)))
            report = f"{line}\n{report}" if report else line
        if not report:
            return None
        name = f"{_REPORT}-{uuid.uuid4().hex[:12]}"
        return self._context.add(ContextItem(ItemType.USER, report, id=name))

    def take_reports(self) -> str:
        """Return and clear what windows report: what `notify` says, and that one failed to open.

        Each is reported once: with the next result, or before the next message.
        """
        with self._lock:
            reports = list(self._reports)
            self._reports.clear()
        return "\n".join(reports)

    def _on_event(self, event: Event) -> None:
        match event:
            case WindowNotOpened():
                reason = one_line(event.reason, 500)
                line = Words(self._lang)(_NOT_OPENED, id=event.window_id, reason=reason)
                with self._lock:
                    self._reports.append(line)
            case WindowNotified():
                line = Words(self._lang)(_NOTIFIED, id=event.window_id, text=event.text)
                with self._lock:
                    self._reports.append(line)
            case WindowActed(actor="person", ok=True):
                self._note(f"{event.window_id}.{one_line(event.action_id, 40)}")
            case WindowClosed(actor="person", summary=summary) if not (summary or "").strip():
                self._note(f"{event.window_id}.close{self._discarded(event)}")

    @property
    def _lang(self) -> Lang:
        return self._context.windows.lang if self._context.windows else "en"

    def _discarded(self, event: WindowClosed) -> str:
        if not event.given_up:
            return ""
        return Words(self._lang)(" (unsaved, discarded: {what})", what=event.given_up)

    def _note(self, action: str) -> None:
        with self._lock:
            self._actions.append(action)


def _counted(actions: list[str]) -> list[str]:
    """Collapse consecutive repetitions: ``todo_1.add ×3``."""
    runs: list[tuple[str, int]] = []
    for action in actions:
        if runs and runs[-1][0] == action:
            runs[-1] = (action, runs[-1][1] + 1)
        else:
            runs.append((action, 1))
    return [action if count == 1 else f"{action} ×{count}" for action, count in runs]
