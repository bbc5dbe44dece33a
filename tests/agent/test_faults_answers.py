"""Answers that are odd, over the wire: empty ones, wrong calls, strange characters, loops.

The tests are named by the fault that they play, as the list of all faults counts them.
"""

import json
from typing import Any

import pytest

from contextui.agent.prompt import is_said
from contextui.events import AnswerDiscarded, AnswerGiven, CallFinished, CallStarted, Notice
from contextui.model import TextDelta
from tests.agent.server import Event, Stream, answer, block_events, call, delta, start, thinking
from tests.agent.talking import end, of, options
from tests.agent.wired import Wired, adding, opening, results, texts

STOP: Event = {"type": "message_stop"}
NUDGE = "Your answer was empty"


# --- 9: empty answers --------------------------------------------------------------------

EMPTY = [[], [" \n\t"], [thinking("Hm."), ""]]


@pytest.mark.parametrize("blocks", EMPTY, ids=str)
def test_fault_09_an_empty_answer_is_nudged_once(wired: Wired, blocks: list[Any]) -> None:
    empty = answer(*blocks)
    events = wired.say("a list", answer(opening()), empty, answer("Here it is."))
    assert end(events).text == "Here it is."
    assert texts(wired.last).count(NUDGE) == 1
    assert wired.requests[-2].begins(wired.last)
    said = [one.content for one in wired.session.context.get_all() if is_said(one)]
    assert said == ["a list"]  # the nudge is not the person's
    events = wired.say("hello?", empty, empty)
    assert (end(events).reason, len(wired.requests)) == ("empty", 5)
    assert end(events).explanation == "The model gave no answer."


def test_fault_09_blank_text_beside_other_blocks_is_left_out(wired: Wired) -> None:
    wired.say("a list", answer("", opening(), " \n"), answer("\n\nDone.\n"))
    kinds = [block["type"] for _, block in wired.last.blocks()]
    assert kinds == ["text", "text", "tool_use", "tool_result"]  # the project, the words
    assert end(wired.say("and?", answer("Yes."))).text == "Yes."


def test_fault_09_a_text_block_without_text_is_no_text(wired: Wired) -> None:
    blocks: list[dict[str, Any]] = [{"type": "text"}, {"type": "text", "text": None}]
    begun = [
        {"type": "content_block_start", "index": n, "content_block": block}
        for n, block in enumerate(blocks)
    ]
    odd = [start(), *begun, *block_events(2, opening()), delta("tool_use"), STOP]
    events = wired.say("a list", odd, answer("Done."))
    assert end(events).text == "Done."
    assert wired.opened == ["todo_1"]
    assert (
        end(wired.say("again", [start(), *begun, delta("end_turn"), STOP], answer("Yes."))).text
        == "Yes."
    )


# --- 10: why a model stops ---------------------------------------------------------------


def test_fault_10_a_refusal_is_shown(wired: Wired) -> None:
    events = wired.say("do it", answer("I would", stop_reason="refusal"))
    assert (end(events).reason, end(events).stop_reason) == ("refused", "refusal")
    assert end(events).explanation == "The model declined to answer."
    events = wired.say("and this?", answer(stop_reason="refusal"))
    assert (end(events).reason, len(wired.requests)) == ("refused", 2)
    events = wired.say("open it", answer("Well", opening(), stop_reason="refusal"))
    assert (end(events).reason, wired.opened) == ("refused", [])


def test_fault_10_a_paused_answer_goes_on(wired: Wired) -> None:
    paused = answer(thinking("Hm."), "Part one. ", stop_reason="pause_turn")
    events = wired.say("go", paused, answer("Part two.", opening()), answer("Done."))
    assert end(events).text == "Done."
    assert wired.requests[0].begins(wired.requests[1])
    last = wired.requests[1].json["messages"][-1]
    assert (last["role"], last["content"][-1]["text"]) == ("assistant", "Part one.")
    assert wired.opened == ["todo_1"]


def test_fault_10_unknown_blocks_of_a_pause_are_sent_back(wired: Wired) -> None:
    wired.odd = ("cannot stand here",)
    search = {"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {"q": "x"}}
    found = {"type": "web_search_tool_result", "tool_use_id": "srv_1", "content": []}
    events = wired.say("look", answer(search, found, stop_reason="pause_turn"), answer("Found."))
    assert end(events).text == "Found."
    assert [block for _, block in wired.last.blocks()][2:] == [search, found]


@pytest.mark.parametrize("blocks", EMPTY, ids=str)
def test_fault_10_a_pause_without_a_word_does_not_go_on_for_ever(
    wired: Wired, blocks: list[Any]
) -> None:
    paused = answer(*blocks, stop_reason="pause_turn")
    events = wired.say("go", paused, paused)
    assert (end(events).reason, len(wired.requests)) == ("empty", 2)


def test_fault_10_a_full_context_window_makes_room_once(wired: Wired) -> None:
    for number in range(5):
        wired.say(f"{number} " + "word " * 300, answer("Yes."))
    full = answer("Half an ans", opening(), stop_reason="model_context_window_exceeded")
    events = wired.say("and now?", full, answer("Whole."))
    assert end(events).text == "Whole."
    assert (len(of(AnswerDiscarded, events)), len(of(Notice, events))) == (1, 1)
    assert len(wired.last.body) < len(wired.requests[-2].body) * 0.8
    assert (wired.opened, of(CallStarted, events)) == ([], [])
    events = wired.say("more", full, full, full)  # after the second it gets a nudge
    assert (end(events).reason, len(wired.requests)) == ("cut_off", 10)
    assert wired.opened == []


def test_fault_10_where_no_room_can_be_made_the_half_answer_does_not_count(wired: Wired) -> None:
    full = answer("Half an ans", stop_reason="model_context_window_exceeded")
    events = wired.say("word " * 500, full)
    assert (end(events).reason, end(events).text, len(wired.requests)) == ("failed", "", 1)
    assert end(events).explanation == "The model's context window is full."
    assert end(wired.say("and now?", answer("Here."))).text == "Here."
    assert "Half" not in texts(wired.last)
    assert "word word" not in texts(wired.last)


@pytest.mark.parametrize("stop", ["brand_new", ""])
def test_fault_10_an_unknown_reason_is_shown(wired: Wired, stop: str) -> None:
    events = wired.say("go", [*answer("So.")[:-2], delta(stop), STOP])
    assert (end(events).reason, end(events).text) == ("done", "So.")
    assert ("brand_new" in end(events).explanation) == (stop == "brand_new")
    wired.say("open", answer(opening(), stop_reason="brand_new"), answer("Done."))
    assert wired.opened == ["todo_1"]


def test_fault_10_an_answer_that_is_cut_off_stays(wired: Wired) -> None:
    events = wired.say("a story", answer("Once upon a ", stop_reason="max_tokens"))
    assert (end(events).reason, end(events).text) == ("cut_off", "Once upon a ")
    assert "go on" in end(events).explanation
    wired.say("go on", answer("time."))
    assert wired.last.blocks()[2] == ("assistant", {"type": "text", "text": "Once upon a"})


# --- 11: wrong calls ---------------------------------------------------------------------


def test_fault_11_wrong_calls_get_an_error_that_lists_the_choices(wired: Wired) -> None:
    wrong = {
        "create, action, read_file": call("delete_all", x=1),
        "todo": call("create", name="tudu"),
        "todo_1": call("action", window_id="todo_9", action_id="add"),
        "add, delete, close": call("action", window_id="todo_1", action_id="ad"),
        "text": call("action", window_id="todo_1", action_id="add", params={"txt": "x"}),
        "index": call("action", window_id="todo_1", action_id="delete", params={"index": "one"}),
        "window_id is missing": call("action", action_id="add"),
        "params: expected object": call(
            "action", window_id="todo_1", action_id="add", params=["x"]
        ),
        "items": call("create", name="todo", args={"items": 5}),
        'there is no param "mode"': call("read_file", path="x", mode="r"),
        "nowhere.txt": call("read_file", path="nowhere.txt"),
        "../x": call("read_file", path="../x"),
    }
    wired.say("a list", answer(opening("x")), answer("Ready."))
    events = wired.say("go", answer(*wrong.values()), answer("Sorry."))
    assert end(events).text == "Sorry."
    assert not any(event.ok for event in of(CallFinished, events))
    for words, result in zip(wrong, results(wired.last)[1:], strict=True):
        assert result["is_error"] is True
        assert words in json.dumps(result["content"], ensure_ascii=False).replace("\\", "")
    assert (wired.opened, wired.items) == (["todo_1"], ["x"])


def test_fault_11_two_calls_of_one_id_are_one(wired: Wired) -> None:
    one = {**adding("a"), "id": "call_0"}
    steps = [answer({**opening(), "id": "call_0"}), answer(one, one, adding("b")), answer(one)]
    events = wired.say("a list", *steps, answer("Done."))
    assert end(events).text == "Done."
    assert wired.items == ["a", "b", "a"]
    ids = [one["tool_use_id"] for one in results(wired.last)]
    assert len(ids) == len(set(ids)) == 4


# --- 12: strange characters --------------------------------------------------------------

STRANGE = "a\0b \ud800 \udc00 \ufffe \x1b[2J \u2028 </Window> <|endoftext|> 😀"


def test_fault_12_strange_characters_are_replaced_before_they_are_sent(wired: Wired) -> None:
    shown = "a␀b � � \ufffe \x1b[2J \u2028 </Window> <|endoftext|> 😀"
    strange = [
        {"type": "text", "text": STRANGE},
        call("create", name="text", args={"text": STRANGE}),
        call("create", name=STRANGE),
        adding(STRANGE, STRANGE),
        call("read_file", path=STRANGE),
    ]
    escaped = [json.dumps(one).encode() for one in answer(*strange, pieces=10_000)]
    raw = [b"event: x\ndata: " + one + b"\n\n" for one in escaped]

    events = wired.say(STRANGE, Stream(raw), answer("Done."))
    assert end(events).text == "Done."
    sent = texts(wired.last)
    assert sent.partition("</Project>\n")[2].startswith(shown)
    assert sent.count(shown) >= 2
    assert wired.opened == ["text_1"]
    wired.say("and?", answer("Yes."))
    assert "a␀b � � � ␛[2J \u2028 &lt;/Window>" in texts(wired.last)  # as XML takes it
    wired.go_on()
    wired.say("still?", answer("Yes."))
    assert texts(wired.last).partition("</Project>\n")[2].startswith(shown)


# --- 16: loops ---------------------------------------------------------------------------


def wrong() -> dict[str, Any]:
    return call("action", window_id="todo_1", action_id="delete", params={"index": 9})


def test_fault_16_the_same_failing_action_is_halted_after_three_times(wired: Wired) -> None:
    wired.say("a list", answer(opening("x")), answer("Here."))
    events = wired.say("delete it", *[answer(f"Try {n}.", wrong()) for n in range(3)])
    assert (end(events).reason, len(of(CallStarted, events))) == ("stuck", 3)
    assert len(wired.requests) == 5
    assert "three times" in end(events).explanation
    events = wired.say("all at once", answer(*[wrong() for _ in range(6)], adding("y")))
    assert end(events).reason == "stuck"
    assert sum("Not carried out" in one.text for one in of(CallFinished, events)) == 3
    assert wired.items == ["x", "y"]
    assert end(wired.say("and now?", answer("Here."))).text == "Here."


def test_fault_16_others_that_fail_in_between_do_not_hide_it(wired: Wired) -> None:
    steps = [
        answer(opening()),
        *[answer(wrong(), adding(str(n)), call("nope", n=n)) for n in range(3)],
    ]
    assert end(wired.say("a list", *steps)).reason == "stuck"
    assert wired.items == ["0", "1", "2"]


def test_fault_16_a_turn_pauses_after_its_steps_and_goes_on(wired: Wired) -> None:
    wired.begin(options(max_steps=3))
    adds = [answer(adding(str(number))) for number in range(4)]
    events = wired.say("add four", answer(opening()), *adds[:2])
    assert (end(events).reason, end(events).steps) == ("paused", 3)
    assert "3 steps" in end(events).explanation
    assert end(wired.say("go on", *adds[2:], answer("All."))).text == "All."
    assert wired.items == ["0", "1", "2", "3"]


def test_fault_16_retries_and_nudges_count_as_steps_too(wired: Wired) -> None:
    wired.begin(options(max_steps=4))
    events = wired.say("go", answer(), *[answer("…", stop_reason="pause_turn") for _ in range(3)])
    assert (end(events).reason, len(wired.requests)) == ("paused", 4)
    assert [event.text for event in of(AnswerGiven, events)] == ["…"] * 3
    assert "".join(event.text for event in of(TextDelta, events)) == "………"
