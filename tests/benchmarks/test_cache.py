"""The simulated prompt cache."""

import random

import pytest

from benchmarks.cost.cache import ANTHROPIC, LOOK_BACK, Block, Charge, PromptCache, Sent, figures
from benchmarks.cost.replay import blocks
from contextui.context.placement.slots import Request, Rules
from contextui.model import CachePrices
from tests.context.placement.scenario import Scenario, conversation

HEAD = Block("head", 2_000)


def request(*tokens: int, marks: list[int] | None = None, time: float = 0.0) -> Sent:
    """A request with a head and blocks of these sizes, marked at the head and at the end."""
    parts = [HEAD, *(Block(at, size) for at, size in enumerate(tokens))]
    return Sent(parts, [1, len(parts)] if marks is None else marks, time)


def test_the_first_request_is_written_and_the_next_one_reads_it() -> None:
    cache = PromptCache()
    assert cache.charge(request(100)) == Charge(0, 2_100, 0)
    assert cache.charge(request(100, 30)) == Charge(2_100, 30, 0)


def test_what_follows_the_last_mark_has_the_full_price() -> None:
    cache = PromptCache()
    assert cache.charge(request(100, 50, marks=[2])) == Charge(0, 2_100, 50)
    assert cache.charge(request(100, 50, marks=[])) == Charge(0, 0, 2_150)


def test_a_changed_block_loses_everything_after_it() -> None:
    cache = PromptCache()
    cache.charge(request(100, 200, 300, marks=[1, 2, 4]))
    changed = Sent([HEAD, Block(0, 100), Block("new", 200), Block(2, 300)], [1, 4], 0)
    assert cache.charge(changed) == Charge(2_100, 500, 0)


def test_an_entry_exists_only_where_a_mark_was() -> None:
    cache = PromptCache()
    cache.charge(request(100, 200, 300, marks=[4]))
    assert cache.charge(request(100, 200, 40, marks=[3])) == Charge(0, 2_300, 40)


def test_a_mark_finds_entries_among_the_20_places_up_to_it() -> None:
    for more, is_found in ((LOOK_BACK - 1, True), (LOOK_BACK, False)):
        cache = PromptCache()
        cache.charge(request(100, marks=[2]))
        found = cache.charge(request(100, *[1] * more, marks=[2 + more]))
        assert found == (Charge(2_100, more, 0) if is_found else Charge(0, 2_100 + more, 0)), more


def test_an_entry_expires_after_its_last_use() -> None:
    cache = PromptCache()
    for time in (0.0, 299.0, 598.0):
        last = cache.charge(request(100, time=time))
    assert last.read == 2_100
    assert cache.charge(request(100, time=899.0)).read == 0


def test_an_entry_behind_another_one_expires_on_its_own() -> None:
    cache = PromptCache()
    cache.charge(request(100, 200))
    cache.charge(request(100, 200, marks=[1], time=200.0))
    assert cache.charge(request(100, 200, time=400.0)) == Charge(2_000, 300, 0)


def test_a_short_prefix_is_not_cached() -> None:
    cache, short = PromptCache(), Sent([Block("head", 1_023)], [1], 0.0)
    assert cache.charge(short) == cache.charge(short) == Charge(0, 0, 1_023)


def test_marks_that_no_provider_accepts_are_refused() -> None:
    for marks in ([1, 2, 3, 4, 5], [0], [7]):
        with pytest.raises(ValueError, match="mark"):
            PromptCache().charge(request(1, 2, 3, 4, 5, marks=marks))


def test_every_token_is_charged_once_and_only_known_prefixes_are_read() -> None:
    for seed in range(8):
        dice, cache, sent = random.Random(seed), PromptCache(), list[Sent]()
        for number in range(40):
            before = list(sent[-1].blocks) if sent else [HEAD]
            kept = before[: dice.randint(1, len(before))] if dice.random() < 0.3 else before
            new = [Block((number, at), dice.randint(1, 900)) for at in range(dice.randint(1, 8))]
            parts = [*kept, *new]
            marks = dice.sample(range(1, len(parts) + 1), min(len(parts), dice.randint(0, 4)))
            one = Sent(parts, marks, (sent[-1].time if sent else 0) + dice.choice((5, 100, 400)))
            charge = cache.charge(one)
            assert sum(charge) == sum(block.tokens for block in parts), seed
            common = [_common(one, other) for other in sent]
            assert charge.read <= max(common, default=0), seed
            sent.append(one)


def _common(one: Sent, other: Sent) -> int:
    total = 0
    for ours, theirs in zip(one.blocks, other.blocks, strict=False):
        if ours != theirs:
            break
        total += ours.tokens
    return total


def planned(seed: int, pause: float) -> list[tuple[Request, Sent]]:
    """The requests of a random conversation, as planned and as sent."""
    scenario, found = Scenario(ANTHROPIC, Rules()), list[tuple[Request, Sent]]()
    for event in conversation(seed, pause=pause):
        if (made := scenario.feed(event)) is None:
            continue
        # An id stands for one text as long as kind, size and list of actions are the same.
        parts = [Block(block, block[2]) for block in blocks(scenario.transcript.slots)]
        found.append((made, Sent(parts, made.marks, event["t"])))
    return found


def test_the_planner_expects_what_the_cache_charges() -> None:
    for seed in range(8):
        for pause in (20.0, 200.0):
            cache, is_exact = PromptCache(), 0
            requests = planned(seed, pause)
            for made, sent in requests:
                charge = cache.charge(sent)
                assert sum(charge) == made.read + made.written + made.plain, (pause, seed)
                assert charge.read >= made.read, (
                    pause,
                    seed,
                )  # the look-back may find more than the planner counts on
                is_exact += charge == (made.read, made.written, made.plain)
            assert is_exact >= 0.9 * len(requests), (pause, seed)


def test_without_a_cache_all_prices_are_one() -> None:
    prices = CachePrices(read=1, write=1, ttl=0)
    requests = [sent for _, sent in planned(3, 20.0)]
    found = figures(requests, prices)
    assert found.cost == found.tokens


def test_the_figures_are_the_charges_at_their_prices() -> None:
    found = figures([request(100), request(100, 30)])
    assert found.cost == pytest.approx(1.25 * 2_100 + 0.1 * 2_100 + 1.25 * 30)
    assert found.tokens == 2_100 + 2_130
