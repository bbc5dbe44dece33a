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
# What comes before are blank lines and comments, or headings.
_DOCSTRING = re.compile(
    r"""(?:\s|#[^\n]*\n)*[rR]?(?P<mark>\"{3}|'{3}|"|')\s*(?P<words>.*?)(?:(?P=mark)|\n\s*\n|\Z)""",
    re.DOTALL,
)
_PARAGRAPH = re.compile(r"(?:\s|#[^\n]*(?:\n|\Z))*(?P<words>.*?)(?:\n\s*\n|\n\s*#|\Z)", re.DOTALL)


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
    pattern = {"python": _DOCSTRING, "markdown": _PARAGRAPH}.get(language)
    found = pattern.match(text[:4_000]) if pattern else None
    return one_line(found["words"], _ABOUT) if found else ""
