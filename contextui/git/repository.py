"""The repository of the session's folder: what it contains, and the changes that can be made.

A repository is accepted only if git would write nowhere else: its ``.git`` lies above the folder,
names it in return, and none of the files that git writes is a link.
"""

import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from contextui.git.program import OUTPUT, Git, GitError, Output
from contextui.git.status import (
    Change,
    Commit,
    Lines,
    Status,
    parse_log,
    parse_numstat,
    parse_status,
    quoted,
    shown,
)
from contextui.plain_file import read_plain

Counts = dict[str, Lines | None]

_COUNTED = 1_000  # changed files up to which lines are counted
_SMALL = 8_192  # bytes that are read of a file in .git
_PATHS = 500  # that git gets as arguments at once
_HIDDEN = 100  # text files marked as binary that are compared one by one
_DIFF = (
    "--no-ext-diff", "--no-textconv", "--no-color", "--submodule=short",
    "--ignore-submodules=dirty", "--no-relative", "--find-renames", "--src-prefix=a/",
    "--dst-prefix=b/", "-O/dev/null",
)  # fmt: skip
_LINKS = ("", "HEAD", "index", "logs", "logs/HEAD")
_COMMON_LINKS = (
    "", "config", "objects", "objects/info", "objects/pack", "packed-refs", "refs", "refs/heads",
    "logs", "logs/refs", "logs/refs/heads",
)  # fmt: skip
_OPERATIONS = {
    "MERGE_HEAD": "merge",
    "CHERRY_PICK_HEAD": "cherry-pick",
    "REVERT_HEAD": "revert",
    "rebase-merge": "rebase",
    "rebase-apply": "rebase",
    "BISECT_LOG": "bisect",
}
_HOOKS = ("pre-commit", "prepare-commit-msg", "commit-msg", "post-commit")


@dataclass
class Repository:
    """The repository of the session's folder, checked and with its settings overridden."""

    folder: Path
    environment: Mapping[str, str] = field(default_factory=lambda: os.environ)
    top: Path = field(init=False)
    git_dir: Path = field(init=False)
    common: Path = field(init=False)

    def __post_init__(self) -> None:
        if not self.folder.is_dir():
            raise GitError("The folder does not exist any more.")
        self.top = _top(self.folder)
        self._git = Git(self.folder, self.top, self.environment)
        self.git_dir, self.common = _git_dirs(self.top)
        self._check_links()
        expected = os.fsencode(f"{self.top}\n{self.git_dir}\n")
        found = self._git.run("rev-parse", "--show-toplevel", "--absolute-git-dir").data
        if found != expected:
            name = quoted(str(self.top))
            raise GitError(
                "Git does not take {name} as the repository of this folder: its .git is "
                "damaged, or its config (core.worktree) leads elsewhere.",
                name=name,
            )
        self._git.override_drivers()

    @property
    def prefix(self) -> str:
        """The session's folder in the repository, with a trailing ``/``; empty for its top."""
        inner = str(self.folder.relative_to(self.top))
        return "" if inner == "." else f"{inner}/"

    # --- reading ------------------------------------------------------------------------------

    def status(self, *, counted: bool = True) -> Status:
        """Return the branch and all changes in the session's folder, with their lines counted."""
        made = self._look(
            "status", "--porcelain=v2", "--branch", "-z", "--untracked-files=all",
            "--ignore-submodules=dirty", "--find-renames", "--", ".",
        )  # fmt: skip
        status = parse_status(made.data, self.prefix)
        changes = status.changes
        if counted and len(changes) <= _COUNTED:
            changes = tuple(self._with_lines(changes))
        operations = (
            name for mark, name in _OPERATIONS.items() if os.path.lexists(self.git_dir / mark)
        )
        outside = bool(self.prefix) and self._is_staged_outside(status)
        return replace(
            status,
            changes=changes,
            is_cut=made.is_cut,
            operation=next(operations, ""),
            outside=outside,
        )

    def diff(self, change: Change, *, staged: bool, limit: int = OUTPUT) -> Output:
        """Return the staged or not staged diff of a known file."""
        paths = [change.path, *([change.old] if staged and change.old else [])]
        which = ["--cached"] if staged else []
        return self._look("diff", *which, *_DIFF, "--", *paths, limit=limit)

    def index_diff(
        self, *which: str, limit: int = OUTPUT, paths: Sequence[str] | None = None
    ) -> str:
        """Return the complete diff of the index to the last commit or to the files.

        Args:
            which: Options of ``git diff``: none for what staging would change, ``--cached`` for
                what a commit would record, and with ``-R`` for what unstaging would change.
        """
        if paths is None:
            return shown(self._whole_diff(which, [], limit))
        made = bytearray()
        for start in range(0, len(paths), _PATHS):
            made += self._whole_diff(which, paths[start : start + _PATHS], limit - len(made))
        return shown(bytes(made))

    def reverse_diff(self, change: Change, limit: int) -> Output:
        """Return the diff that discarding the change of a known file would make."""
        return self._look("diff", "-R", "--abbrev=16", "--text", *_DIFF, "--", change.path,
                          limit=limit)  # fmt: skip

    def log(self, count: int) -> list[Commit]:
        """Return the last commits that changed something in the session's folder."""
        made = self._look(
            "log", f"--max-count={count}", "-z", "--no-show-signature", "--no-color", "--no-patch",
            "--no-notes", "--no-ext-diff", "--no-textconv",
            "--format=%h%x1f%an%x1f%ct%x1f%s", "HEAD", "--", *(["."] if self.prefix else []),
        )  # fmt: skip
        return parse_log(made.data)

    def author(self) -> str:
        """Return the name and address that a commit would have."""
        made = self._look("var", "GIT_AUTHOR_IDENT").data.decode(errors="replace")
        return made.rpartition(">")[0] + ">"

    def hooks(self) -> list[str]:
        """Return the names of the repository's hooks that a commit would run elsewhere."""
        folder = self.common / "hooks"
        if self._git.hooks_path:
            folder = self.top / os.path.expanduser(self._git.hooks_path)
        events = self._git.hook_events
        return [one for one in _HOOKS if one in events or os.access(folder / one, os.X_OK)]

    def staged_blob(self, change: Change) -> str:
        """Return the id of the staged version of a file."""
        made = self._look("ls-files", "--stage", "-z", "--", change.path).data
        parts = made.split(b" ", 2)
        return parts[1].decode("ascii")[:12] if len(parts) == 3 else ""

    def filtered(self, changes: Iterable[Change]) -> dict[str, str]:
        """Return the files that a configured filter applies to, and its name."""
        paths = [change.path for change in changes] if self._git.filters else []
        found = self._attributes("filter", paths)
        return {path: name for path, name in found.items() if name in self._git.filters}

    # --- changes ------------------------------------------------------------------------------

    def stage(self, changes: Sequence[Change]) -> None:
        """Record the present content of files in the index."""
        # Not `git add`: it compares every path with every pattern, and 10,000 take a while.
        given = b"".join(os.fsencode(change.path.rstrip("/")) + b"\0" for change in changes)
        self._git.run("update-index", "--add", "--remove", "-z", "--stdin", given=given)

    @contextmanager
    def trial(self, changes: Sequence[Change]) -> Iterator[None]:
        """Stage files in a copy of the index, which git uses meanwhile; the repository stays."""
        with tempfile.TemporaryDirectory(prefix="contextui-git-") as folder:
            index, objects = Path(folder, "index"), Path(folder, "objects")
            objects.mkdir()
            with suppress(FileNotFoundError):  # nothing was staged ever
                shutil.copy2(self.git_dir / "index", index)  # git compares its time with the files'
            known = str(self.common / "objects").replace("\\", "\\\\").replace('"', '\\"')
            self._git.places = {
                "GIT_INDEX_FILE": str(index),
                "GIT_OBJECT_DIRECTORY": str(objects),
                "GIT_ALTERNATE_OBJECT_DIRECTORIES": f'"{known}"',
            }
            try:
                if changes:
                    self.stage(changes)
                yield
            finally:
                self._git.places = {}

    def unstage(self, paths: Sequence[str]) -> None:
        """Reset files in the index to the last commit."""
        self._on_paths(paths, "reset", "--quiet")

    def commit(self, message: str, status: Status) -> str:
        """Commit what is staged, and return the short id of the commit."""
        tree = self._git.run("write-tree").data.decode("ascii").strip()
        parent = ["-p", status.head] if status.head else []
        given = message.encode("utf-8", "replace") + b"\n"
        args = ("commit-tree", "--no-gpg-sign", *parent, "-F", "-", tree)
        made = self._git.run(*args, given=given).data.decode("ascii").strip()
        subject = message.partition("\n")[0].encode("utf-8", "replace").decode()
        note = f"commit{'' if status.head else ' (initial)'}: {subject}"
        self._git.run("update-ref", "-m", note, "HEAD", made, status.head or "0" * len(made))
        return made[:7]

    def discard(self, change: Change) -> None:
        """Give a known file its staged content back; delete an untracked one."""
        if change.is_untracked:
            self._git.run("clean", "--force", "--quiet", "--", change.path)
        else:
            self._on_paths([change.path], "restore", "--worktree", "--no-recurse-submodules")

    # --- internals ----------------------------------------------------------------------------

    def _look(self, *args: str, limit: int = OUTPUT, top: bool = False) -> Output:
        return self._git.run(*args, limit=limit, top=top, options=("--no-optional-locks",))

    def _whole_diff(self, which: Sequence[str], paths: Sequence[str], limit: int) -> bytes:
        some = ("--", *paths)
        whole = self._look("diff", *which, "--abbrev=16", *_DIFF, *some, limit=limit)
        counted = self._look("diff", *which, "--numstat", "-z", *_DIFF, *some)
        binary = [path for path, lines in parse_numstat(counted.data).items() if lines is None]
        marked = self._attributes("diff", binary, top=True)
        hidden = [path for path in binary if marked.get(path, "unspecified") != "unspecified"]
        parts, size = [whole.data], len(whole.data)
        is_cut = whole.is_cut or len(hidden) > _HIDDEN
        for path in hidden[:_HIDDEN]:
            args = ("diff", *which, "--text", "--abbrev=16", *_DIFF, "--")
            made = self._look(*args, path, limit=limit, top=True)
            if b"\0" not in made.data:
                parts.append(made.data)
                size += len(made.data)
                is_cut = is_cut or made.is_cut
        if is_cut or size > limit:
            raise GitError(
                "The change is too large to be shown, so it cannot be made here. Make it in "
                "parts, or in a terminal."
            )
        return b"".join(parts)

    def _on_paths(self, paths: Sequence[str], *command: str) -> None:
        given = b"".join(os.fsencode(path) + b"\0" for path in paths)
        self._git.run(*command, "--pathspec-from-file=-", "--pathspec-file-nul", given=given)

    def _attributes(self, name: str, paths: Sequence[str], *, top: bool = False) -> dict[str, str]:
        if not paths:
            return {}
        given = b"".join(os.fsencode(path) + b"\0" for path in paths)
        made = self._git.run("check-attr", "-z", "--stdin", name, given=given, top=top).data
        parts = [os.fsdecode(one) for one in made.split(b"\0")]
        return dict(zip(parts[0::3], parts[2::3], strict=False))

    def _with_lines(self, changes: Sequence[Change]) -> Iterator[Change]:
        counted = [Counts(), Counts()]
        wanted = (any(one.is_staged for one in changes), any(one.is_modified for one in changes))
        for at, which in enumerate((["--cached"], [])):
            if wanted[at]:
                made = self._look("diff", *which, "--numstat", "-z", *_DIFF, "--", ".")
                counted[at] = parse_numstat(made.data, self.prefix)
        staged, lines = counted
        for change in changes:
            yield replace(change, staged=staged.get(change.path), lines=lines.get(change.path))

    def _is_staged_outside(self, status: Status) -> bool:
        names = self._look("diff", "--cached", "--name-only", "-z", *_DIFF, "--no-renames").data
        prefix = os.fsencode(status.prefix)
        return any(name and not name.startswith(prefix) for name in names.split(b"\0"))

    def _check_links(self) -> None:
        """Refuse a repository in which git would write through a link to a place outside."""
        suspects = [self.git_dir / one for one in _LINKS]
        suspects += [self.common / one for one in _COMMON_LINKS]
        for base in ("refs/heads", "logs/refs/heads"):
            suspects += self._parts_of_branch(self.common / base)
        for path in suspects:
            if path.is_symlink():
                name = quoted(str(path))
                raise GitError(
                    "{name} is a link. A repository whose parts lie elsewhere is not opened here.",
                    name=name,
                )

    def _parts_of_branch(self, base: Path) -> list[Path]:
        try:
            head = os.fsdecode(read_plain(self.git_dir / "HEAD", _SMALL))
        except OSError:
            return []  # git reports what is wrong with it
        name = head.strip().removeprefix("ref: refs/heads/")
        parts = [one for one in name.split("/") if one not in ("", ".", "..")]
        return [base.joinpath(*parts[: count + 1]) for count in range(len(parts))]


def initialize(folder: Path, environment: Mapping[str, str]) -> None:
    """Create a repository in a folder that has none, without the hooks of a template."""
    if os.path.lexists(folder / ".git"):
        raise GitError("There is a .git already.")
    git = Git(folder, folder, environment)
    git.override_drivers()  # a hook of the person's own config would run, too
    git.run("init", "--quiet", "--template=")


def _top(folder: Path) -> Path:
    for one in (folder, *folder.parents):
        if os.path.lexists(one / ".git"):
            return one
    if all((folder / name).exists() for name in ("HEAD", "objects", "refs")):
        raise GitError("This folder is a bare repository, which has no files to show.")
    raise GitError("Not a git repository.", "no repository")


def _git_dirs(top: Path) -> tuple[Path, Path]:
    """Return the repository's own folder, and the one that it shares with linked worktrees."""
    place = top / ".git"
    if place.is_dir() and not place.is_symlink():
        if os.path.lexists(place / "commondir"):
            raise _elsewhere(place)
        return place, place
    if place.is_symlink() or not place.is_file():
        raise _elsewhere(place)
    try:
        text = os.fsdecode(read_plain(place, _SMALL))
        git_dir = Path(os.path.realpath(top / text.removeprefix("gitdir: ").rstrip("\n")))
        back = os.fsdecode(read_plain(git_dir / "gitdir", _SMALL)).rstrip("\n")
        common = os.fsdecode(read_plain(git_dir / "commondir", _SMALL)).rstrip("\n")
        shared = Path(os.path.realpath(git_dir / common))
    except (OSError, ValueError) as problem:  # a path can contain NUL
        raise _elsewhere(place) from problem
    is_answered = os.path.realpath(git_dir / back) == str(place)
    if not is_answered or git_dir.parent != shared / "worktrees":
        raise _elsewhere(place)
    return git_dir, shared


def _elsewhere(place: Path) -> GitError:
    name = quoted(str(place))
    return GitError(
        "{name} leads to a repository elsewhere that does not name this folder as its "
        "worktree. It is not opened here.",
        name=name,
    )


# --- marks ------------------------------------------------------------------------------------


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
