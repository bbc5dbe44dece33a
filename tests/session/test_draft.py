"""What the person has typed and not sent: kept with the session, never part of the talk (G07)."""

from pathlib import Path

import pytest

from contextui import SessionStore
from tests.context.conversation import wire
from tests.session.talk import store_in
from tests.session.test_crash import talking

DRAFT = "half a thou"


@pytest.fixture
def store(tmp_path: Path) -> SessionStore:
    return store_in(tmp_path, checkpoint_every=3)


def test_a_draft_is_restored_and_is_not_an_item(store: SessionStore) -> None:
    with talking(store.create("/p")) as talk:
        talk.turn("words", "an answer")
        before = wire(talk.composed())
        count = len(talk.context.get_all())
        for size in range(1, len(DRAFT) + 1):
            talk.session.keep_draft(DRAFT[:size])
        written = talk.session.path.stat().st_size
        talk.session.keep_draft(DRAFT)  # it is there already
        assert talk.session.path.stat().st_size == written
        assert wire(talk.composed()) == before
    with talking(store.open(talk.session.id)) as again:
        assert again.session.draft == DRAFT
        assert again.session.notices == []
        assert len(again.context.get_all()) == count
        assert wire(again.composed()) == before


def test_a_draft_outlasts_checkpoints(store: SessionStore) -> None:
    with talking(store.create("/p")) as talk:
        talk.session.keep_draft(DRAFT)
        talk.turns(6)
    with talking(store.open(talk.session.id)) as again:
        assert again.session.draft == DRAFT
        again.session.keep_draft("")
        again.turn("words", "an answer")
    with talking(store.open(talk.session.id)) as again:
        assert again.session.draft == ""


def test_a_sent_draft_is_cleared(store: SessionStore) -> None:
    """Even if the program is killed before it could say so."""
    with talking(store.create("/p")) as talk:
        talk.session.keep_draft(f" {DRAFT}\n")
        talk.say(DRAFT)
    with talking(store.open(talk.session.id)) as again:
        assert again.session.draft == ""


def test_a_session_with_nothing_but_a_draft_is_found_again(store: SessionStore) -> None:
    with store.create("/p") as session:
        session.keep_draft(DRAFT)
    with store.create("/p") as other:
        other.keep_draft(DRAFT)
        other.keep_draft("")  # and deleted again
    latest = store.latest("/p")
    assert latest is not None
    assert latest.id == session.id


def test_a_closed_session_is_left_alone(store: SessionStore) -> None:
    """A timer of the screen may come late: others may have the session by then."""
    with store.create("/p") as session:
        session.keep_draft(DRAFT)
    before = session.path.read_bytes()
    session.keep_draft("more")
    assert session.save()
    session.close()
    assert session.unsaved == 0
    assert session.path.read_bytes() == before
    store.open(session.id).close()
