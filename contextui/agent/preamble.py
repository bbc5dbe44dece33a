"""Context added before the person's message: code files, named files, window actions."""

import asyncio
import hashlib
import re
import threading
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from xml.sax.saxutils import escape

from contextui.agent.events import Notice
from contextui.agent.retry import Tell
from contextui.config.settings import Lang
from contextui.context.gists.gist import gist, gist_of_size
from contextui.context.item import BESIDE, ContextItem, ItemType
from contextui.context.manager import GAVE_UP, ContextManager
from contextui.errors import ContextUIError
from contextui.events import Event, WindowActed, WindowClosed, WindowNotOpened
from contextui.files.errors import FileError
from contextui.files.workspace import Workspace
from contextui.session.code.store import FOLDER, CodeFile, CodeStore
from contextui.text import for_xml, one_line

_MOST = 50  # code files that are listed
_MOST_NAMED = 10  # files that get a line each
_CODE = BESIDE + "code-"
_FILES = BESIDE + "files-"
_RETRIEVED = BESIDE + "retrieved"
_NAMED = re.compile(r"""(?<![\w@/.])@(?:"([^"\n]{1,500})"|([^\s"'，。；！？、（）]{1,500}))""")
_BEHIND = ".,;:!?)]}"  # punctuation that ends a sentence is not part of a name
_CODE_WORDS: dict[Lang, tuple[str, str, str]] = {
    "en": (
        "Available code files:",
        "… and {count} more",
        "You can refer to them in an answer with <code_ref>{code_id}</code_ref>.",
    ),
    "zh": (
        "可用代码文件列表：",
        "… 另有 {count} 个",
        "你可以通过 <code_ref>{code_id}</code_ref> 标签在最终报告中引用这些代码。",
    ),
}
_FILE_WORDS: dict[Lang, str] = {
    "en": "Files that the person refers to (read_file reads them):",
    "zh": "用户提到的文件（可用 read_file 读取）：",
}


@dataclass(frozen=True, slots=True)
class Told:
    """A text that precedes the message, and the prefix of its item's id."""

    mark: str
    text: str


def retrieved(text: str) -> tuple[Told, ...]:
    """Wrap text that was retrieved for the message; empty if there is none."""
    if not text.strip():
        return ()
    marked = f"<Retrieved>\n{escape(for_xml(text.strip()))}\n</Retrieved>"
    return (Told(_RETRIEVED, marked),)


class Beforehand:
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

    async def gather(self, words: str, tell: Tell) -> tuple[Told, ...]:
        """Return the texts that precede this message; emit a notice for what fails."""
        windows = self._context.windows
        if windows is None or windows.workspace is None:
            return ()
        workspace, lang = windows.workspace, windows.lang
        if not self._looked:  # once, and here: a thread must not iterate items that change
            self._looked, self._last_list = True, self._find_last_list()
        code: list[Told] = []
        try:
            code = await asyncio.to_thread(self._code, workspace, lang)
        except ContextUIError as problem:
            tell(Notice(str(problem)))
        readable = windows.files_for_model() or workspace
        files = await asyncio.to_thread(_named_files, readable, words, lang)
        if files:
            code.append(Told(_FILES, "\n".join([_FILE_WORDS[lang], *files])))
        return tuple(code)

    def tell(self, told: Told) -> ContextItem:
        """Add the text to the context."""
        name = f"{told.mark}-{uuid.uuid4().hex[:12]}"
        item = self._context.add(ContextItem(ItemType.USER, told.text, id=name))
        if told.mark.startswith(_CODE):
            self._last_list = item
        return item

    def _find_last_list(self) -> ContextItem | None:
        """Find the last list of code files in a resumed session."""
        return next(
            (one for one in reversed(self._context.get_all()) if one.id.startswith(_CODE)), None
        )

    def _code(self, workspace: Workspace, lang: Lang) -> list[Told]:
        if not (workspace.root / FOLDER).is_dir():
            return []
        files = CodeStore.of(workspace).list()
        text = code_list(files, lang)
        mark = _CODE + hashlib.sha256(text.encode()).hexdigest()[:12]
        return [Told(mark, text)] if files and not self._is_known(mark) else []

    def _is_known(self, mark: str) -> bool:
        """Whether a window shows this list, or it was the last one added, even if dropped since."""
        windows = self._context.windows
        if windows is not None and any(one.name == "code" for one in windows.windows()):
            return True
        last = self._last_list
        return last is not None and last.id.startswith(mark) and last.hidden in (None, "dropped")


def code_list(files: list[CodeFile], lang: Lang) -> str:
    """Render the list of code files and how an answer refers to them."""
    head, more, how = _CODE_WORDS[lang]
    lines = [f"- {one.code_id} ({one.language}) - {one.description}" for one in files[:_MOST]]
    if len(files) > _MOST:
        lines.append(more.format(count=len(files) - _MOST))
    return "\n".join([head, *(line.removesuffix(" - ") for line in lines), "", how])


def _named_files(workspace: Workspace, words: str, lang: Lang) -> list[str]:
    """Return a line for each existing file that the message names with an @."""
    told: dict[str, str] = {}
    for quoted, plain in _NAMED.findall(words):
        for path in dict.fromkeys((quoted or plain, plain.rstrip(_BEHIND))):
            if path and path not in told and (line := _about(workspace, path, lang)):
                told[path] = line
                break
        if len(told) == _MOST_NAMED:
            break
    return list(told.values())


def _about(workspace: Workspace, path: str, lang: Lang) -> str | None:
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


_MOST_ACTIONS = 12  # actions that are named; earlier ones are only counted
_WORDS: dict[Lang, tuple[str, str]] = {
    "en": ("(Meanwhile the person did: {deeds}.)", "{count} more before"),
    "zh": ("（在此期间用户操作了：{deeds}。）", "以及之前的 {count} 项"),
}
_NOT_OPENED: dict[Lang, str] = {
    "en": "(Did not open and is closed: {id}. {reason})",
    "zh": "（没有打开，已关闭：{id}。{reason}）",
}


class Meanwhile:
    """Reports the person's window actions to the model before their next message.

    Closing a window with a summary is not reported: the context has its own item for that.
    """

    def __init__(self, context: ContextManager) -> None:
        self._context = context
        self._deeds: list[str] = []
        self._failures: list[str] = []
        self._lock = threading.Lock()
        self.stop: Callable[[], None] = lambda: None
        if context.windows is not None:
            self.stop = context.windows.subscribe(self._hear)

    def tell(self) -> ContextItem | None:
        """Add the report to the context, if there is anything to report."""
        with self._lock:
            deeds, self._deeds = self._deeds, []
        if self._context.windows is None:
            return None
        failures = self.take_failures()
        if not deeds:
            return self._context.add(ContextItem(ItemType.USER, failures)) if failures else None
        line, more = _WORDS[self._context.windows.lang]
        if left_out := len(deeds) - _MOST_ACTIONS:
            deeds = (
                [more.format(count=left_out), *deeds[-_MOST_ACTIONS:]] if left_out > 0 else deeds
            )
        words = "\n".join(filter(None, [line.format(deeds=", ".join(_counted(deeds))), failures]))
        return self._context.add(ContextItem(ItemType.USER, words))

    def take_failures(self) -> str:
        """Return and clear reports on windows that failed to open after `create` had returned.

        Each failure is reported once: with the next result, or before the next message.
        """
        with self._lock:
            failures, self._failures = self._failures, []
        return "\n".join(failures)

    def _hear(self, event: Event) -> None:
        match event:
            case WindowNotOpened():
                lang = self._context.windows.lang if self._context.windows else "en"
                reason = one_line(event.reason, 500)
                with self._lock:
                    self._failures.append(
                        _NOT_OPENED[lang].format(id=event.window_id, reason=reason)
                    )
            case WindowActed(actor="person", ok=True):
                self._note(f"{event.window_id}.{one_line(event.action_id, 40)}")
            case WindowClosed(actor="person", summary=summary) if not (summary or "").strip():
                self._note(f"{event.window_id}.close{self._given_up(event)}")

    def _given_up(self, event: WindowClosed) -> str:
        lang = self._context.windows.lang if self._context.windows else "en"
        return GAVE_UP[lang].format(what=event.given_up) if event.given_up else ""

    def _note(self, deed: str) -> None:
        with self._lock:
            self._deeds.append(deed)


def _counted(deeds: list[str]) -> list[str]:
    """Collapse consecutive repetitions: ``todo_1.add ×3``."""
    runs: list[tuple[str, int]] = []
    for deed in deeds:
        if runs and runs[-1][0] == deed:
            runs[-1] = (deed, runs[-1][1] + 1)
        else:
            runs.append((deed, 1))
    return [deed if count == 1 else f"{deed} ×{count}" for deed, count in runs]
