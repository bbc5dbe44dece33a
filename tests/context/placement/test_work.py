"""By price, a turn is as much work as has changed: counted, and the same at any length."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from contextui import TokenCounter
from contextui.agent import request
from contextui.agent.cache_marks import Payload, payload
from contextui.agent.request import RequestBuilder
from tests.context.conversation import Conversation
from tests.context.test_work import Work, work  # noqa: F401  a fixture
from tests.counting import lines_run

Counts = dict[str, int]


def long_talk(items: int, work: Work) -> Conversation:  # noqa: F811
    """A conversation of this many items, most of which were sent with one request."""
    talk = Conversation("price", TokenCounter(encode=work.count))
    assert talk.context.ledger.priced is not None
    talk.context.ledger.priced._clock = lambda: 1_000.0  # a composed request is used for a second
    talk.system("You work in windows. " * 400)
    for number in range(3):
        talk.open(*(f"window {number}, line {line}" for line in range(20)))
    while talk.context.current_seq < items:
        talk.say(f"words {talk.context.current_seq}")
        talk.call(1, "I look.")
        talk.result(f"result {talk.context.current_seq}")
        talk.answer("Done.")
    talk.context.end_turn()
    for number in range(3):
        talk.turn(f"more {number}", "yes")
    talk.context.get_stats()
    return talk


def a_turn(talk: Conversation, take: Callable[[], None]) -> None:
    """Words, a call that changes a window, its result, and an answer."""
    talk.say("go on")
    take()
    talk.call(1, "I write.", "hm")
    asyncio.run(talk.windows.act("notes_2", "write", {"line": "the same in each"}))
    talk.result("written")
    take()
    talk.answer("Done.")
    talk.context.end_turn()
    talk.context.get_all()
    talk.context.get_active()
    talk.context.get_stats()


def counts_of(items: int, work: Work, monkeypatch: pytest.MonkeyPatch) -> Counts:  # noqa: F811
    talk, builder, sent = long_talk(items, work), RequestBuilder(), list[Payload]()
    validated, fit_block = 0, request.fit_block

    def counted(*given: Any) -> Any:
        nonlocal validated
        validated += 1
        return fit_block(*given)

    def take() -> None:
        composition = talk.context.compose(100_000_000)
        talk.context.mark_sent(composition)
        assert composition.plan is not None
        built = builder.build(composition.messages, marks=composition.plan.marks)
        sent.append(payload(built, "m", sent[-1] if sent else None))

    a_turn(talk, take)  # the first one validates everything
    monkeypatch.setattr(request, "fit_block", counted)
    work.clear()
    lines = lines_run(lambda: a_turn(talk, take))
    monkeypatch.setattr(request, "fit_block", fit_block)
    slots = len(talk.context.ledger.priced.transcript.slots) if talk.context.ledger.priced else 0
    assert slots > items
    return {
        "tokenized": len(work.counted),
        "rendered": len(work.drawn),
        "visited": work.passed,
        "validated": validated,
        "lines": lines,
        "slots": slots,
    }


def compare(small: Counts, large: Counts) -> None:
    per_slot = (large.pop("lines") - small.pop("lines")) / (large.pop("slots") - small.pop("slots"))
    assert small == large
    assert small["tokenized"] < 20
    assert small["rendered"] == 1
    assert small["visited"] < 200
    assert small["validated"] < 20
    assert per_slot < 100  # a request takes passes over the slots, which the budget bounds


@pytest.mark.parametrize(
    ("few", "many"), [(600, 2_000), pytest.param(1_000, 30_000, marks=pytest.mark.long)]
)
def test_a_turn_costs_the_same_at_few_and_at_many_items(
    work: Work,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
    few: int,
    many: int,
) -> None:
    compare(counts_of(few, work, monkeypatch), counts_of(many, work, monkeypatch))
