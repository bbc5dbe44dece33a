"""Following a log: its new entries give the state that a fresh look at the session has."""

import json
import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from contextui import ContextItem, ItemType, SessionStore
from contextui.context.messages import debug_line
from contextui.session.follow import Follower, RequestCost, Restarted, Update
from contextui.session.session import Session
from contextui.session.store import SessionView
from contextui.session.usage import Sweep
from tests.counting import count_calls
from tests.session.talk import Talk, store_in
from tests.session.test_recall import recall
from tests.session.writer import Writer


class Screen:
    """What someone who follows a session has seen: the last line of each item."""

    opened: list["Screen"] = []

    def __init__(self, store: SessionStore, session: Session) -> None:
        self.opened.append(self)
        self.follower = Follower(store, session.id, self.warned)
        self.lines: dict[int, str] = {}
        self.others: list[Update] = []
        self.notices: list[str] = []

    def warned(self, notice: str) -> None:
        self.notices.append(notice)

    def look(self) -> list[Update]:
        found = list(self.follower.poll())
        for update in found:
            if isinstance(update, ContextItem):
                self.lines[update.seq] = debug_line(update)
                continue
            self.others.append(update)
            if isinstance(update, Restarted):
                self.lines.clear()
        return found

    @property
    def shown(self) -> list[str]:
        return [self.lines[seq] for seq in sorted(self.lines)]


def fresh(store: SessionStore, session: Session) -> list[str]:
    view = store.view(session.id)
    view.close()
    return [debug_line(item) for item in view.items()]


@pytest.fixture(autouse=True)
def _close_screens() -> Iterator[None]:
    yield
    while Screen.opened:
        Screen.opened.pop().follower.close()


@pytest.fixture
def store(tmp_path: Path) -> SessionStore:
    return store_in(tmp_path)


@pytest.fixture
def session(store: SessionStore) -> Iterator[Session]:
    with store.create("/p") as session:
        Talk(session).turn("hello", "hi")
        yield session


def append(session: Session, *entries: dict[str, Any]) -> None:
    """Write entries as a newer version of the program would."""
    with session.path.open("ab") as file:
        for number, entry in enumerate(entries):
            common = {"uuid": f"x{number}", "type": "system", "sessionId": session.id}
            file.write(json.dumps({**common, **entry}).encode() + b"\n")


@pytest.mark.parametrize(
    "seed", [1, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(2, 11))]
)
def test_whatever_happens_the_lines_are_those_of_a_fresh_look(tmp_path: Path, seed: int) -> None:
    store, dice = store_in(tmp_path, checkpoint_every=60), random.Random(seed)
    talk = Writer(store.create("/p"), dice)
    talk.turn("hello", "hi")
    screen = Screen(store, talk.session)
    for number in range(50):
        talk.step()
        if dice.random() < 0.05:
            active = list(talk.context.get_active())
            talk.context.end_turn()
            talk.context.compact([one for one in active if one.type is not ItemType.SYSTEM], "So.")
        if dice.random() < 0.05:
            talk.session.close()
            talk.take(store.open(talk.session.id))
        if dice.random() < 0.5:
            screen.look()
        if number % 10 == 0:
            screen.look()
            assert screen.shown == fresh(store, talk.session)
    talk.session.close()
    screen.look()
    assert screen.shown == fresh(store, talk.session)
    assert not any(isinstance(one, Restarted) for one in screen.others)


def test_marks_that_turn_are_shown_again(store: SessionStore, session: Session) -> None:
    talk, screen = Talk(session), Screen(store, session)
    screen.look()
    opened = talk.open("milk").id
    screen.look()
    (item,) = session.context.window_items(opened)
    assert screen.lines[item.seq] == f"[✓] [{item.seq:04}] Window: {opened}"
    session.windows.close(opened)
    assert [debug_line(one) for one in screen.look() if isinstance(one, ContextItem)] == [
        f"[X] [{item.seq:04}] Window: {opened}"
    ]
    words = session.context.get_all()[0]
    for change, mark in ((session.context.drop, "[X]"), (session.context.restore, "[✓]")):
        change(words.id)
        assert [debug_line(one) for one in screen.look()] == [f"{mark} [0001] User: hello"]  # type: ignore[arg-type]


def test_an_item_that_comes_back_from_the_log_is_shown(store: SessionStore) -> None:
    with store.create("/p") as session:
        talk = Talk(session)
        talk.turn("the first words", "yes")
        talk.context.compact(list(talk.context.get_all()), "So.", trigger="strategy")
        talk.turn("go on", "yes")
        session._recorder.checkpoint()
    with store.open(session.id) as session:
        screen = Screen(store, session)
        screen.look()
        assert screen.lines[1] == "[X] [0001] User: the first words"
        session.context.restore(recall(store, session, 1).id)
        screen.look()
        assert screen.lines[1] == "[✓] [0001] User: the first words"
        assert screen.shown == fresh(store, session)


def test_only_new_bytes_are_read_and_an_idle_log_costs_one_look(
    store: SessionStore, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk, screen = Talk(session), Screen(store, session)
    talk.turn("x" * 500_000, "long")
    screen.look()
    assert screen.look() == []
    calls = count_calls(monkeypatch, "stat", "open", "lstat", "scandir")
    for _ in range(10):
        assert screen.look() == []
    assert calls == {"stat": 10}
    position = screen.follower._position
    talk.turn("short", "yes")
    found = screen.look()
    assert [one.content for one in found if isinstance(one, ContextItem)][:2] == ["short", "yes"]
    assert screen.follower._position > position > 500_000


def test_a_line_that_is_being_written_is_waited_for(store: SessionStore, session: Session) -> None:
    talk, screen = Talk(session), Screen(store, session)
    screen.look()
    talk.turn("what is next?", "this")
    whole, before = session.path.read_bytes(), screen.follower._position
    for end in (before + 1, before + 100, len(whole) - 1, len(whole)):
        os.truncate(session.path, before)
        with session.path.open("r+b") as file:
            file.seek(0, os.SEEK_END)
            file.write(whole[before:end])
        screen.look()
    assert screen.shown == fresh(store, session)
    assert screen.lines[3] == "[✓] [0003] User: what is next?"
    assert screen.notices == []


def test_a_log_that_grows_while_it_is_read_is_shown_in_its_order(
    store: SessionStore, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk, screen, view = Talk(session), Screen(store, session), store.view
    screen.look()

    def growing(session_id: str) -> SessionView:
        talk.turn("and this?", "that")
        return view(session_id)

    talk.turn("what is next?", "this")
    monkeypatch.setattr(store, "view", growing)
    names = [getattr(one, "content", "request") for one in screen.look()]
    turns = ("what is next?", "this", "request"), ("and this?", "that", "request")
    assert names == [*turns[0], *turns[1]]
    monkeypatch.undo()
    assert screen.look() == []


def test_a_log_that_is_repaired_is_shown_again(store: SessionStore, session: Session) -> None:
    talk, screen = Talk(session), Screen(store, session)
    screen.look()
    session.path.rename(session.path.with_suffix(".gone"))
    assert screen.look() == []
    talk.turn("still there?", "yes")
    found = screen.look()
    assert isinstance(found[0], Restarted)
    assert screen.shown == fresh(store, session)
    assert len(screen.shown) == 4
    session.path.write_bytes(b"")  # truncated by another program
    screen.look()
    talk.turn("and now?", "yes")
    screen.look()
    assert screen.shown == fresh(store, session)
    assert screen.lines[5] == "[✓] [0005] User: and now?"


def test_damaged_and_unknown_entries_are_skipped(store: SessionStore, session: Session) -> None:
    screen = Screen(store, session)
    screen.look()
    with session.path.open("ab") as file:
        file.write(b"\n\xff\xfe not JSON\n[]\n{}\n")
    append(
        session,
        {"subtype": "something_new", "data": {"a": 1}},
        {"subtype": "change", "data": {"operation": "drop", "itemIds": ["?"], "fields": {}}},
        {"type": "user", "message": {"role": "user", "content": "x"}, "data": {"seq": 99}},
    )
    screen.look()
    assert screen.shown == fresh(store, session)


REQUEST: dict[str, Any] = {"throughSeq": 2, "waitingIds": []}
SWEEP = {"after": 3, "reason": "closed", "rent": 12.5, "price": 8, "saved": 120}
PLAN = {"number": 7, "time": 1.5, "model": "m", "head": "h", "marks": [1], "outdated": 30}
USAGE = {"input_tokens": 10, "output_tokens": 5, "cache_read_input_tokens": 80}


def request(**plan: Any) -> dict[str, Any]:
    return {"subtype": "request", "data": {**REQUEST, "plan": {**PLAN, "sweep": None, **plan}}}


def usage(**given: Any) -> dict[str, Any]:
    return {"subtype": "usage", "data": {"counted": 95, "usage": given}}


def others(store: SessionStore, session: Session, *entries: dict[str, Any]) -> list[Update]:
    screen = Screen(store, session)
    screen.look()
    append(session, *entries)
    screen.look()
    return screen.others


def test_requests_have_a_cost_and_sweeps_a_reason(store: SessionStore, session: Session) -> None:
    assert others(store, session, request(sweep=SWEEP), usage(**USAGE)) == [
        Sweep(after=3, reason="closed", rent=12.5, price=8.0, saved=120),
        RequestCost(number=7, sent=90, cached=80, outdated=30, received=5),
    ]


def test_a_request_without_usage_is_shown_later(store: SessionStore, session: Session) -> None:
    ended = {"subtype": "turn_end", "data": {"turn": 2, "early": False}}
    assert others(store, session, request(), request(number=8), ended) == [
        RequestCost(number=7, outdated=30),
        RequestCost(number=8, outdated=30),
    ]


def test_logs_of_older_versions_have_usage_alone(store: SessionStore, session: Session) -> None:
    old = {"subtype": "request", "data": REQUEST}
    assert others(store, session, old, usage(**USAGE), old, usage(), old) == [
        RequestCost(sent=90, cached=80, received=5),
        RequestCost(sent=95, is_estimate=True),
    ]


@pytest.mark.parametrize(
    "plan",
    [
        None, [], "x", 7,
        {"number": -1, "outdated": "x", "sweep": []},
        {"number": True, "outdated": 1.5, "sweep": "x"},
        {"number": 10**30, "outdated": None},
    ],
)  # fmt: skip
def test_a_plan_of_odd_form_is_ignored(store: SessionStore, session: Session, plan: Any) -> None:
    entry = {"subtype": "request", "data": {**REQUEST, "plan": plan}}
    assert others(store, session, entry) == []


def test_a_sweep_of_another_form_says_what_it_can(store: SessionStore, session: Session) -> None:
    odd = {"after": "x", "reason": 7, "rent": True, "price": 10**40, "saved": None}
    assert others(store, session, request(sweep=odd)) == [Sweep()]
