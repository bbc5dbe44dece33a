"""Long sessions in a small budget, with each strategy: never too large, never malformed, cheap."""

import pytest

from benchmarks.long_run import BUDGET, play, strategies, trimming_every_turn
from contextui.agent.cache_marks import Payload
from contextui.context.strategies.builtin import SlidingWindow
from tests.agent.shapes import violations
from tests.thorough import times

TURNS = times(30, 600)
WHOLE = 600
"""Turns from which on the figures mean something."""


MOST_ASIDES = {
    "sliding, compacted": TURNS // 20,
    "summarization": TURNS // 5,
    "entities": TURNS,
}


@pytest.mark.parametrize("name", MOST_ASIDES)
def test_a_long_session_stays_within_its_budget(name: str) -> None:
    def look(sent: Payload) -> None:
        assert violations(sent.body) == []

    strategy, compacts = strategies()[name]
    figures = play(strategy, turns=TURNS, compacts=compacts, look=look)
    assert figures.requests >= TURNS
    assert 0 < figures.largest <= BUDGET
    assert figures.asides <= MOST_ASIDES[name]


@pytest.mark.long
def test_any_strategy_costs_a_fifth_of_trimming_every_turn() -> None:
    with trimming_every_turn():
        base = play(SlidingWindow(), turns=WHOLE)
    for name, (strategy, compacts) in strategies().items():
        assert base.cost >= 5 * play(strategy, turns=WHOLE, compacts=compacts).cost, name
