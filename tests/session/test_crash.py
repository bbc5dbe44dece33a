"""Sessions whose process is killed, whose disk is full, or that two processes want at once.

The children are forked by a process of their own: one without threads, unlike pytest's, and
unlike any in which a window was opened.
"""

import errno
import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest

from contextui import ContextItem, ItemType
from contextui.session.log import SessionLockedError
from contextui.session.session import Session
from tests import forkserver
from tests.context.conversation import specified, wire
from tests.context.test_properties import assert_whole_pairs
from tests.forking import forked, killed
from tests.session.talk import Talk
from tests.session.test_log import AGAIN, FULL
from tests.session.writer import ROOT, Writer, apart, store_in, write_for_ever
from tests.thorough import times

KILLS = times(8, 1_000)
LONGEST = 0.05  # seconds until the kill, counted from the start or from a step


class Entries:
    """The lines of a log as they are found in the file, each looked at once.

    Every line must be whole, and continue the one before it: by its parent, an item also by its
    seq. So nothing can be missing, doubled or out of order.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.ends: dict[str, int] = {}
        self._parent: str | None = None
        self._seq = self._read = 0

    def read_on(self) -> bytes:
        """Look at what is new; the piece of a last line that a crash left is given back."""
        with self.path.open("rb") as file:
            file.seek(self._read)
            *whole, rest = file.read().split(b"\n")
        for line in whole:
            entry = json.loads(line)
            assert entry["uuid"] not in self.ends, "an entry that is there twice"
            assert entry["parentUuid"] == self._parent, "an entry out of order"
            self._parent = entry["uuid"]
            self._read += len(line) + 1
            self.ends[entry["uuid"]] = self._read
            if "seq" in (entry.get("data") or {}) and entry.get("subtype") != "checkpoint":
                assert entry["data"]["seq"] == self._seq + 1, "an item out of order"
                self._seq += 1
        return rest


def assert_valid(talk: Talk) -> None:
    """It composes what the specification says, and what a provider takes."""
    composed = talk.composed()
    assert composed == specified(talk)
    assert_whole_pairs(composed)
    seqs = [item.seq for item in talk.context.get_all()]
    assert seqs == sorted(set(seqs))
    references = {item.content for item in talk.context.get_all() if item.type is ItemType.WINDOW}
    assert {window.id for window in talk.windows.windows()} <= references


@contextmanager
def talking(session: Session) -> Iterator[Talk]:
    """A session to look at, whose windows' threads end with it."""
    with session:
        yield Talk(session)
    for window in session.windows.windows():
        session.windows.close(window.id)


def checked(check: Callable[[], object]) -> None:
    _, status = os.waitpid(forked(check), 0)
    assert status == 0, "see above"


def entries_of_killed(home: Path, session_id: str, dice: random.Random) -> list[list[str]]:
    """Let a child write, kill it in the middle; the entries it reported, each with a digest."""
    seed, seconds = dice.randrange(10**9), dice.uniform(0, LONGEST)
    work = partial(write_for_ever, home, session_id, seed)
    return [line.split() for line in killed(work, seconds, after=dice.randrange(12))]


def check_acknowledged(home: Path, session_id: str, digest: str) -> None:
    """What the log held when an entry was acknowledged composes what was composed then."""
    view = store_in(home).view(session_id)
    assert view.notices == []
    talk = Writer.__new__(Writer)
    talk.windows, talk.context = view.windows, view.context
    assert talk.digest == digest


def check_resumed(home: Path, session_id: str, torn: bytes) -> None:
    with store_in(home).open(session_id) as session:
        notices = session.notices
        assert all(one.startswith("The incomplete last line was removed") for one in notices)
        assert len(notices) <= bool(torn)
        assert_valid(Talk(session))
        assert not session.context.ledger.calls.unanswered
        assert session.path.read_bytes().endswith(b"\n")


def crash(home: Path, kills: int, seed: int) -> None:
    """The whole run, in the process that forks."""
    dice, aside = random.Random(seed), home / "aside"
    acknowledged, torn_lines, sessions = 0, 0, 0
    entries: Entries | None = None
    for _ in range(kills):
        if entries is None or dice.randrange(50) == 0:
            with store_in(home).create("/project") as session:
                entries, sessions = Entries(session.path), sessions + 1
        session_id = entries.path.stem
        reported = entries_of_killed(home, session_id, dice)
        torn = entries.read_on()
        torn_lines += bool(torn)
        acknowledged += len(reported)
        lost = [entry for entry, _ in reported if entry not in entries.ends]
        assert not lost, f"{len(lost)} of {len(reported)} acknowledged entries are lost"
        if reported:
            entry, digest = reported[-1]
            copy = aside / entries.path.relative_to(home)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(entries.path, copy)
            os.truncate(copy, entries.ends[entry])
            checked(lambda: check_acknowledged(aside, session_id, digest))  # noqa: B023
        checked(lambda: check_resumed(home, session_id, torn))  # noqa: B023
        assert entries.read_on() == b""
    print(json.dumps({"acknowledged": acknowledged, "torn": torn_lines, "sessions": sessions}))


def test_a_killed_session_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    """One session goes on through many kills in a row; each resume is valid."""
    report = apart("-m", "tests.session.test_crash", tmp_path, KILLS, 0)
    print(report)
    assert json.loads(report)["acknowledged"] > KILLS


@pytest.mark.parametrize(("seed", "every"), [(0, 6), pytest.param(1, 1, marks=pytest.mark.long)])
def test_a_log_that_ends_after_any_entry_goes_on(tmp_path: Path, seed: int, every: int) -> None:
    """A kill may come between any two entries, also between those of one and the same step."""
    store = store_in(tmp_path, 30)
    with talking(store.create("/project")) as talk:
        writer = Writer(talk.session, random.Random(seed))
        for _ in range(120):
            writer.step()
        path = talk.session.path
    data = path.read_bytes()
    ends = list(accumulate(map(len, data.splitlines(keepends=True))))
    for end in ends[::every]:
        path.write_bytes(data[:end])
        with talking(store.open(path.stem)) as talk:
            assert talk.session.notices == []
            assert_valid(talk)
            window_id = talk.open("a new window").id
            talk.say("and now?")
            assert any(f'"{window_id}"' in str(one.content) for one in talk.composed())
            assert_valid(talk)


def test_cancelled_calls_are_not_answered_by_resuming(tmp_path: Path) -> None:
    """The turn ended without their results, as an interrupted one does: that is settled."""
    store = store_in(tmp_path, checkpoint_every=1)
    with talking(store.create("/project")) as talk:
        talk.say("do it")
        talk.send()
        talk.call(2, "I will")
        talk.context.end_turn()
        composed, count = wire(talk.composed()), talk.context.current_seq
    with talking(store.open(talk.session.id)) as resumed:
        assert resumed.context.current_seq == count
        assert wire(resumed.composed()) == composed


def test_an_answer_kept_for_undo_comes_back_with_its_results(tmp_path: Path) -> None:
    """A checkpoint that names a call names its result too, or restoring would tear the pair."""
    store = store_in(tmp_path, checkpoint_every=1)
    with talking(store.create("/project")) as talk, talking(store.create("/twin")) as twin:
        for one in (talk, twin):
            one.say("do it")
            one.call(1, "I will")
            one.result("done")
            one.context.end_turn()
            answer = one.context.get_all()[1].id
            one.context.pin(answer)
            one.context.unpin(answer)
            for _ in range(6):
                one.say("words " * 500)
                one.send(3_000)
                one.answer("yes")
                one.context.end_turn()
        talk.session.close()
        with talking(store.open(talk.session.id)) as resumed:
            resumed.context.restore(talk.context.get_all()[1].id)
            twin.context.restore(twin.context.get_all()[1].id)
            assert wire(resumed.composed()) == wire(twin.composed())


@contextmanager
def started(home: Path, session_id: str) -> Iterator["subprocess.Popen[str]"]:
    with forkserver.Popen(
        [sys.executable, "-m", "tests.session.writer", "words", home, session_id],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    ) as child:
        try:
            yield child
        finally:
            child.kill()


def test_a_second_process_gets_an_error_and_may_fork_while_the_first_writes(tmp_path: Path) -> None:
    """FAULTS 37: no entry is lost, none interleaved; a fork holds what was whole by then."""
    store = store_in(tmp_path)
    with store.create("/project") as session:
        pass
    forks: list[Session] = []
    with started(tmp_path, session.id) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        acknowledged: list[str] = []
        for number in range(12):
            child.stdin.write("go\n" * 2)
            child.stdin.flush()
            acknowledged.append(child.stdout.readline().strip())
            # The second of the two is being written now.
            with pytest.raises(SessionLockedError, match="Use --fork to continue in a copy"):
                store.open(session.id)
            if number % 2:
                forks.append(store.fork(session.id))
                assert forks[-1].notices == []
                words = [str(one.content)[:20] for one in forks[-1].context.get_all()]
                assert len(words) >= len(acknowledged)
                forks[-1].context.add(ContextItem(ItemType.USER, "in a copy"))
            acknowledged.append(child.stdout.readline().strip())
        child.stdin.close()
        assert child.wait() == 0
    original = Entries(session.path)
    assert original.read_on() == b""
    assert set(acknowledged) <= original.ends.keys()
    for fork in forks:
        fork.close()
        copied = Entries(fork.path)
        assert copied.read_on() == b""
        shared = [one for one in copied.ends if one in original.ends]
        assert shared == list(original.ends)[: len(shared)]
        # Where it comes from, the words, and the end of a turn if the copy was made between its
        # answer and its end.
        assert list(copied.ends)[: len(shared)] == shared
        assert len(copied.ends) - len(shared) in (2, 3)
    with store.open(session.id) as again:
        assert again.notices == []


def test_a_fork_leaves_out_a_line_that_is_being_written(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    with talking(store.create("/project")) as talk:
        talk.turn("words", "yes")
        composed = wire(talk.composed())
        with talk.session.path.open("ab") as file:
            file.write(b'{"uuid":"half of an ent')
        with talking(store.fork(talk.session.id)) as fork:
            assert fork.session.notices == []
            assert wire(fork.composed()) == composed


class FullDisk:
    """Has what is written to one session's log fail, in one of two ways."""

    def __init__(self, session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
        self._log, self._write = session._log, os.write
        self.is_full = False
        monkeypatch.setattr(os, "write", self._write_or_fail)

    def _write_or_fail(self, fd: int, data: bytes) -> int:
        if self.is_full and fd == self._log.fd:
            if len(data) > 1:
                self._write(fd, data[: len(data) // 2])
            raise OSError(errno.ENOSPC, "No space left on device")
        return self._write(fd, data)


def put_device_in_place(session: Session) -> None:
    """Have the log's descriptor lead to a device on which there is never any room."""
    if session._log.fd is not None:
        full = os.open("/dev/full", os.O_WRONLY)
        os.dup2(full, session._log.fd)
        os.close(full)


@pytest.mark.parametrize("way", ["fails", "device"])
def test_a_full_disk_stops_saving_but_not_the_conversation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    """FAULTS 36"""
    store = store_in(tmp_path, checkpoint_every=10)
    with talking(store.create("/project")) as talk:
        session, disk = talk.session, FullDisk(talk.session, monkeypatch)
        writer = Writer(session, random.Random(36))
        window = writer.open("a line")
        for round_ in range(3):
            waiting = 0
            for number in range(8):
                disk.is_full = way == "fails"
                if way == "device":
                    put_device_in_place(session)
                writer.turn(f"words {round_} {number}", "yes")
                assert_valid(writer)
                if way == "fails":
                    writer.write(window.id, f"line {number}")
                    assert session.unsaved > waiting
                    waiting = session.unsaved
            disk.is_full = False
            writer.say("is it saved?")
            assert session.unsaved == 0
            assert session.notices[-2:] == [
                FULL.format(folder=session.path.parent),
                "Saving has resumed; nothing was lost.",
            ]
            assert Entries(session.path).read_on() == b""
        composed, stats = wire(writer.composed()), session.context.get_stats()
    with talking(store.open(session.id)) as resumed:
        assert resumed.session.notices == []
        assert wire(resumed.composed()) == composed
        assert resumed.context.get_stats() == stats


def test_a_line_of_which_only_the_end_failed_is_not_written_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All but the line's end was written, and taking it back failed too."""
    store = store_in(tmp_path)
    with talking(store.create("/project")) as talk:
        fd, write = talk.session._log.fd, os.write

        def write_all_but_the_end(to: int, data: bytes) -> int:
            if to == fd:
                done = write(to, data[:-1])
                if len(data) == 1:
                    raise OSError(errno.ENOSPC, "No space left on device")
                return done
            return write(to, data)

        def fail(to: int, size: int) -> None:
            raise OSError(errno.EIO, "Input/output error")

        with monkeypatch.context() as failing:
            failing.setattr(os, "write", write_all_but_the_end)
            failing.setattr(os, "ftruncate", fail)
            talk.say("once")
        talk.say("and again")
        assert talk.session.unsaved == 0
        composed = wire(talk.composed())
    assert Entries(talk.session.path).read_on() == b""
    with talking(store.open(talk.session.id)) as resumed:
        assert wire(resumed.composed()) == composed


def test_an_unwritable_session_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A read-only home: the conversation comes back and goes on, only saving waits."""
    store = store_in(tmp_path)
    with talking(store.create("/project")) as talk:
        talk.turn("remember this", "yes")
        composed = wire(talk.composed())
    path, real = talk.session.path, os.open
    before = path.read_bytes()
    read_only = True

    def open_to_read(name: Any, flags: int, *args: Any, **more: Any) -> int:
        wanted = flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
        if read_only and wanted and str(name).startswith(str(tmp_path)):
            raise OSError(errno.EROFS, "Read-only file system")
        return real(name, flags, *args, **more)

    monkeypatch.setattr(os, "open", open_to_read)
    with talking(store.open(talk.session.id)) as resumed:
        assert wire(resumed.composed()) == composed
        resumed.say("this waits")
        assert path.read_bytes() == before
        assert resumed.session.notices == [
            f"Not saved: Read-only file system. Make {path.parent} writable. {AGAIN}"
        ]
        read_only = False
        resumed.answer("and now it is saved")
        assert resumed.session.unsaved == 0
        composed = wire(resumed.composed())
    entries = Entries(path)
    assert entries.read_on() == b""
    with talking(store.open(talk.session.id)) as again:
        assert wire(again.composed()) == composed


def test_a_tail_of_zeros_is_removed_without_being_loaded(tmp_path: Path) -> None:
    """What a power cut may leave behind the last line: zeros, more than any entry has bytes."""
    with store_in(tmp_path).create("/project") as session:
        path = session.path
    size = path.stat().st_size
    os.truncate(path, size + 70_000_000)
    notice, grown = apart("-m", "tests.session.writer", "peak", path).splitlines()
    assert notice == "The incomplete last line was removed (70000000 bytes)."
    assert path.stat().st_size == size
    assert int(grown) < 70_000_000


if __name__ == "__main__":
    crash(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
