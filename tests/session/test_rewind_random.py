"""Random sequences of writes by the session and by others, rewinds, undoing, and crashes.

Every file is as the session left it, as it was then, or as others left it. What the session
replaced is kept. The children are forked by a process of their own: one without threads.
"""

import os
import random
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from contextui import ContextItem, ItemType, SessionStore
from contextui.files import save as saving
from contextui.files.errors import FileError
from contextui.plain_file import is_temporary
from contextui.session.fork import KEPT
from contextui.session.rewind import plan, restore, undo_plan
from contextui.session.session import Session
from contextui.session.versions import digest_of
from tests.session.writer import apart
from tests.thorough import times

NAMES = ("a", "b", "c", "deep/d", ".hidden")
STEPS = 14
CALLS = ("write", "link", "rename", "replace", "unlink", "fchmod", "mkdir")
MEMORY = Path("/dev/shm")  # many small files: a disk takes its time

Content = bytes | None


@dataclass
class Wrote:
    """One write of a branch: what was there, and what was put there."""

    turn: int
    path: str
    before: Content
    after: Content
    rewind: str = ""


@dataclass
class Branch:
    """What the test knows of one session."""

    id: str
    turn: int = 0
    writes: list[Wrote] = field(default_factory=list)


class Run:
    """One random sequence."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.dice = random.Random(seed)
        self.work, self.outside = folder / "work", folder / "outside"
        (self.work / "deep").mkdir(parents=True)
        self.outside.write_bytes(b"outside")
        self.store = SessionStore(folder / "home")
        self.session: Session = self.store.create(self.work)
        self.session.context.add(ContextItem(ItemType.SYSTEM, "prompt"))
        self.branch = Branch(self.session.id)
        self.undoable: tuple[Branch, str] | None = None
        self.number = 0
        self.contents = [b"", b"first\n"]
        self.trace: list[str] = []

    def content(self, path: str) -> Content | str:
        """What is at a path: a content, nothing, or the kind of something else."""
        there = self.work / path
        if there.is_symlink():
            return f"link to {os.readlink(there)}"
        if (self.work / path).parent.is_symlink():
            return "behind a link"
        if there.is_dir():
            return "folder"
        return there.read_bytes() if there.exists() else None

    def disk(self) -> dict[str, Content | str]:
        return {name: self.content(name) for name in NAMES}

    def kept(self, content: bytes) -> bool:
        name = digest_of(content)
        for one in self.store.home.glob(f"projects/*/*/{KEPT}/{name}"):
            if one.read_bytes() == content and one.stat().st_mode & 0o777 == 0o600:
                return True
        return False

    def check(self, before: dict[str, Content | str]) -> None:
        """What the session replaced is kept, and nothing else was touched."""
        for path, old in before.items():
            if isinstance(old, bytes) and self.content(path) != old:
                assert self.kept(old), f"{path}: {old!r} is lost"
        assert self.outside.read_bytes() == b"outside"
        left = [one for one in self.work.rglob("*") if is_temporary(one.name)]
        assert not left, left

    def new_content(self) -> bytes:
        if self.dice.randrange(4) == 0:
            return self.dice.choice(self.contents)
        self.number += 1
        self.contents.append(f"content {self.number}\n".encode() * self.dice.randrange(1, 4))
        return self.contents[-1]

    def step(self) -> None:
        ways: list[Callable[[], None]] = [
            *[self.end_turn] * 3, *[self.write] * 5, *[self.others] * 3, *[self.go_back] * 2,
            self.undo, self.resume, self.crash_in_write, self.crash_in_rewind,
        ]  # fmt: skip
        way = self.dice.choice(ways)
        self.trace.append(way.__name__)
        way()

    def end_turn(self) -> None:
        self.session.context.add(ContextItem(ItemType.USER, f"words {self.branch.turn}"))
        self.session.context.add(ContextItem(ItemType.ASSISTANT, "answer"))
        self.session.context.end_turn()
        self.branch.turn = self.session.turn
        self.undoable = None

    def write(self) -> None:
        path, new, before = self.dice.choice(NAMES), self.new_content(), self.disk()
        if self.save(self.session, path, new):
            old = before[path]
            assert old is None or isinstance(old, bytes)
            self.branch.writes.append(Wrote(self.branch.turn + 1, path, old, new))
            assert self.content(path) == new
        self.check(before)

    def save(self, session: Session, path: str, new: bytes) -> bool:
        old = self.content(path)
        if isinstance(old, str):
            return False
        files = session.windows.workspace
        assert files is not None
        version = files.open_text(path).version if old is not None else None
        try:
            files.save(path, new, expected=version, make_folders=True)
        except FileError:
            return False
        return True

    def others(self) -> None:
        """Something that another program does."""
        path = self.dice.choice(NAMES)
        there = self.work / path
        if there.is_symlink() or there.is_file():
            way = self.dice.choice(["write", "write", "delete", "chmod", "link", "folder"])
            if way == "chmod" and there.is_file() and not there.is_symlink():
                there.chmod(self.dice.choice([0o600, 0o644, 0o755, 0o444]))
                return
            there.unlink()
        elif there.is_dir():
            there.rmdir()
            way = "delete"
        else:
            way = self.dice.choice(["write", "link", "folder"])
        if way == "write":
            there.write_bytes(self.new_content())
        elif way == "link":
            target = self.dice.choice([str(self.outside), "a", "nowhere", str(self.work / "b")])
            there.symlink_to(target)
        elif way == "folder":
            there.mkdir()

    def resume(self) -> None:
        self.session.close()
        self.session = self.store.open(self.branch.id)

    def since(self, turn: int) -> dict[str, list[Wrote]]:
        found: dict[str, list[Wrote]] = {}
        for one in self.branch.writes:
            if one.turn > turn:
                found.setdefault(one.path, []).append(one)
        return found

    def expected(self, writes: dict[str, list[Wrote]]) -> dict[str, Content]:
        """The files that may be touched, and what they were: worked out without the log."""
        found: dict[str, Content] = {}
        for path, ours in writes.items():
            now = self.content(path)
            then = ours[0].before
            if now == ours[-1].after and now != then:
                found[path] = then
        return found

    def go_back(self) -> None:
        turn = self.dice.randrange(self.branch.turn + 1)
        before, expected = self.disk(), self.expected(self.since(turn))
        made = plan(self.session, turn)
        offered = {one.path: one.then for one in made.offered}
        assert offered == expected, f"offered {offered}, expected {expected}"
        for one in made.files:
            assert one.is_offered or one.reason is not None
        chosen = {one for one in sorted(offered) if self.dice.randrange(4)}
        raced = self.dice.randrange(4) == 0
        if raced:
            self.others()
            before = self.disk()
        fork_id = self.store.make_fork(self.branch.id, turn)
        read_only = {one for one in chosen if self.is_read_only(one, before)}
        done = restore(self.session, made, chosen)
        for path in NAMES:
            is_done = path in done.restored or path in done.deleted
            assert is_done or self.content(path) == before[path], path
            if is_done:
                assert path in chosen
                assert self.content(path) == expected[path]
                self.note_rewind(path, before[path], done.rewind)
        if not raced:
            assert {one for one, _ in done.left} == read_only
        self.check(before)
        self.session.close()
        self.undoable = self.branch, done.rewind
        kept = [one for one in self.branch.writes if one.turn <= turn]
        self.branch = Branch(fork_id, turn, kept)
        self.session = self.store.open(fork_id)
        assert self.session.turn == turn

    def is_read_only(self, path: str, before: dict[str, Content | str]) -> bool:
        there = self.work / path
        return isinstance(before[path], bytes) and not there.stat().st_mode & 0o222

    def note_rewind(self, path: str, before: Content | str, rewind: str) -> None:
        assert not isinstance(before, str)
        after = self.content(path)
        assert not isinstance(after, str)
        turn = self.branch.turn + 1
        self.branch.writes.append(Wrote(turn, path, before, after, rewind))

    def undo(self) -> None:
        if self.undoable is None:
            return
        (parent, rewind), self.undoable = self.undoable, None
        before = self.disk()
        self.session.close()
        self.branch, self.session = parent, self.store.open(parent.id)
        assert self.session.turn == parent.turn
        if not rewind:
            return
        ours: dict[str, list[Wrote]] = {}
        for one in parent.writes:
            if one.rewind == rewind:
                ours.setdefault(one.path, []).append(one)
        expected = self.expected(ours)
        made = undo_plan(self.session, rewind)
        assert {one.path: one.then for one in made.offered} == expected
        done = restore(self.session, made, set(expected))
        for path in NAMES:
            if path in done.restored or path in done.deleted:
                assert self.content(path) == expected[path]
                self.note_rewind(path, before[path], done.rewind)
            else:
                assert self.content(path) == before[path]
        self.check(before)

    def crash(self, act: Callable[[Session], object]) -> None:
        """Do something in a process that is killed at a random system call, and resume."""
        calls = self.dice.randrange(60)
        self.session.close()
        child = os.fork()
        if child == 0:
            try:
                session = self.store.open(self.branch.id)
                kill_after(calls)
                act(session)
            finally:
                os.kill(os.getpid(), signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        assert os.WTERMSIG(status) == signal.SIGKILL
        self.session = self.store.open(self.branch.id)
        self.undoable = None

    def crash_in_write(self) -> None:
        path, new, before = self.dice.choice(NAMES), self.new_content(), self.disk()
        self.crash(lambda session: self.save(session, path, new))
        after = self.disk()
        old, now = before.pop(path), after.pop(path)
        assert after == before
        assert now in (old, new)
        if now != old:
            assert now is None or isinstance(now, bytes)
            assert old is None or isinstance(old, bytes)
            self.branch.writes.append(Wrote(self.branch.turn + 1, path, old, now))
        self.check({**before, path: old})

    def crash_in_rewind(self) -> None:
        turn = self.dice.randrange(self.branch.turn + 1)
        before, expected = self.disk(), self.expected(self.since(turn))

        def act(session: Session) -> None:
            self.store.make_fork(session.id, turn)
            restore(session, plan(session, turn), set(expected))

        self.crash(act)
        for path in NAMES:
            now = self.content(path)
            if now != before[path]:
                assert path in expected
                assert now == expected[path]
                self.note_rewind(path, before[path], "crashed")
        self.check(before)


def kill_after(count: int) -> None:
    """Kill this process before the system call of this number."""
    left = count

    def counted(call: Callable[..., object]) -> Callable[..., object]:
        def counting(*args: object, **more: object) -> object:
            nonlocal left
            left -= 1
            if left < 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return call(*args, **more)

        return counting

    for name in CALLS:
        setattr(os, name, counted(getattr(os, name)))
    saving.exchange = counted(saving.exchange)  # type: ignore[assignment]


def run(first: int, count: int) -> None:
    """The sequences, in the process that forks; a kill needs no flush to the disk."""
    os.fsync = os.fdatasync = lambda _: None  # type: ignore[assignment]
    for seed in range(first, first + count):
        folder = Path(tempfile.mkdtemp(prefix="rewind-", dir=MEMORY if MEMORY.is_dir() else None))
        made = Run(folder, seed)
        try:
            for _ in range(STEPS):
                made.step()
            made.session.close()
        except BaseException:
            print(f"seed {seed} in {folder}: {' '.join(made.trace)}", file=sys.stderr)
            raise
        shutil.rmtree(folder)


@pytest.mark.parametrize(
    ("first", "count"), [(0, 10), pytest.param(1_000, times(400, 1_000), marks=pytest.mark.long)]
)
def test_random_sequences(first: int, count: int) -> None:
    apart("-m", "tests.session.test_rewind_random", first, count)


if __name__ == "__main__":
    run(int(sys.argv[1]), int(sys.argv[2]))
