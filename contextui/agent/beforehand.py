"""What is told before the person's words: which code files there are, and which files they name."""

import asyncio
import hashlib
import re
import uuid
from dataclasses import dataclass
from xml.sax.saxutils import escape

from contextui.agent.events import Notice
from contextui.agent.patience import Tell
from contextui.config.choices import Lang
from contextui.context.gists.gist import gist, gist_of_size
from contextui.context.item import BESIDE, ContextItem, ItemType
from contextui.context.manager import ContextManager
from contextui.errors import ContextUIError
from contextui.files.errors import FileError
from contextui.files.workspace import Workspace
from contextui.session.code.file import CodeFile
from contextui.session.code.store import FOLDER, CodeStore
from contextui.text import for_xml

_MOST = 50  # code files that are named
_MOST_NAMED = 10  # files of which a line is told
_CODE = BESIDE + "code-"
_FILES = BESIDE + "files-"
_RETRIEVED = BESIDE + "retrieved"
_NAMED = re.compile(r"""(?<![\w@/.])@(?:"([^"\n]{1,500})"|([^\s"'，。；！？、（）]{1,500}))""")
_BEHIND = ".,;:!?)]}"  # what ends a sentence is no part of a name
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
    """A text that stands before the words, and how its item's id begins."""

    mark: str
    text: str


def retrieved(text: str) -> tuple[Told, ...]:
    """What was looked up for the words, marked as such; nothing if there is nothing."""
    if not text.strip():
        return ()
    marked = f"<Retrieved>\n{escape(for_xml(text.strip()))}\n</Retrieved>"
    return (Told(_RETRIEVED, marked),)


class Beforehand:
    """Gathers what is to be told before a person's words.

    The code files are told once, and again only when they are others, or when what told them was
    left out: what stands in the history costs little, and what is told anew costs all of it.

    Args:
        context: The conversation.
    """

    def __init__(self, context: ContextManager) -> None:
        self._context = context
        self._looked = False
        self._last_list: ContextItem | None = None

    async def gather(self, words: str, tell: Tell) -> tuple[Told, ...]:
        """What to tell before these words; `tell` hears of what cannot be found out."""
        windows = self._context.windows
        if windows is None or windows.workspace is None:
            return ()
        workspace, lang = windows.workspace, windows.lang
        if not self._looked:  # once, and here: a thread must not walk what others change
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
        """Put it into the context."""
        name = f"{told.mark}-{uuid.uuid4().hex[:12]}"
        item = self._context.add(ContextItem(ItemType.USER, told.text, id=name))
        if told.mark.startswith(_CODE):
            self._last_list = item
        return item

    def _find_last_list(self) -> ContextItem | None:
        """What told the code files last, in a session that is gone on with."""
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
        """Whether just this is what was told last, and a person may have dropped it since; or
        whether a window shows it anyway."""
        windows = self._context.windows
        if windows is not None and any(one.name == "code" for one in windows.windows()):
            return True
        last = self._last_list
        return last is not None and last.id.startswith(mark) and last.hidden in (None, "dropped")


def code_list(files: list[CodeFile], lang: Lang) -> str:
    """The code files there are, and how an answer refers to them."""
    head, more, how = _CODE_WORDS[lang]
    lines = [f"- {one.code_id} ({one.language}) - {one.description}" for one in files[:_MOST]]
    if len(files) > _MOST:
        lines.append(more.format(count=len(files) - _MOST))
    return "\n".join([head, *(line.removesuffix(" - ") for line in lines), "", how])


def _named_files(workspace: Workspace, words: str, lang: Lang) -> list[str]:
    """A line about each file that the words name with an @; other words with one mean nothing."""
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
    except FileError:  # then something else was meant
        return None
    if info.kind != "file":
        return None
    try:
        content = workspace.read_bytes(info.path)
    except FileError:  # too large to be held, or it may hold secrets
        return gist_of_size(info.path, info.size, lang, was_read=False)
    return gist(info.path, content, lang, was_read=False)
