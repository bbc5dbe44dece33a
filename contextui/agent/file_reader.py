"""The tool read_file: some lines of a file, and the gist that stands for them later."""

import asyncio
import time
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass

from contextui.agent import phrases
from contextui.config.choices import Lang
from contextui.context.gists.gist import gist, gist_of_size, is_workbook
from contextui.context.item import ContextItem, Stage
from contextui.errors import ContextUIError, InvalidParamsError
from contextui.files.errors import FileError
from contextui.files.page import Page
from contextui.files.version import Version
from contextui.files.workspace import FileInfo, Workspace
from contextui.session.cache import CacheStore
from contextui.session.code.store import CODE_ID, CodeStore
from contextui.windowing.action import ActionResult
from contextui.windowing.manager import WindowManager

PAGE = 2_000
"""Lines of a file in one result."""

_LARGEST = 500_000  # characters of a result that is kept for the next time
_SETTLED = 100_000_000  # nanoseconds: a file that was just changed may change unnoticed


@dataclass(frozen=True, slots=True)
class FileResult(ActionResult):
    """What came of reading a file.

    Attributes:
        gist: The line that stands for the text once the turn is over; None if nothing was read.
    """

    gist: str | None = None


class FilesRead:
    """The results of one turn that a file's text stands in."""

    def __init__(self) -> None:
        self._items: list[ContextItem] = []

    def note(self, item: ContextItem) -> None:
        """Remember a result, if it is one of a file."""
        if item.gist is not None:
            self._items.append(item)

    def has(self, item: ContextItem) -> bool:
        """Whether the same text of the same file stands before the model already.

        It does no more where room was made within the turn and only the gist is left of it.
        """
        return item.gist is not None and any(
            (one.gist, one.content) == (item.gist, item.content)
            for one in self._items
            if one.stage is not Stage.FINAL and not one.is_obsolete
        )


class FileReader:
    """Reads files of the folder that a session belongs to.

    What was read of a version of a file is kept for a while: reading it again reads no file. A
    file that is read page by page has one gist, so each version's is made once and kept.

    Args:
        windows: Know the folder and the language.
    """

    def __init__(self, windows: WindowManager) -> None:
        self._windows = windows
        self._words = phrases.of_tools(windows.lang)
        self._gists = CacheStore[str]()
        self._results = CacheStore[FileResult]()

    async def read(self, path: str, start: int = 1, allowed: Collection[str] = ()) -> FileResult:
        """Some lines of a file, from line `start` on.

        Args:
            path: The file, or the id of a piece of code in the code store.
            start: The first line.
            allowed: Files that may hold secrets and that a person allowed to be read.

        Raises:
            InvalidParamsError: There is no folder.
            SecretFileError: It may hold secrets, and is not among those.
            FileError: The file cannot be read.
        """
        workspace = self._windows.files_for_model(allowed)
        if workspace is None:
            raise InvalidParamsError(self._words.no_folder)
        return await asyncio.to_thread(self._read, workspace, path, start)

    def _read(self, workspace: Workspace, path: str, start: int) -> FileResult:
        if path.startswith("@") and not workspace.exists(path):  # as a person names files
            path = path[1:]
        path = _file_of(workspace, path)
        info = workspace.stat(path)
        workspace.check_readable(path)  # what was allowed once is kept, and not allowed for good
        key: tuple[str, Version, int] = (info.path, info.version, start)
        known = self._results.get(key)
        if known is None:
            known = self._read_now(workspace, path, start, info)
            is_settled = time.time_ns() - info.version.mtime_ns > _SETTLED
            if is_settled and len(known.text) <= _LARGEST:
                self._results.put(key, known)
        return known

    def _read_now(self, workspace: Workspace, path: str, start: int, info: FileInfo) -> FileResult:
        if is_workbook(info.path):  # of which nothing can be read line by line
            return FileResult(
                True, gist(info.path, workspace.read_bytes(info.path), self._windows.lang)
            )
        page = workspace.read_page(path, start, PAGE)
        if not page.lines:
            no_line = self._words.no_line.format(path=path, line=start)
            return FileResult(True, no_line if start > 1 else self._words.empty_file)
        rest = f"\n{self._words.more_lines.format(line=page.end + 1)}" if page.more else ""
        return FileResult(True, page.numbered() + rest, gist=self._gist(workspace, info, page))

    def _gist(self, workspace: Workspace, info: FileInfo, page: Page) -> str:
        lang = self._windows.lang
        key: tuple[str, Version, Lang] = (info.path, info.version, lang)
        line = self._gists.get_or(key, lambda: _whole_gist(workspace, info, lang))
        if page.start == 1 and not page.more:
            return line
        part = phrases.of(lang).lines_read.format(first=page.start, last=page.end)
        return f"{line}{part}"


def _file_of(workspace: Workspace, path: str) -> str:
    """The file that is meant: the path itself, or the file of the code that has this id."""
    if not CODE_ID.fullmatch(path) or workspace.exists(path):
        return path
    with suppress(ContextUIError):  # there is no such store: the path says what is not found
        found = CodeStore.of(workspace).path_of(path)
        if found is not None:
            return workspace.relative(found)
    return path


def _whole_gist(workspace: Workspace, info: FileInfo, lang: Lang) -> str:
    try:
        return gist(info.path, workspace.open_text(info.path).file.text, lang)
    except FileError:  # too large to be held, or no text further down
        return gist_of_size(info.path, info.size, lang)
