"""Git window: the changes of the session's folder, to look at, stage, commit and discard.

`contextui.windows.git.repository` runs git; nothing that the repository configures is executed.

Staging and unstaging have the effect ``state``: they need no approval, also where the model does
it. They change the index alone, which the window shows, and never the files or the history; the
version of a file that was staged before stays in the repository, and the result names it. What
leaves the index, a commit, asks and shows all that was staged.
"""

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from hashlib import blake2b
from pathlib import Path, PurePosixPath
from typing import Any, NoReturn

from contextui import ActionError, Body, Lod, Preview, TextFile, Window, action
from contextui.files.diff import diff_text
from contextui.files.errors import FileError, SecretFileError
from contextui.files.textfile import shorten, split
from contextui.text import counted, there_are
from contextui.windowing.preview import PREVIEW_LIMIT
from contextui.windows.git.description import (
    ROOM,
    Description,
    GitState,
    Situation,
    facts,
    staged_line,
)
from contextui.windows.git.program import OUTPUT, GitError
from contextui.windows.git.repository import Repository, initialize
from contextui.windows.git.status import Change, Commit, Status, quoted, shown, unquoted

SECONDS, REST = 3.0, 20  # between checks of the repository; a check rests this often its own time
COMMITS, MOST_COMMITS, LAST = 10, 100, 3  # of the log, and of the widget's list
NAMED = 10  # files that a result names
MESSAGE = 10_000  # characters of a commit's message
CONFLICT = b"<<<<<<< "  # begins a line that a merge left
READ = 2_000_000  # bytes of a diff that are read for one file


class GitWindow(Window):
    """The git repository of the folder: changes, diffs, log; stage, commit, discard."""

    name = "git"
    description_zh = "文件夹的 git 仓库：改动、差异、日志；暂存、提交、放弃改动。"
    widget = "contextui.windows.git.widget:GitBody"
    max_content = 60_000

    class State(GitState): ...

    state: State

    def opened(self) -> None:
        self.restored()

    def restored(self) -> None:
        self._folder()
        self._read()
        self.env.every(SECONDS, self._tick)

    def shown_files(self) -> list[str]:
        return list(self.state.now.paths)

    # --- rendering ----------------------------------------------------------------------------

    def content(self, lod: Lod) -> Body:
        return self._description.content(lod)

    # --- approval -----------------------------------------------------------------------------

    def preview(self, action_id: str, params: Mapping[str, Any]) -> Preview | None:
        try:
            if action_id == "commit":
                return self._committing(params["message"])
            if action_id == "discard":
                return self._discarding(params["path"])
            if action_id == "init":
                en = "Creates an empty git repository in this folder, without hooks."
                return Preview(
                    ".git", text=self.env.say(en, "在这个文件夹中新建空的 git 仓库，不含钩子。")
                )
        except GitError as error:
            raise self._error(error.english, error.chinese) from error
        return None

    def _committing(self, message: str) -> Preview:
        repository, message = self._repository(), self._message(message)
        status, say = repository.status(), self.env.say
        branch = quoted(status.branch) if status.branch else f"HEAD {status.head[:7]}"
        target = say(f".git (a commit on {branch})", f".git（在 {branch} 上提交）")
        if not status.staged() and not status.outside:
            return Preview(target, text=self._nothing_staged(), changes=False)
        self._check_commit(status)
        author, files = repository.author(), [staged_line(one) for one in status.staged()]
        text = [say(f"Author: {author}", f"作者：{author}"), "", message, "", *files]
        if hooks := repository.hooks():
            names = ", ".join(hooks)
            text += ["", say(f"Hooks are not run: {names}.", f"不会运行钩子：{names}。")]
        return Preview(target, diff=repository.staged_diff(PREVIEW_LIMIT), text="\n".join(text))

    def _discarding(self, path: str) -> Preview:
        repository = self._repository()
        change = self._discarded(path, repository.status())
        # A grant for the session would cover later edits, so the target is one that always asks.
        target = f"{quoted(str(self._folder()))}/{change.name}"
        if not change.is_untracked:
            made = repository.reverse_diff(change, PREVIEW_LIMIT)
            if made.is_cut:
                self._too_large(change)
            return Preview(target, diff=shown(made.data))
        diff, text = self._untracked(change, PREVIEW_LIMIT)
        lost = "\n".join(f"-{line[1:]}" for line in diff[3:])
        en, zh = (
            f"Deletes {change.name}, which git does not know.",
            f"删除 git 未跟踪的 {change.name}。",
        )
        return Preview(target, text="\n".join([self.env.say(en, zh), text, lost]), verb="delete")

    # --- actions ------------------------------------------------------------------------------

    @action(
        "Show the diff of a file, staged and not",
        zh="显示一个文件的差异，已暂存和未暂存的",
        says=[
            "show the diff of {path}",
            "show the changes in {path}",
            "what changed in {path}",
            "diff {path}",
            "显示{path}的差异",
            "显示{path}的改动",
            "{path}改了什么",
        ],
    )
    def show(self, path: str, line: int = 1) -> str:
        repository, status = self._begin()
        [change] = self._found([path], status.changes, one=True)
        self._gate(change)
        self.state.chosen, self.state.line = change.name, line
        self._take(self._git(lambda: self._situation(repository, status)))
        total = len(self.state.now.diff)
        if not 1 <= line <= max(total, 1):
            raise self._error(
                f"{there_are('line', total)}, not {line}.", f"共 {total} 行，没有第 {line} 行。"
            )
        summary = f"{change.name}: {facts(change)}".rstrip(": ")
        if self.lod is Lod.FULL:
            return self.env.say(f"Shown: {summary}.", f"已显示：{summary}。")
        return "\n".join([summary, *self._description.diff()])

    @action(
        "Show the last commits; count=0 hides them",
        zh="显示最近的提交；count=0 隐藏",
        says=[
            "show the log",
            "show the last {count} commits",
            "show the last commits",
            "git log",
            "显示最近的提交",
            "显示最近 {count} 个提交",
            "显示提交记录",
        ],
    )
    def log(self, count: int = COMMITS) -> str:
        if not 0 <= count <= MOST_COMMITS:
            raise self._error(f"Take 0 to {MOST_COMMITS}.", f"请用 0 到 {MOST_COMMITS}。")
        self.state.log_count = count
        self._read()
        self._ready()
        number = min(len(self.state.now.commits), count)
        if self.lod is Lod.FULL or not number:
            return self.env.say(f"{counted(number, 'commit')}.", f"{number} 个提交。")
        return "\n".join(self._description.log())

    @action(
        "Stage files or folders; all if none is named",
        zh="暂存文件或文件夹；不指定则为全部",
        says=[
            "stage {paths}",
            "stage everything",
            "stage all changes",
            "git add {paths}",
            "暂存 {paths}",
            "把 {paths} 暂存",
            "暂存所有改动",
            "全部暂存",
        ],
    )
    def stage(self, paths: str | list[str] = ".") -> str:
        repository, status = self._begin()
        found = self._found(paths, [one for one in status.changes if one.is_changed])
        left = self._unnamed_secrets(found, paths)
        skipped = {one.path for one in left}
        chosen = [one for one in found if one.path not in skipped]
        if not chosen:
            raise self._error("There is nothing to stage.", "没有要暂存的改动。")
        self._check_filters(repository, chosen)
        self._check_markers(chosen)
        kept = self._kept(repository, chosen)
        self._git(lambda: repository.stage(chosen))
        self._read()
        named = self._named(chosen)
        result = self.env.say(f"Staged {named}.", f"已暂存 {named}。") + kept
        if left:
            names = self._named(left)
            en = f" Left out, since they may hold secrets: {names}. Name them to stage them."
            result += self.env.say(en, f"可能含有机密，未暂存：{names}。点名才会暂存。")
        return result

    @action(
        "Unstage files or folders; all if none is named",
        zh="取消暂存文件或文件夹；不指定则为全部",
        says=[
            "unstage {paths}",
            "unstage everything",
            "git reset {paths}",
            "取消暂存 {paths}",
            "把 {paths} 取消暂存",
            "全部取消暂存",
        ],
    )
    def unstage(self, paths: str | list[str] = ".") -> str:
        repository, status = self._begin()
        chosen = self._found(paths, status.staged())
        if not chosen:
            raise self._error(self._nothing_staged(), self._nothing_staged())
        kept = self._kept(repository, chosen)
        everything = len(chosen) == len(status.staged()) and not status.conflicts()
        self._git(lambda: repository.unstage(chosen, everything=everything))
        self._read()
        named = self._named(chosen)
        return self.env.say(f"Unstaged {named}.", f"已取消暂存 {named}。") + kept

    @action(
        "Commit what is staged",
        "write",
        zh="提交已暂存的改动",
        says=[
            "commit with message {message}",
            "commit with the message {message}",
            "commit {message}",
            "git commit -m {message}",
            "提交 {message}",
            "提交，说明为 {message}",
            "提交，消息是 {message}",
        ],
    )
    def commit(self, message: str) -> str:
        message = self._message(message)
        repository, status = self._begin()
        if not status.staged() and not status.outside:
            return self._nothing_staged()
        self._check_commit(status)
        made = self._git(lambda: repository.commit(message, status))
        count = len(status.staged())
        self._read()
        subject = shorten(message.partition("\n")[0], 80)
        en = f"Committed {made} with {counted(count, 'file')}: {subject}"
        return self.env.say(en, f"已提交 {made}，{count} 个文件：{subject}")

    @action(
        "Discard what is not staged of a file; delete an untracked one",
        "write",
        zh="放弃文件未暂存的改动；未跟踪的文件会被删除",
        says=[
            "discard the changes in {path}",
            "discard the changes of {path}",
            "discard {path}",
            "放弃 {path} 的改动",
            "丢弃 {path} 的改动",
        ],
    )
    def discard(self, path: str) -> str:
        repository, status = self._begin()
        change = self._discarded(path, status)
        self._check_filters(repository, [change])
        self._git(lambda: repository.discard(change))
        self._read()
        if change.is_untracked:
            return self.env.say(f"Deleted {change.name}.", f"已删除 {change.name}。")
        en = f"Discarded the changes of {change.name}."
        return self.env.say(en, f"已放弃 {change.name} 的改动。")

    @action("Open a changed file in an editor", zh="在编辑器中打开有改动的文件")
    def open(self, path: str, line: int = 1) -> str:
        [change] = self._found([path], self._ready().changes, one=True)
        editor = self.env.open("editor", path=change.path, line=line).id
        en = f"Opened {change.name} in {editor}."
        return self.env.say(en, f"已在 {editor} 中打开 {change.name}。")

    @action("Turn to a page of the list", zh="翻到列表的某一页")
    def page(self, number: int) -> str:
        pages = len(split(self._description.listing(), ROOM))
        if not 1 <= number <= pages:
            en = f"{there_are('page', pages)}, not {number}."
            raise self._error(en, f"共 {pages} 页，没有第 {number} 页。")
        self.state.page = number
        self._see()
        return self.env.say(f"Page {number} of {pages}.", f"第 {number} 页，共 {pages} 页。")

    @action(
        "Read the repository again, and hide diff and log",
        zh="重新读取仓库，并隐藏差异和日志",
        says=["refresh the repository", "git status", "刷新仓库", "查看 git 状态"],
    )
    def refresh(self) -> str:
        self.state.chosen, self.state.line = "", 1
        self.state.log_count, self.state.page = 0, 1
        self._read()
        self._ready()
        return self.env.say(f"{self._description.head()}.", f"{self._description.head()}。")

    @action(
        "Create a git repository in this folder",
        "write",
        zh="在这个文件夹中新建 git 仓库",
        says=["git init", "create a git repository", "新建 git 仓库", "初始化 git 仓库"],
    )
    def init(self) -> str:
        if self.state.now.reason != "no repository":
            raise self._error(
                "This folder is in a git repository already.", "这个文件夹已在 git 仓库中。"
            )
        self._git(lambda: initialize(self._folder(), os.environ))
        self._read()
        return self.env.say("Created a git repository.", "已新建 git 仓库。")

    # --- for the widget -----------------------------------------------------------------------

    def diff_of(self, name: str, *, staged: bool) -> tuple[str, ...]:
        """Return the lines of one diff of a file, for the person only."""
        try:
            [change] = self._found([name], self.state.now.status.changes, one=True)
            return self._lines_of(self._repository(), change, staged=staged)
        except GitError as error:
            return (self.env.say(error.english, error.chinese),)
        except (ActionError, FileError) as error:
            return (error.text(self.env.lang),)

    def staged_diff(self) -> str:
        """Return everything that is staged, for the person only."""
        try:
            return self._repository().staged_diff(OUTPUT)
        except GitError as error:
            return self.env.say(error.english, error.chinese)

    def lost_by_discarding(self, name: str) -> str:
        """Return what discarding a file's changes loses, for the person only."""
        try:
            preview = self._discarding(name)
        except GitError as error:
            return self.env.say(error.english, error.chinese)
        except (ActionError, FileError) as error:
            return error.text(self.env.lang)
        return preview.diff or preview.text

    @property
    def _description(self) -> Description:
        return Description(self.state, self.env.say)

    # --- reading the repository ---------------------------------------------------------------

    def _folder(self) -> Path:
        return self.env.workspace.root

    def _repository(self) -> Repository:
        return Repository(self._folder())

    def _tick(self) -> None:
        if time.monotonic() >= self.state.resting:
            self._read()

    def _read(self) -> None:
        """Read the status, and the diff and log that are shown."""
        began, state = time.monotonic(), self.state
        try:
            repository = self._repository()
            now = self._situation(repository, repository.status())
        except GitError as error:
            now = Situation(problem=(error.english, error.chinese), reason=error.reason)
        self._take(now)
        state.resting = time.monotonic() + REST * (time.monotonic() - began)

    def _take(self, now: Situation) -> None:
        self.state.now = now
        if not now.paths:
            self.state.chosen, self.state.line = "", 1
        self._see()

    def _situation(self, repository: Repository, status: Status) -> Situation:
        now = Situation(status, self._commits(repository, status.head))
        change = next((one for one in status.changes if one.name == self.state.chosen), None)
        if change is None:
            return now
        parts = [
            (self.env.say("staged:", "已暂存："), change.is_staged, True),
            (self.env.say("not staged:", "未暂存："), change.is_changed, False),
        ]
        lines: list[str] = []
        for title, is_there, staged in parts:
            if is_there:
                made = self._lines_of(repository, change, staged=staged)
                lines += [title, *made] if change.is_staged and change.is_changed else made
        paths = tuple(path for path in (change.path, change.old) if path)
        return replace(now, diff=tuple(lines), paths=paths)

    def _commits(self, repository: Repository, head: str) -> tuple[Commit, ...]:
        """Read the last commits, unless they are known."""
        before, count = self.state.now, max(self.state.log_count, LAST)
        if head and before.status.head == head and len(before.commits) >= count:
            return before.commits
        return tuple(repository.log(count)) if head else ()

    def _lines_of(self, repository: Repository, change: Change, *, staged: bool) -> tuple[str, ...]:
        if change.is_untracked:
            try:
                diff, text = self._untracked(change, READ)
            except (ActionError, FileError) as error:
                return (error.text(self.env.lang),)
            return (*diff, *([text] if text else []))
        made = repository.diff(change, staged=staged, limit=READ)
        lines = shown(made.data).split("\n")
        lines = lines[:-1] if lines[-1] == "" else lines
        if made.is_cut:
            lines.append(self.env.say("… the rest is too large", "… 其余部分太大"))
        start = next((at for at, one in enumerate(lines) if one.startswith("--- ")), 0)
        return tuple(lines[start:])

    def _untracked(self, change: Change, limit: int) -> tuple[list[str], str]:
        """Return an untracked file as a diff, or a sentence about one that has no lines."""
        place = self._folder() / change.path
        if change.path.endswith("/") or (place.is_dir() and not place.is_symlink()):
            return [], self.env.say("another repository", "另一个仓库")
        if place.is_symlink():
            target = quoted(os.readlink(place))
            return [], self.env.say(f"a link to {target}", f"指向 {target} 的链接")
        data = self.env.workspace.read_bytes(change.path, limit=limit)
        if b"\0" in data:
            size = f"{len(data):,}"
            return [], self.env.say(f"binary, {size} bytes", f"二进制，{size} 字节")
        if not data:
            return [], self.env.say("an empty file", "空文件")
        diff = diff_text(TextFile(), TextFile(shown(data)), "/dev/null", f"b/{change.name}")
        lines = diff.split("\n")
        return (lines[:-1] if lines[-1] == "" else lines), ""

    def _see(self) -> None:
        shown_now = f"{self.content(Lod.FULL)}\0{self.content(Lod.SUMMARY)}"
        data = shown_now.encode("utf-8", "replace")
        self.state.seen = blake2b(data, digest_size=8).hexdigest()

    # --- checks -------------------------------------------------------------------------------

    def _begin(self) -> tuple[Repository, Status]:
        """Read the repository at the beginning of an action that changes it."""
        repository = self._git(self._repository)
        return repository, self._git(repository.status)

    def _git(self, call: Any) -> Any:
        try:
            return call()
        except GitError as error:
            raise self._error(error.english, error.chinese) from error

    def _ready(self) -> Status:
        now = self.state.now
        if now.reason is not None:
            raise self._error(*now.problem)
        return now.status

    def _found(
        self, paths: str | Sequence[str], changes: Sequence[Change], *, one: bool = False
    ) -> list[Change]:
        """Find changes by the names of files or folders; raise if one of them has none."""
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
        folder = f"{self._folder()}/"
        path = path.removeprefix(folder)
        while path.startswith("./"):
            path = path[2:]
        return path.rstrip("/") if path != "/" else path

    def _unknown(self, name: str, changes: Sequence[Change]) -> NoReturn:
        names = [one.name for one in changes]
        base = PurePosixPath(name).name
        near = get_close_matches(name, names[:2_000], 3, 0.5)
        near += [one for one in names if PurePosixPath(one).name == base and one not in near]
        listed = ", ".join(near[:5] or names[:NAMED]) or self.env.say("none", "无")
        what = quoted(name[:200])
        raise self._error(
            f"{what} has no such change. There is: {listed}.",
            f"{what} 没有这样的改动。现有：{listed}。",
        )

    def _gate(self, change: Change) -> None:
        """Pass the gate for files that may hold secrets, as reading the file itself does."""
        files = self.env.workspace
        for path in (change.path, change.old):
            if not path or not files.is_secret(path):
                continue
            try:
                files.check_readable(path)
            except SecretFileError:
                raise
            except FileError as error:  # its folder is gone, so the person cannot be asked
                name = quoted(path)
                raise self._error(
                    f"{name} may hold secrets and cannot be reached any more: its diff is not "
                    "shown to a model.",
                    f"{name} 可能含有机密，且已无法访问：不会把它的差异显示给模型。",
                ) from error

    def _unnamed_secrets(
        self, changes: Sequence[Change], paths: str | Sequence[str]
    ) -> list[Change]:
        """Return the untracked files that may hold secrets and were not named themselves."""
        names = {self._relative(name) for name in ([paths] if isinstance(paths, str) else paths)}
        files = self.env.workspace
        return [
            one
            for one in changes
            if one.is_untracked and one.path not in names and files.is_secret(one.path)
        ]

    def _check_filters(self, repository: Repository, changes: Sequence[Change]) -> None:
        found = self._git(lambda: repository.filtered(changes))
        for path, name in found.items():
            file, filter_name = quoted(path), quoted(name)
            raise self._error(
                f"{file} goes through the filter {filter_name}, a program that is never run here. "
                "Use git in a terminal for this file.",
                f"{file} 要经过过滤器 {filter_name}，这里从不运行它。请在终端中用 git 处理该文件。",
            )

    def _check_markers(self, changes: Sequence[Change]) -> None:
        for one in changes:
            place = self._folder() / one.path
            if not one.is_conflict or place.is_symlink() or not place.is_file():
                continue
            with place.open("rb") as file:
                data = file.read(READ)
            if data.startswith(CONFLICT) or b"\n" + CONFLICT in data:
                raise self._error(
                    f"{one.name} still has conflict markers. Resolve them first.",
                    f"{one.name} 中还有冲突标记。请先解决冲突。",
                )

    def _check_commit(self, status: Status) -> None:
        if conflicts := status.conflicts():
            names = self._named(conflicts)
            raise self._error(
                f"There are conflicts: {names}. Resolve and stage them first.",
                f"存在冲突：{names}。请先解决并暂存。",
            )
        if status.operation:
            raise self._error(
                f"A {status.operation} is in progress. Finish it in a terminal.",
                f"正在进行 {status.operation}。请在终端中完成它。",
            )
        if status.is_cut:
            raise self._error(
                "There are too many changes to show all of them.", "改动太多，无法全部显示。"
            )
        if status.outside:
            raise self._error(
                "Files outside of this folder are staged too, and a commit would contain them. "
                "Unstage them, or commit at the top of the repository.",
                "这个文件夹之外也有已暂存的文件，提交会包含它们。请取消暂存，或在仓库顶层提交。",
            )

    def _discarded(self, path: str, status: Status) -> Change:
        [change] = self._found([path], [one for one in status.changes if one.is_changed], one=True)
        if change.is_conflict:
            raise self._error(
                f"{change.name} is in conflict. Resolve it first.",
                f"{change.name} 有冲突。请先解决。",
            )
        if change.is_submodule or change.path.endswith("/"):
            raise self._error(
                f"{change.name} is another repository, which is never changed from here.",
                f"{change.name} 是另一个仓库，不会从这里改动它。",
            )
        return change

    def _too_large(self, change: Change) -> NoReturn:
        raise self._error(
            f"What would be lost of {change.name} is too large to be shown.",
            f"{change.name} 将丢失的内容太大，无法显示。",
        )

    def _message(self, message: str) -> str:
        text = message.encode("utf-8", "replace").decode().replace("\r\n", "\n").strip()
        text = "\n".join(line.rstrip() for line in text.split("\n"))
        if not text:
            raise self._error("A commit needs a message.", "提交需要说明。")
        if len(text) > MESSAGE:
            en = f"A message has up to {MESSAGE:,} characters, not {len(text):,}."
            raise self._error(en, f"说明最多 {MESSAGE:,} 个字符，而这里有 {len(text):,} 个。")
        if any(not (char.isprintable() or char in "\n\t") for char in text):
            raise self._error(
                "The message has characters that cannot be shown.", "说明中有无法显示的字符。"
            )
        return text

    def _kept(self, repository: Repository, changes: Sequence[Change]) -> str:
        """Name the staged versions that are replaced and exist nowhere else."""
        both = [one for one in changes if one.is_staged and one.tree not in ".D"][:NAMED]
        blobs = [(one, self._git(lambda one=one: repository.staged_blob(one))) for one in both]
        names = ", ".join(f"{one.name} {blob}" for one, blob in blobs if blob)
        if not names:
            return ""
        en = f" The versions staged before are kept as blobs: {names}."
        return self.env.say(en, f"之前暂存的版本仍保留为 blob：{names}。")

    def _nothing_staged(self) -> str:
        return self.env.say(
            "Nothing is staged, so there is nothing to commit.", "没有已暂存的改动可提交。"
        )

    def _named(self, changes: Sequence[Change]) -> str:
        names = [one.name for one in changes[:NAMED]]
        if (more := len(changes) - NAMED) > 0:
            names.append(self.env.say(f"{more} more", f"另外 {more} 个"))
        return self.env.say(", ", "，").join(names)

    def _error(self, english: str, chinese: str) -> ActionError:
        return ActionError(self.env.say(english, chinese))
