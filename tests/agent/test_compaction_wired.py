"""Compaction over the wire: the real SDK, a real session, and a server that looks at every byte."""

import json
import shutil
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from contextui.events import CompactionFinished, CompactionResult, Event
from tests.agent.server import Received, Reply, Server, Step, answer, error
from tests.agent.talking import end, of, options
from tests.agent.wired import Wired, adding, before, is_live, opening, results, texts

BUDGET = 6_000
UNKNOWN = {"input_tokens": 0, "output_tokens": 0}  # so that no figure of the server's counts
LONG = "and so on, and so forth; " * 12
QUESTION = f"What is on the list? {LONG}"  # as long as all before it, so that it is due then
OUTLINE = "## Goal\nA list for the shop.\n## Next step\nBuy bread."


def reply(*blocks: str | dict[str, Any]) -> Step:
    return answer(*blocks, usage=UNKNOWN)


class Filled(NamedTuple):
    """A session in which a compaction is due, with its number of turns."""

    home: Path
    session_id: str
    turns: int


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Filled:
    with Server() as server:
        wired = Wired(tmp_path_factory.mktemp("filled"), server)
        turns = fill(wired)
        wired.close()
    return Filled(wired.home, wired.session.id, turns)


@pytest.fixture
def full(wired: Wired, filled: Filled) -> Wired:
    """A copy of that session, continued."""
    home = wired.folder / "copy"
    shutil.copytree(filled.home, home)
    wired.turn = options(budget=BUDGET)
    wired.go_on(home, filled.session_id)
    return wired


def fill(wired: Wired, turns: int = 60) -> int:
    """Talk until a compaction is due, with a window open and the first words pinned; how long."""
    wired.begin(options(budget=BUDGET))
    wired.say("Remember that I am Ann.", reply(opening("milk")), reply("Yes."))
    wired.pin_first_words()
    for number in range(turns):
        words = f"add {number} {LONG}"
        if is_due(wired, words):
            return number
        wired.say(words, reply(adding(f"item {number}")), reply(f"Done {LONG}"))
    raise AssertionError("It was never due.")


def is_due(wired: Wired, words: str) -> bool:
    """Whether a turn with these words begins with a compaction."""
    return wired.talk.compaction.is_due(wired.session.context.counter.count(words))


def result_of(events: list[Event]) -> CompactionResult:
    (finished,) = of(CompactionFinished, events)
    assert finished.result is not None
    return finished.result


def summary_of(received: Received) -> str:
    """What stands in a user message, behind the project's block and a pinned message."""
    summaries = [
        (role, str(block.get("text")))
        for role, block in received.blocks()[:4]
        if str(block.get("text")).startswith("<Summary>\n")
    ]
    ((role, text),) = summaries
    assert role == "user"
    assert text.endswith("\n</Summary>")
    return text.removesuffix("\n</Summary>")


def size(wired: Wired, received: Received) -> int:
    """The tokens of a request, cache marks and JSON included: more than it is charged for."""
    return wired.session.context.counter.count(json.dumps(received.json, ensure_ascii=False))


def test_a_compaction_in_the_middle_of_a_session(full: Wired, filled: Filled) -> None:
    wired, turns, asked = full, filled.turns, len(full.requests)
    events = wired.say(QUESTION, reply(OUTLINE), reply("Much."))
    assert result_of(events).success
    assert end(events).text == "Much."
    summary, following = wired.requests[asked:]
    assert "tools" not in summary.json
    assert "Summarize all of the above" in texts(summary)
    assert "add 0 " in texts(summary)
    assert "tool_use" not in summary.body.decode()

    assert summary_of(following).endswith(OUTLINE)
    assert len(following.json["tools"]) == 3
    assert size(wired, following) < BUDGET * 0.75
    words = texts(following)
    assert "Remember that I am Ann." in words  # pinned
    assert '<Window id="todo_1"' in words
    assert f"item {turns - 1}" in words  # the window shows all of it
    assert f"add {turns - 1} " in words
    assert "add 1 " not in words
    assert 0 < len(results(following)) < turns
    assert following.blocks()[-1][1]["text"] == QUESTION


def test_what_is_sent_afterwards_goes_on_with_it_byte_by_byte(full: Wired) -> None:
    full.say(QUESTION, reply(OUTLINE), reply("Much."))
    first = full.last
    full.say("And now?", reply("The same."))
    second = full.last
    assert first.json["system"] == second.json["system"]
    settled = [block for _, block in before(first, QUESTION) if not is_live(block)]
    assert [block for _, block in second.blocks()][: len(settled)] == settled


def test_the_session_goes_on_with_it_and_undo_brings_all_back(full: Wired, filled: Filled) -> None:
    full.say(QUESTION, reply(OUTLINE), reply("Much."))
    full.go_on()
    full.say("And now?", reply("The same."))
    assert summary_of(full.last).endswith(OUTLINE)
    full.turn = options(budget=128_000)
    full.go_on()
    full.session.context.undo()
    full.say("And all?", reply("Here."))
    assert OUTLINE not in texts(full.last)
    words = texts(full.last)
    assert all(f"add {number} " in words for number in range(filled.turns))


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (Reply(400, error("invalid_request_error", "Not these bytes.")), "Not these bytes"),
        (answer("## Goal", stop_reason="max_tokens"), "truncated"),
    ],
)
def test_where_no_summary_is_to_be_had_the_turn_goes_on(
    full: Wired, step: Step, words: str
) -> None:
    events = full.say(QUESTION, step, reply("Much."))
    result = result_of(events)
    assert not result.success
    assert words in result.error
    assert end(events).text == "Much."
    assert size(full, full.last) < BUDGET
    assert "Remember that I am Ann." in texts(full.last)
    assert words in summary_of(full.last)


def test_a_summary_that_is_too_large_to_ask_for_is_asked_for_in_pieces(full: Wired) -> None:
    asked = len(full.requests)
    large = Reply(413, error("request_too_large"))
    # The rest of the script is for as many pieces as there are; each gives the same outline.
    events = full.say(QUESTION, large, *[reply(OUTLINE)] * 9)
    result = result_of(events)
    assert result.success
    assert result.requests > 1
    first, *others = full.requests[asked : asked + 1 + result.requests]
    assert all(len(one.body) < len(first.body) * 0.7 for one in others)
