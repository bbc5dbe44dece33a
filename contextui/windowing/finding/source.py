"""Loading window classes from source files, with one-line error messages."""

import itertools
import os
import re
import sys
import traceback
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from types import ModuleType

from contextui.errors import ContextUIError
from contextui.files.errors import FileError
from contextui.files.workspace import Workspace
from contextui.text import one_line, quote, shown_path
from contextui.windowing.error_text import Clause, reason_of
from contextui.windowing.finding.trust import content_or_reason
from contextui.windowing.window import Window
from contextui.words import Message, Translatable


class WindowLoadError(ContextUIError):
    """A window was found but cannot be loaded; the message says why."""

    line: int | None = None
    why: str = ""


def is_window_file(name: str) -> bool:
    """Whether a file name in a window folder is that of a window."""
    helper = name.startswith(("_", ".", "test_")) or name == "conftest.py"
    return name.endswith(".py") and not helper and "/" not in name


def read_source(path: Path) -> bytes:
    """Read a file that the user named; links are followed, since they are the user's own."""
    shown, real = shown_path(path), Path(os.path.realpath(path))
    if os.path.isdir(real):  # never raises, even if the name is too long
        raise WindowLoadError("{path} is a folder: give it with --windows", path=shown)
    if not os.path.lexists(real):
        raise WindowLoadError("there is no file {path}: name a Python file", path=shown)
    if not path.name.endswith(".py"):
        raise WindowLoadError("{path} is not a Python file: its name must end in .py", path=shown)
    try:
        with Workspace(real.parent) as folder:
            found = content_or_reason(folder, real.name)
    except FileError as error:
        found = Clause(error)
    if isinstance(found, bytes):
        return found
    raise WindowLoadError("{path}: {reason}", path=shown, reason=found)


ReadBeside = Callable[[str], bytes | None]
"""Returns the bytes of a Python file beside a window's file, by module name; None without one."""


def beside(path: Path) -> ReadBeside:
    """Return the reader of the files beside a window's file that the user named."""

    def read(name: str) -> bytes | None:
        file = path.with_name(f"{name}.py")
        return read_source(file) if os.path.lexists(file) else None

    return read


class Siblings:
    """The modules beside a window's file, loaded when its widget needs one."""

    def __init__(self, path: Path, read: ReadBeside) -> None:
        self._path, self._read = path, read
        self._loaded: dict[str, tuple[str, ModuleType]] = {}

    def load(self, name: str) -> ModuleType | None:
        """Return the module of ``NAME.py`` beside the window's file; None if there is no file."""
        if name not in self._loaded:
            source = self._read(name)
            if source is None:
                return None
            module = run_source(source, self._path.with_name(f"{name}.py"))
            self._loaded[name] = sha256(source).hexdigest(), module
        return self._loaded[name][1]

    def differ(self, read: ReadBeside) -> bool:
        """Whether one of the loaded files has changed since, as read now."""
        for name, (digest, _) in self._loaded.items():
            try:
                source = read(name)
            except WindowLoadError:
                return True
            if source is None or sha256(source).hexdigest() != digest:
                return True
        return False


_siblings: dict[str, Siblings] = {}  # by the name of the window's module


def siblings_of(module_name: str) -> Siblings | None:
    """Return what is beside a window's file, if `run_source` loaded it."""
    return _siblings.get(module_name)


_numbers = itertools.count(1)


def run_source(source: bytes, path: Path, read: ReadBeside = lambda _: None) -> ModuleType:
    """Execute a file's bytes as a module of its own, without changing `sys.path`.

    Nothing is read from disk, not even a bytecode cache: what was checked is what runs.
    """
    file = os.path.abspath(path)
    stem = re.sub(r"\W", "_", path.stem, flags=re.ASCII)
    module = ModuleType(f"_contextui_window_{next(_numbers)}_{stem}")
    module.__file__ = file
    sys.modules[module.__name__] = module  # dataclasses and pydantic look names up there
    try:
        exec(compile(source, file, "exec", dont_inherit=True), module.__dict__)
    except BaseException as problem:
        sys.modules.pop(module.__name__, None)
        if isinstance(problem, KeyboardInterrupt):
            raise
        error = WindowLoadError(problem_of(problem, file, shown_path(path)))
        error.line, error.why = line_of(problem, file), _why(problem)
        raise error from problem
    _siblings[module.__name__] = Siblings(path, read)
    return module


def _why(problem: BaseException) -> str:
    if isinstance(problem, SyntaxError):
        return one_line(f"{type(problem).__name__}: {problem.msg}", 300)
    return reason_of(problem)


def line_of(problem: BaseException, file: str) -> int | None:
    """Return the line of a file at which an exception was raised; None if it was elsewhere."""
    if isinstance(problem, SyntaxError) and problem.filename == file:
        return problem.lineno
    frames = traceback.extract_tb(problem.__traceback__)
    return next((frame.lineno for frame in reversed(frames) if frame.filename == file), None)


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
    """Check that the class can be opened, and return it."""
    if cls.content is Window.content:
        raise WindowLoadError(
            "{name} has no content(): define what it shows, or let its name begin with _ if it is "
            "a base class",
            name=cls.__name__,
        )
    return cls


def problem_of(problem: BaseException, file: str = "", shown: str = "") -> Translatable:
    """Describe an exception and where it was raised, in the window's own file if possible."""
    if isinstance(problem, SyntaxError):
        elsewhere = problem.filename not in (file, None)
        where = shown_path(Path(str(problem.filename))) if elsewhere else shown
        return Message(
            "syntax error in {path}, line {line}: {why}",
            {"path": where, "line": problem.lineno or 1, "why": one_line(problem.msg, 300)},
        )
    reason: Translatable = Clause(problem)
    if isinstance(problem, SystemExit):
        reason = Message("it ends the program while being loaded ({reason})", {"reason": reason})
    if shown and (line := line_of(problem, file)):
        values = {"reason": reason, "file": shown, "line": line}
        return Message("{reason} ({file}, line {line})", values)
    return Message("{reason} ({file})", {"reason": reason, "file": shown}) if shown else reason
