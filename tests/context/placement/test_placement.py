"""What holds for every request of every conversation, and how much work one is."""

import math
import random

import pytest

from benchmarks.cost.replay import blocks
from contextui.context.placement.slots import Decision, Offer, Rules
from contextui.context.placement.transcript import Transcript
from contextui.model import CachePrices
from tests.context.placement.scenario import Scenario, conversation
from tests.thorough import times

PRICES = [
    CachePrices(),
    CachePrices(0.1, 2.0, 3_600),
    CachePrices(0.0, 1.0, math.inf, marks=0),
    CachePrices(1.0, 1.0, 0.0, marks=0),
]


def examine(seed: int) -> None:
    """Check every request of a random conversation."""
    prices = PRICES[seed % len(PRICES)]
    rules = Rules(budget=random.Random(seed).choice([None, None, 6_000]))
    scenario = Scenario(prices, rules, 500)
    transcript, before = scenario.transcript, list[tuple[str, str, int, str]]()
    for event in conversation(seed):
        if event["event"] == "request":
            check_plan(transcript, event["t"])
        request = scenario.feed(event)
        if request is None:
            continue
        now = list(blocks(transcript.slots))
        kept = before[: request.sweep.after] if request.sweep else before
        assert now[: len(kept)] == kept, "what was sent has changed in front of the sweep"
        assert all(not slot.is_outdated for slot in transcript.slots[request.start :])
        total = sum(tokens for _, _, tokens, _ in now)
        assert request.read + request.written + request.plain == total
        assert request.outdated == sum(
            slot.sent.tokens for slot in transcript.slots if slot.sent and slot.is_outdated
        )
        assert len(request.marks) <= prices.marks
        check_windows(transcript)
        if transcript.requests % 4 == 0:
            check_sums(transcript)
        before = now


def check_plan(transcript: Transcript, now: float) -> None:
    """Planning changes nothing, so that one can plan as often as one likes."""

    def state() -> object:
        slots = [(one.id, one.sent, one.want, one.since, one.reason) for one in transcript.slots]
        tail = [one.id for one in transcript.tail]
        views = [(one.version, one.shown, one.pending, [*one.chain])
                 for one in transcript.views.values()]  # fmt: skip
        return slots, tail, views, dict(transcript.entries)

    before = state()
    plans = [transcript.plan(now) for _ in range(2)]
    assert state() == before
    assert plans[0].offer == plans[1].offer
    assert [slot.id for slot in plans[0].new] == [slot.id for slot in plans[1].new]


def check_windows(transcript: Transcript) -> None:
    """Every open window can be read from its chain, and every list of actions is there."""
    for view in transcript.views.values():
        if view.is_open and not view.is_dropped and view.is_current:
            sent = [slot.sent for slot in view.chain]
            assert [form.kind for form in sent if form][:1] == ["whole"]
            assert all(form and form.kind == "change" for form in sent[1:])
            assert [slot.at for slot in view.chain] == sorted(slot.at for slot in view.chain)
    full = set[str]()
    for slot in transcript.slots:
        if slot.sent and slot.actions.startswith("ref:"):
            assert slot.actions.removeprefix("ref:") in full
        if slot.sent and slot.actions == "full":
            full.add(slot.item)


def check_sums(transcript: Transcript) -> None:
    """The offers are those that a pass over all slots finds."""
    for offer in transcript.offers(Decision(0.0, entries=transcript.entries)):
        assert offer == pytest.approx(plainly(transcript, offer.cut))


def plainly(transcript: Transcript, cut: int) -> Offer:
    """Compute an offer from all slots."""
    held, prices = max(transcript.entries, default=0), transcript.prices
    saved = rent = kept = 0
    times = transcript.requests + transcript.rules.ahead
    for slot in transcript.slots[cut:]:
        sent, want = slot.sent.tokens if slot.sent else 0, slot.want.tokens if slot.want else 0
        if slot.is_outdated:
            saved, rent = saved + sent - want, rent + (sent - want) * (times - slot.since)
        kept += want if slot.at < held else 0
    for view in transcript.views.values():
        for slot in view.chain[1:] if view.chain and view.chain[0].at >= cut else ():
            size = slot.full.tokens
            saved, rent = saved + size, rent + size * (times - slot.since)
            kept -= size if slot.at < held else 0
    if prices.marks:
        hit = max((one for one in transcript.entries if one <= cut), default=0)
        between = transcript.slots[hit : min(cut, held)]
        kept += sum(slot.sent.tokens for slot in between if slot.sent)
    return Offer(cut, prices.read * rent, (prices.write - prices.read) * kept, saved)


@pytest.mark.parametrize(
    ("first", "count"),
    [(0, times(24, 200)),
     *(pytest.param(1_000 + part * 400, times(130, 400), marks=pytest.mark.long)
       for part in range(8))],
)  # fmt: skip
def test_random_conversations(first: int, count: int) -> None:
    for seed in range(first, first + count):
        examine(seed)


def test_free_prices_and_clocks_that_jump_back_change_nothing_else() -> None:
    scenario = Scenario(CachePrices(0.0, 0.0, 300.0), Rules(), 2_000)
    times = iter([50.0, 10.0, -5.0, 1e9, 0.0])
    events = [
        {**event, "t": next(times, 0.0)} if event["event"] == "request" else event
        for event in conversation(7, turns=2)
    ]
    assert scenario.run(events)
