"""Limits on what one answer can set off: calls, windows, and what a count learns from a lie."""

import json

import pytest

from contextui.context.manager import ContextManager
from contextui.events import CallFinished, CallStarted, Notice
from contextui.session.session import SessionOptions
from contextui.windowing.manager import WindowManager
from tests.agent.server import answer, call
from tests.agent.talking import controller, end, of, options, run
from tests.agent.wired import LISTED, Wired, adding, opening, results


def test_an_answer_may_make_only_so_many_calls(wired: Wired) -> None:
    """F14: 3,000 calls to open a window opened 3,000 windows."""
    calls = [call("create", name="todo") for _ in range(100)]
    wired.begin(options(max_tokens=100_000))
    events = wired.say("lists", answer(*calls), answer("Done."))
    assert end(events).text == "Done."
    assert len(wired.opened) == 64
    assert len(of(CallStarted, events)) == len(of(CallFinished, events)) == 64
    [notice] = of(Notice, events)
    assert notice.text == "36 calls were refused: the limit is 64 per answer (max_calls)."
    answered = results(wired.last)
    assert [one["tool_use_id"] for one in answered] == [one["id"] for one in calls]
    assert [bool(one.get("is_error")) for one in answered] == [False] * 64 + [True] * 36
    refused = "Not carried out: the limit is 64 calls per answer. Make fewer at a time."
    assert all(refused in json.dumps(one["content"]) for one in answered[64:])
    assert end(wired.say("and?", answer(adding("x")), answer("Yes."))).text == "Yes."
    assert wired.items == ["x"]


def test_how_many_calls_that_are_can_be_set(wired: Wired) -> None:
    wired.begin(options(max_calls=2))
    wired.say("lists", answer(*[opening() for _ in range(5)]), answer("Done."))
    assert wired.opened == ["todo_1", "todo_2"]


def test_calls_in_the_text_are_counted_too() -> None:
    written = json.dumps({"name": "create", "arguments": {"name": "todo"}})
    text = f"<tool_call>{written}</tool_call>\n" * 200
    talk = controller(text, "Done.", tool_protocol="text")
    events = run(talk, "lists")
    assert end(events).text == "Done."
    assert len(talk.windows.windows()) == 64
    assert [one.text for one in of(Notice, events)] == [
        "136 calls were refused: the limit is 64 per answer (max_calls)."
    ]
    refusals = [one.content for one in talk.context.get_all() if "Not carried out" in one.content]
    assert len(refusals) == 1


def test_only_so_many_windows_can_be_open() -> None:
    assert SessionOptions().max_windows == 100
    for limit in (1, 3):
        windows = WindowManager(LISTED, most=limit)
        for _ in range(limit - 1):
            windows.open("todo")
        calls = [call("create", name="todo") for _ in range(3)]
        talk = controller(calls, "Done.", context=ContextManager(windows))
        finished = of(CallFinished, run(talk, "lists"))
        assert [one.ok for one in finished] == [True, False, False]
        assert finished[-1].text == (
            f"{limit} windows are open, which is the maximum (max_windows). Close one first."
        )
        # A session that had more comes back whole.
        windows.restore(type(windows.windows()[0]), "todo_900", {})
        assert len(windows.windows()) == limit + 1


@pytest.mark.parametrize("kind", ["cache_read_input_tokens", "cache_creation_input_tokens"])
def test_cached_input_counts_when_our_count_is_compared_with_the_providers(
    wired: Wired, kind: str
) -> None:
    """M22: of a long conversation nearly all input is cached."""
    wired.say("hello", answer("Hi.", usage={"input_tokens": 5_000}))
    all_new = wired.session.context.counter.ratio
    assert all_new > 1.2
    wired.begin()
    wired.say("hello", answer("Hi.", usage={"input_tokens": 3, kind: 4_997}))
    assert wired.session.context.counter.ratio == pytest.approx(all_new, rel=0.01)
