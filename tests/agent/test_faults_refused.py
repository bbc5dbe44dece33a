"""Requests that are refused, over the wire: waited for a while, changed once, or given up.

The tests are named by the fault that they play, as the list of all faults counts them.
"""

import pytest

from contextui.agent.context_space import TurnOptions
from contextui.agent.models.anthropic import AnthropicModel
from contextui.agent.retry import RetryPolicy
from contextui.events import AnswerDiscarded, CallStarted, Notice, RetryScheduled
from contextui.model import TextDelta
from tests.agent.server import Hangup, Reply, Step, Stream, answer, call, error, thinking
from tests.agent.talking import end, of, options
from tests.agent.wired import KEY, Wired, adding, opening, results, texts

ATTEMPTS = 5
BUSY = Reply(529, error("overloaded_error", "Overloaded"))
TOO_LARGE = Reply(413, error("request_too_large", "Request exceeds the maximum size"))
TOO_LONG = Reply(400, error("invalid_request_error", "prompt is too long: 9 tokens > 8 maximum"))
BOUND = Reply(
    400,
    error("invalid_request_error", "messages.1.content.0: Invalid `signature` in `thinking` block"),
)


def long_talk(wired: Wired) -> None:
    """Some turns that can be left out again."""
    for number in range(5):
        wired.say(f"{number} " + "word " * 300, answer(f"Number {number}."))


# --- 7: busy providers -------------------------------------------------------------------


@pytest.mark.parametrize(
    "busy",
    [
        Reply(429, error("rate_limit_error")),
        Reply(503, "<html>try later</html>"),
        Reply(408),
        Hangup(),
    ],
    ids=["429", "503", "408", "hangup"],
)
def test_fault_07_busy_providers_are_asked_again_a_few_times(wired: Wired, busy: Step) -> None:
    events = wired.say("a list", busy, answer(opening()), busy, busy, answer("Done."))
    assert end(events).text == "Done."
    assert [one.seconds for one in of(RetryScheduled, events)] == [1, 1, 2, 1]
    assert [one.attempt for one in of(RetryScheduled, events)] == [2, 2, 3, 3]
    assert wired.opened == ["todo_1"]
    events = wired.say("more", *[busy] * ATTEMPTS)
    assert (end(events).reason, len(wired.requests)) == ("failed", 5 + ATTEMPTS)
    assert [one.seconds for one in of(RetryScheduled, events) if one.attempt == 5] == [
        *range(8, 0, -1)
    ]
    assert end(events).explanation.endswith(f"Tried {ATTEMPTS} times.")
    assert end(wired.say("now?", answer("Here."))).text == "Here."


def test_fault_07_retry_after_is_respected(wired: Wired) -> None:
    busy = Reply(429, error("rate_limit_error", "Slow down."), {"retry-after": "3"})
    events = wired.say("well?", busy, answer("Yes."))
    assert [one.seconds for one in of(RetryScheduled, events)] == [3, 2, 1]
    assert all("Slow down." in one.reason for one in of(RetryScheduled, events))


@pytest.mark.parametrize("after", ["61", "Wed, 21 Oct 2099 07:28:00 GMT"])
def test_fault_07_but_not_for_minutes(wired: Wired, after: str) -> None:
    busy = Reply(429, error("rate_limit_error"), {"retry-after": after})
    events = wired.say("well?", busy)
    assert (end(events).reason, len(wired.requests)) == ("failed", 1)
    assert of(RetryScheduled, events) == []
    assert "Try again in " in end(events).explanation
    assert end(wired.say("now?", answer("Yes."))).text == "Yes."


def test_fault_07_the_countdown_can_be_stopped(wired: Wired) -> None:
    """With pauses as long as they are: had it to be waited for, the test would not end."""
    wired.begin(TurnOptions(retry=RetryPolicy(first=60.0)))
    stop = wired.stop_at(RetryScheduled)
    events = wired.say("a list", answer(opening()), BUSY, heard=stop)
    assert (end(events).reason, end(events).is_error) == ("stopped", False)
    assert [one.seconds for one in of(RetryScheduled, events)] == [60]
    assert len(wired.requests) == 2
    assert end(wired.say("now?", answer("Here."))).text == "Here."


def test_fault_07_a_turn_can_be_stopped_in_mid_answer(wired: Wired) -> None:
    held = Stream(answer("Once upon a time", opening())[:4], held=True)
    events = wired.say("a story", held, heard=wired.stop_at(TextDelta))
    assert (end(events).reason, end(events).text) == ("stopped", "Once up")
    assert wired.server.wait_until_gone()
    wired.say("and?", answer("Then."))
    assert "Once up\n\n(stopped here)" in texts(wired.last)


# --- 8: refusals -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("refusal", "words"),
    [
        (Reply(400, error("invalid_request_error", "messages.0: Odd.")), "messages.0: Odd."),
        (Reply(403, error("permission_error", f"{KEY} may not")), "ANTHROPIC_API_KEY"),
        (Reply(404, error("not_found_error", "model: claude-x")), "--model"),
    ],
    ids=["400", "403", "404"],
)
def test_fault_08_what_is_refused_is_not_sent_again(
    wired: Wired, refusal: Reply, words: str
) -> None:
    events = wired.say("a list", answer(opening("x")), refusal)
    assert (end(events).reason, len(wired.requests)) == ("failed", 2)
    assert words in end(events).explanation
    assert KEY not in repr(events)
    assert of(RetryScheduled, events) == []
    events = wired.say("and now?", answer("Here."))
    assert end(events).text == "Here."
    assert wired.items == ["x"]


@pytest.mark.parametrize("refusal", [TOO_LARGE, TOO_LONG], ids=["413", "400"])
def test_fault_08_a_request_that_is_too_large_is_sent_smaller_once(
    wired: Wired, refusal: Reply
) -> None:
    """X43: one false answer of a server leaves nothing out."""
    long_talk(wired)
    events = wired.say("is it so?", refusal, answer("No."))
    assert end(events).text == "No."
    assert wired.requests[-1].body == wired.requests[-2].body
    events = wired.say("and now?", refusal, refusal, answer("Here."))
    assert end(events).text == "Here."
    assert [one.text for one in of(Notice, events)]
    large, small = wired.requests[-2:]
    assert len(small.body) < len(large.body) * 0.8
    assert "and now?" in texts(small)
    events = wired.say("more", refusal, refusal, refusal)
    assert (end(events).reason, len(wired.requests)) == ("failed", 13)


def test_fault_08_the_last_error_is_reported(wired: Wired) -> None:
    long_talk(wired)
    events = wired.say("and now?", TOO_LARGE, TOO_LARGE, Reply(401, error("authentication_error")))
    assert "ANTHROPIC_API_KEY" in end(events).explanation


def test_fault_08_what_cannot_be_made_smaller_is_not_sent_again(wired: Wired) -> None:
    events = wired.say("word " * 500, TOO_LONG, TOO_LONG)
    assert (end(events).reason, len(wired.requests)) == ("failed", 2)
    assert end(events).explanation.startswith("The request is too large for the model.")
    assert end(wired.say("and now?", answer("Here."))).text == "Here."
    assert "word word" not in texts(wired.last)  # or it would be in the way for ever


def test_fault_08_a_provider_that_counts_less_than_we_do_gets_less_all_the_same(
    wired: Wired,
) -> None:
    """Our own count is taken for twice as much as it is, and still the request shrinks."""
    long_talk(wired)
    wired.session.context.counter.ratio = 0.5
    events = wired.say("and now?", TOO_LARGE, TOO_LARGE, answer("Here."))
    assert end(events).text == "Here."
    large, small = wired.requests[-2:]
    assert len(small.body) < len(large.body) * 0.8


ODD = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
CITED = {"type": "text", "text": "So it is.", "citations": [{"type": "page_location"}]}


def test_fault_08_what_another_model_left_is_offered_without_it(wired: Wired) -> None:
    wired.odd = ("cannot stand here",)
    refusal = Reply(400, error("invalid_request_error", "messages.1: unknown server_tool_use"))
    wired.say("search", answer(ODD, CITED, opening("x")), answer("Done."))
    events = wired.say("and now?", refusal, answer(adding("a")), answer("Here."))
    assert end(events).text == "Here."
    [notice] = [one.text for one in of(Notice, events)]
    assert "unknown server_tool_use. Retrying without" in notice
    assert "(citations, server_tool_use)" in notice
    odd = [b"server_tool_use" in one.body for one in wired.requests]
    assert odd == [False, True, True, False, False]
    assert b"citations" not in wired.last.body
    assert "So it is." in texts(wired.last)
    wired.say("more", answer("Here."))
    assert b"server_tool_use" not in wired.last.body  # it would be refused again
    assert wired.items == ["x", "a"]
    events = wired.say("more", refusal)
    assert (end(events).reason, of(Notice, events)) == ("failed", [])


def test_fault_08_an_answer_longer_than_the_model_gives_is_asked_for_shorter(wired: Wired) -> None:
    message = "max_tokens: 8192 > 4096, which is the maximum allowed number of output tokens"
    refusal = Reply(400, error("invalid_request_error", message))
    events = wired.say("well?", refusal, answer("Yes."))
    assert [one.json["max_tokens"] for one in wired.requests] == [8_192, 4_096]
    assert [message in one.text and "at most 4096 tokens" in one.text for one in of(Notice, events)]
    wired.say("more", answer("Yes."))
    assert wired.last.json["max_tokens"] == 4_096


# --- 12a: thinking that is not taken back ------------------------------------------------


def test_fault_12a_refused_thinking_is_left_out_once(wired: Wired) -> None:
    adds = answer(thinking("So"), adding("a"))
    steps: list[Step] = [answer(thinking("Hm."), "Opening.", opening()), BOUND, adds]
    events = wired.say("a list", *steps, answer("Done."))
    assert end(events).text == "Done."
    assert [b"signature" in one.body for one in wired.requests] == [False, True, False, False]
    assert len(of(Notice, events)) == 1
    assert wired.items == ["a"]
    wired.say("more", answer(thinking("Hm."), adding("b")), answer("Done."))
    assert b"signature" in wired.last.body  # the next turn's is taken, as far as anyone knows


def test_fault_12a_thinking_that_is_refused_twice_is_the_end(wired: Wired) -> None:
    events = wired.say("a list", answer(thinking("Hm."), opening()), BOUND, BOUND)
    assert (end(events).reason, len(wired.requests)) == ("failed", 3)
    assert wired.opened == ["todo_1"]


def test_fault_12a_without_thinking_there_is_nothing_to_leave_out(wired: Wired) -> None:
    events = wired.say("a list", answer(opening()), BOUND)
    assert (end(events).reason, len(wired.requests)) == ("failed", 2)


# --- 13: what must stay is too much ------------------------------------------------------


@pytest.mark.parametrize("budget", [100, 600])
def test_fault_13_system_and_tools_alone_are_too_much(wired: Wired, budget: int) -> None:
    wired.begin(options(budget=budget))
    events = wired.say("hello")
    assert (end(events).reason, wired.requests) == ("failed", [])
    assert "budget" in end(events).explanation
    assert of(CallStarted, events) == []


def test_fault_13_what_is_pinned_is_too_much(wired: Wired) -> None:
    wired.say("remember " * 2_000, answer("Yes.", usage={"input_tokens": 0}))
    first = wired.pin_first_words()
    wired.turn = options(budget=2_500)
    wired.go_on()
    events = wired.say("hello")
    assert (end(events).reason, len(wired.requests)) == ("failed", 1)
    assert "User remember" in end(events).explanation
    wired.session.context.unpin(first)
    assert end(wired.say("hello", answer("A summary."), answer("Hi."))).text == "Hi."


def test_fault_13_a_message_that_is_too_large_is_dropped(wired: Wired) -> None:
    wired.begin(options(budget=2_500))
    events = wired.say("word " * 9_000)
    assert (end(events).reason, wired.requests) == ("failed", [])
    assert end(wired.say("short", answer("Yes."))).text == "Yes."
    assert "word word" not in texts(wired.last)


def test_fault_13_results_are_cut_to_what_there_is_room_for(wired: Wired) -> None:
    wired.begin(options(budget=2_500))
    (wired.folder / "big.txt").write_text("line of the file\n" * 1_900)
    read = [call("read_file", path="big.txt", start=n) for n in (1, 2, 3)]
    events = wired.say("read", answer(*read), answer("Done."))
    assert end(events).text == "Done."
    assert all(0 < len(str(one["content"])) < 4_000 for one in results(wired.last))
    assert of(AnswerDiscarded, events) == []


def test_fault_07_a_refused_connection_is_reported_soon(wired: Wired, closed: str) -> None:
    wired.talk.model = AnthropicModel("claude-x", base_url=closed, api_key=KEY)
    events = wired.say("hello")
    assert [(one.seconds, one.attempt, one.attempts) for one in of(RetryScheduled, events)] == [
        (1, 2, 3),
        (1, 3, 3),
    ]
    assert end(events).explanation.startswith(f"Nothing listens at {closed}: ")
    assert end(events).explanation.endswith("Tried 3 times.")
    wired.run(wired.talk.model.aclose())
    wired.talk.model = wired.model
    assert end(wired.say("now?", answer("Here."))).text == "Here."
