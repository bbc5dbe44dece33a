"""The branch a folder is on, read without running anything of that folder."""

import re
from pathlib import Path

from contextui.plain_file import read_plain

_LARGEST = 4_096  # bytes of .git/HEAD, or of a .git that names another folder
# What git allows in a name, but no blanks or control characters of any script.
_BRANCH = re.compile(r"ref: refs/heads/((?:(?![~^:?*\[\\])\S){1,250})")


def branch_of(folder: Path) -> str | None:
    """The name of the checked-out branch, if the folder is in a repository."""
    for place in (folder, *folder.parents):
        git = place / ".git"
        try:
            if git.is_file():  # a worktree or a submodule names its folder
                git = place / _line(git).removeprefix("gitdir:").strip()
            if git.is_dir():
                found = _BRANCH.fullmatch(_line(git / "HEAD"))
                return found[1] if found and found[1].isprintable() else None
        except (OSError, ValueError):  # not UTF-8, or a path with a NUL
            return None
    return None


def _line(path: Path) -> str:
    return read_plain(path, _LARGEST).decode().strip()
