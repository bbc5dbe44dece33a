"""The branch a folder is on, read without running anything of that folder."""

from pathlib import Path


def branch_of(folder: Path) -> str | None:
    """The name of the checked-out branch, if the folder is in a repository."""
    for place in (folder, *folder.parents):
        git = place / ".git"
        try:
            if git.is_file():  # a worktree or a submodule names its folder
                git = place / git.read_text("utf-8").removeprefix("gitdir:").strip()
            if git.is_dir():
                if not (git / "HEAD").is_file():
                    return None
                head = (git / "HEAD").read_text("utf-8").strip()
                return head.removeprefix("ref: refs/heads/") if head.startswith("ref:") else None
        except (OSError, UnicodeDecodeError):
            return None
    return None
