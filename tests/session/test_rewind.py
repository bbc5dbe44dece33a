"""Going back: what is offered, what is left alone, and undoing it."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from contextui import ContextItem, ItemType, SessionStore
from contextui.agent.prompt import is_report
from contextui.files.workspace import Workspace
from contextui.names import BESIDE
from contextui.session import versions
from contextui.session.fork import KEPT
from contextui.session.rewind import (
    CHANGED,
    GONE,
    NO_FILE,
    NOT_KEPT,
    TOO_LARGE,
    UNREADABLE,
    RewindPlan,
    plan,
    read_record,
    restore,
    undo_plan,
)
from contextui.session.session import Session
from contextui.session.versions import digest_of
from tests.session.test_log import disk_full


class Work:
    """A session in a folder, whose files it and others write."""

    def __init__(self, store: SessionStore, folder: Path) -> None:
        self.store, self.folder = store, folder
        self.session: Session = store.create(folder)

    @property
    def files(self) -> Workspace:
        assert self.session.windows.workspace is not None
        return self.session.windows.workspace

    def turn(self, words: str = "words", **files: str) -> int:
        """A turn in which files are written; `a_txt` is a.txt."""
        context = self.session.context
        context.add(ContextItem(ItemType.USER, words))
        for name, text in files.items():
            self.write(name.replace("_", "."), text)
        context.add(ContextItem(ItemType.ASSISTANT, "done"))
        context.end_turn()
        return self.session.turn

    def write(self, path: str, text: str) -> None:
        is_there = (self.folder / path).exists()
        version = self.files.open_text(path).version if is_there else None
        self.files.save(path, text.encode(), expected=version, make_folders=True)

    def read(self, path: str) -> str | None:
        there = self.folder / path
        return there.read_text() if there.exists() else None

    def plan(self, turn: int) -> RewindPlan:
        return plan(self.session, turn)

    def go_back(self, turn: int, *also: str) -> str:
        """Go back with the files offered, and those named; give back how to undo it."""
        made = self.plan(turn)
        done = restore(self.session, made, made.chosen_first | set(also))
        assert done.left == ()
        return done.rewind


@pytest.fixture
def work(tmp_path: Path) -> Iterator[Work]:
    folder = tmp_path / "work"
    folder.mkdir()
    made = Work(SessionStore(tmp_path / "home"), folder)
    yield made
    made.session.close()


def test_files_are_offered_as_they_were(work: Work) -> None:
    (work.folder / "a.txt").write_text("one\n")
    (work.folder / "b.txt").write_text("other\n")
    first = work.turn(b_txt="before\n")
    work.turn(a_txt="two\n")
    work.turn(a_txt="three\n", new_txt="new\n")
    made = work.plan(first)
    assert [(one.path, one.fate) for one in made.files] == [
        ("a.txt", "restore"), ("new.txt", "delete")
    ]  # fmt: skip
    assert made.chosen_first == {"a.txt"}
    assert "-three\n+one\n" in made.files[0].diff()
    assert "-new\n" in made.files[1].diff()
    done = restore(work.session, made, {"a.txt", "new.txt"})
    assert (done.restored, done.deleted, done.left) == (("a.txt",), ("new.txt",), ())
    assert (work.read("a.txt"), work.read("b.txt"), work.read("new.txt")) == (
        "one\n", "before\n", None
    )  # fmt: skip
    assert (work.plan(first).files, work.plan(first).same) == ((), 2)  # written, and as before
    assert [one.path for one in work.plan(0).files] == ["b.txt"]


def test_only_what_was_chosen_is_written(work: Work) -> None:
    (work.folder / "a.txt").write_text("one\n")
    work.turn(a_txt="two\n", new_txt="new\n")
    made = work.plan(0)
    done = restore(work.session, made, {"new.txt", "../elsewhere", "/etc/passwd"})
    assert done.deleted == ("new.txt",)
    assert work.read("a.txt") == "two\n"


def test_it_can_be_undone(work: Work) -> None:
    (work.folder / "a.txt").write_text("one\n")
    work.turn(a_txt="two\n", new_txt="new\n")
    os.chmod(work.folder / "new.txt", 0o750)
    rewind = work.go_back(0, "new.txt")
    assert (work.read("a.txt"), work.read("new.txt")) == ("one\n", None)
    undo = undo_plan(work.session, rewind)
    assert [(one.path, one.fate) for one in undo.files] == [
        ("a.txt", "restore"), ("new.txt", "create")
    ]  # fmt: skip
    done = restore(work.session, undo, {"a.txt", "new.txt"})
    assert (work.read("a.txt"), work.read("new.txt")) == ("two\n", "new\n")
    assert (work.folder / "new.txt").stat().st_mode & 0o777 == 0o750
    restore(work.session, undo_plan(work.session, done.rewind), {"a.txt", "new.txt"})
    assert (work.read("a.txt"), work.read("new.txt")) == ("one\n", None)


def test_what_others_changed_stays(work: Work) -> None:
    for name in "abcdefg":
        (work.folder / name).write_text("one\n")
    work.turn(**dict.fromkeys("abcdefg", "two\n"))
    (work.folder / "a").write_text("someone else's\n")
    (work.folder / "b").unlink()
    (work.folder / "c").unlink()
    (work.folder / "c").symlink_to("a")
    (work.folder / "d").unlink()
    (work.folder / "d").mkdir()
    (work.folder / "e").unlink()
    (work.folder / "e").symlink_to("/etc/passwd")
    (work.folder / "f").write_text("one\n")  # back to what it was: there is nothing to do
    made = work.plan(0)
    reasons = {one.path: one.reason for one in made.files}
    assert reasons == {
        "a": CHANGED, "b": GONE, "c": NO_FILE, "d": NO_FILE, "e": NO_FILE, "g": None
    }  # fmt: skip
    assert not any(one.now or one.then for one in made.files if one.reason)
    done = restore(work.session, made, set("abcdefg"))
    assert done.restored == ("g",)
    assert work.read("a") == "someone else's\n"


def test_an_unreadable_file_stays(work: Work) -> None:
    if os.geteuid() == 0:
        pytest.skip("root reads everything")
    work.turn(a_txt="two\n")
    os.chmod(work.folder / "a.txt", 0)
    assert [one.reason for one in work.plan(0).files] == [UNREADABLE]


def test_a_change_between_two_writes_is_not_chosen_by_itself(work: Work) -> None:
    (work.folder / "a.txt").write_text("one\n")
    work.turn(a_txt="two\n")
    (work.folder / "a.txt").write_text("someone else's\n")
    work.turn(a_txt="three\n")
    (change,) = work.plan(0).files
    assert change.is_mixed
    assert change.fate == "restore"
    assert not work.plan(0).chosen_first
    restore(work.session, work.plan(1), {"a.txt"})
    assert work.read("a.txt") == "someone else's\n"


@pytest.mark.parametrize("way", ["write", "delete", "link", "folder"])
def test_a_change_after_the_plan_is_found(work: Work, way: str) -> None:
    (work.folder / "a.txt").write_text("one\n")
    (work.folder / "b.txt").write_text("b\n")
    work.turn(a_txt="two\n", new_txt="new\n")
    made = work.plan(0)
    for name in ("a.txt", "new.txt"):
        there = work.folder / name
        there.unlink()
        if way == "write":
            there.write_text("someone else's\n")
        elif way == "link":
            there.symlink_to("b.txt")
        elif way == "folder":
            there.mkdir()
    done = restore(work.session, made, {"a.txt", "new.txt"})
    assert (done.restored, done.deleted, done.rewind) == ((), (), "")
    assert [path for path, _ in done.left] == ["a.txt", "new.txt"]
    assert work.read("b.txt") == "b\n"
    if way == "write":
        assert work.read("a.txt") == work.read("new.txt") == "someone else's\n"
    assert not [one for one in os.listdir(work.folder) if one.startswith(".contextui")]


def test_a_folder_that_became_a_link_is_not_followed(work: Work, tmp_path: Path) -> None:
    (work.folder / "deep").mkdir()
    (work.folder / "deep" / "a.txt").write_text("one\n")
    work.session.context.add(ContextItem(ItemType.USER, "words"))
    work.write("deep/a.txt", "two\n")
    made = work.plan(0)
    for target in (tmp_path / "elsewhere", work.folder / "inside"):
        target.mkdir()
        (target / "a.txt").write_text("two\n")
        there = work.folder / "deep"
        if there.is_symlink():
            there.unlink()
        else:
            there.rename(tmp_path / "away")
        there.symlink_to(target)
        assert [one.reason for one in work.plan(0).files] == [NO_FILE]
        done = restore(work.session, made, {"deep/a.txt"})
        assert [path for path, _ in done.left] == ["deep/a.txt"]
        assert (target / "a.txt").read_text() == "two\n"


def test_what_is_not_kept_is_said(work: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in "abcd":
        (work.folder / name).write_text(f"one {name}\n")

    with monkeypatch.context() as patched:
        patched.setattr(versions, "write_private", disk_full)
        work.turn(a="two\n")
    with monkeypatch.context() as patched:
        patched.setattr(versions, "MOST_KEPT", 10)  # of all copies together
        work.turn(d="two\n", b="two\n")
    work.turn(c="two\n")
    kept = work.session.path.with_suffix("") / KEPT
    (kept / digest_of(b"one c\n")).write_bytes(b"planted\n")
    assert {one.path: one.reason for one in work.plan(0).files} == {
        "a": NOT_KEPT, "b": TOO_LARGE, "c": NOT_KEPT, "d": None
    }  # fmt: skip
    done = restore(work.session, work.plan(0), set("abc"))
    assert done.rewind == ""
    assert [work.read(name) for name in "abc"] == ["two\n"] * 3


def test_a_planted_log_names_no_other_file(work: Work, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("two\n")
    (work.folder / "a.txt").write_text("one\n")
    work.turn(a_txt="two\n")
    work.session.close()
    path = work.session.path
    text = path.read_text("utf-8")
    for name in ("../secret", str(tmp_path / "secret"), "a\\u0000b", ".."):
        path.write_text(text.replace('"path":"a.txt"', f'"path":"{name}"'), "utf-8")
        with work.store.open(work.session.id) as session:
            made = plan(session, 0)
            assert not made.offered
            restore(session, made, {one.path for one in made.files})
    assert (tmp_path / "secret").read_text() == "two\n"


def test_another_sessions_files_are_not_offered(work: Work, tmp_path: Path) -> None:
    (work.folder / "a.txt").write_text("one\n")
    other = Work(work.store, work.folder)
    other.turn(a_txt="two\n", b_txt="new\n")
    work.turn(c_txt="mine\n")
    assert [one.path for one in work.plan(0).files] == ["c.txt"]
    assert [one.path for one in other.plan(0).files] == ["a.txt", "b.txt"]
    work.turn(a_txt="three\n")
    assert [one.reason for one in other.plan(0).files] == [CHANGED, None]
    other.session.close()


def test_hidden_files_and_git_are_files_like_others(work: Work) -> None:
    (work.folder / ".git").mkdir()
    (work.folder / ".git" / "config").write_text("one\n")
    work.session.context.add(ContextItem(ItemType.USER, "words"))
    work.write(".git/config", "two\n")
    work.write(".env", "KEY=1\n")
    assert [(one.path, one.fate) for one in work.plan(0).files] == [
        (".git/config", "restore"), (".env", "delete")
    ]  # fmt: skip


def test_a_write_that_a_crash_prevented_counts_for_nothing(work: Work) -> None:
    """The log announces it; the file is as it was before, or as it should be."""
    (work.folder / "a.txt").write_text("one\n")
    work.turn(a_txt="two\n")
    work.session.close()
    path = work.session.path
    whole = path.read_bytes()
    lines = [one for one in whole.splitlines(keepends=True) if b'"file_written"' not in one]
    for text, expected in (("two\n", "restore"), ("one\n", None), ("x\n", "stays")):
        path.write_bytes(b"".join(lines))
        (work.folder / "a.txt").write_text(text)
        with work.store.open(work.session.id) as session:
            assert [one.fate for one in plan(session, 0).files] == ([expected] if expected else [])


def test_binary_files_are_restored(work: Work) -> None:
    data = bytes(range(256)) * 10
    (work.folder / "a.bin").write_bytes(data)
    version = work.files.stat("a.bin").version
    work.files.save("a.bin", b"\0\1", expected=version)
    (change,) = work.plan(0).files
    assert (change.diff(), change.counts()) == ("", None)
    restore(work.session, work.plan(0), {"a.bin"})
    assert (work.folder / "a.bin").read_bytes() == data


def test_turns_are_the_persons_own_messages(work: Work) -> None:
    context = work.session.context
    work.turn("first words", a_txt="one\n", b_txt="one\n")
    for text in (
        "(The person did this since your last step: todo_1.add.)",
        "(Reported by terminal_1: done)",
    ):
        context.add(ContextItem(ItemType.USER, text))
        context.add(ContextItem(ItemType.ASSISTANT, "I see"))
        context.end_turn()
    context.add(ContextItem(ItemType.USER, "list of files", id=BESIDE + "files-1"))
    context.add(ContextItem(ItemType.USER, "(The person did this since your last step: x.)"))
    work.write("a.txt", "two\n")
    work.turn("second\nwords", a_txt="three\n")
    context.add(ContextItem(ItemType.USER, "unanswered"))
    record = read_record(work.session.path, lambda text: not is_report(text))
    assert [(one.number, one.message, one.files, one.has_ended) for one in record.turns] == [
        (0, "", 0, True),
        (1, "first words", 2, True),
        (4, "second\nwords", 1, True),
        (5, "unanswered", 0, False),
    ]
    assert all(one.when is not None for one in record.turns)


def test_a_message_that_looks_like_an_entry_is_none(work: Work) -> None:
    fake = json.dumps({"type": "system", "subtype": "file_write", "data": {"path": "x"}})
    work.turn(fake + '"turn_end" "file_write" "file_written"')
    record = read_record(work.session.path)
    assert [one.number for one in record.turns] == [0, 1]
    assert record.writes == []


def test_a_session_without_a_folder_has_no_files(tmp_path: Path) -> None:
    with SessionStore(tmp_path / "home").create("/no/such/folder") as session:
        session.context.add(ContextItem(ItemType.USER, "words"))
        assert plan(session, 0).files == ()
        assert restore(session, plan(session, 0), {"a"}).count == 0
