"""Git's marks of changed files, and of the folders that contain them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from contextui.git.program import GitError
from contextui.git.repository import Repository


@dataclass(frozen=True)
class Marks:
    """Git's marks of files, and of the folders that contain them."""

    of_path: Mapping[str, str] = field(default_factory=dict)
    deleted: Mapping[str, Sequence[str]] = field(default_factory=dict)
    count: int = 0


def read_marks(folder: Path) -> Marks:
    """Ask git for the changes in a folder; there are none if it is no repository.

    A folder has the mark of what is in it, or ``M`` if that differs.
    """
    try:
        status = Repository(folder).status(counted=False)
    except (GitError, OSError):
        return Marks()
    found, deleted = dict[str, str](), dict[str, list[str]]()
    for change in status.changes:
        kinds = {change.index, change.tree}
        mark = "U" if change.is_conflict else next((kind for kind in "?D" if kind in kinds), "")
        mark = mark or ("A" if change.index == "A" else "M")
        found[change.path] = mark
        above = PurePosixPath(change.path).parents
        if mark == "D":
            deleted.setdefault(str(above[0]), []).append(change.path)
        for parent in map(str, above):
            before = found.setdefault(parent, mark)
            if before != mark:
                found[parent] = "U" if "U" in (before, mark) else "M"
    return Marks(found, deleted, len(status.changes))
