"""Which programs of a repository git may start for a command that runs there.

A command such as `git status` starts what the repository's own config names. The author of a
folder's files is the author of its config, so such a command can do anything.
"""

import os
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from contextui.errors import os_reason
from contextui.git.program import Git, GitError, Setting
from contextui.plain_file import read_plain
from contextui.shell import locate
from contextui.text import code_point, is_unseen
from contextui.words import Words

SECONDS = 5.0
"""Maximum seconds of an inspection; after them it is not known what git may start."""

_TODO = 1_000_000  # bytes of the list of commits that a rebase works off
_MOVING = ("GIT_DIR", "GIT_COMMON_DIR", "GIT_WORK_TREE")
_OWN = ("system", "global")  # the scopes of the person's own config
_NO_PROGRAM = frozenset(("", "true", "yes", "on", "1", "false", "no", "off", "0", "never"))
_INCLUDE = re.compile(r"include(if\..*)?\.path", re.DOTALL)
_ADDRESS = re.compile(r"remote\..*\.(?:push)?url|url\.(.*)\.(?:push)?insteadof", re.DOTALL)
_OPTIONS = frozenset((
    "--glob-pathspecs", "--icase-pathspecs", "--literal-pathspecs", "--no-advice",
    "--no-lazy-fetch", "--no-optional-locks", "--no-pager", "--no-replace-objects",
    "--noglob-pathspecs", "--paginate", "-P", "-p",
))  # fmt: skip
# Commands that change no file, branch or commit, and the hooks that none of them runs.
_READING = frozenset((
    "annotate", "blame", "cat-file", "check-attr", "check-ignore", "cherry", "count-objects",
    "describe", "diff", "diff-files", "diff-index", "diff-tree", "for-each-ref", "grep", "log",
    "ls-files", "ls-tree", "merge-base", "name-rev", "range-diff", "rev-list", "rev-parse",
    "shortlog", "show", "show-branch", "show-ref", "status", "version", "whatchanged",
))  # fmt: skip
_HOOKS_OF_CHANGES = frozenset((
    "applypatch-msg", "commit-msg", "post-applypatch", "post-checkout", "post-commit",
    "post-merge", "post-receive", "post-rewrite", "post-update", "pre-applypatch", "pre-auto-gc",
    "pre-commit", "pre-merge-commit", "pre-push", "pre-rebase", "pre-receive",
    "prepare-commit-msg", "proc-receive", "push-to-checkout", "reference-transaction",
    "sendemail-validate", "update",
))  # fmt: skip


class NamedProgram(NamedTuple):
    """A program that a repository names, or a reason why this is not known.

    Attributes:
        kind: The kind of setting, such as ``filter.*.clean``; no text of the repository.
        text: What names the program, and where, with invisible characters spelled out.
    """

    kind: str
    text: str


def named_programs(
    argv: Sequence[str],
    folder: Path,
    workspace: Path,
    environment: Mapping[str, str],
    words: Words,
) -> tuple[NamedProgram, ...]:
    """Return the programs that git may start for a command because a repository names them.

    These are the repository of the folder and those inside it, such as submodules. Programs of the
    person's own config are left out. A command that is not git has none, nor one that no pattern
    can match because its program is given by a path or found in the workspace.

    Args:
        workspace: The folder in which contextui works; no program in it is started.
    """
    name, search = argv[0].casefold(), environment.get("PATH", os.defpath)
    program = locate(argv[0], search, workspace) if "/" not in name else None
    if program is None or not (re.match(r"git(-|$)", name) or program.name == "git"):
        return ()
    inspection = _Inspection(environment, words)
    if locate("git", search, workspace) is None:
        return inspection.unknown(words("Git is not installed."))
    if name.startswith("git-"):
        argv = ("git", name.removeprefix("git-"), *argv[1:])
    return inspection.inspect(argv, folder)


class _Inspection:
    """One inspection, up to a deadline."""

    def __init__(self, environment: Mapping[str, str], words: Words) -> None:
        self._environment, self._words = environment, words
        self._deadline = time.monotonic() + SECONDS
        self._found: dict[str, NamedProgram] = {}
        self._command = ""
        self._base = Path()

    def inspect(self, argv: Sequence[str], folder: Path) -> tuple[NamedProgram, ...]:
        """Return what a command of git may start in a folder."""
        for name in _MOVING:
            if name in self._environment:
                value = self._environment[name]
                self._add(name, self._words("{name} leads git to {value}", name=name, value=value))
        try:
            folder, self._command = self._place(argv, folder)
            for place in (folder, *folder.parents):
                self._base = place
                is_one = os.path.lexists(place / ".git") or os.path.lexists(place / "HEAD")
                if not is_one or (found := self._repository(place)) is None:
                    continue
                top, common = found
                for inner in self._inner(top, ".git"):
                    self._repository(inner)
                for inner in self._inner(common / "modules", "HEAD"):
                    # The files of a submodule need not be there.
                    self._repository(inner, "--git-dir=.", "--work-tree=.")
                break
        except GitError as error:
            return self.unknown(error.text(self._words.lang))
        except OSError as error:
            return self.unknown(self._words(os_reason(error)))
        except (RuntimeError, ValueError) as error:  # a loop of links; a NUL in a path
            return self.unknown(str(error))
        return tuple(self._found.values())

    @property
    def _reads(self) -> bool:
        return self._command in _READING

    def _place(self, argv: Sequence[str], folder: Path) -> tuple[Path, str]:
        rest = list(argv[1:])
        while rest and rest[0].startswith("-"):
            option = rest.pop(0)
            if option == "-C" and rest:
                folder /= rest.pop(0)
            elif option == "-c" and rest:
                rest.pop(0)  # the command itself says what it sets
            elif option not in _OPTIONS:
                self.unknown(self._words("{option} can name another repository", option=option))
        return folder.resolve(), rest[0] if rest else ""

    def _add(self, kind: str, text: str, path: Path | None = None) -> None:
        if path is not None:
            is_inside = path.is_relative_to(self._base)
            text = f"{text}   ({path.relative_to(self._base) if is_inside else path})"
        text = "".join(code_point(one) if is_unseen(one) else one for one in text)
        self._found.setdefault(text, NamedProgram(kind, text))

    def unknown(self, reason: str) -> tuple[NamedProgram, ...]:
        """Return what was found so far, and why there may be more."""
        self._add("unknown", self._words("it is not known which: {reason}", reason=reason))
        return tuple(self._found.values())

    # --- one repository -----------------------------------------------------------------------

    def _repository(self, place: Path, *options: str) -> tuple[Path, Path] | None:
        """Inspect the repository at a place; return its top and the folder with its config."""
        git = Git(place, place, self._environment, as_person=True, seconds=self._left())
        try:
            args = ("rev-parse", "--absolute-git-dir", "--git-common-dir", "--show-cdup")
            lines = os.fsdecode(git.run(*args, options=options).data).split("\n")[:-1]
        except GitError as error:
            if str(error).startswith("fatal: not a git repository"):
                return None
            raise
        if len(lines) not in (2, 3):
            raise GitError("The name of a folder has a line break.")
        git_dir, common, *up = ((place / line).resolve() for line in lines)
        top = up[0] if up else git_dir  # a bare repository has no files
        settings = git.config(options)
        theirs = [setting for setting in settings if setting.scope not in _OWN]
        for one in theirs:
            if kind := self._kind_of(one, top):
                path = place / one.origin.removeprefix("file:")
                self._add(kind, f"{one.name} = {one.value}", path)
        # A partial clone fetches what is missing, and git cleans up after a fetch.
        is_partial = any(
            one.name == "extensions.partialclone" or one.name.endswith(".promisor")
            for one in theirs
        )
        for hook in _hooks(settings, top, git_dir, common):
            if not self._reads or is_partial or hook.name not in _HOOKS_OF_CHANGES:
                self._add("hooks", self._words("the hook {name}", name=hook.name), hook)
        for old in ("remotes", "branches") if self._command == "push" else ():
            if os.path.isdir(common / old) and os.listdir(common / old):
                self._add("remote.*.url", old, common / old)
        if not self._reads:
            self._add_rebase(git_dir / "rebase-merge/git-rebase-todo")
        return top, common

    def _kind_of(self, one: Setting, top: Path) -> str:
        """Return the kind of a setting that names or allows a program for this command, or ""."""
        kind = one.program
        if _INCLUDE.fullmatch(one.name) and not self._reads:
            # The command may change the file, or the branch, and start another git then.
            path = Path(os.path.expanduser(one.value))
            is_outside = path.is_absolute() and not path.resolve().is_relative_to(top)
            is_fixed = is_outside and not one.name.startswith("includeif.onbranch:")
            return "" if is_fixed else "include.path"
        if self._command == "push" and (match := _ADDRESS.fullmatch(one.name)):
            # Another repository on this machine runs its own hooks.
            return "remote.*.url" if _is_local(match[1] or one.value) else ""
        if kind == "core.hooksPath" or one.value.casefold() in _NO_PROGRAM:
            return ""
        if kind == "submodule.*.update" and not one.value.startswith("!"):
            return ""
        return "" if kind == "alias.*" and self._reads else kind

    def _add_rebase(self, todo: Path) -> None:
        if not os.path.lexists(todo):
            return
        for line in os.fsdecode(read_plain(todo, _TODO)).splitlines():
            if re.match(r"\s*(x|exec)\s", line):
                self._add("rebase", line.strip(), todo)

    def _inner(self, folder: Path, mark: str) -> Iterator[Path]:
        """Yield the folders below one that have a ``.git``, or are one and have a ``HEAD``."""
        pending = [str(folder)]
        while pending:
            self._left()
            inner = pending.pop()
            try:
                with os.scandir(inner) as entries:
                    names = sorted(one.name for one in entries if one.is_dir(follow_symlinks=False))
            except OSError:  # git cannot go there, either
                continue
            is_found = inner != str(folder) and os.path.lexists(os.path.join(inner, mark))
            if is_found:
                yield Path(inner)
            if is_found and mark == "HEAD":
                names = ["modules"]  # nothing else in it is a folder of repositories
            pending += [os.path.join(inner, name) for name in names if name != ".git"]

    def _left(self) -> float:
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise GitError(
                "looking through the folder took longer than {seconds} s.",
                seconds=f"{SECONDS:g}",
            )
        return left


def _is_local(address: str) -> bool:
    """Whether the address of a repository is a path."""
    if "://" in address:
        return address.casefold().startswith("file:")
    return ":" not in address or "/" in address.partition(":")[0]


def _hooks(settings: Sequence[Setting], top: Path, git_dir: Path, common: Path) -> Iterator[Path]:
    """Yield the hooks that git finds, unless they are in a folder of the person's own config."""
    folders = [common / "hooks"]
    for setting in settings:
        if setting.name == "core.hookspath":
            path = Path(os.path.expanduser(setting.value))
            folders = [top / path, git_dir / path]
            is_inside = any(path.is_relative_to(place) for place in (top, common))
            if setting.scope in _OWN and path.is_absolute() and not is_inside:
                folders = []
    for folder in dict.fromkeys(folders):
        try:
            names = sorted(os.listdir(folder))
        except OSError:
            continue
        for name in names:
            path = folder / name
            if not name.endswith(".sample") and path.is_file() and os.access(path, os.X_OK):
                yield path
