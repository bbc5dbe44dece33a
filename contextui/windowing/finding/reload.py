"""`Reloader`: loads changed window files, and gives open windows the new code with their state.

Only files that `discover` may execute are loaded: those that the user named, those of the user's
own folder, and those of a project whose exact bytes are trusted. Whatever fails, the old code goes
on.
"""

import os
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from contextui.text import one_line
from contextui.windowing.finding.registry import Registry, WindowEntry
from contextui.windowing.finding.source import WindowLoadError, read_source
from contextui.windowing.manager import WindowManager
from contextui.windowing.open_windows import Replacement
from contextui.words import Text, Words


@dataclass(frozen=True, slots=True)
class Fault:
    """A file that cannot be loaded; the old code goes on."""

    file: str
    line: int | None
    reason: Text

    @property
    def place(self) -> str:
        """The file and the line, such as ``kanban.py:24``."""
        return f"{self.file}:{self.line}" if self.line else self.file


@dataclass(frozen=True, slots=True)
class ReloadReport:
    """What a reload did."""

    reloaded: tuple[str, ...] = ()
    windows: tuple[Replacement, ...] = ()
    faults: tuple[Fault, ...] = ()
    untrusted: tuple[WindowEntry, ...] = ()
    removed: tuple[str, ...] = ()
    warnings: tuple[Text, ...] = ()

    @property
    def kept(self) -> list[str]:
        """The ids of the windows that have the new code and kept their state."""
        return [window.window_id for window in self.windows if not window.problem]

    @property
    def refused(self) -> list[Replacement]:
        """The windows that go on with the old code."""
        return [window for window in self.windows if window.problem]

    @property
    def is_good(self) -> bool:
        """Whether all code is as in the files."""
        return not (self.faults or self.untrusted or self.removed or self.refused)

    def lines(self, words: Words) -> Iterator[str]:
        """Yield what to show to the person, line by line."""
        if self.reloaded:
            names, kept = ", ".join(self.reloaded), ", ".join(self.kept)
            yield (
                words("Reloaded {names}. State kept: {windows}.", names=names, windows=kept)
                if kept
                else words("Reloaded {names}.", names=names)
            )
        for window in self.windows:
            if window.problem:
                yield words(
                    "{window} keeps its old code: {reason}",
                    window=window.window_id,
                    reason=window.problem,
                )
            if window.refused is not None:
                yield words(
                    "{window} keeps its state and its old code, until a version of {name} takes "
                    "the state.",
                    window=window.window_id,
                    name=window.window_id.rpartition("_")[0],
                )
            if window.aside:
                yield words(
                    "{id} does not use these parts of its state, which are kept aside: {names}.",
                    id=window.window_id,
                    names=", ".join(sorted(window.aside)),
                )
            if window.jobs:
                jobs = ", ".join(window.jobs)
                yield words("{window}: cancelled {jobs}.", window=window.window_id, jobs=jobs)
        for fault in self.faults:
            yield words(
                "{place} {reason}. The old code runs on.",
                place=fault.place,
                reason=words(fault.reason).rstrip(".。"),
            )
        for entry in self.untrusted:
            yield words("Not loaded: {reason}. The old code runs on.", reason=words(entry.reason))
        for name in self.removed:
            yield words("{name} is no longer defined. The old code runs on.", name=name)
        yield from map(words, self.warnings)
        if not any((self.reloaded, self.faults, self.untrusted, self.removed)):
            yield words("No window file has changed.")


class Reloader:
    """Reloads the window files of a registry."""

    def __init__(self, registry: Registry, windows: WindowManager) -> None:
        self.registry, self._windows = registry, windows
        self._lock = threading.Lock()

    def reload(self, *, fresh: bool = False) -> ReloadReport:
        """Load the files that have changed, and give open windows the new classes.

        This waits for the windows: call it outside an event loop.
        """
        with self._lock:
            old, new = self.registry, self.registry.again(fresh=fresh)
            before = {entry.name: entry for entry in old.entries if entry.cls}
            after = {entry.name: entry for entry in new.entries if entry.cls}
            known_problems = {(one.path, str(one.reason)) for one in old.entries if not one.usable}
            fresh_ones = [
                entry
                for name, entry in after.items()
                if entry.entry_point is None
                and (name not in before or before[name].cls is not entry.cls)
            ]
            problems = [
                entry
                for entry in new.entries
                if not entry.usable and (entry.path, str(entry.reason)) not in known_problems
            ]
            lost = [entry for name, entry in before.items() if name not in after]
            for entry in lost:
                new.keep(entry)
            self.registry = new
            windows = [self._windows.replace_class(one.cls) for one in fresh_ones if one.cls]
            return ReloadReport(
                tuple(entry.name for entry in fresh_ones),
                tuple(one for group in windows for one in group),
                tuple(_fault(entry) for entry in problems if entry.status != "untrusted"),
                tuple(entry for entry in problems if entry.status == "untrusted"),
                tuple(_removed(lost, new.entries)),
                tuple(entry.warning for entry in fresh_ones if entry.warning),
            )

    def is_changed(self, name: str) -> bool:
        """Whether the file of a window has changed since it was loaded; nothing is executed."""
        path = self.file_of(name)
        if path is None:
            return False
        try:
            digest = sha256(read_source(path)).hexdigest()
        except WindowLoadError:
            return True
        return not self.registry.has_loaded(path, digest)

    def file_of(self, name: str) -> Path | None:
        """Return the file that defines a window; None for a package's."""
        entries = self.registry.entries
        return next((entry.path for entry in entries if entry.name == name and entry.cls), None)

    def names_in(self, path: Path) -> list[str]:
        """Return the names of the windows that a file defines."""
        real = os.path.realpath(path)
        return [
            entry.name
            for entry in self.registry.entries
            if entry.cls and entry.path is not None and os.path.realpath(entry.path) == real
        ]


def _fault(entry: WindowEntry) -> Fault:
    name = entry.path.name if entry.path is not None else entry.name
    return Fault(one_line(name, 80), entry.line, entry.why or entry.reason)


def _removed(lost: Iterable[WindowEntry], entries: Iterable[WindowEntry]) -> Iterator[str]:
    """Yield the lost windows whose files were loaded, or are gone, and have no problem."""
    failed = {entry.path for entry in entries if not entry.usable}
    yield from (entry.name for entry in lost if entry.path not in failed)
