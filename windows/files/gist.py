"""The gist of a file beside the tree: language, size, what it is about, and its outline."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from contextui.files.errors import FileError
from contextui.files.listing import FolderEntry, list_folder
from contextui.files.outline import Entry, outline
from contextui.files.syntax import language_of
from contextui.files.workspace import Workspace
from contextui.text import counted, one_line
from contextui.tokens import TokenCounter

MOST = 512 * 1024  # bytes of a file beyond which only its size is said
_ABOUT = 240  # characters
_QUOTES = re.compile(r'[rR]?("""|\'\'\'|"|\')')


@dataclass(frozen=True)
class FileGist:
    """What is shown of a file that is not open, or of a folder."""

    path: str
    language: str = ""
    lines: int | None = None
    tokens: int = 0
    about: str = ""
    outline: tuple[Entry, ...] = ()
    problem: tuple[str, str] = ("", "")


def gist_of(workspace: Workspace, path: str, size: int) -> FileGist:
    """Read a file and describe it; call this in a thread.

    A file that may hold secrets is not read: nobody asked for its content.
    """
    language = language_of(path) or ""
    if workspace.is_secret(path):
        problem = ("It may hold secrets: not read.", "可能含有机密，未读取。")
        return FileGist(path, language, problem=problem)
    if size > MOST:
        return FileGist(path, language, problem=("Large: not read.", "文件较大，未读取。"))
    try:
        text = workspace.open_text(path).file.text
    except FileError as error:
        return FileGist(path, language, problem=(error.text("en"), error.text("zh")))
    return FileGist(
        path,
        language,
        text.count("\n") + (not text.endswith("\n") and bool(text)),
        TokenCounter.estimate(text),
        _about(text, language),
        tuple(entry for entry in outline(path, text)[:500] if entry.depth <= 1),
    )


def folder_gist(
    workspace: Workspace, path: str, is_visible: Callable[[FolderEntry], bool]
) -> FileGist:
    """Count the visible entries of a folder; call this in a thread."""
    try:
        count = sum(map(is_visible, list_folder(workspace, path).entries))
    except FileError as error:
        return FileGist(path, problem=(error.text("en"), error.text("zh")))
    return FileGist(path, problem=(counted(count, "entry", "entries"), f"{count} 项"))


def _about(text: str, language: str) -> str:
    """The first paragraph of a module's docstring, or of a document."""
    words, mark = list[str](), ""
    for row in text[:4_000].split("\n"):
        line = row.strip()
        if not words and (not line or line.startswith("#")):
            continue
        if not words and language == "python":
            found = _QUOTES.match(line)
            if found is None:
                return ""
            line, mark = line[found.end() :], found[1]
        elif language not in ("python", "markdown") or not line or (not mark and line[0] == "#"):
            break
        if mark and mark in line:
            words.append(line.partition(mark)[0])
            break
        words.append(line)
    return one_line(" ".join(words), _ABOUT) if language in ("python", "markdown") else ""
