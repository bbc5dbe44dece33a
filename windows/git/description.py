"""The git window's state, and how it is described in words."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from contextui import Lod, Transient, Window
from contextui.files.textfile import shorten, split
from contextui.git.program import Reason
from contextui.git.status import Change, Commit, Status, quoted

ROOM, BRIEF = 2_400, 30  # cost limit for the list of a page, see `split`; lines of a summary
DIFF_ROOM, LINE = 6_000, 500  # the same for a diff; characters of a line

Say = Callable[..., str]


@dataclass(frozen=True, slots=True)
class Situation:
    """What was read of the repository."""

    status: Status = field(default_factory=Status)
    commits: tuple[Commit, ...] = ()
    log_count: int = 0
    diff: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    problem: str = ""
    reason: Reason | None = None


class GitState(Window.State):
    """What the window shows; what was read of the repository is not saved."""

    chosen: str = ""  # the file whose diff is shown, by its displayed name
    line: int = 1  # the first line of the diff that is shown
    log_count: int = 0
    page: int = 1
    seen: str = ""  # hash of what is shown: a change on disk changes the state
    now: Transient[Situation] = Situation()
    resting: Transient[float] = 0.0

    def content(self, lod: Lod, say: Say) -> str:
        if self.now.reason is not None:
            hint = say(" init creates one.")
            return self.now.problem + (hint if self.now.reason == "no repository" else "")
        head, lines = self.head(say), self.listing(say)
        if lod is Lod.GIST:
            return head
        if lod is Lod.SUMMARY:
            brief, *more = split(lines, ROOM, BRIEF)
            return "\n".join([head, *lines[: brief.stop], *(["…"] if more else [])])
        pages = split(lines, ROOM)
        number = min(self.page, len(pages))
        if len(pages) > 1:
            head += say(", page {number} of {count}", number=number, count=len(pages))
        page = pages[number - 1]
        return "\n".join([head, *lines[page.start : page.stop], *self.diff(say), *self.log(say)])

    def head(self, say: Say) -> str:
        status = self.now.status
        where = quoted(status.branch) if status.branch else f"HEAD {status.head[:7]}"
        facts = [where if status.branch else say("{where}, detached", where=where)]
        if not status.head:
            facts.append(say("no commits yet"))
        if status.operation:
            facts.append(say("{operation} in progress", operation=status.operation))
        for count, en, zh in (
            (len(status.conflicts()), "in conflict", "冲突"),
            (len(status.staged()), "staged", "已暂存"),
            (len(status.changed()) - len(status.conflicts()), "changed", "已改动"),
            (len(status.untracked()), "untracked", "未跟踪"),
        ):
            if count:
                facts.append(say(f"{count} {en}", f"{count} 个{zh}"))
        if not status.changes:
            facts.append(say("nothing to commit"))
        if status.ahead:
            facts.append(say("ahead {ahead}", ahead=status.ahead))
        if status.behind:
            facts.append(say("behind {behind}", behind=status.behind))
        if status.is_cut:
            facts.append(say("more changes than can be read"))
        if status.prefix:
            name = quoted(status.prefix)
            facts.append(say("only {name} of the repository", name=name))
        return say(", ").join(facts)

    def listing(self, say: Say) -> list[str]:
        status = self.now.status
        groups = (
            (say("in conflict:"), [f"U {conflict.name}" for conflict in status.conflicts()]),
            (say("staged:"), [staged_line(one) for one in status.staged()]),
            (say("changed:"), [_line(one) for one in status.changed() if not one.is_conflict]),
            (say("untracked:"), [one.name for one in status.untracked()]),
        )
        return [line for title, lines in groups if lines for line in (title, *lines)]

    def diff(self, say: Say) -> list[str]:
        if not self.chosen:
            return []
        lines = [shorten(one, LINE) for one in self.now.diff]
        if not lines:
            nothing = say("no lines to show")
            return [say("diff of {chosen}: {nothing}", chosen=self.chosen, nothing=nothing)]
        first = min(self.line, len(lines))
        part = split(lines[first - 1 :], DIFF_ROOM)[0]
        last = first - 1 + part.stop
        place = ""
        if (first, last) != (1, len(lines)):
            place = say(
                ", lines {first} to {last} of {count}", first=first, last=last, count=len(lines)
            )
        head = say("diff of {chosen}{place}:", chosen=self.chosen, place=place)
        return [head, *lines[first - 1 : last]]

    def log(self, say: Say) -> list[str]:
        commits = self.now.commits[: self.log_count]
        if not commits:
            return []
        days = (datetime.fromtimestamp(commit.time, UTC).date().isoformat() for commit in commits)
        return [
            say("log:"),
            *(
                f"{one.id} {day} {shorten(one.author, 40)}: {shorten(one.subject, 160)}"
                for one, day in zip(commits, days, strict=True)
            ),
        ]


def staged_line(change: Change) -> str:
    """Return a staged change in one line."""
    name = f"{quoted(change.old)} -> {change.name}" if change.old else change.name
    return f"{change.index} {name} {change.staged or ''}".rstrip()


def _line(change: Change) -> str:
    return f"{change.tree} {change.name} {change.lines or ''}".rstrip()


def facts(change: Change) -> str:
    """Return the lines that a change adds and removes, staged and not."""
    return " ".join(str(one) for one in (change.staged, change.lines) if one)
