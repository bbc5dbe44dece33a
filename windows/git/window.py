"""Git window: the changes of the session's folder, to look at, stage, commit and discard.

`contextui.git.repository` runs git; nothing that the repository configures is executed.

What changes the repository or its files has the effect ``write``. This includes staging and
unstaging: the index is a file in ``.git``, and a person who staged parts of a file with care could
not do so again by looking at it. The version staged before stays in the repository, and the result
names it.
"""

import os
import time
from collections.abc import Mapping
from typing import Any

from contextui import ActionError, Body, Lod, Preview, Window, action
from contextui.files.textfile import shorten, split
from contextui.git.repository import initialize
from contextui.windows.git.description import ROOM, GitState, facts
from contextui.windows.git.worktree import WorkTree

SECONDS = 3.0  # between checks of the repository
EVERYTHING = "."  # the session's folder
COMMITS, MOST_COMMITS = 10, 100  # of the log


class GitWindow(Window):
    """The git repository of the folder: changes, diffs, log; stage, commit, discard."""

    name = "git"
    widget = "contextui.windows.git.widget:GitBody"
    wide = True
    max_content = 60_000

    class State(GitState): ...

    state: State

    def opened(self) -> None:
        self._tree.read()
        self.env.every(SECONDS, self._tick)

    restored = opened

    def shown_files(self) -> list[str]:
        return list(self.state.now.paths)

    # --- rendering ----------------------------------------------------------------------------

    def content(self, lod: Lod) -> Body:
        return self.state.content(lod, self.env.say)

    # --- approval -----------------------------------------------------------------------------

    def preview(self, action_id: str, params: Mapping[str, Any]) -> Preview | None:
        match action_id:
            case "stage":
                return self._tree.staging(params.get("paths", EVERYTHING))
            case "unstage":
                return self._tree.unstaging(params.get("paths", EVERYTHING))
            case "commit":
                return self._tree.committing(params["message"], params.get("paths", ""))
            case "discard":
                return self._tree.discarding(params["path"])
            case "init":
                text = "Creates an empty git repository in this folder, without hooks."
                return Preview(".git", text=self.env.say(text))
        return None

    # --- actions ------------------------------------------------------------------------------

    @action(
        "Show the diff of a file, staged and not",
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
        repository, status = self._tree.begin(counted=True)
        [change] = self._tree.found([path], status.changes, one=True)
        self._tree.gate(change)
        self.state.chosen, self.state.line = change.name, line
        self._tree.take(self._tree.situation(repository, status))
        total = len(self.state.now.diff)
        if not 1 <= line <= max(total, 1):
            raise ActionError(
                "There is no line {line}; the last is {total}.", line=line, total=total
            )
        summary = f"{change.name}: {facts(change)}".rstrip(": ")
        if self.lod is Lod.FULL:
            return self.env.say("Shown: {summary}.", summary=summary)
        return "\n".join([summary, *self.state.diff(self.env.say)])

    @action(
        "Show the last commits; count=0 hides them",
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
            raise ActionError("Take 0 to {most_commits}.", most_commits=MOST_COMMITS)
        self.state.log_count = count
        self._tree.read()
        self._tree.ready()
        number = min(len(self.state.now.commits), count)
        if self.lod is Lod.FULL or not number:
            return self.env.words.plural(number, "1 commit.", "{count} commits.")
        return "\n".join(self.state.log(self.env.say))

    @action(
        "Stage files or folders; all if none is named",
        "write",
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
    def stage(self, paths: str | list[str] = EVERYTHING) -> str:
        repository, status = self._tree.begin()
        chosen, left = self._tree.to_stage(repository, status, paths)
        kept = self._tree.kept(repository, chosen)
        repository.stage(chosen)
        self._tree.read(repository)
        named = self._tree.named(chosen)
        result = self.env.say("Staged {named}.", named=named)
        return result + kept + self._tree.left_out(left)

    @action(
        "Unstage files or folders; all if none is named",
        "write",
        says=[
            "unstage {paths}",
            "unstage everything",
            "git reset {paths}",
            "取消暂存 {paths}",
            "把 {paths} 取消暂存",
            "全部取消暂存",
        ],
    )
    def unstage(self, paths: str | list[str] = EVERYTHING) -> str:
        repository, status = self._tree.begin()
        chosen, places = self._tree.to_unstage(status, paths)
        kept = self._tree.kept(repository, chosen)
        repository.unstage(places)
        self._tree.read(repository)
        named = self._tree.named(chosen)
        return self.env.say("Unstaged {named}.", named=named) + kept

    @action(
        "Commit what is staged, and these files or folders",
        "write",
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
    def commit(self, message: str, paths: str | list[str] = "") -> str:
        """Commit what is staged.

        Args:
            message: The message of the commit.
            paths: What to stage first, "." for all; the person approves both at once.
        """
        message = self._tree.message(message)
        repository, status = self._tree.begin()
        chosen, left = self._tree.to_stage(repository, status, paths, commits=True)
        kept = self._tree.kept(repository, chosen)
        with repository.trial(chosen):  # what is refused leaves the index as it is
            status = repository.status(counted=False)
            self._tree.check_commit(status)
            repository.author()
        if chosen:
            repository.stage(chosen)
        made = repository.commit(message, status)
        self._tree.read(repository)
        result = self.env.words.plural(
            len(status.staged()),
            "Committed {id} with 1 file: {subject}",
            "Committed {id} with {count} files: {subject}",
            id=made,
            subject=shorten(message.partition("\n")[0], 80),
        )
        return result + kept + self._tree.left_out(left)

    @action(
        "Discard what is not staged of a file; delete an untracked one",
        "write",
        says=[
            "discard the changes in {path}",
            "discard the changes of {path}",
            "discard {path}",
            "放弃 {path} 的改动",
            "丢弃 {path} 的改动",
        ],
    )
    def discard(self, path: str) -> str:
        repository, status = self._tree.begin()
        change = self._tree.discarded(path, status)
        self._tree.check_filters(repository, [change])
        repository.discard(change)
        self._tree.read(repository)
        if change.is_untracked:
            return self.env.say("Deleted {name}.", name=change.name)
        return self.env.say("Discarded the changes of {name}.", name=change.name)

    @action("Open a changed file in an editor")
    def open(self, path: str, line: int = 1) -> str:
        [change] = self._tree.found([path], self._tree.ready().changes, one=True)
        return self.env.open_file(change.path, line if line > 1 else None)

    @action("Turn to a page of the list")
    def page(self, number: int) -> str:
        pages = len(split(self.state.listing(self.env.say), ROOM))
        if not 1 <= number <= pages:
            raise ActionError(
                "There is no page {number}; the last is {pages}.", number=number, pages=pages
            )
        self.state.page = number
        self._tree.see()
        return self.env.say("Page {number} of {pages}.", number=number, pages=pages)

    @action(
        "Read the repository again, and hide diff and log",
        says=["refresh the repository", "git status", "刷新仓库", "查看 git 状态"],
    )
    def refresh(self) -> str:
        self.state.chosen, self.state.line = "", 1
        self.state.log_count, self.state.page = 0, 1
        self._tree.read()
        self._tree.ready()
        return self.env.say("{head}.", head=self.state.head(self.env.say))

    @action(
        "Create a git repository in this folder",
        "write",
        says=["git init", "create a git repository", "新建 git 仓库", "初始化 git 仓库"],
    )
    def init(self) -> str:
        if self.state.now.reason != "no repository":
            raise ActionError("This folder is in a git repository already.")
        initialize(self.env.workspace.root, os.environ)
        self._tree.read()
        return self.env.say("Created a git repository.")

    # --- for the widget: what they return is for the person only -----------------------------

    def diff_of(self, name: str, *, staged: bool) -> str:
        [change] = self._tree.found([name], self.state.now.status.changes, one=True)
        return "\n".join(self._tree.lines_of(self._tree.repository(), change, staged=staged))

    def staged_diff(self) -> str:
        return self._tree.repository().index_diff("--cached")

    def lost_by_discarding(self, name: str) -> str:
        preview = self._tree.discarding(name)
        return preview.diff or preview.text

    def _tick(self) -> None:
        if time.monotonic() >= self.state.resting:
            self._tree.read()

    @property
    def _tree(self) -> WorkTree:
        return WorkTree(self.state, self.env)
