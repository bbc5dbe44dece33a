"""What went wrong once, or might: each of these was a way to lose something."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from contextui import ContextItem, ItemType, SessionStore
from contextui.events import Event
from contextui.session.entry import decode, encode
from contextui.session.restore import NotASessionError, UnknownTurnError
from contextui.session.store import UnknownSessionError
from tests.context.conversation import wire
from tests.session.talk import store_in
from tests.session.test_crash import talking
from tests.session.test_log import fields
from tests.windowing.samples import together


@pytest.fixture
def store(tmp_path: Path) -> SessionStore:
    return store_in(tmp_path, checkpoint_every=5)


def placed(store: SessionStore, data: bytes) -> Path:
    path = store.home / "projects" / "-a" / "one.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(data)
    return path


@pytest.mark.parametrize(
    "data", [b'{"a":1}', b"plain text", b"\x7fELF\x00\x01", b'{"a":1}\n{"b":', b"\n\n{"]
)
def test_a_file_of_another_program_is_not_even_repaired(store: SessionStore, data: bytes) -> None:
    path = placed(store, data)
    for attempt in (store.open, store.fork, store.view):
        with pytest.raises(NotASessionError):
            attempt("one")
    assert path.read_bytes() == data


def test_a_header_that_a_crash_cut_short_is_a_session(store: SessionStore) -> None:
    placed(store, encode(fields(1))[:30])
    with store.open("one") as session:
        session.context.add(ContextItem(ItemType.USER, "begin"))
    with store.open("one") as again:
        assert [item.content for item in again.context.get_all()] == ["begin"]


def test_a_line_changed_by_hand_costs_that_line(store: SessionStore) -> None:
    """Though everything behind it is at other offsets than the checkpoints name."""
    with talking(store.create("/p")) as talk:
        talk.turns(12)
    lines = talk.session.path.read_bytes().split(b"\n")
    which = next(n for n, line in enumerate(lines) if b'"words 2"' in line)
    lines[which] = b"[redacted]"
    talk.session.path.write_bytes(b"\n".join(lines))
    with store.open(talk.session.id) as again:
        assert len(again.context.get_all()) == 23
        assert "Left out as damaged: 1 line, the first at byte " in again.notices[0]


def test_blocks_of_a_result_come_back(store: SessionStore) -> None:
    image = {"type": "image", "source": {"type": "base64", "data": "AAAA"}}
    with talking(store.create("/p")) as talk:
        talk.say("look")
        talk.call(1)
        call = talk.waiting.pop()
        blocks: list[dict[str, Any]] = [{"type": "text", "text": "seen"}, image]
        talk.context.add(ContextItem(ItemType.TOOL, blocks=blocks, tool_call_id=call))
        composed = wire(talk.composed())
    with store.open(talk.session.id) as again:
        assert wire(again.context.compose().messages) == composed


@pytest.mark.parametrize("turn", [0, -1, 99])
def test_a_turn_that_never_was_is_a_clear_error(store: SessionStore, turn: int) -> None:
    with talking(store.create("/p")) as talk:
        talk.turns(4)
    there = set(talk.session.path.parent.iterdir())
    attempts = (store.view, store.fork) if turn else (store.view,)  # a fork may begin at turn 0
    for attempt in attempts:
        with pytest.raises(UnknownTurnError, match=f"There is no turn {turn}"):
            attempt(talk.session.id, turn)
    assert set(talk.session.path.parent.iterdir()) <= there


def test_stray_things_among_the_logs_do_not_block(store: SessionStore) -> None:
    with store.create("/p") as session:
        session.context.add(ContextItem(ItemType.USER, "hello"))
    folder = session.path.parent
    os.mkfifo(folder / "fifo.jsonl")
    (folder / "folder.jsonl").mkdir()
    (folder / "dangling.jsonl").symlink_to(folder / "nowhere")
    (folder / "empty.jsonl").touch()
    (folder / "binary.jsonl").write_bytes(bytes(range(256)))
    assert session.id in {info.id for info in store.list()}
    latest = store.latest("/p")
    assert latest is not None
    assert latest.id == session.id
    for name in ("fifo", "folder", "dangling", "empty"):
        with pytest.raises(UnknownSessionError):
            store.open(name)


def test_a_number_that_no_reader_takes_is_a_placeholder_and_damage_when_read() -> None:
    written = json.loads(encode({**fields(1), "data": {"huge": 10**5_000}}))
    assert written["data"] == {"huge": "[a very large number]"}
    line = encode(fields(1)).replace(b'"timestamp"', b'"n":' + b"9" * 5_000 + b',"timestamp"')
    with pytest.raises(Exception, match="not JSON"):
        decode(line)


def test_a_second_reference_after_a_drop_comes_back_as_it_was(store: SessionStore) -> None:
    with talking(store.create("/p")) as talk:
        window = talk.open("a")
        first = talk.context.get_all()[0]
        talk.context.drop(first.id)
        talk.context.add(ContextItem(ItemType.WINDOW, window.id))
        assert first.hidden == "replaced"
    with store.open(talk.session.id) as again:
        assert again.context.get(first.id).hidden == "replaced"


def test_listeners_of_context_and_windows_cannot_wait_for_each_other(store: SessionStore) -> None:
    with talking(store.create("/p")) as talk:
        window = talk.open("a")
        other = talk.open("b")

        def look(event: Event) -> None:
            talk.windows.focus(window.id)
            talk.windows.focus(other.id)

        talk.context.subscribe(look)

        def add() -> None:
            for number in range(60):
                talk.context.add(ContextItem(ItemType.USER, f"words {number}"))

        def open_and_close() -> None:
            for _ in range(30):
                talk.windows.close(talk.open("c").id)

        together(add, open_and_close)
        composed = wire(talk.composed())
    with store.open(talk.session.id) as again:
        assert wire(again.context.compose().messages) == composed
