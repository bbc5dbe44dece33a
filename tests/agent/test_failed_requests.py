"""Requests that fail, over the wire: a request counts once its answer begins."""

from collections.abc import Sequence

import pytest

from contextui.agent.context_space import TurnOptions
from contextui.agent.retry import RetryPolicy
from contextui.context.placement.compose import PricedComposer
from contextui.events import Event, RetryScheduled
from tests.agent.server import (
    Hangup,
    Reply,
    Step,
    Stream,
    answer,
    block_events,
    error,
    start,
    thinking,
)
from tests.agent.talking import end
from tests.agent.wired import Wired, adding, opening, texts

BUSY = Reply(529, error("overloaded_error", "Overloaded"))
BAD = Reply(400, error("invalid_request_error", "No."))


def noted(wired: Wired) -> object:
    """All that a request leaves behind: cache entries, counts, and what was sent."""
    priced = wired.session.context.ledger.priced
    assert isinstance(priced, PricedComposer)
    script = priced.transcript
    figures = script.requests, script.last, script.sent_key, dict(script.entries)
    sent = [(slot.id, slot.sent, slot.actions) for slot in script.slots]
    shown = {view.id: (view.shown, [one.id for one in view.chain])
             for view in script.views.values() if view.chain}  # fmt: skip
    messages = [piece.message for piece in priced._messages.pieces]
    return figures, sent, shown, messages, dict(priced._shown)


def counted(wired: Wired) -> int:
    priced = wired.session.context.ledger.priced
    assert priced is not None
    return priced.transcript.requests


def a_talk(wired: Wired) -> None:
    """Some turns with a window, so that there is something to keep or to remove."""
    wired.say("a list", answer(thinking("Hm."), opening("milk")), answer("Here."))
    wired.say("eggs", answer(adding("eggs")), answer("Added."))


@pytest.mark.parametrize(
    "steps",
    [[BUSY] * 5, [BAD], [Stream([{"type": "ping"}], end="close")] * 5],
    ids=["busy", "refused", "nothing but a ping"],
)  # fmt: skip
def test_a_request_that_fails_before_its_answer_begins_is_no_request(
    wired: Wired, steps: Sequence[Step]
) -> None:
    a_talk(wired)
    wired.act("todo_1", "add", text="bread")
    before = noted(wired)
    assert end(wired.say("well?", *steps)).reason == "failed"
    assert noted(wired) == before
    assert end(wired.say("and now?", answer("Here."))).reason == "done"
    assert "bread" in texts(wired.last)
    assert "well?" in texts(wired.last)


BROKEN = Stream([start(), *block_events(0, {"type": "text", "text": "Well, I"})[:-1]], end="close")


@pytest.mark.parametrize(
    "steps",
    [[answer(adding("bread")), *[BUSY] * 5], [BUSY, Hangup(), answer("Yes.")], [BROKEN] * 5],
    ids=["within a turn", "repeated", "broken off"],
)
def test_a_request_counts_once_its_answer_begins(wired: Wired, steps: Sequence[Step]) -> None:
    a_talk(wired)
    count = counted(wired)
    wired.say("bread", *steps)
    assert counted(wired) == count + 1
    assert end(wired.say("and now?", answer("Here."))).reason == "done"
    assert counted(wired) == count + 2


def test_a_sweep_of_a_request_that_failed_is_made_with_the_next(wired: Wired) -> None:
    a_talk(wired)
    first = next(one for one in wired.session.context.get_all() if one.content == "a list")
    wired.session.context.drop(first.id)
    before = noted(wired)
    wired.say("well?", BAD)
    assert noted(wired) == before
    wired.say("and now?", answer("Here."))
    assert "a list" not in [block.get("text") for _, block in wired.last.blocks()]


def test_a_turn_that_is_stopped_while_it_waits_sent_no_request(wired: Wired) -> None:
    wired.begin(TurnOptions(retry=RetryPolicy(first=60.0)))  # as long as it is
    a_talk(wired)
    before = noted(wired)
    stop = wired.stop_at(RetryScheduled)
    assert end(wired.say("well?", BUSY, heard=stop)).reason == "stopped"
    assert noted(wired) == before


def test_a_change_while_a_request_waits_lets_it_count(wired: Wired) -> None:
    """The log has the request in front of the change then, and a resumed session follows it."""
    a_talk(wired)
    count = counted(wired)
    first = next(one for one in wired.session.context.get_all() if one.content == "a list")

    def drop(event: Event) -> None:
        if isinstance(event, RetryScheduled) and not first.hidden:
            wired.session.context.drop(first.id)

    wired.say("well?", *[BUSY] * 5, heard=drop)
    assert counted(wired) == count + 1
