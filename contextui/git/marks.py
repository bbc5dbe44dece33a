"""Git's marks of changed files, and of the folders that contain them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from contextui.git.program import GitError
from contextui.git.repository import Repository


@dataclass(frozen=True)
class Marks:
    """Git's marks of files, and of the folders that contain them.

    Attributes:
        of_path: The mark of each changed file and of each folder around it.
    """

    of_path: Mapping[str, str] = field(default_factory=dict)
    deleted: Mapping[str, Sequence[str]] = field(default_factory=dict)
    count: int = 0


def marks_of(changes: Iterable[tuple[str, str]]) -> Marks:
    """Mark files by their path and kind of change, and the folders around them.

    A folder has the mark of what is in it, or ``M`` if that differs.
    """
    found, deleted, count = dict[str, str](), dict[str, list[str]](), 0
    for path, mark in changes:
        count += 1
        found[path] = mark
        above = PurePosixPath(path).parents
        if mark == "D":
            deleted.setdefault(str(above[0]), []).append(path)
        for folder in map(str, above):
            before = found.setdefault(folder, mark)
            if before != mark:
                found[folder] = "U" if "U" in (before, mark) else "M"
    return Marks(found, deleted, count)


def read_marks(folder: Path) -> Marks:
    """Ask git for the changes in a folder; there are none if it is no repository."""
    try:
        status = Repository(folder).status(counted=False)
    except (GitError, OSError):
        return Marks()
    changes = []
    for one in status.changes:
        kinds = {one.index, one.tree}
        mark = "U" if one.is_conflict else next((kind for kind in "?D" if kind in kinds), "")
        mark = mark or ("A" if one.index == "A" else "M")
        changes.append((one.path, mark))
    return marks_of(changes)
