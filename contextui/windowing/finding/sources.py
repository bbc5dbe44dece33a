"""Reading the files that windows are written in; nothing of them is run here."""

import os
from pathlib import Path

from contextui.errors import ContextUIError
from contextui.files.errors import FileError, FileTooLargeError, PathEscapeError
from contextui.files.workspace import Workspace
from contextui.text import shown_path

PROJECT_WINDOWS = ".contextui/windows"
"""The folder of a project's own windows."""

SOURCE_LIMIT = 1_000_000
"""Bytes of one window's file; nobody reads more than that before trusting it."""


class WindowLoadError(ContextUIError):
    """A window that was found and cannot be used; the text says why."""


def is_window_file(name: str) -> bool:
    """Whether a name in a folder of windows is one of a window's file."""
    helper = name.startswith(("_", ".", "test_")) or name == "conftest.py"
    return name.endswith(".py") and not helper and "/" not in name


def read_source(path: Path) -> bytes:
    """All of a file that the user named; links are followed, they are the user's own.

    Raises:
        WindowLoadError: It cannot be a window's file; the text says what to do.
    """
    shown, real = shown_path(path), Path(os.path.realpath(path))
    if os.path.isdir(real):  # no name is too long for it
        raise WindowLoadError(f"{shown} is a folder: give it with --windows")
    if not os.path.lexists(real):
        raise WindowLoadError(f"there is no file {shown}: name a Python file")
    if not path.name.endswith(".py"):
        raise WindowLoadError(f"{shown} is not a Python file: its name must end in .py")
    try:
        with Workspace(real.parent) as folder:
            return folder.read_bytes(real.name, limit=SOURCE_LIMIT)
    except FileError as error:
        raise WindowLoadError(f"{shown}: {_refusal(error)}") from error


def content_or_reason(workspace: Workspace, path: str) -> bytes | str:
    """All of a file that a project brings; or why it is refused, in words."""
    try:
        return workspace.read_bytes(path, limit=SOURCE_LIMIT)
    except FileError as error:
        return _refusal(error)


def _refusal(error: FileError) -> str:
    """Why a file is not taken as a window's, in words that fit any folder."""
    if isinstance(error, PathEscapeError):
        return "it is a link that leads out of the folder: put the file itself there"
    if isinstance(error, FileTooLargeError):
        return f"it has {error.size:,} bytes, and a window's file has {error.limit:,} at most"
    return str(error).rstrip(".")
