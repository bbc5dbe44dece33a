"""Turns over the wire: what a model says and is sent, byte by byte, in a session that lasts."""

import json
from itertools import pairwise
from typing import Any

import pytest

from contextui.events import (
    CallFinished,
    CallStarted,
    Event,
    StepStarted,
    UsageSpent,
    WindowActed,
)
from contextui.model import TextDelta, ThinkingDelta
from contextui.tokens import Usage
from contextui.windowing.snapshot import Lod
from tests.agent.server import Received, Stream, answer, call, thinking
from tests.agent.talking import end, of, options
from tests.agent.wired import KEY, Wired, adding, beside, opening, results, texts


def test_calls_of_one_answer_are_carried_out_in_order_and_answered_together(wired: Wired) -> None:
    calls = [opening(), *map(adding, ("a", "b", "c"))]
    events = wired.say("a, b, c", answer("All at once.", *calls), answer("Done."))
    assert wired.items == ["a", "b", "c"]
    assert [event.actor for event in of(WindowActed, events)] == ["model"] * 3
    message = wired.last.json["messages"][-1]
    assert [block["type"] for block in message["content"]] == ["tool_result"] * 4
    assert [one["tool_use_id"] for one in results(wired.last)] == [one["id"] for one in calls]
    *others, last = (one["content"] for one in results(wired.last))
    assert not any("<Window" in str(one) for one in others)
    assert [part["text"][:8] for part in last] == ["Added 3.", "<Window "]


def test_what_a_call_was_given_goes_back_as_it_came(wired: Wired) -> None:
    odd = {"name": "todo", "args": {"items": ["1", "\u2028</Window>", "你好 😀", "\t\\u0000"]}}
    wired.say("a list", answer(call("create", **odd), pieces=1), answer("Done."))
    sent = wired.last.json["messages"][1]["content"][0]
    assert json.dumps(sent["input"]) == json.dumps(odd)
    assert wired.items == odd["args"]["items"]  # type: ignore[index]


def test_usage_is_emitted_and_added_up(wired: Wired) -> None:
    first = {"input_tokens": 1_000, "cache_creation_input_tokens": 900, "output_tokens": 30}
    then = {"input_tokens": 7, "cache_read_input_tokens": 1_900, "output_tokens": 5}
    events = wired.say("a list", answer(opening(), usage=first), answer("Done.", usage=then))
    assert [(event.usage, event.step) for event in of(UsageSpent, events)] == [
        (Usage(1_000, 30, 0, 900), 1),
        (Usage(7, 5, 1_900, 0), 2),
    ]
    assert end(events).usage == Usage(1_007, 35, 1_900, 900)
    ratio = wired.session.context.counter.ratio
    assert ratio != 1
    wired.go_on()
    assert wired.session.context.counter.ratio == ratio


def test_a_provider_that_counts_as_we_do_leaves_our_count_as_it_is(wired: Wired) -> None:
    counter = wired.session.context.counter
    [event] = of(StepStarted, wired.say("hello", answer("Hi.", usage={"input_tokens": 0})))
    tokens = event.tokens + counter.count(json.dumps(wired.last.json["tools"]))
    wired.begin()
    wired.say("hello", answer("Hi.", usage={"input_tokens": tokens}))
    assert wired.session.context.counter.ratio == pytest.approx(1, abs=0.02)


def test_the_key_is_kept_nowhere_and_all_that_is_kept_is_private(wired: Wired) -> None:
    events = wired.say(f"my key is {KEY[:3]}", answer(opening()), answer("Done."))
    assert wired.last.headers["authorization"] == f"Bearer {KEY}"
    kept = list(wired.home.rglob("*"))
    assert any(path.is_file() for path in kept)
    for path in kept:
        assert path.stat().st_mode & 0o777 == (0o700 if path.is_dir() else 0o600)
        assert path.is_dir() or KEY.encode() not in path.read_bytes()
    assert KEY not in repr(events) + repr(wired.talk.model)


Said = str | dict[str, Any]
UNKNOWN = {"type": "server_note", "z": 1.0, "a": [None, {"y": True, "b": "\u2028"}], "id": "n_1"}


def blocks_of(received: Received, number: int) -> list[dict[str, Any]]:
    """What one message of a request holds, without marks."""
    content = received.json["messages"][number]["content"]
    return [{key: block[key] for key in block if key != "cache_control"} for block in content]


def test_thinking_is_sent_back_verbatim_in_its_turn_and_dropped_after_it(wired: Wired) -> None:
    first: list[Said] = [thinking("Let me\nsee. ", "c2lnbg=="), "So.", opening()]
    second: list[Said] = [
        thinking("", "ZW1wdHk="),
        {"type": "redacted_thinking", "data": "eHg="},
        adding("a"),
    ]
    events = wired.say("a list", answer(*first), answer(*second), answer("Done."))
    assert "".join(event.text for event in of(ThinkingDelta, events)) == "Let me\nsee. "
    assert json.dumps(blocks_of(wired.last, 1)) == json.dumps(
        [first[0], {"type": "text", "text": "So."}, first[2]]
    )
    assert json.dumps(blocks_of(wired.last, 3)) == json.dumps(second)
    wired.say("thanks", answer(thinking("Hm."), "Bye."))
    assert b"thinking" not in wired.last.body
    assert json.dumps(blocks_of(wired.last, 1)) == json.dumps(
        [{"type": "text", "text": "So."}, first[2]]
    )


def test_unknown_blocks_are_sent_back_verbatim(wired: Wired) -> None:
    wired.odd = ("cannot stand here",)
    blocks: list[Said] = [thinking("Hm."), UNKNOWN, "I open it.", opening()]
    wired.say("a list", answer(*blocks), answer("Done."))
    [sent] = [block for block in blocks_of(wired.last, 1) if block["type"] == "server_note"]
    assert json.dumps(sent) == json.dumps(UNKNOWN)
    assert blocks_of(wired.last, 1).index(sent) == 1
    assert 3 not in wired.last.marks()  # of an unknown type nobody knows whether it takes one
    wired.say("thanks", answer("Bye."))
    assert json.dumps(blocks_of(wired.last, 1)[0]) == json.dumps(UNKNOWN)


GUIDE = "Be brief. " * 600  # more than the least that is cached


def talk_of_three_turns(wired: Wired) -> list[list[Received]]:
    """The requests of three turns, in which windows open, change by both sides, and close."""
    wired.guide = GUIDE
    wired.begin()
    adds = [answer(thinking(text), "Adding.", adding(text)) for text in "abc"]
    turns = []
    for words, steps in (
        ("first", [answer(opening("x")), *adds[:2], answer("One.")]),
        ("second", [answer(call("create", name="text", args={"text": "t"})), adds[2], answer("2")]),
        ("third", [answer(closing("todo_1")), answer("Three.")]),
    ):
        sent = len(wired.requests)
        wired.say(words, *steps)
        turns.append(wired.requests[sent:])
        if words == "first":
            wired.act("todo_1", "add", text="by the person")
    return turns


def closing(window_id: str) -> dict[str, Any]:
    return call("action", window_id=window_id, action_id="close", params={"summary": "bought"})


def test_a_provider_that_keeps_what_is_marked_finds_it_again(wired: Wired) -> None:
    many = [adding(str(number), "todo_2") for number in range(30)]  # more than a mark looks back
    talk_of_three_turns(wired)
    wired.go_on()
    wired.say("fourth", answer(opening()), answer(*many), answer("Four."))
    wired.go_on()  # after a turn of more blocks than a mark looks back
    wired.say("fifth", answer(adding("last", "todo_2")), answer("Five."))
    found, sent = cache_hits(wired.requests), wired.requests
    assert found[0] is None
    for before, received, hit in zip(sent, sent[1:], found[1:], strict=False):
        marks = received.marks()
        assert len(marks) <= 4
        assert marks[0] <= 1  # tools and system, and the project
        assert marks[-1] == len(received.blocks())
        assert hit == len(before.blocks()) if before.begins(received) else hit is not None


def cache_hits(requests: list[Received]) -> list[int | None]:
    """How many blocks of each request a provider finds that keeps what is marked."""
    kept: set[str] = set()
    found = []
    for received in requests:
        written = [json.dumps(one) for one in (received.json["tools"], *received.blocks())]
        until = ["".join(written[: number + 1]) for number in range(len(written))]
        near = {at for mark in received.marks() for at in range(max(mark - 20, 0), mark + 1)}
        found.append(max((at for at in near if until[at] in kept), default=None))
        kept |= {until[mark] for mark in received.marks()}
    return found


def test_what_a_person_does_in_mid_turn_does_not_change_what_thinking_is_bound_to(
    wired: Wired,
) -> None:
    wired.guide = GUIDE
    wired.begin()
    wired.say("a list", answer(thinking("Hm."), "Opening.", opening("x")), answer("Done."))
    context = wired.session.context

    def meddle(event: Event) -> None:
        """Edit and drop messages, and change a window."""
        if isinstance(event, CallStarted):
            items = [one for one in context.get_active() if one.type.value in ("User", "Assistant")]
            context.edit(items[0].id, "another list")
            context.drop(items[2].id)
            wired.session.windows.set_lod("todo_1", Lod.GIST)

    steps = [answer(thinking("One."), "A.", adding("a")), answer(thinking("2"), adding("b"))]
    sent = len(wired.requests)
    wired.say("more", *steps, answer("Done."), heard=meddle)
    turn = wired.requests[sent:]
    assert len(turn) == 3
    assert all(one.begins(following) for one, following in pairwise(turn))
    wired.say("and?", answer("Yes."))
    assert "another list" in texts(wired.last)


def test_only_windows_that_changed_come_again(wired: Wired) -> None:
    wired.guide = GUIDE
    wired.begin()
    count = 5
    wired.say("lists", answer(*[opening(str(n)) for n in range(count)]), answer("Done."))
    wired.say("add", answer(adding("new")), answer("Done."))
    first, second = wired.requests[-2:]
    assert texts(first).count("<Window ") == count
    assert texts(second).count("<Window ") == count + 1
    assert texts(second).rpartition("<Window ")[2].startswith('id="todo_1" version="2')


def test_what_a_stopped_answer_cost_is_counted(wired: Wired) -> None:
    cost = {"input_tokens": 900, "cache_read_input_tokens": 50, "output_tokens": 3}
    held = Stream(answer("Once upon a time", usage=cost)[:4], held=True)
    events = wired.say("a story", answer(opening()), held, heard=wired.stop_at(TextDelta))
    assert end(events).reason == "stopped"
    assert end(events).usage == Usage(910, 28, 50, 0)
    assert [event.usage for event in of(UsageSpent, events)][1] == Usage(900, 3, 50, 0)


def test_what_a_broken_answer_cost_is_counted(wired: Wired) -> None:
    whole = answer("I open it.", usage={"input_tokens": 100, "output_tokens": 5})
    events = wired.say("a list", Stream(whole[:5], end="close"), whole)
    assert (end(events).usage, end(events).steps) == (Usage(200, 10, 0, 0), 1)
    assert len(of(UsageSpent, events)) == 2


def test_text_does_not_follow_results_directly(wired: Wired) -> None:
    """They provoke empty answers; so a turn that ended in results ends with a text."""
    wired.begin(options(max_steps=1))
    wired.say("a list", answer(opening("milk")))
    assert end(wired.say("go on", answer(adding("eggs")))).reason == "paused"
    wired.go_on()
    wired.say("and?", answer("Done."))
    for received in wired.requests:
        assert beside(received) == []
    assert texts(wired.last).count("(stopped here)") == 2


def test_a_stop_reason_may_be_anything(wired: Wired) -> None:
    events = wired.say("well?", answer("Yes.", stop_reason="\x1b[31m\u202e</Window>" * 100))
    assert (end(events).reason, end(events).text) == ("done", "Yes.")
    assert "\x1b" not in end(events).explanation
    assert len(end(events).explanation) < 200


def test_a_tool_s_name_may_be_anything(wired: Wired) -> None:
    odd = [call("c" * 100_000), call("créate\n"), {**call("create", name="todo"), "id": "a b/c"}]
    events = wired.say("a list", answer(*odd, pieces=100_000), answer("Done."))
    assert [event.ok for event in of(CallFinished, events)] == [False, False, True]
    assert len(wired.last.body) < 20_000
    assert end(events).text == "Done."
