"""Another program works on the log while the session runs: noticed, reported, nothing is lost.

FAULTS 48. Every way is tried on a new session and on a resumed one, in the middle of a turn and
between two turns.
"""

import errno
import os
import random
import shutil
import subprocess
import sys
import textwrap
import uuid
from collections.abc import Callable
from pathlib import Path

import pytest

from contextui import SessionStore
from contextui.session import log as logfile
from contextui.session.log import LogFile, SessionLockedError, SessionLog
from contextui.session.session import Session
from tests import forkserver
from tests.context.conversation import wire
from tests.session.talk import Talk, store_in
from tests.session.test_crash import Entries, assert_valid, talking
from tests.session.writer import Writer

ROOT = Path(__file__).parents[2]


def move_and_link(path: Path) -> None:
    """As a person does who wants it on another disk."""
    moved = path.with_name("moved.txt")
    path.rename(moved)
    path.symlink_to(moved)


def link_to_another_file(path: Path) -> None:
    (path.parent / "precious").write_text("precious")
    path.unlink()
    path.symlink_to(path.parent / "precious")


def replace_with_nothing(path: Path) -> None:
    (path.parent / "new").touch()
    (path.parent / "new").rename(path)


def replace_with_a_copy(path: Path) -> None:
    """As `sed -i` and many editors do."""
    shutil.copy(path, path.parent / "new")
    (path.parent / "new").rename(path)


def replace_with_another_session(path: Path) -> None:
    with store_in(path.parent / "elsewhere").create("/other") as other:
        Talk(other).turn("another", "session")
    other.path.rename(path)


def replace_with_a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()
    (path / "inside").write_text("precious")


def replace_with_a_fifo(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def change_in_place(path: Path) -> None:
    """One word, without changing the length."""
    with path.open("r+b") as file:
        place = file.read().rindex(b'"an answer"')
        file.seek(place)
        file.write(b'"no answer"')


def append(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


def move_the_home(path: Path) -> None:
    home = path.parents[2]
    home.rename(home.with_name(f"moved-{uuid.uuid4().hex}"))


WAYS: dict[str, Callable[[Path], object]] = {
    "delete": Path.unlink,
    "move away": lambda path: path.rename(path.with_name("moved.txt")),
    "move and link": move_and_link,
    "link to another file": link_to_another_file,
    "replace with nothing": replace_with_nothing,
    "replace with a copy": replace_with_a_copy,
    "replace with another session": replace_with_another_session,
    "replace with a folder": replace_with_a_folder,
    "replace with a fifo": replace_with_a_fifo,
    "empty": lambda path: os.truncate(path, 0),
    "truncate to half": lambda path: os.truncate(path, path.stat().st_size // 2),
    "write something else": lambda path: path.write_text("something else\n"),
    "change in place": change_in_place,
    "append a line": lambda path: append(path, b"appended\n"),
    "append half a line": lambda path: append(path, b'{"uuid":'),
    "remove the folder": lambda path: shutil.rmtree(path.parent),
    "move the home": move_the_home,
}
LOSING = ("empty", "truncate to half", "write something else", "change in place")
"""The ways after which the open file does not have all that was written."""


def contents(session: Session) -> list[tuple[str, str]]:
    return [(item.id, item.content) for item in session.context.get_all()]


def check_resumed(store: SessionStore, session: Session, composed: bytes) -> None:
    """What comes back is what was there, item by item, and as the model sees it."""
    before = contents(session)
    with talking(store.open(session.id)) as again:
        assert again.session.notices == []
        assert contents(again.session) == before
        assert wire(again.composed()) == composed
        assert again.session.turn == session.turn
        assert_valid(again)


def check_notice(session: Session) -> None:
    assert len(session.notices) == 1
    assert session.notices[0].startswith(("The log of this session was ", "Another program "))
    assert f"It continues in a new file: {session.path}." in session.notices[0]
    assert session.unsaved == 0


LONG = pytest.mark.long


@pytest.mark.parametrize(
    ("is_resumed", "in_a_turn"),
    [
        pytest.param(False, False, id="new-between"),
        pytest.param(False, True, id="new-within", marks=LONG),
        pytest.param(True, False, id="resumed-between", marks=LONG),
        pytest.param(True, True, id="resumed-within"),
    ],
)
@pytest.mark.parametrize("way", WAYS)
def test_messages_are_not_lost(tmp_path: Path, way: str, is_resumed: bool, in_a_turn: bool) -> None:
    """A new file has them, of this run and of an earlier one: byte by byte, or else from memory."""
    store = store_in(tmp_path)
    with talking(store.create("/project")) as talk:
        window = talk.open("a line")
        talk.turns(4)
        if is_resumed:
            talk.session.close()
            talk.take(store.open(talk.session.id))
            talk.turn("words of this run", "an answer")
        if in_a_turn:
            talk.say("more words")
            talk.send()
        before = talk.session.path.read_bytes()
        WAYS[way](talk.session.path)
        if not in_a_turn:
            talk.say("more words")
            talk.send()
        talk.answer("another answer")
        check_notice(talk.session)
        talk.context.end_turn()
        assert talk.session.path.read_bytes().startswith(before) == (way not in LOSING)
        talk.write(window.id, "another line")
        talk.turn("the last words", "the last answer")
        assert len(talk.session.notices) == 1
        composed = wire(talk.composed())
        talk.session.close()
    if not is_resumed:
        assert Entries(talk.session.path).read_on() == b""
    check_resumed(store, talk.session, composed)


@pytest.mark.parametrize("way", ["delete", "empty", "append half a line"])
def test_it_is_noticed_at_the_end_too(tmp_path: Path, way: str) -> None:
    store = store_in(tmp_path)
    with talking(store.create("/project")) as talk:
        talk.turn("words", "an answer")
        composed = wire(talk.composed())
        WAYS[way](talk.session.path)
    check_notice(talk.session)
    check_resumed(store, talk.session, composed)


@pytest.mark.parametrize(
    "way",
    ["replace with another session", "replace with a folder", "link to another file",
     "append a line", "write something else", "replace with nothing", "change in place"],
)  # fmt: skip
def test_what_another_program_wrote_is_kept(tmp_path: Path, way: str) -> None:
    """It is moved aside, and the notice says where."""
    with talking(store_in(tmp_path).create("/project")) as talk:
        talk.turn("words", "an answer")
        path = talk.session.path
        WAYS[way](path)
        theirs = sorted(path.iterdir()) if path.is_dir() else path.read_bytes()
        was_link = path.is_symlink()
        talk.say("more")
        (aside,) = path.parent.glob("*.found")
        kept = (
            [path / one.name for one in aside.iterdir()] if aside.is_dir() else aside.read_bytes()
        )
        assert kept == theirs
        assert aside.is_symlink() == was_link
        assert f"kept as {aside.name}." in talk.session.notices[0]
    precious = path.parent / "precious"
    assert not precious.exists() or precious.read_text() == "precious"


@pytest.mark.parametrize("way", ["delete", "move away", "remove the folder", "truncate to half"])
def test_no_temporary_files_remain(tmp_path: Path, way: str) -> None:
    with talking(store_in(tmp_path).create("/project")) as talk:
        talk.turn("words", "an answer")
        path = talk.session.path
        WAYS[way](path)
        talk.say("more")
    found = {one.name for one in path.parent.iterdir()} - {"moved.txt", "recent", "recent.lock"}
    kept = {one.name for one in path.parent.glob("*.found")}
    assert found == {path.name, path.with_suffix(".lock").name, *kept}
    assert len(kept) == (way == "truncate to half")


@pytest.mark.parametrize("way", ["touch", "link", "read-only"])
def test_changes_that_lose_nothing_are_not_reported(tmp_path: Path, way: str) -> None:
    store = store_in(tmp_path)
    with talking(store.create("/project")) as talk:
        talk.turn("words", "an answer")
        path = talk.session.path
        if way == "touch":
            os.utime(path, (1, 1))
        elif way == "link":
            os.link(path, path.with_name("second"))
        elif os.geteuid():
            pytest.skip("only root can write to a file that can only be read")
        else:
            path.chmod(0o400)
        talk.turn("words", "an answer")
        assert talk.session.notices == []
        composed = wire(talk.composed())
    check_resumed(store, talk.session, composed)


def test_an_unwritable_place_is_reported_and_retried(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    with talking(store.create("/project")) as talk:
        talk.turn("words", "an answer")
        folder = talk.session.path.parent
        shutil.rmtree(folder)
        folder.write_text("a file where the folder was")
        talk.turn("more", "an answer")
        talk.turn("still more", "an answer")
        assert talk.session.unsaved
        assert talk.session.unsaved_turns == 3  # nothing of the session is on the disk
        assert isinstance(talk.session.problem, OSError)
        assert len(talk.session.notices) == 1
        assert talk.session.notices[0].startswith("Not saved: ")
        folder.unlink()
        assert talk.session.save()
        assert (talk.session.unsaved_turns, str(talk.session.problem)) == (0, "None")
        assert talk.session.notices[-1] == "Saving has resumed; nothing was lost."
        composed = wire(talk.composed())
    check_resumed(store, talk.session, composed)


def test_another_process_that_took_over_the_session_is_not_overwritten(tmp_path: Path) -> None:
    """The lock was deleted, another program has the session open: both would write."""
    store = store_in(tmp_path)
    script = textwrap.dedent(f"""
        import sys
        from pathlib import Path
        from tests.session.talk import Talk, store_in
        with store_in(Path({str(tmp_path)!r})).open(sys.argv[1]) as session:
            Talk(session).turn("from the other process", "an answer")
            print(session.path.read_bytes().count(b"\\n"), flush=True)
            sys.stdin.readline()
    """)
    with talking(store.create("/project")) as talk:
        talk.turn("words", "an answer")
        talk.session.path.with_suffix(".lock").unlink()
        with forkserver.Popen(
            [sys.executable, "-c", script, talk.session.id],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT,
        ) as other:  # fmt: skip
            assert other.stdout is not None
            count = int(other.stdout.readline())
            talk.turn("more", "an answer")
            assert talk.session.unsaved
            assert "another process has opened this session" in talk.session.notices[0]
            assert talk.session.path.read_bytes().count(b"\n") == count
            other.communicate(b"\n", timeout=60)
        assert talk.session.save()
        composed = wire(talk.composed())
    check_resumed(store, talk.session, composed)


@pytest.mark.parametrize(
    "seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(2, 16))]
)
def test_random_talks_and_random_ways(tmp_path: Path, seed: int) -> None:
    """Whatever is in the session (calls, windows, pins, edits): it comes back as it was."""
    dice = random.Random(seed)
    store = store_in(tmp_path, 40)
    with store.create("/project") as session:
        writer = Writer(session, dice)
        for _ in range(60):
            writer.step()
    for _ in range(3):
        with talking(store.open(session.id)) as talk:
            writer = Writer(talk.session, dice)
            for _ in range(dice.randrange(40)):
                writer.step()
            way = dice.choice([one for one in WAYS if one != "change in place"])  # needs an answer
            WAYS[way](talk.session.path)
            for _ in range(dice.randrange(40)):
                writer.step()
            writer.settle()
            writer.context.end_turn()
            composed = wire(writer.composed())
        with talking(store.open(session.id)) as again:
            assert wire(again.composed()) == composed
            assert_valid(again)


def test_an_append_is_a_write_and_2_stats(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Noticing all this costs two system calls a line, however long the line and the log are."""
    calls: list[str] = []

    def counting(name: str) -> None:
        real = getattr(os, name)

        def call(*args: object, **more: object) -> object:
            if args[0] in (talk.session._log.fd, talk.session.path):
                calls.append(name)
            return real(*args, **more)

        monkeypatch.setattr(os, name, call)

    with talking(store_in(tmp_path).create("/project")) as talk:
        for name in ("write", "lstat", "stat", "fstat", "pread", "ftruncate", "fdatasync"):
            counting(name)
        for length in (1, 1_000, 1_000_000):
            calls.clear()
            talk.say("x" * length)
            assert calls == ["lstat", "write", "fstat"]
        talk.answer("yes")
        calls.clear()
        talk.context.end_turn()
        assert calls.count("fdatasync") == 1


def test_a_session_that_cannot_be_written_has_nothing_unsaved_at_first(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    with talking(store.create("/project")) as talk:
        talk.turn("words", "an answer")
    path = talk.session.path
    lock = path.with_suffix(".lock")
    lock.unlink()
    lock.mkdir()  # as good as a read-only folder, also for root
    with talking(store.open(talk.session.id)) as again:
        assert again.session.problem is not None
        assert (again.session.unsaved, again.session.unsaved_turns) == (0, 0)
        again.turn("more", "an answer")
        assert again.session.unsaved_turns == 1
        lock.rmdir()
        assert again.session.save()
        assert again.session.unsaved_turns == 0
        composed = wire(again.composed())
    check_resumed(store, again.session, composed)


LINES = [b"line %03d\n" % number for number in range(20)]  # 9 bytes each


def found_in(folder: Path) -> LogFile:
    """A log of an earlier run, opened."""
    path = folder / "log.jsonl"
    path.write_bytes(b"".join(LINES))
    file = LogFile(path)
    file.begin(path.stat().st_size)
    return file


@pytest.mark.parametrize("chunk", [4, 1 << 20])
@pytest.mark.parametrize("place", [0, 90, 179, 180, 189])
def test_any_changed_byte_of_a_short_log_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: int, chunk: int
) -> None:
    """In what was found, and in what this run wrote; a file that is only touched is accepted."""
    monkeypatch.setattr(logfile, "_CHUNK", chunk)
    file, path = found_in(tmp_path), tmp_path / "log.jsonl"
    assert file.write(b"a new line\n") == 180
    os.utime(path, ns=(2, 2))
    assert file.difference() is None
    with path.open("r+b") as other:
        other.seek(place)
        other.write(b"#")
    os.utime(path, ns=(1, 1))
    assert (file.difference(), file.is_intact()) == ("changed", False)
    aside = file.replace(0)
    assert (path.read_bytes(), (tmp_path / aside).stat().st_size) == (b"", 191)
    assert file.write(b"next\n") == 0
    assert file.difference() is None
    file.close()


@pytest.mark.parametrize("chunk", [4, 1 << 20])
def test_a_grown_log_keeps_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chunk: int) -> None:
    monkeypatch.setattr(logfile, "_CHUNK", chunk)
    file, path = found_in(tmp_path), tmp_path / "log.jsonl"
    with path.open("ab") as other:
        other.write(b"theirs\n")
    assert (file.difference(), file.is_intact()) == ("changed", True)
    aside = file.replace(file.size)
    assert path.read_bytes() == b"".join(LINES)
    assert (tmp_path / aside).read_bytes() == b"".join([*LINES, b"theirs\n"])
    assert (file.write(b"next\n"), file.is_intact(), file.difference()) == (180, True, None)
    file.close()


def test_a_file_system_without_exchange(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logfile, "exchange", lambda *_: False)
    file, path = found_in(tmp_path), tmp_path / "log.jsonl"
    path.write_bytes(b"theirs")
    aside = file.replace(0)
    assert ((tmp_path / aside).read_bytes(), path.read_bytes()) == (b"theirs", b"")
    path.unlink()
    assert (file.replace(0), path.read_bytes()) == ("", b"")
    assert {one.name for one in tmp_path.iterdir()} == {path.name, aside}
    file.close()


@pytest.mark.parametrize("expected", [299, 301])
def test_a_log_changed_before_it_was_opened_is_left_alone(tmp_path: Path, expected: int) -> None:
    path, notices = tmp_path / "log.jsonl", list[str]()
    path.write_bytes(b"." * 299 + b"\n")
    for size in (expected, 300):
        log = SessionLog(path, notices.append, lazy=True)
        log.expect(size)
        assert log.append(b"next\n") is (size == 300)
        log.close()
        assert path.stat().st_size == (305 if size == 300 else 300)
    assert "changed by another program" in notices[0]


def tear(file: LogFile, monkeypatch: pytest.MonkeyPatch) -> None:
    """A write fails in the middle, and what was written of it cannot be removed."""
    write, truncate, descriptor = os.write, os.ftruncate, file.fd

    def half(fd: int, data: bytes) -> int:
        write(fd, data[:3])
        raise OSError(errno.ENOSPC, "full")

    def refuse(fd: int, size: int) -> None:
        if fd == descriptor:
            raise OSError(errno.EIO, "broken")
        truncate(fd, size)

    monkeypatch.setattr(os, "ftruncate", refuse)
    with monkeypatch.context() as writing:
        writing.setattr(os, "write", half)
        with pytest.raises(OSError, match="full"):
            file.write(b"torn\n")


def test_a_torn_line_goes_when_reopened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, path = found_in(tmp_path), tmp_path / "log.jsonl"
    tear(file, monkeypatch)
    assert path.stat().st_size == 183
    assert file.difference() is None
    assert path.read_bytes() == b"".join(LINES)
    assert file.write(b"next\n") == 180
    file.close()


def test_a_file_put_for_a_torn_log_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folders = [tmp_path / "one", tmp_path / "two"]
    for folder in folders:
        folder.mkdir()
    files = [found_in(folder) for folder in folders]
    for file in files:
        tear(file, monkeypatch)
    one, two = (folder / "log.jsonl" for folder in folders)
    one.rename(tmp_path / "swapped")
    two.rename(one)
    (tmp_path / "swapped").rename(two)
    assert [file.difference() for file in files] == ["changed", "changed"]
    assert [path.stat().st_size for path in (one, two)] == [183, 183]
    for file in files:
        file.close()


def test_a_log_that_cannot_be_looked_at_is_written_on(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    file = found_in(folder)
    folder.rename(tmp_path / "moved")
    folder.symlink_to(folder)  # a circle
    assert file.difference() is None
    assert file.write(b"next\n") == 180
    file.close()


def test_a_replaced_lock_is_taken_again_with_the_log(tmp_path: Path) -> None:
    path, notices = tmp_path / "log.jsonl", list[str]()
    lock, other = path.with_suffix(".lock"), tmp_path / "other.lock"
    log = SessionLog(path, notices.append)
    other.touch()
    for number in range(3):  # of two files one has the greater number, whichever that is
        assert log.append(b"%d\n" % number)
        swapped = lock.rename(tmp_path / "swapped.lock")
        other.rename(lock)
        swapped.rename(other)
        path.unlink()
        assert log.retry()
        with pytest.raises(SessionLockedError):
            SessionLog(path, notices.append)
    assert path.read_bytes() == b"0\n1\n2\n"
    log.close()
