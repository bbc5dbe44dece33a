"""Answers that break off, over the wire: nothing is done by halves, nothing twice.

The tests are named by the fault that they play, as the list of all faults counts them.
"""

import shutil
from itertools import pairwise
from pathlib import Path
from typing import Literal

import pytest

from contextui.context.item import ItemType
from contextui.events import (
    AnswerDiscarded,
    AnswerGiven,
    CallFinished,
    CallStarted,
    ItemsChanged,
    RetryScheduled,
    TurnEnded,
)
from contextui.events import Event as TurnEvent
from contextui.model import CallBegun, TextDelta
from tests.agent.server import (
    Event,
    Hangup,
    Step,
    Stream,
    answer,
    block_events,
    call,
    delta,
    error,
    start,
)
from tests.agent.talking import end, of, options
from tests.agent.wired import Wired, adding, opening, results, texts

ATTEMPTS = 5
STOP: Event = {"type": "message_stop"}
BIG = "many words " * 120
UNKNOWN = {"input_tokens": 0}  # so that nothing is learnt about our own count


def half_call(index: int, written: str, name: str = "create") -> list[Event]:
    """The events of a call of which only so much was written."""
    piece = {"type": "input_json_delta", "partial_json": written}
    return [
        block_events(index, call(name))[0],
        {"type": "content_block_delta", "index": index, "delta": piece},
        {"type": "content_block_stop", "index": index},
    ]


# --- 1: the program ends between a call and its result -----------------------------------


def test_fault_01_calls_without_results_get_one_each_when_the_session_comes_back(
    wired: Wired,
) -> None:
    left = wired.folder / "left"  # with what is on disk in the middle of the calls

    def crash(event: TurnEvent) -> None:
        if isinstance(event, CallStarted) and event.number == 2:
            shutil.copytree(wired.home, left)

    calls = [opening("x"), *map(adding, "abc")]
    wired.say("a list", answer("All.", *calls), answer("Done."), heard=crash)
    wired.go_on(left)
    wired.say("and?", answer("I see."))
    assert [one["tool_use_id"] for one in results(wired.last)] == [one["id"] for one in calls]
    failed = [one.get("is_error", False) for one in results(wired.last)]
    assert failed == [False, True, True, True]
    assert texts(wired.last).count("may or may not have been carried out") == 3


def test_fault_01_a_session_goes_on_wherever_it_was_left(wired: Wired) -> None:
    lefts: list[Path] = []

    def crash(_: TurnEvent) -> None:
        lefts.append(wired.folder / f"left_{len(lefts)}")
        shutil.copytree(wired.home, lefts[-1])

    steps = [answer("Opening.", opening(), adding("a")), answer("Adding.", adding("b"))]
    wired.say("a list", *steps, answer("Done."), heard=crash)
    counts = []
    for left in lefts:
        wired.go_on(left)
        assert end(wired.say("and?", answer("I see."))).text == "I see."
        counts.append(len(wired.items) if wired.opened else 0)
    assert counts == sorted(counts)
    assert set(counts) == {0, 1, 2}


# --- 2: room is made ---------------------------------------------------------------------


def test_fault_02_pairs_stay_whole_when_turns_are_left_out(wired: Wired) -> None:
    wired.begin(options(budget=3_500, auto_compact=False))
    left_out: list[str] = []

    def on_event(event: TurnEvent) -> None:
        if isinstance(event, ItemsChanged) and event.operation == "trim":
            left_out.extend(event.item_ids)

    wired.session.context.subscribe(on_event)
    wired.say("count", answer(call("create", name="counter")), answer("Yes."))
    for number in range(8):
        up = [call("action", window_id="counter_1", action_id="up") for _ in range(number % 3 + 1)]
        steps = answer(BIG, *up, usage=UNKNOWN), answer(BIG, usage=UNKNOWN)
        assert end(wired.say(f"up {number}.", *steps)).reason == "done"
    assert len(left_out) > 10
    assert "up 0." not in texts(wired.last)
    assert 0 < len(results(wired.last)) < 15  # what is sent of them is checked at the end


def test_fault_02_pairs_stay_whole_when_steps_of_a_long_turn_are_left_out(wired: Wired) -> None:
    wired.begin(options(budget=2_500))
    early: list[TurnEnded] = []
    wired.session.context.subscribe(
        lambda e: early.append(e) if isinstance(e, TurnEnded) and e.early else None
    )
    for name in "ab":
        (wired.folder / name).write_text("\n".join(BIG for _ in range(12)))
    pages = {n: [call("read_file", path=name, start=n) for name in "ab"] for n in range(1, 9)}
    reads = [answer(f"Page {n}. {BIG}", *calls, usage=UNKNOWN) for n, calls in pages.items()]
    finished = end(wired.say("read it all", *reads, answer("Done.")))
    assert (finished.reason, finished.steps) == ("done", 9)
    assert early
    assert "Page 1." not in texts(wired.last)
    assert "Page 8." in texts(wired.last)


# --- 3: an answer that is too long -------------------------------------------------------


@pytest.mark.parametrize("written", ["", '{"name": "to', '{"name": "todo"}'])
def test_fault_03_a_call_that_was_cut_off_is_not_carried_out(wired: Wired, written: str) -> None:
    cut = [start(), *half_call(0, written), delta("max_tokens"), STOP]
    events = wired.say("a list", cut, answer("Sorry."))
    assert (of(CallBegun, events), of(CallStarted, events)) == ([CallBegun("create")], [])
    assert "was not carried out" in texts(wired.last)
    assert wired.opened == []
    events = wired.say("once more", cut, cut)
    assert end(events).reason == "cut_off"
    assert len(wired.requests) == 4
    assert wired.opened == []


def test_fault_03_whole_calls_before_it_are_carried_out_once(wired: Wired) -> None:
    whole = answer("Both.", opening("x"))[:-2]
    wired.say(
        "a list", [*whole, *half_call(2, '{"name": "t'), delta("max_tokens"), STOP], answer("Done.")
    )
    assert wired.opened == ["todo_1"]
    assert [one["content"][0]["text"] for one in results(wired.last)] == ["Opened todo_1."]


@pytest.mark.parametrize("stop", ["tool_use", "end_turn"])
def test_fault_03_a_call_that_is_no_json_is_not_carried_out(wired: Wired, stop: str) -> None:
    for written in ('{"name": "todo"', '["todo"]', '{"name": "todo", "args": NaN}', "todo"):
        garbled = [start(), *half_call(0, written), delta(stop), STOP]
        assert end(wired.say("a list", garbled, answer("Sorry."))).text == "Sorry."
    assert wired.opened == []


# --- 4 and 5: a stream that ends too early -----------------------------------------------


@pytest.mark.parametrize("missing", [1, 3])
def test_fault_04_an_answer_without_its_end_is_discarded(wired: Wired, missing: int) -> None:
    calls = [opening("x"), *map(adding, "ab")]
    whole = answer("I open it.", *calls)
    events = wired.say("a list", Stream(whole[:-missing]), whole, answer("Done."))
    assert len(of(AnswerDiscarded, events)) == 1
    assert [event.text for event in of(AnswerGiven, events)] == ["I open it.", "Done."]
    assert (wired.opened, wired.items) == (["todo_1"], ["x", "a", "b"])
    assert wired.requests[0].body == wired.requests[1].body


def test_fault_04_it_is_asked_for_only_so_often(wired: Wired) -> None:
    broken = Stream(answer("I open it.", opening())[:-1])
    events = wired.say("a list", *[broken] * ATTEMPTS)
    assert (end(events).reason, len(wired.requests)) == ("failed", ATTEMPTS)
    assert "broke off" in end(events).explanation
    assert (wired.opened, of(CallStarted, events)) == ([], [])
    lines = wired.session.context.debug_lines()
    assert not any("I open it" in line for line in lines)


@pytest.mark.parametrize("how", ["close", "reset"])
def test_fault_05_a_connection_may_break_anywhere(
    wired: Wired, how: Literal["close", "reset"]
) -> None:
    whole = answer("I open it.", opening("x"), adding("a"), pieces=11)
    for count in range(how == "reset", len(whole), 4):
        wired.begin()
        events = wired.say("a list", Stream(whole[:count], end=how), whole, answer("Done."))
        assert end(events).text == "Done."
        assert wired.items == ["x", "a"]
        assert [event.ok for event in of(CallFinished, events)] == [True, True]
        assert len(of(AnswerGiven, events)) == 2


def test_fault_05_what_was_done_before_it_broke_is_not_done_again(wired: Wired) -> None:
    broken = Stream(answer("Adding.", adding("b"))[:6], end="reset")
    done = [answer(opening()), answer(adding("a"))]
    steps: list[Step] = [*done, broken, Hangup(), answer(adding("b"))]
    events = wired.say("a list", *steps, answer("Done."))
    assert wired.items == ["a", "b"]
    assert len(of(RetryScheduled, events)) == 1 + 2  # seconds: one, then two
    third, *again = (one.blocks() for one in wired.requests[2:5])
    assert again == [third, third]


# --- 6: an error where the answer should go on -------------------------------------------


@pytest.mark.parametrize(
    ("kind", "requests"),
    [
        ("overloaded_error", 2),
        ("brand_new_error", 2),
        ("invalid_request_error", 1),
        ("authentication_error", 1),
    ],
)
def test_fault_06_an_error_in_a_stream_is_judged_by_its_type(
    wired: Wired, kind: str, requests: int
) -> None:
    whole = answer("I open it.", opening())
    is_first = kind in ("overloaded_error", "invalid_request_error")
    for count in (0, 1, len(whole) - 3) if is_first else (5,):
        wired.begin()
        before = len(wired.requests)
        broken = [*whole[:count], error(kind, "Not now.")]
        events = wired.say("a list", broken, *[answer("Yes.")] * (requests - 1))
        assert len(wired.requests) - before == requests
        assert "Not now." in str(events)
        assert end(events).reason == ("done" if requests > 1 else "failed")
        assert (wired.opened, of(CallStarted, events)) == ([], [])
        assert len(of(AnswerDiscarded, events)) == (count > 1)
        contents = [
            one.content for one in wired.session.context.get_all() if one.type in CONVERSATION
        ]
        assert contents == ["a list", *(["Yes."] if requests > 1 else [])]


CONVERSATION = (ItemType.USER, ItemType.ASSISTANT)


def test_fault_06_the_last_error_is_shown(wired: Wired) -> None:
    broken = [*answer("Half an ans")[:4], error("overloaded_error", "Too many.")]
    events = wired.say("well?", *[broken] * ATTEMPTS)
    assert len(wired.requests) == ATTEMPTS
    assert end(events).text == ""
    assert end(events).explanation.endswith("Too many. Tried 5 times.")
    emitted = [event for event in events if isinstance(event, (TextDelta, AnswerDiscarded))]
    assert isinstance(emitted[-1], AnswerDiscarded)
    assert all(
        one != following for one, following in pairwise(map(type, emitted)) if one != TextDelta
    )
