"""Compactions in sessions: written down, brought back, taken back, and killed in the middle."""

import asyncio
import json
import random
from pathlib import Path
from typing import Any

import pytest

from contextui.agent.models.scripted import ScriptedModel
from contextui.context.compaction.service import CompactionService
from contextui.context.item import ContextItem
from contextui.session.session import Session
from tests.context.compaction.long_talk import OUTLINE, tool_round
from tests.context.conversation import wire
from tests.session.talk import Talk, same_state, store_in
from tests.session.writer import Writer
from tests.thorough import times


def talk_in(folder: Path, rounds: int = 20) -> Talk:
    """A session with a window, tools and a pin in it."""
    talk = Talk(store_in(folder).create(folder))
    talk.system("Be brief.")
    talk.open("a note")
    for number in range(rounds):
        talk.turn(f"question {number}", f"answer {number}")
    tool_round(talk, "tools", 2)
    talk.context.pin(talk.context.get_active()[3].id)
    for number in range(3):
        talk.turn(f"later {number}", "yes")
    return talk


def compact(talk: Talk, words: str = OUTLINE) -> None:
    service = CompactionService(talk.context, ScriptedModel(words), 128_000)
    assert asyncio.run(service.compact("auto")).success == bool(words)


def reopened(talk: Talk, folder: Path) -> Talk:
    talk.session.close()
    return Talk(store_in(folder).open(talk.session.id))


def entries(session: Session) -> list[dict[str, Any]]:
    return [json.loads(line) for line in session.path.read_bytes().splitlines()]


def bytes_of(talk: Talk) -> bytes:
    return wire(talk.composed())


@pytest.mark.parametrize("words", [OUTLINE, ""])
def test_it_is_there_after_reopening_and_can_be_taken_back(tmp_path: Path, words: str) -> None:
    talk = talk_in(tmp_path)
    before = bytes_of(talk)
    compact(talk, words)
    after = bytes_of(talk)
    talk = reopened(talk, tmp_path)
    assert talk.session.notices == []
    assert bytes_of(talk) == after
    talk.context.undo()
    assert bytes_of(talk) == before
    talk = reopened(talk, tmp_path)  # the undo lasts as well
    assert bytes_of(talk) == before
    assert {item.revision for item in talk.context.get_all()} == {0}
    talk.session.close()


def test_resuming_reads_little_of_what_long_ago_was_compacted(tmp_path: Path) -> None:
    talk = talk_in(tmp_path)
    for _ in range(8):
        for number in range(5):
            talk.turn(f"more {number}", "yes")
        compact(talk)
    total = len(entries(talk.session))
    after = bytes_of(talk)
    talk = reopened(talk, tmp_path)
    assert bytes_of(talk) == after
    assert talk.session._recorder.loaded.parsed < total / 3
    for _ in range(5):
        assert talk.context.undo()[0].is_summary
    assert talk.context.undo() == []  # what is further back stays in the log alone
    talk.session.close()


def test_wherever_the_log_ends_the_old_state_or_the_new_one_is_there(tmp_path: Path) -> None:
    talk = talk_in(tmp_path)
    old = bytes_of(talk)
    whole = talk.session.path.stat().st_size
    compact(talk)
    new = bytes_of(talk)
    talk.session.close()
    log = talk.session.path.read_bytes()
    places = range(whole, len(log) + 1)
    ends = {place for place in places if log[place - 1 : place] == b"\n"}
    chosen = sorted(ends | set(random.Random(1).sample(places, times(5, 30))))
    seen = []
    for place in chosen:
        talk.session.path.write_bytes(log[:place])
        again = Talk(store_in(tmp_path).open(talk.session.id))
        state = bytes_of(again)
        assert state in (old, new)
        seen.append(state == new)
        again.context.compose()
        again.session.close()
    assert seen == sorted(seen)  # first the old one, from the boundary on the new one
    assert seen[0] is False
    assert seen[-1] is True


@pytest.mark.parametrize("seed", range(times(1, 6)))
def test_a_session_with_compactions_composes_the_same_reopened(tmp_path: Path, seed: int) -> None:
    dice = random.Random(seed)
    talk = Writer(store_in(tmp_path, 30).create(tmp_path), dice)
    for _ in range(8):
        for _ in range(dice.randrange(25)):
            talk.step()
        talk.settle()
        _compact_anything(talk, dice)
        talk.windows.settle_now()  # a closed session draws no more
        talk.session.close()
        again = Talk(store_in(tmp_path, 30).open(talk.session.id))
        same_state(talk, again)
        talk.take(again.session)
    talk.session.close()


def _compact_anything(talk: Talk, dice: random.Random) -> None:
    """Compact by a plan, or take one back."""
    talk.context.end_turn()
    service = CompactionService(talk.context, ScriptedModel(OUTLINE), dice.choice((500, 9_000)))
    goes: tuple[ContextItem, ...] = service.preview().goes
    if dice.random() < 0.3:
        talk.context.undo()
    elif goes:
        talk.context.compact(goes, f"Summary {dice.randrange(99)}", files=["a.py"])
