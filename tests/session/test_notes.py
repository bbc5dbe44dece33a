"""Notes of several sessions in one file: merged by the newest change, and never lost."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextui import Note, Notes, Workspace
from contextui.files.errors import FileChangedError
from contextui.files.textfile import Version
from contextui.session.notes import clean_tags

NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    with Workspace(tmp_path) as workspace:
        yield workspace


def written(notes: Notes, text: str, at: datetime = NOON) -> Note:
    note = notes.add()
    note.change(text=text)
    notes.stamp(note, at)
    return note


def texts(notes: Notes) -> dict[int, str]:
    return {note.id: note.text for note in notes.entries}


def test_a_note_is_found_by_its_number() -> None:
    for wanted in (2, "2", "#2", "entry-2", "Entry 2", " 02 "):
        notes = Notes()
        for text in ("one", "two"):
            written(notes, text)
        assert notes.find(wanted).text == "two", wanted


def test_what_was_changed_last_counts(workspace: Workspace) -> None:
    mine = Notes()
    for text in ("edited by them", "edited by me", "deleted by them", "deleted by me"):
        written(mine, text)
    mine.push(workspace, "notes.json")
    theirs = Notes()
    assert theirs.pull(workspace, "notes.json") is not None
    for number, hours in ((1, 2), (2, 1)):
        theirs.find(number).change(text="theirs")
        theirs.stamp(theirs.find(number), NOON + timedelta(hours=hours))
    theirs.delete(theirs.find(3), NOON)
    theirs.push(workspace, "notes.json")
    for number, hours in ((1, 1), (2, 2)):
        mine.find(number).change(text="mine")
        mine.stamp(mine.find(number), NOON + timedelta(hours=hours))
    mine.delete(mine.find(4), NOON)
    written(mine, "new")
    mine.push(workspace, "notes.json")
    assert texts(mine) == {1: "theirs", 2: "mine", 5: "new"}
    theirs.pull(workspace, "notes.json")
    assert texts(theirs) == texts(mine)


class Contested(Workspace):
    """A workspace in which others always write first."""

    saves = 0

    def save(self, *args: object, **kwargs: object) -> Version:
        self.saves += 1
        raise FileChangedError("notes.json", "")


def test_a_session_that_always_loses_the_race_gives_up(tmp_path: Path) -> None:
    contested = Contested(tmp_path)
    with contested, pytest.raises(FileChangedError):
        Notes().push(contested, "notes.json")
    assert contested.saves == 6


@given(st.lists(st.text(max_size=60), max_size=30))
def test_tags_are_few_short_and_each_there_once(tags: list[str]) -> None:
    clean = clean_tags(tags)
    assert len(clean) <= 20
    assert len({tag.casefold() for tag in clean}) == len(clean)
    assert all(0 < len(tag) <= 40 and "," not in tag and tag[0] != "#" for tag in clean)


def test_tags_are_the_same_in_any_case() -> None:
    note = Note(id=1, text="x")
    note.tag(["#db, Sql", "DB"])
    assert note.tags == ["DB", "Sql"]
    note.untag(["sql", "none"])
    assert note.tags == ["DB"]
    notes = Notes(entries=[note, Note(id=2, text="y")])
    assert notes.tags() == {"db": "DB"}
    assert [one.id for one in notes.tagged("db")] == [1]
    assert [one.id for one in notes.tagged(None)] == [1, 2]
