"""`WindowEntry`: one window that was found, and whether it can be opened."""

from dataclasses import dataclass, field, replace
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any, Literal

from contextui.text import one_line, shown_path
from contextui.windowing.activity import running
from contextui.windowing.base import Window
from contextui.windowing.finding.loading import checked, is_window, problem_of
from contextui.windowing.finding.sources import WindowLoadError

Status = Literal["found", "ready", "broken", "duplicate", "untrusted"]


@dataclass(frozen=True, slots=True)
class WindowEntry:
    """One window that was found.

    Attributes:
        name: What it is called; of one that could not be loaded, what its file is called.
        origin: Where it comes from, in words.
        status: ``found`` in a package and not imported yet; ``ready`` to be opened; or why not.
        reason: Why not, in one line.
        cls: Its class, once it is ready.
        entry_point: Where its package has it.
    """

    name: str
    origin: str
    status: Status
    reason: str = ""
    cls: type[Window] | None = None
    entry_point: EntryPoint | None = field(default=None, repr=False, compare=False)

    @property
    def usable(self) -> bool:
        """Whether the window can be opened, as far as is known."""
        return self.status in ("found", "ready")

    def __str__(self) -> str:
        """The window in one inert line: ``[✓] name: description`` or ``[X] name: reason``."""
        if not self.usable:
            return f"[X] {self.name}: {self.reason}"
        words = self.cls.description if self.cls else self.origin
        return f"[✓] {self.name}: {one_line(words, 200)}"

    def data(self) -> dict[str, Any]:
        """The entry as JSON-ready data."""
        return {
            "name": self.name,
            "status": self.status,
            "origin": self.origin,
            "reason": self.reason or None,
            "description": one_line(self.cls.description, 1_000) if self.cls else None,
            "args": str(self.cls.opening) if self.cls else None,
            "actions": list(self.cls.actions) if self.cls else None,
        }

    def loaded(self) -> "WindowEntry":
        """The entry of a package's window with its class, or with why there is none."""
        if self.status != "found" or self.entry_point is None:
            return self
        try:
            with running(self.name):
                found = self.entry_point.load()
            if not is_window(found):
                raise WindowLoadError("it does not extend contextui.Window")
            if checked(found).name != self.name:
                raise WindowLoadError(
                    f"its window is called {found.name}: give the entry point the same name"
                )
        except KeyboardInterrupt:
            raise
        except BaseException as problem:
            reason = f"{self.origin}: {problem_of(problem)}"
            return replace(self, status="broken", reason=one_line(reason, 1_000))
        return replace(self, status="ready", cls=found)


def untrusted(path: Path, status: str) -> WindowEntry:
    """The entry of a project's file that nobody has looked at as it is now."""
    name = one_line(path.stem, 80)
    what = {"new": "new", "changed": "changed"}.get(status, "unchanged, but others are not")
    reason = f"{shown_path(path)} is not trusted ({what}): read it, then run contextui trust"
    return WindowEntry(name, shown_path(path), "untrusted", reason)
