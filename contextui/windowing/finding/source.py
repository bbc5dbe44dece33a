"""From the bytes of a file to the window classes in it, or to one line that says why not."""

import itertools
import os
import re
import sys
import traceback
from pathlib import Path
from types import ModuleType

from contextui.errors import ContextUIError
from contextui.files.errors import FileError, FileTooLargeError, PathEscapeError
from contextui.files.workspace import Workspace
from contextui.names import NAMING, WINDOW_NAME
from contextui.text import one_line, quote, shown_path
from contextui.windowing.trouble import reason_of
from contextui.windowing.window import Window
from contextui.windowing.worker import note_module, running

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


_numbers = itertools.count(1)


def run_source(source: bytes, path: Path) -> ModuleType:
    """Run a file's bytes as a module with a name of its own; `sys.path` stays as it is.

    Nothing is read from disk for it, no cache either: what was checked is what runs.

    Raises:
        WindowLoadError: It does not run; the text says why, and where.
    """
    file = os.path.abspath(path)
    stem = re.sub(r"\W", "_", path.stem, flags=re.ASCII)
    module = ModuleType(f"_contextui_window_{next(_numbers)}_{stem}")
    module.__file__ = file
    sys.modules[module.__name__] = module  # dataclasses and pydantic look names up there
    note_module(module.__name__, path.name)
    try:
        with running(path.name):
            exec(compile(source, file, "exec", dont_inherit=True), module.__dict__)
    except BaseException as problem:
        sys.modules.pop(module.__name__, None)
        if isinstance(problem, KeyboardInterrupt):
            raise
        raise WindowLoadError(problem_of(problem, file, shown_path(path))) from problem
    return module


def classes_in(module: ModuleType, path: Path, name: str | None) -> list[type[Window]]:
    """The class that was named; else all windows that the file defines, not those it imports."""
    windows = dict.fromkeys(filter(is_window, vars(module).values()))  # some have two names
    own = [cls for cls in windows if cls.__module__ == module.__name__]
    if name is None:
        public = [cls for cls in own if not cls.__name__.startswith("_")]
        if not public:
            raise WindowLoadError(
                f"{shown_path(path)} defines no window: write a class that extends contextui.Window"
            )
        return public
    found = vars(module).get(name)
    if found is None:
        there_is = ", ".join(cls.__name__ for cls in own) or "none"
        raise WindowLoadError(f"{shown_path(path)} has no class {quote(name)}. It has: {there_is}")
    if not is_window(found):
        raise WindowLoadError(f"{name} in {shown_path(path)} does not extend contextui.Window")
    return [found]


def is_window(value: object) -> bool:
    """Whether this is a class of windows."""
    # Not isinstance: that would ask the value for its class, and a proxy may raise.
    kind = value if issubclass(type(value), type) else None
    return isinstance(kind, type) and issubclass(kind, Window) and kind is not Window


def checked(cls: type[Window]) -> type[Window]:
    """The class, if it can be opened.

    Raises:
        WindowLoadError: It cannot; the text says why.
    """
    if cls.content is Window.content:
        raise WindowLoadError(
            f"{cls.__name__} has no content(): write what it shows, "
            "or let its name begin with _ if it is only a base"
        )
    # Both were checked when the class was made, and its author may have changed them since.
    if not isinstance(cls.name, str) or not WINDOW_NAME.fullmatch(cls.name):
        raise WindowLoadError(f"{quote(str(cls.name))} cannot be a window's name ({NAMING})")
    if not isinstance(cls.description, str):
        raise WindowLoadError(f"{cls.__name__}.description must be text")
    return cls


def problem_of(problem: BaseException, file: str = "", shown: str = "") -> str:
    """What went wrong, and where: in the window's own file if it was there."""
    if isinstance(problem, SyntaxError):
        elsewhere = problem.filename not in (file, None)
        where = one_line(str(problem.filename), 160) if elsewhere else shown
        return f"syntax error in {where}, line {problem.lineno or 1}: {one_line(problem.msg, 300)}"
    words = reason_of(problem)
    if isinstance(problem, SystemExit):
        words = f"it ends the program while being loaded ({words})"
    frames = traceback.extract_tb(problem.__traceback__)
    lines = [f", line {frame.lineno}" for frame in frames if frame.filename == file]
    return words.rstrip(".") + (f" ({shown}{lines[-1] if lines else ''})" if shown else "")
