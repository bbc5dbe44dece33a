"""What an action would change outside its window, shown before a person allows it."""

from dataclasses import dataclass
from typing import Literal

Verb = Literal["write", "delete", "run", "read", "close"]
"""What would be done to the target; the question's headline says it."""


@dataclass(frozen=True, slots=True)
class Preview:
    """What an action would do, returned by a window's `preview`.

    Give the whole change: what a person cannot see, they cannot allow.

    Attributes:
        target: What would change: a path of the workspace, a command, ``server.tool``. A grant
            for the session covers this target alone.
        diff: The change as a unified diff; empty if a diff does not fit.
        text: The change in words, where there is no diff.
        whole: The content after the change, for a look at the whole file.
        verb: What would be done to the target.

    Example:
        >>> Preview("notes.txt", diff=diff_text(old, new, "notes.txt", "notes.txt"))
    """

    target: str
    diff: str = ""
    text: str = ""
    whole: str = ""
    verb: Verb = "write"

    @property
    def added(self) -> int:
        """How many lines the whole diff adds."""
        return sum(line.startswith("+") for line in self._changes())

    @property
    def removed(self) -> int:
        """How many lines the whole diff removes."""
        return sum(line.startswith("-") for line in self._changes())

    def _changes(self) -> list[str]:
        """The lines of the diff behind its two header lines; only LF ends a line."""
        return self.diff.split("\n")[2:]
