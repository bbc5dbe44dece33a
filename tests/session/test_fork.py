"""Forks: the same windows and items as the other session had then, which is not touched."""

import json
import os
import random
import stat
from pathlib import Path

import pytest

from contextui import ContextItem, ItemType
from contextui.session.fork import KEPT
from tests.context.conversation import wire
from tests.session.talk import Talk, same_state, store_in
from tests.session.test_crash import Entries, talking
from tests.session.test_log import disk_full
from tests.session.test_versions import write
from tests.session.writer import Writer
from tests.thorough import times


def test_the_header_says_where_a_fork_comes_from(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    with store.create("/project") as session:
        talk = Talk(session)
        talk.turns(3)
        before = session.path.read_bytes()
        one, all_of_it = store.make_fork(session.id, 2), store.make_fork(session.id)
        assert session.path.read_bytes() == before
    assert store.find(session.id).origin is None
    assert store.find(one).origin == (session.id, 2)
    assert store.find(all_of_it).origin == (session.id, None)
    for made in (one, all_of_it):
        info = store.find(made)
        assert info.first_words == store.find(session.id).first_words
        assert info.cwd == "/project"
        assert info.updated > store.find(session.id).updated
        entries = Entries(info.path)
        assert entries.read_on() == b""  # whole lines, each the successor of the one before
    with store.open(one) as session:
        assert session.turn == 2
    again = store.make_fork(one, 1)
    assert store.find(again).origin == (one, 1)


def test_turn_0_is_the_start_without_any_message(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    with talking(store.create("/project")) as talk:
        window = talk.open("a line").id
        talk.turn("words", "answer")
        talk.write(window, "another line")
    with store.fork(talk.session.id, 0) as start:
        assert start.turn == 0
        assert [one.type for one in start.context.get_all()] == [ItemType.WINDOW]
        assert [one.id for one in start.windows.windows()] == [window]


@pytest.mark.parametrize("seed", range(times(1, 12)))
def test_a_fork_of_any_turn_is_the_session_as_it_was(tmp_path: Path, seed: int) -> None:
    """Through checkpoints, whose offsets differ in the copy; a fork of it and a look at it too."""
    store, dice = store_in(tmp_path, checkpoint_every=25), random.Random(seed)
    composed: dict[int, bytes] = {}
    with store.create("/project") as session:
        writer = Writer(session, dice)
        while len(composed) < 25:
            writer.step()
            if dice.randrange(4) == 0:
                writer.say("and")
                writer.send()
                writer.answer("yes")
                writer.context.end_turn()
                composed[writer.session.turn] = wire(writer.composed())
    assert session.path.read_bytes().count(b'"subtype":"checkpoint"') > 3
    for turn in sorted(dice.sample(sorted(composed), 4)):
        first = store.make_fork(session.id, turn)
        second = store.make_fork(first)
        view = store.view(session.id, turn)
        assert (view.notices, wire(view.context.compose().messages)) == ([], composed[turn])
        view.close()
        for made in (first, second):
            with store.open(made) as again:
                talk = Talk(again)
                assert again.notices == []
                assert again.turn == turn
                assert wire(talk.composed()) == composed[turn]
                assert again._recorder.loaded.parsed < 400


def test_the_checkpoints_of_a_fork_are_used(tmp_path: Path) -> None:
    store = store_in(tmp_path, checkpoint_every=20)
    with store.create("/project") as session:
        talk = Talk(session)
        window = talk.open("line").id
        for number in range(30):
            talk.write(window, f"line {number}")
            talk.turn(f"words {number}", "answer")
    short = session.path.with_name("abc123.jsonl")  # its lines are shorter than those of a fork
    short.write_bytes(session.path.read_bytes().replace(session.id.encode(), b"abc123"))
    with store.open(short.stem) as session, store.fork(short.stem) as copy:
        assert copy.notices == []
        same_state(Talk(session), Talk(copy))
        assert copy._recorder.loaded.parsed <= session._recorder.loaded.parsed + 1


def test_a_damaged_checkpoint_stays_damaged(tmp_path: Path) -> None:
    store = store_in(tmp_path, checkpoint_every=10)
    with talking(store.create("/project")) as talk:
        talk.turns(12)
        expected = wire(talk.composed())
    path = store.find(talk.session.id).path
    text = path.read_bytes()
    assert b'"ratio":1.0' in text
    path.write_bytes(text.replace(b'"ratio":1.0', b'"ratio":9.0'))
    with store.fork(talk.session.id) as copy:
        assert copy.context.counter.ratio == 1.0
        assert wire(Talk(copy).composed()) == expected


def test_files_of_windows_go_along(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    with talking(store.create("/project")) as talk:
        stays, closed = talk.open("one").id, talk.open("two").id
        data = talk.session.path.with_suffix("")
        for window in (stays, closed):
            (data / window / "deep").mkdir(parents=True)
            (data / window / "deep" / "1.out").write_text(window)
        (data / stays / "link").symlink_to("/etc/passwd")
        talk.turn("words", "answer")
        later = talk.open("three").id
        (data / later).mkdir()
        (data / later / "2.out").write_text("later")
        talk.windows.close(closed)
        talk.turn("words", "answer")
        first, last = store.make_fork(talk.session.id, 1), store.make_fork(talk.session.id)
    folder = talk.session.path.parent
    assert (folder / first / stays / "deep" / "1.out").read_text() == stays
    assert not (folder / first / later).exists()
    assert not (folder / first / stays / "link").is_symlink()
    assert (folder / last / later / "2.out").read_text() == "later"
    assert not (folder / last / closed).exists()
    for made in (folder / first, folder / last):
        for one in [made, *made.rglob("*")]:
            expected = 0o700 if one.is_dir() else 0o600
            assert stat.S_IMODE(one.stat().st_mode) == expected, one


def test_a_planted_data_folder_is_not_followed(tmp_path: Path) -> None:
    store, elsewhere = store_in(tmp_path), tmp_path / "elsewhere"
    with talking(store.create("/project")) as talk:
        window = talk.open("one").id
        talk.turn("words", "answer")
    (elsewhere / window).mkdir(parents=True)
    (elsewhere / window / "secret").write_text("secret")
    data = talk.session.path.with_suffix("")
    os.symlink(elsewhere, data)
    made = store.make_fork(talk.session.id)
    assert not (talk.session.path.parent / made).exists()


def test_a_fork_that_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = store_in(tmp_path)
    with talking(store.create("/project")) as talk:
        window = talk.open("one").id
        folder = talk.session.path.with_suffix("") / window
        folder.mkdir(parents=True)
        (folder / "1.out").write_text("kept")
        talk.turn("words", "answer")
        there = sorted(talk.session.path.parent.iterdir())

        with monkeypatch.context() as patched:
            patched.setattr("contextui.session.fork.link_name", disk_full)
            with pytest.raises(OSError, match="No space"):
                store.make_fork(talk.session.id)
    assert [one for one in sorted(talk.session.path.parent.iterdir()) if one not in there] == []


def test_invented_origins_are_ignored(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    for parent, turn in (("../../etc", 3), (["x"], 3), ("abc", "many"), ("abc", -1), (None, None)):
        with store.create("/project") as session:
            session.context.add(ContextItem(ItemType.USER, "hello"))
        path = session.path
        first, *rest = path.read_bytes().splitlines()
        fields = json.loads(first)
        fields["data"] |= {"parent": parent, "turn": turn}
        path.write_bytes(b"\n".join([json.dumps(fields).encode(), *rest, b""]))
        origin = store.find(session.id).origin
        assert origin == (("abc", None) if parent == "abc" else None)
        with store.open(session.id) as again:
            assert again.context.get_all()[0].content == "hello"


def test_only_kept_versions_that_the_log_names_are_linked(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    with store.create(tmp_path) as session:
        Talk(session).turn("words", "answer")
        (tmp_path / "a.txt").write_text("named")
        write(session, "a.txt", b"new")
        (session.path.with_suffix("") / KEPT / ("a" * 64)).write_text("not named")
        before, made = store.make_fork(session.id, 0), store.make_fork(session.id)
    linked = (session.path.parent / made / KEPT).iterdir()
    assert [one.read_text() for one in linked] == ["named"]
    assert not (session.path.parent / before).exists()
