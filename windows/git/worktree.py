"""The work tree of a git window: what was read of it, and what may be done to it."""

import os
import time
from collections.abc import Sequence
from dataclasses import replace
from difflib import get_close_matches
from hashlib import blake2b
from pathlib import PurePosixPath
from typing import NoReturn

from contextui import ActionError, Lod, Preview, TextFile
from contextui.files.diff import diff_text
from contextui.files.errors import FileError, SecretFileError
from contextui.git.program import GitError
from contextui.git.repository import Repository
from contextui.git.status import Change, Status, quoted, shown, unquoted
from contextui.windowing.preview import PREVIEW_LIMIT
from contextui.windowing.window import Env
from contextui.windows.git.description import GitState, Situation, staged_line

REST = 20  # a timer's reading is not repeated before this many times its own duration
LAST = 3  # commits in the widget's list
NAMED = 10  # files that a result names
MESSAGE = 10_000  # characters of a commit's message
CONFLICT = b"<<<<<<< "  # begins a line that a merge left
_INDEX = ".git/index"
READ = 2_000_000  # bytes of a diff that are read for one file


class WorkTree:
    """Reads the repository into a window's state, finds changes by name, and checks actions."""

    def __init__(self, state: GitState, env: Env) -> None:
        self._state, self._env = state, env

    # --- reading the repository ---------------------------------------------------------------

    def repository(self) -> Repository:
        return Repository(self._env.workspace.root)

    def read(self, repository: Repository | None = None) -> None:
        """Read the status, and the diff and log that are shown."""
        began, state = time.monotonic(), self._state
        try:
            repository = repository or self.repository()
            now = self.situation(repository, repository.status())
        except GitError as error:
            now = Situation(problem=error.text(self._env.lang), reason=error.reason)
        self.take(now)
        state.resting = time.monotonic() + REST * (time.monotonic() - began)

    def take(self, now: Situation) -> None:
        self._state.now = now
        if not now.paths:
            self._state.chosen, self._state.line = "", 1
        self.see()

    def situation(self, repository: Repository, status: Status) -> Situation:
        now = self._with_commits(repository, Situation(status))
        change = next((one for one in status.changes if one.name == self._state.chosen), None)
        if change is None:
            return now
        parts = [
            (self._env.say("staged:"), change.is_staged, True),
            (self._env.say("not staged:"), change.is_changed, False),
        ]
        lines: list[str] = []
        for title, is_there, staged in parts:
            if is_there:
                made = self.lines_of(repository, change, staged=staged)
                lines += [title, *made] if change.is_staged and change.is_changed else made
        paths = tuple(path for path in (change.path, change.old) if path)
        return replace(now, diff=tuple(lines), paths=paths)

    def _with_commits(self, repository: Repository, now: Situation) -> Situation:
        """Read the last commits, unless they are known."""
        before, count = self._state.now, max(self._state.log_count, LAST)
        head = now.status.head
        if not head:
            return now
        if before.status.head == head and before.log_count >= count:
            return replace(now, commits=before.commits, log_count=before.log_count)
        return replace(now, commits=tuple(repository.log(count)), log_count=count)

    def lines_of(self, repository: Repository, change: Change, *, staged: bool) -> tuple[str, ...]:
        if change.is_untracked:
            try:
                diff, text = self._untracked(change, READ)
            except (ActionError, FileError) as error:
                return (error.text(self._env.lang),)
            return (*diff, *([text] if text else []))
        made = repository.diff(change, staged=staged, limit=READ)
        lines = shown(made.data).split("\n")
        lines = lines[:-1] if lines[-1] == "" else lines
        if made.is_cut:
            lines.append(self._env.say("… the rest is too large"))
        first = next((at for at, one in enumerate(lines) if one.startswith("@@")), len(lines))
        head = [line for line in lines[:first] if not line.startswith(("diff --git ", "index "))]
        return (*head, *lines[first:])

    def _untracked(self, change: Change, limit: int) -> tuple[list[str], str]:
        """Return an untracked file as a diff, or a sentence about one that has no lines."""
        place = self._env.workspace.root / change.path
        if change.path.endswith("/") or (place.is_dir() and not place.is_symlink()):
            return [], self._env.say("another repository")
        if place.is_symlink():
            target = quoted(os.readlink(place))
            return [], self._env.say("a link to {target}", target=target)
        data = self._env.workspace.read_bytes(change.path, limit=limit)
        if b"\0" in data:
            size = f"{len(data):,}"
            return [], self._env.say("binary, {size} bytes", size=size)
        if not data:
            return [], self._env.say("an empty file")
        diff = diff_text(TextFile(), TextFile(shown(data)), "/dev/null", f"b/{change.name}")
        lines = diff.split("\n")
        return (lines[:-1] if lines[-1] == "" else lines), ""

    def see(self) -> None:
        """Update the hash of what is shown, so that a change of it is a change of the state."""
        state, say = self._state, self._env.say
        shown = "\0".join(state.content(lod, say) for lod in (Lod.FULL, Lod.SUMMARY))
        state.seen = blake2b(shown.encode("utf-8", "replace"), digest_size=8).hexdigest()

    # --- previews -----------------------------------------------------------------------------

    def committing(self, message: str, paths: str | Sequence[str]) -> Preview:
        message, say = self.message(message), self._env.say
        repository, status = self.begin()
        chosen, left = self.to_stage(repository, status, paths, commits=True)
        notes = [self.kept(repository, chosen), self.left_out(left)]
        with repository.trial(chosen):
            status = repository.status()
            branch = quoted(status.branch) if status.branch else f"HEAD {status.head[:7]}"
            target = say(".git (a commit on {branch})", branch=branch)
            self.check_commit(status)
            author, files = repository.author(), [staged_line(one) for one in status.staged()]
            text = [say("Author: {author}", author=author), "", message, "", *files]
            if hooks := repository.hooks():
                names = ", ".join(hooks)
                text += ["", say("Hooks are not run: {names}.", names=names)]
            diff = repository.index_diff("--cached", limit=PREVIEW_LIMIT)
        if chosen:
            notes.insert(0, say("Stages {named}.", named=self.named(chosen)))
        text += ["", *(note.strip() for note in notes if note)]
        return Preview(target, diff=diff, text="\n".join(text).rstrip(), verb="commit")

    def staging(self, paths: str | Sequence[str]) -> Preview:
        repository, status = self.begin()
        chosen, left = self.to_stage(repository, status, paths)
        known = [one for one in chosen if not one.is_untracked]
        everything = len(known) == len([change for change in status.changes if change.is_modified])
        places = ["."] if everything else [one.path for one in known]
        parts = [repository.index_diff(limit=PREVIEW_LIMIT, paths=places)]
        named, rest = self.named(chosen), PREVIEW_LIMIT - len(parts[0])
        text = [self._env.say("Stages {named}.", named=named)]
        for one in chosen:
            if one.is_untracked:
                diff, note = self._untracked(one, rest)
                parts.append("".join(f"{line}\n" for line in diff))
                text += [f"{one.name}: {note}"] if note else []
                rest -= len(parts[-1])
        text += [part.strip() for part in (self.kept(repository, chosen), self.left_out(left))]
        return Preview(_INDEX, diff="".join(parts), text="\n".join(filter(None, text)))

    def unstaging(self, paths: str | Sequence[str]) -> Preview:
        repository, status = self.begin()
        chosen, places = self.to_unstage(status, paths)
        diff = repository.index_diff("--cached", "-R", limit=PREVIEW_LIMIT, paths=places)
        text = self._env.words.plural(
            len(chosen),
            "Unstages {named}. The file itself stays as it is.",
            "Unstages {named}. The files stay as they are.",
            named=self.named(chosen),
        )
        return Preview(_INDEX, diff=diff, text=text + self.kept(repository, chosen))

    def discarding(self, path: str) -> Preview:
        repository, status = self.begin()
        change = self.discarded(path, status)
        # A grant for the session would cover later edits, so the target is one that always asks.
        target = f"{quoted(str(self._env.workspace.root))}/{change.name}"
        if not change.is_untracked:
            made = repository.reverse_diff(change, PREVIEW_LIMIT)
            if made.is_cut:
                raise ActionError(
                    "What would be lost of {name} is too large to be shown.", name=change.name
                )
            return Preview(target, diff=shown(made.data))
        diff, text = self._untracked(change, PREVIEW_LIMIT)
        lost = "\n".join(f"-{line[1:]}" for line in diff[3:])
        head = self._env.say("Deletes {name}, which git does not know.", name=change.name)
        return Preview(target, text="\n".join([head, text, lost]), verb="delete")

    # --- checks -------------------------------------------------------------------------------

    def begin(self, *, counted: bool = False) -> tuple[Repository, Status]:
        """Read the repository at the beginning of an action, with or without counts of lines."""
        repository = self.repository()
        return repository, repository.status(counted=counted)

    def ready(self) -> Status:
        now = self._state.now
        if now.reason is not None:
            raise ActionError(now.problem)
        return now.status

    def found(
        self, paths: str | Sequence[str], changes: Sequence[Change], *, one: bool = False
    ) -> list[Change]:
        names = [paths] if isinstance(paths, str) else list(paths)
        found: dict[str, Change] = {}
        for name in names:
            path = self._relative(name)
            exact = [change for change in changes if change.path == path]
            inside = [] if one else [
                change for change in changes
                if path in (".", "") or change.path.startswith(f"{path}/")
            ]  # fmt: skip
            if not exact and not inside and (one or path not in (".", "")):
                self._unknown(name, changes)
            found |= {change.path: change for change in exact or inside}
        return list(found.values())

    def _relative(self, name: str) -> str:
        path = unquoted(name.strip())
        path = path.removeprefix(f"{self._env.workspace.root}/")
        while path.startswith("./"):
            path = path[2:]
        return path.rstrip("/") if path != "/" else path

    def _unknown(self, name: str, changes: Sequence[Change]) -> NoReturn:
        names = [change.name for change in changes]
        base = PurePosixPath(name).name
        near = get_close_matches(name, names[:2_000], 3, 0.5)
        near += [one for one in names if PurePosixPath(one).name == base and one not in near]
        listed = ", ".join(near[:5] or names[:NAMED]) or self._env.say("none")
        what = quoted(name[:200])
        raise ActionError(
            "{what} has no such change. Available: {listed}.", what=what, listed=listed
        )

    def gate(self, change: Change) -> None:
        """Pass the gate for files that may hold secrets, as reading the file itself does."""
        files = self._env.workspace
        for path in (change.path, change.old):
            if not path or not files.is_secret(path):
                continue
            try:
                files.check_readable(path)
            except SecretFileError:
                raise
            except FileError as error:  # its folder is gone, so the person cannot be asked
                name = quoted(path)
                raise ActionError(
                    "{name} may hold secrets and cannot be reached any more: its diff is not shown "
                    "to a model.",
                    name=name,
                ) from error

    def to_stage(
        self,
        repository: Repository,
        status: Status,
        paths: str | Sequence[str],
        *,
        commits: bool = False,
    ) -> tuple[list[Change], list[Change]]:
        """Return the changes to stage, and the secret files that are left out.

        With `commits` there may be none: what is staged already is committed.
        """
        if commits and not paths:
            return [], []
        known = [one for one in status.changes if commits or one.is_changed]
        found = [one for one in self.found(paths, known) if one.is_changed]
        left = self._unnamed_secrets(found, paths)
        skipped = {one.path for one in left}
        chosen = [one for one in found if one.path not in skipped]
        if not chosen and not commits:
            raise ActionError("There is nothing to stage.")
        self.check_filters(repository, chosen)
        self.check_markers(chosen)
        return chosen, left

    def to_unstage(
        self, status: Status, paths: str | Sequence[str]
    ) -> tuple[list[Change], list[str]]:
        chosen = self.found(paths, status.staged())
        if not chosen:
            raise ActionError(self.nothing_staged())
        if len(chosen) == len(status.staged()) and not status.conflicts():
            return chosen, ["."]
        return chosen, [path for one in chosen for path in (one.path, one.old) if path]

    def left_out(self, left: Sequence[Change]) -> str:
        if not left:
            return ""
        names = self.named(left)
        return self._env.say(
            " Left out, since they may hold secrets: {names}. Name them to stage them.", names=names
        )

    def _unnamed_secrets(
        self, changes: Sequence[Change], paths: str | Sequence[str]
    ) -> list[Change]:
        """Return the untracked files that may hold secrets and were not named themselves."""
        names = {self._relative(name) for name in ([paths] if isinstance(paths, str) else paths)}
        files = self._env.workspace
        return [
            change
            for change in changes
            if change.is_untracked and change.path not in names and files.is_secret(change.path)
        ]

    def check_filters(self, repository: Repository, changes: Sequence[Change]) -> None:
        for path, name in repository.filtered(changes).items():
            raise ActionError(
                "{file} goes through the filter {filter_name}, a program that is never run "
                "here. Use git in a terminal for this file.",
                file=quoted(path),
                filter_name=quoted(name),
            )

    def check_markers(self, changes: Sequence[Change]) -> None:
        for change in changes:
            place = self._env.workspace.root / change.path
            if not change.is_conflict or place.is_symlink() or not place.is_file():
                continue
            with place.open("rb") as file:
                data = file.read(READ)
            if data.startswith(CONFLICT) or b"\n" + CONFLICT in data:
                raise ActionError(
                    "{name} still has conflict markers. Resolve them first.", name=change.name
                )

    def check_commit(self, status: Status) -> None:
        if not status.staged() and not status.outside:
            raise ActionError(self.nothing_staged())
        if conflicts := status.conflicts():
            names = self.named(conflicts)
            raise ActionError(
                "There are conflicts: {names}. Resolve and stage them first.", names=names
            )
        if status.operation:
            raise ActionError(
                "A {operation} is in progress. Finish it in a terminal.", operation=status.operation
            )
        if status.is_cut:
            raise ActionError("There are too many changes to show all of them.")
        if status.outside:
            raise ActionError(
                "Files outside of this folder are staged too, and a commit would contain them. "
                "Unstage them, or commit at the top of the repository."
            )

    def discarded(self, path: str, status: Status) -> Change:
        [change] = self.found([path], [one for one in status.changes if one.is_changed], one=True)
        if change.is_conflict:
            raise ActionError("{name} is in conflict. Resolve it first.", name=change.name)
        if change.is_submodule or change.path.endswith("/"):
            raise ActionError(
                "{name} is another repository, which is never changed from here.", name=change.name
            )
        return change

    def message(self, message: str) -> str:
        text = message.encode("utf-8", "replace").decode().replace("\r\n", "\n").strip()
        text = "\n".join(line.rstrip() for line in text.split("\n"))
        if not text:
            raise ActionError("A commit needs a message.")
        if len(text) > MESSAGE:
            raise ActionError(
                "A message has up to {message_:,} characters, not {count:,}.",
                message_=MESSAGE,
                count=len(text),
            )
        if any(not (char.isprintable() or char in "\n\t") for char in text):
            raise ActionError("The message has characters that cannot be shown.")
        return text

    def kept(self, repository: Repository, changes: Sequence[Change]) -> str:
        """Name the staged versions that are replaced and exist nowhere else."""
        both = [one for one in changes if one.is_staged and one.tree not in ".D"][:NAMED]
        blobs = [(one.name, repository.staged_blob(one)) for one in both]
        names = ", ".join(f"{name} {blob}" for name, blob in blobs if blob)
        if not names:
            return ""
        return self._env.say(" The versions staged before are kept as blobs: {names}.", names=names)

    def nothing_staged(self) -> str:
        return self._env.say("Nothing is staged, so there is nothing to commit.")

    def named(self, changes: Sequence[Change]) -> str:
        names = [change.name for change in changes[:NAMED]]
        if (more := len(changes) - NAMED) > 0:
            names.append(self._env.say("{more} more", more=more))
        return self._env.say(", ").join(names)
