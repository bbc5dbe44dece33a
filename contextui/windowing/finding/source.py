"""Loading window classes from source files, with one-line error messages."""

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
from contextui.windowing.trouble import Clause
from contextui.windowing.window import Window
from contextui.windowing.worker import note_module, running
from contextui.words import Message, Translatable

PROJECT_WINDOWS = ".contextui/windows"
"""The folder of a project's own windows."""

SOURCE_LIMIT = 1_000_000
"""Maximum bytes of a window's file; more cannot be reviewed before trusting it."""


class WindowLoadError(ContextUIError):
    """A window was found but cannot be loaded; the message says why."""


def is_window_file(name: str) -> bool:
    """Whether a file name in a window folder is that of a window."""
    helper = name.startswith(("_", ".", "test_")) or name == "conftest.py"
    return name.endswith(".py") and not helper and "/" not in name


def read_source(path: Path) -> bytes:
    """Read a file that the user named; links are followed, since they are the user's own.

    Raises:
        WindowLoadError: It cannot be a window's file; the message says what to do.
    """
    shown, real = shown_path(path), Path(os.path.realpath(path))
    if os.path.isdir(real):  # never raises, even if the name is too long
        raise WindowLoadError("{path} is a folder: give it with --windows", path=shown)
    if not os.path.lexists(real):
        raise WindowLoadError("there is no file {path}: name a Python file", path=shown)
    if not path.name.endswith(".py"):
        raise WindowLoadError("{path} is not a Python file: its name must end in .py", path=shown)
    try:
        with Workspace(real.parent) as folder:
            return folder.read_bytes(real.name, limit=SOURCE_LIMIT)
    except FileError as error:
        raise WindowLoadError("{path}: {reason}", path=shown, reason=_refusal(error)) from error


def content_or_reason(workspace: Workspace, path: str) -> bytes | Translatable:
    """Read a project's file; return its bytes, or why it is refused."""
    try:
        return workspace.read_bytes(path, limit=SOURCE_LIMIT)
    except FileError as error:
        return _refusal(error)


def _refusal(error: FileError) -> Translatable:
    """Explain why a file is refused."""
    if isinstance(error, PathEscapeError):
        return Message("it is a link that leads out of the folder: put the file itself there")
    if isinstance(error, FileTooLargeError):
        return Message(
            "it has {size} bytes, and a window's file may have {limit} at most",
            {"size": f"{error.size:,}", "limit": f"{error.limit:,}"},
        )
    return Clause(error)


_numbers = itertools.count(1)


def run_source(source: bytes, path: Path) -> ModuleType:
    """Execute a file's bytes as a module of its own, without changing `sys.path`.

    Nothing is read from disk, not even a bytecode cache: what was checked is what runs.

    Raises:
        WindowLoadError: It raised; the message says why and where.
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
    """Return the named class, or all windows that the file defines, not those it imports."""
    windows = dict.fromkeys(filter(is_window, vars(module).values()))  # some have two names
    own = [cls for cls in windows if cls.__module__ == module.__name__]
    if name is None:
        public = [cls for cls in own if not cls.__name__.startswith("_")]
        if not public:
            raise WindowLoadError(
                "{path} defines no window: write a class that extends contextui.Window",
                path=shown_path(path),
            )
        return public
    found = vars(module).get(name)
    if found is None:
        there_is = ", ".join(cls.__name__ for cls in own) or Message("none")
        raise WindowLoadError(
            "{path} has no class {name}. It has: {names}",
            path=shown_path(path),
            name=quote(name),
            names=there_is,
        )
    if not is_window(found):
        raise WindowLoadError(
            "{name} in {path} does not extend contextui.Window", name=name, path=shown_path(path)
        )
    return [found]


def is_window(value: object) -> bool:
    """Whether a value is a window class."""
    # Not isinstance: that would read the value's `__class__`, and a proxy may raise.
    kind = value if issubclass(type(value), type) else None
    return isinstance(kind, type) and issubclass(kind, Window) and kind is not Window


def checked(cls: type[Window]) -> type[Window]:
    """Check that the class can be opened, and return it.

    Raises:
        WindowLoadError: It cannot; the message says why.
    """
    if cls.content is Window.content:
        raise WindowLoadError(
            "{name} has no content(): define what it shows, or let its name begin with _ if it is "
            "a base class",
            name=cls.__name__,
        )
    # Both were checked at class creation, but may have been changed since.
    if not isinstance(cls.name, str) or not WINDOW_NAME.fullmatch(cls.name):
        raise WindowLoadError(
            "{name} cannot be a window's name ({rule})",
            name=quote(str(cls.name)),
            rule=Message(NAMING),
        )
    if not isinstance(cls.description, str):
        raise WindowLoadError("{name}.description must be text", name=cls.__name__)
    return cls


def problem_of(problem: BaseException, file: str = "", shown: str = "") -> Translatable:
    """Describe an exception and where it was raised, in the window's own file if possible."""
    if isinstance(problem, SyntaxError):
        elsewhere = problem.filename not in (file, None)
        where = one_line(str(problem.filename), 160) if elsewhere else shown
        return Message(
            "syntax error in {path}, line {line}: {why}",
            {"path": where, "line": problem.lineno or 1, "why": one_line(problem.msg, 300)},
        )
    reason: Translatable = Clause(problem)
    if isinstance(problem, SystemExit):
        reason = Message("it ends the program while being loaded ({reason})", {"reason": reason})
    frames = traceback.extract_tb(problem.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == file]
    if shown and lines:
        values = {"reason": reason, "file": shown, "line": lines[-1]}
        return Message("{reason} ({file}, line {line})", values)
    return Message("{reason} ({file})", {"reason": reason, "file": shown}) if shown else reason
