"""The catalogue of sessions, titles, and the trash."""

import os
import time
from pathlib import Path

import pytest

from contextui.context.item import ContextItem, ItemType
from contextui.errors import ContextUIError
from contextui.files.diff import DiffCounts
from contextui.session.catalogue import Catalogue, Place
from contextui.session.log import SessionLockedError
from contextui.session.session import SessionOptions
from contextui.session.store import SessionStore
from contextui.session.trash import KEPT_DAYS, delete, empty_trash, restore
from contextui.windows.todo.window import TodoWindow


def store_in(home: Path) -> SessionStore:
    return SessionStore(home, SessionOptions(classes=[TodoWindow]))


def talked(home: Path, words: str, folder: str = "/src/shop") -> str:
    """A session with one turn; its id."""
    with store_in(home).create(folder) as session:
        session.context.add(ContextItem(ItemType.USER, words))
        session.context.add(ContextItem(ItemType.ASSISTANT, f"Answer to {words}"))
        session.context.end_turn()
        return session.id


def place_of(catalogue: Catalogue, session_id: str) -> Place:
    return next(one for one in catalogue.places() if one.id == session_id)


def test_a_head_has_what_a_list_shows(tmp_path: Path) -> None:
    session_id = talked(tmp_path, "Merge two carts")
    catalogue = Catalogue(tmp_path)
    (place,) = catalogue.places("/src/shop")
    head = catalogue.head(place)
    assert (head.place.id, head.title, head.cwd) == (session_id, "Merge two carts", "/src/shop")
    assert (head.turns, head.origin, head.is_empty, head.problem) == (1, None, False, None)
    assert catalogue.places("/src/other") == []


def test_a_head_has_the_cost_of_all_requests_if_prices_were_known(tmp_path: Path) -> None:
    free: dict[str, float] = {"input_tokens": 10}
    for usages in ([free | {"cost_usd": 0.25}, free | {"cost_usd": 1.0}], [free]):
        with store_in(tmp_path).create("/src/shop") as session:
            session.context.add(ContextItem(ItemType.USER, "words"))
            for usage in usages:
                session.context.report_usage(10, usage)
    catalogue = Catalogue(tmp_path)
    found = {catalogue.head(place).cost for place in catalogue.places()}
    assert found == {1.25, None}


def test_only_what_is_asked_for_is_read(tmp_path: Path) -> None:
    for number in range(5):
        talked(tmp_path, f"number {number}")
    catalogue = Catalogue(tmp_path)
    places = catalogue.places()
    assert [catalogue.known(place) for place in places] == [None] * 5
    head = catalogue.head(places[0])
    assert catalogue.head(places[0]) is head
    assert [catalogue.known(place) for place in places] == [head, *[None] * 4]


def test_a_title_is_kept_over_checkpoints_and_resumes(tmp_path: Path) -> None:
    session_id = talked(tmp_path, "first words")
    catalogue = Catalogue(tmp_path)
    place = place_of(catalogue, session_id)
    os.utime(place.path, (1_000, 1_000))
    place = place_of(catalogue, session_id)
    renamed = catalogue.rename(place, "  A better\ntitle  ")
    assert renamed.used == 1_000
    assert catalogue.head(place_of(catalogue, session_id)).title == "A better title"
    with store_in(tmp_path).open(session_id) as session:
        assert session.title == "A better title"
        session._recorder.checkpoint()
    with store_in(tmp_path).open(session_id) as session:
        assert session.title == "A better title"
        session.rename("Third")
    assert Catalogue(tmp_path).head(place_of(catalogue, session_id)).title == "Third"


def test_a_session_that_is_open_is_neither_renamed_nor_deleted(tmp_path: Path) -> None:
    session_id = talked(tmp_path, "busy")
    catalogue = Catalogue(tmp_path)
    with store_in(tmp_path).open(session_id):
        place = place_of(catalogue, session_id)
        with pytest.raises(SessionLockedError):
            catalogue.rename(place, "x")
        with pytest.raises(SessionLockedError):
            delete(place.path, catalogue.home)
    assert catalogue.head(place_of(catalogue, session_id)).title == "busy"


def test_a_deleted_session_comes_back_whole(tmp_path: Path) -> None:
    session_id = talked(tmp_path, "keep me")
    catalogue = Catalogue(tmp_path)
    place = place_of(catalogue, session_id)
    (place.path.with_suffix("") / "editor_1").mkdir(parents=True)
    (place.path.with_suffix("") / "editor_1" / "draft").write_text("unsaved")
    before = place.path.read_bytes()
    deleted = delete(place.path, catalogue.home)
    assert catalogue.places() == []
    assert not place.path.with_suffix("").exists()
    assert not place.path.with_suffix(".lock").exists()
    with pytest.raises(ContextUIError, match="Not deleted"):
        delete(place.path, catalogue.home)
    restore(deleted)
    assert catalogue.places() == [place]
    assert place.path.read_bytes() == before
    assert (place.path.with_suffix("") / "editor_1" / "draft").read_text() == "unsaved"
    with pytest.raises(ContextUIError, match="Not restored"):
        restore(deleted)
    assert (place.path.stat().st_mode & 0o077, (tmp_path / "trash").stat().st_mode & 0o077) == (
        0,
        0,
    )


def test_the_trash_is_emptied_after_thirty_days(tmp_path: Path) -> None:
    catalogue = Catalogue(tmp_path)
    deleted = delete(place_of(catalogue, talked(tmp_path, "old")).path, catalogue.home)
    (tmp_path / "trash" / "something else").mkdir()
    assert empty_trash(tmp_path, lambda: time.time() + (KEPT_DAYS - 1) * 86_400) == 0
    assert deleted.kept.exists()
    assert empty_trash(tmp_path, lambda: time.time() + (KEPT_DAYS + 1) * 86_400) == 1
    assert [one.name for one in (tmp_path / "trash").iterdir()] == ["something else"]
    with pytest.raises(ContextUIError, match="Not restored"):
        restore(deleted)


def test_a_link_in_the_trash_is_not_followed(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "file").write_text("x")
    (tmp_path / "trash").mkdir()
    (tmp_path / "trash" / "1-00000000").symlink_to(precious)
    empty_trash(tmp_path)
    assert (precious / "file").exists()


def test_a_fork_names_its_parent_and_its_own_words(tmp_path: Path) -> None:
    session_id = talked(tmp_path, "Merge two carts")
    store = store_in(tmp_path)
    with store.fork(session_id) as fork:
        fork.context.add(ContextItem(ItemType.USER, "keep both skus"))
    catalogue = Catalogue(tmp_path)
    head = catalogue.head(place_of(catalogue, fork.id))
    assert head.origin is not None
    assert (head.origin.parent, head.origin.turn) == (session_id, None)
    assert (head.title, head.since_fork) == ("Merge two carts", "keep both skus")
    catalogue.rename(place_of(catalogue, fork.id), "Both skus")
    assert catalogue.head(place_of(catalogue, fork.id)).since_fork == "Both skus"


def test_a_preview_has_windows_and_last_words(tmp_path: Path) -> None:
    with store_in(tmp_path).create("/src/shop") as session:
        session.windows.open("todo")
        session.windows.open("todo")
        for words in ("first", "second"):
            session.context.add(ContextItem(ItemType.USER, words))
            session.context.add(ContextItem(ItemType.ASSISTANT, f"Answer to {words}"))
            session.context.end_turn()
        session.windows.close("todo_1")
        session.keep_draft("not sent")
    catalogue = Catalogue(tmp_path)
    preview = catalogue.preview(catalogue.places()[0])
    assert [name for name, _ in preview.windows] == ["todo_2"]
    assert (preview.said, preview.answered) == ("second", "Answer to second")
    assert preview.draft == "not sent"


def test_a_preview_counts_the_lines_of_the_files_that_were_written(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / "a.txt").write_bytes(b"one\ntwo\nthree\n")
    with store_in(tmp_path / "home").create(work) as session:
        files = session.windows.workspace
        assert files is not None
        for text in (b"one\n2\n", b"one\n2\n3\n4\n"):
            files.save("a.txt", text, expected=files.open_text("a.txt").version)
        files.save("new.txt", b"new\n", expected=None)
        files.save("other.txt", b"mine\n", expected=None)
    (work / "other.txt").write_bytes(b"of another program\n")
    catalogue = Catalogue(tmp_path / "home")
    preview = catalogue.preview(catalogue.places()[0])
    assert dict(zip(preview.files, preview.counts, strict=True)) == {
        "a.txt": DiffCounts(3, 2),
        "new.txt": DiffCounts(1, 0),
        "other.txt": None,  # what the session wrote is not there any more
    }


@pytest.mark.parametrize(
    "data",
    [b"\n", b"not json\n" * 50, b'{"subtype":"title"}\n', b'{"subtype":"turn_end","data":5}\n' * 9,
     b'{"uuid":"a","type":"system","subtype":"title","data":{"text":7}}\n', b"\x00" * 5_000],
)  # fmt: skip
def test_odd_logs_harm_nothing(tmp_path: Path, data: bytes) -> None:
    session_id = talked(tmp_path, "good")
    catalogue = Catalogue(tmp_path)
    path = place_of(catalogue, session_id).path
    path.write_bytes(path.read_bytes() + data)
    other = path.with_name("odd.jsonl")
    other.write_bytes(data)
    for place in catalogue.places():
        catalogue.head(place)
        catalogue.preview(place)
    assert catalogue.head(place_of(catalogue, session_id)).title == "good"


def test_a_log_that_vanishes_is_reported(tmp_path: Path) -> None:
    catalogue = Catalogue(tmp_path)
    place = place_of(catalogue, talked(tmp_path, "gone"))
    place.path.unlink()
    assert catalogue.head(place).problem is not None
    with pytest.raises(ContextUIError):
        catalogue.preview(place)
    with pytest.raises(ContextUIError):
        catalogue.rename(place, "x")
    assert not place.path.exists()
