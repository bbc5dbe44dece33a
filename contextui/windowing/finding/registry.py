"""Discover windows in packages, files and folders, of the user and of the project.

A problem with one window becomes an entry with the reason; the others stay available.
"""

import ast
import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import sha256
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

from contextui.errors import os_reason
from contextui.names import NAMING, WINDOW_NAME
from contextui.text import one_line, shown_path
from contextui.windowing.error_text import Line
from contextui.windowing.finding.servers import find_servers, server_classes
from contextui.windowing.finding.source import (
    ReadBeside,
    WindowLoadError,
    beside,
    checked,
    classes_in,
    is_window,
    is_window_file,
    problem_of,
    read_source,
    run_source,
    siblings_of,
)
from contextui.windowing.finding.trust import PROJECT_WINDOWS, Review, TrustError, TrustStore
from contextui.windowing.window import Window
from contextui.words import Message, Text, Translatable, msg

Status = Literal["found", "ready", "broken", "duplicate", "untrusted"]


@dataclass(frozen=True, slots=True)
class WindowEntry:
    """One window that was found.

    Attributes:
        name: Its name; for one that failed to load, the name of its file.
        status: ``found`` in a package and not imported yet; ``ready`` to open; or a problem.
        line: The line of the file at which loading failed, if that is known.
        why: The problem without file and line, if that is known.
        warning: What its author should improve, in one line.
    """

    name: str
    origin: str
    status: Status
    reason: Text = ""
    cls: type[Window] | None = None
    entry_point: EntryPoint | None = field(default=None, repr=False, compare=False)
    path: Path | None = field(default=None, repr=False, compare=False)
    line: int | None = field(default=None, repr=False, compare=False)
    why: str = field(default="", repr=False, compare=False)
    warning: Text = field(default="", repr=False, compare=False)

    @property
    def usable(self) -> bool:
        """Whether the window can be opened, as far as is known."""
        return self.status in ("found", "ready")

    def __str__(self) -> str:
        """Format the entry as one line: ``[✓] name: description`` or ``[X] name: reason``."""
        if not self.usable:
            return f"[X] {self.name}: {self.reason}"
        words = self.cls.description if self.cls else self.origin
        return f"[✓] {self.name}: {one_line(words, 200)}"

    def data(self) -> dict[str, Any]:
        """Return the entry as JSON-ready data."""
        return {
            "name": self.name,
            "status": self.status,
            "origin": self.origin,
            "reason": str(self.reason) or None,
            "warning": str(self.warning) or None,
            "description": one_line(self.cls.description, 1_000) if self.cls else None,
            "args": str(self.cls.opening) if self.cls else None,
            "actions": list(self.cls.actions) if self.cls else None,
        }

    def loaded(self) -> "WindowEntry":
        """Import a package's window; return the entry with its class, or with the problem."""
        if self.status != "found" or self.entry_point is None:
            return self
        try:
            found = self.entry_point.load()
            if not is_window(found):
                raise WindowLoadError("it does not extend contextui.Window")
            if checked(found).name != self.name:
                raise WindowLoadError(
                    "its window is called {name}: give the entry point the same name",
                    name=found.name,
                )
        except KeyboardInterrupt:
            raise
        except BaseException as problem:
            reason = _located(self.origin, problem_of(problem))
            return replace(self, status="broken", reason=Line(reason))
        return replace(self, status="ready", cls=found)


_OTHERS_CHANGED = msg("unchanged, but others are not")


def untrusted(path: Path, status: str) -> WindowEntry:
    """Create the entry of a project's file that is not trusted in its present form."""
    name = one_line(path.stem, 80)
    what = Message(status if status in ("new", "changed") else _OTHERS_CHANGED)
    reason = Message(
        "{path} is not trusted ({what}): read it, then run contextui trust",
        {"path": shown_path(path), "what": what},
    )
    return WindowEntry(name, shown_path(path), "untrusted", reason, path=path)


@dataclass(frozen=True, slots=True)
class Places:
    """Where windows are looked for, besides packages; see `discover`."""

    files: tuple[str | Path, ...] = ()
    folders: tuple[str | Path, ...] = ()
    home: Path | None = None
    project: Path | None = None


GROUP = "contextui.windows"
"""The entry point group in which packages offer windows."""


class Registry:
    """The windows that were found, in order.

    `discover` fills it. Of two windows with the same name the first is used; the second becomes an
    entry that names both. A package is imported only when its window is needed.

    Attributes:
        review: The review of the project's window folder, if it has one.
        untrusted_servers: A message about servers that wait for trust; empty if none do.

    Example:
        >>> registry = discover(files=["./deploy.py"], home=home, project=Path.cwd())
        >>> print(*registry.load_all(), sep="\\n")                           # doctest: +SKIP
        [✓] todo: A to-do list.
        [X] deploy: syntax error in ./deploy.py, line 3: invalid syntax
        >>> WindowManager(registry.classes())                               # doctest: +SKIP
    """

    def __init__(self, places: Places | None = None) -> None:
        self.review: Review | None = None
        self.notices: list[Text] = []
        self.untrusted_servers: Text = ""
        self._places = places or Places()
        self._entries: list[WindowEntry] = []
        self._modules: dict[tuple[str, str], ModuleType] = {}

    @property
    def entries(self) -> list[WindowEntry]:
        """All entries, usable or not; nothing is imported."""
        return list(self._entries)

    def load_all(self) -> list[WindowEntry]:
        """Import every package, and return all entries as ready or with a problem."""
        self._entries = [entry.loaded() for entry in self._entries]
        return self.entries

    def classes(self) -> list[type[Window]]:
        """Return every usable class, for a `WindowManager`."""
        return [entry.cls for entry in self.load_all() if entry.cls]

    def again(self, *, fresh: bool = False) -> "Registry":
        """Look at all places once more, packages excepted: their windows stay as they are.

        A file that has not changed is not executed again and has the same classes, unless all are
        loaded `fresh`.
        """
        new = Registry(self._places)
        if not fresh:
            new._modules = dict(self._modules)
        new._entries = [entry for entry in self._entries if entry.entry_point is not None]
        new.add_places()
        return new

    def has_loaded(self, path: Path, digest: str) -> bool:
        """Whether a file's bytes, by their SHA-256, are those that its windows were loaded from."""
        at = [digest for real, digest in self._modules if real == os.path.realpath(path)]
        return at[-1:] == [digest]

    def keep(self, entry: WindowEntry) -> None:
        """Keep an entry of an earlier look: its class is used although its file has a problem."""
        at = [at for at, one in enumerate(self._entries) if one.path == entry.path]
        self._entries.insert(at[0] if at else len(self._entries), entry)

    # --- sources -----------------------------------------------------------------------

    def add_places(self) -> None:
        """Add the windows of all places, in the order of `discover`."""
        places = self._places
        for file in places.files:
            self.add_file(file)
        for folder in places.folders:
            self.add_folder(Path(folder))
        if places.home is not None:
            self.add_folder(places.home / "windows", optional=True)
            own = os.path.realpath(places.home / "windows")
            # In the user's home folder both are the same.
            if places.project and os.path.realpath(places.project / PROJECT_WINDOWS) != own:
                self.add_project(places.project, TrustStore(places.home))
            self.add_servers(places.home, places.project)

    def add_packages(self, points: Iterable[EntryPoint]) -> None:
        """Add the windows of installed packages, contextui's own first; nothing is imported."""
        offers = [(_package(point), point) for point in points]
        offers.sort(key=lambda one: (not one[0].startswith("contextui "), one[0], one[1].name))
        for package, point in offers:
            origin = f"{one_line(point.value, 160)} of the package {package}"
            entry = WindowEntry(one_line(point.name, 80), origin, "found", entry_point=point)
            if not WINDOW_NAME.fullmatch(point.name):
                reason = Message(
                    "{origin}: this cannot be a window's name ({rule})",
                    {"origin": origin, "rule": Message(NAMING)},
                )
                entry = replace(entry, status="broken", reason=reason)
            self._add(entry)

    def add_file(self, spec: str | Path) -> None:
        """Add the windows of ``FILE.py``, or the one of ``FILE.py:Class``."""
        path, chosen = _split(str(spec))
        self._add_source(path, lambda: read_source(path), beside(path), chosen)

    def add_folder(self, folder: Path, *, optional: bool = False) -> None:
        """Add the windows of a folder's files, except helpers, tests and hidden files."""
        try:
            names = sorted(filter(is_window_file, os.listdir(folder)))
            problem = Message("it has no windows: name a window's file like deploy.py")
        except FileNotFoundError:
            names, problem = [], Message("there is no such folder")
        except NotADirectoryError:
            names, optional = [], False
            problem = Message("it is not a folder; give a file with --window")
        except OSError as error:
            names, optional = [], False
            problem = Message("it cannot be read ({reason})", {"reason": os_reason(error)})
        for name in names:
            self.add_file(folder / name)
        if not names and not optional:
            self._add_broken(folder, _located(shown_path(folder), problem))

    def add_project(self, project: Path, store: TrustStore) -> None:
        """Add the windows of ``.contextui/windows`` if exactly these bytes are trusted."""
        folder = project / PROJECT_WINDOWS
        if not os.path.lexists(folder):
            return
        try:
            if not Path(os.path.realpath(folder)).is_relative_to(os.path.realpath(project)):
                raise TrustError(
                    "{path} is a link that leads out of the project", path=shown_path(folder)
                )
            self.review = review = store.review(folder)
        except TrustError as problem:
            self._add_broken(folder, problem)
            return
        self.notices += [store.problem] if store.problem else []
        for file in review.files:
            path = folder / file.name
            if not is_window_file(file.name) or file.status == "removed":
                continue
            if file.reason is not None:
                self._add_broken(path, _located(shown_path(path), file.reason))
            elif review.trusted:
                self._add_source(
                    path,
                    partial(review.contents.__getitem__, file.name),
                    lambda name: review.contents.get(f"{name}.py"),
                )
            else:
                self._add(untrusted(path, file.status))

    def add_servers(self, home: Path, project: Path | None) -> None:
        """Add a window for each MCP server of the user, and of the project if it is trusted."""
        found = find_servers(home, project)
        self.untrusted_servers = found.notice
        for problem in found.problems:
            self._add(WindowEntry(problem.name, problem.name, "broken", Line(problem.reason)))
        taken = [entry.name for entry in self._entries if entry.usable]
        for server, cls in server_classes(found.servers, home, taken):
            origin = f"the MCP server {one_line(server.name, 80)} in {server.origin}"
            self._add(WindowEntry(cls.name, origin, "ready", cls=cls))

    def _add_source(
        self,
        path: Path,
        read: Callable[[], bytes],
        read_beside: ReadBeside,
        chosen: str | None = None,
    ) -> None:
        try:
            source = read()
            module = self._module(path, source, read_beside)
            classes = classes_in(module, path, chosen)
        except WindowLoadError as problem:
            self._add_broken(path, problem, line=problem.line, why=problem.why)
            return
        for cls in classes:
            origin = f"{cls.__name__} in {shown_path(path)}"
            line = _line_of_class(source, cls)
            try:
                name, warning = checked(cls).name, _missing_docstring(cls, path, line)
                self._add(WindowEntry(name, origin, "ready", cls=cls, path=path, warning=warning))
            except WindowLoadError as problem:
                reason = Message("{reason} ({file})", {"reason": problem, "file": shown_path(path)})
                self._add_broken(path, reason, origin, line=line)

    def _module(self, path: Path, source: bytes, read_beside: ReadBeside) -> ModuleType:
        """Execute a file; one that is found twice, or has not changed, is executed once."""
        key = os.path.realpath(path), sha256(source).hexdigest()
        known = self._modules.get(key)
        siblings = siblings_of(known.__name__) if known is not None else None
        if known is None or (siblings is not None and siblings.differ(read_beside)):
            known = run_source(source, path, read_beside)
        self._modules.pop(key, None)
        self._modules[key] = known  # the last of its file is the current one
        return known

    def _add_broken(
        self,
        path: Path,
        reason: Translatable,
        origin: str = "",
        line: int | None = None,
        why: str = "",
    ) -> None:
        name = one_line((path.name or path.absolute().name).removesuffix(".py"), 80) or "?"
        shown = origin or shown_path(path)
        entry = WindowEntry(name, shown, "broken", Line(reason), path=path, line=line, why=why)
        self._add(entry)

    def _add(self, entry: WindowEntry) -> None:
        first = next((one for one in self._entries if one.name == entry.name and one.usable), None)
        if first and entry.usable:
            if first.cls is not None and first.cls is entry.cls:
                return
            reason = Message(
                "two windows have this name: {first}, which is used, and {second}, which is not. "
                "Rename one of them",
                {"first": first.origin, "second": entry.origin},
            )
            entry = replace(entry, status="duplicate", cls=None, reason=reason)
        self._entries.append(entry)


def discover(
    *,
    files: Iterable[str | Path] = (),
    folders: Iterable[str | Path] = (),
    home: Path | None = None,
    project: Path | None = None,
    packages: Iterable[EntryPoint] | None = None,
) -> Registry:
    """Find windows, in this order: packages, files, folders, the user's, the project's.

    Files, folders and the user's folder are executed to see what they define; packages when needed;
    the project's files only if they are trusted.

    Args:
        files: ``FILE.py`` or ``FILE.py:Class``, as given by the user.
        folders: Folders of such files, as given by the user.
        home: The folder of contextui's persistent data: ``windows/`` in it is the user's own
            folder, and trust is recorded there. Without it the project's windows are not loaded.
        project: The folder in which contextui works; its windows are in ``.contextui/windows/``.
        packages: Entry points to use instead of the installed ones.
    """
    registry = Registry(Places(tuple(files), tuple(folders), home, project))
    registry.add_packages(entry_points(group=GROUP) if packages is None else packages)
    registry.add_places()
    return registry


def _line_of_class(source: bytes, cls: type[Window]) -> int:
    """Return the line at which a file defines a class; 1 if it is made in another way."""
    found = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ClassDef))
    return next((node.lineno for node in found if node.name == cls.__name__), 1)


def _missing_docstring(cls: type[Window], path: Path, line: int) -> Text:
    """Return a warning if neither a docstring nor an own description says what a window is for."""
    others = {base.description for base in cls.__mro__[1:] if issubclass(base, Window)}
    if (vars(cls).get("__doc__") or "").strip() or cls.description not in {cls.name, *others}:
        return ""
    values = {"file": one_line(path.name, 80), "line": line, "name": cls.__name__}
    return Message(
        "{file}:{line} {name} has no docstring: a model decides by its first line whether to open "
        "it",
        values,
    )


def _located(origin: str, reason: Text) -> Message:
    return Message("{path}: {reason}", {"path": origin, "reason": reason})


def _split(spec: str) -> tuple[Path, str | None]:
    before, colon, name = spec.rpartition(":")
    if colon and before.endswith(".py") and not os.path.lexists(spec):
        return Path(before), name
    return Path(spec), None


def _package(point: EntryPoint) -> str:
    with suppress(Exception):
        if point.dist:
            return one_line(f"{point.dist.name} {point.dist.version}", 80)
    return "of no name"
