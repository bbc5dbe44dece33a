"""The usage page: bars in dollars, and a copy as CSV."""

import csv
import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from textual.pilot import Pilot

from contextui.session.usage import Sweep
from contextui.tokens import Usage
from contextui.tui.inspector.usage import TurnUsage, UsagePage, as_csv
from contextui.words import Words
from tests.tui.inspector.scene import inspector
from tests.tui.running import desk_in, lines, running, say, shown, until
from tests.tui.test_cost import Priced, answered

TURNS = [
    TurnUsage(1, 0, 4_000, 100, 200, cost=0.018, requests=1),
    TurnUsage(2, 4_000, 300, 20, 400, outdated=1_000, cost=0.008, requests=3),
]


def cost_of(usage: Usage) -> float:
    """Three dollars for a million tokens, as usual for the others."""
    input_tokens = usage.input_tokens + 0.1 * usage.cache_read_input_tokens
    input_tokens += 1.25 * usage.cache_creation_input_tokens
    return (3 * input_tokens + 15 * usage.output_tokens) / 1_000_000


def test_the_parts_of_a_cost_add_up_to_what_was_paid() -> None:
    for one in TURNS:
        assert sum(one.dollars(cost_of)) == pytest.approx(one.cost)
    outdated, cached, _, answered = TURNS[1].dollars(cost_of)
    assert cached == pytest.approx(3 * outdated)
    assert answered > cached  # although it has a tenth of the tokens
    assert TurnUsage(1, uncached=10, outdated=10, cost=1.0).dollars(cost_of) == pytest.approx(
        (1, 0, 0, 0)
    )
    assert TurnUsage(1, uncached=10).dollars(cost_of) == (0, 0, 0, 0)
    assert TurnUsage(1, uncached=10, cost=1.0).dollars(lambda _: None) == (0, 0, 1, 0)


def rows(turns: Sequence[TurnUsage], *, has_cache: bool = True) -> list[dict[str, str]]:
    return list(csv.DictReader(as_csv(turns, Words("en"), has_cache=has_cache).splitlines()))


def test_the_csv_has_plain_names_and_numbers() -> None:
    first, second = rows(TURNS)
    assert [*first] == [
        *("turn", "requests", "cached", "written", "uncached", "outdated", "answered"),
        *("estimated", "usd", "note"),
    ]
    assert second["cached"] == "4000"
    assert second["usd"] == "0.008000"
    (plain,) = rows([TurnUsage(7, uncached=12_000, answered=5, is_guess=True)], has_cache=False)
    assert plain == {
        "turn": "7", "requests": "0", "sent": "12000", "answered": "5", "estimated": "yes",
    }  # fmt: skip


def test_no_cell_of_the_csv_is_a_formula() -> None:
    for begin in "=+-@":
        reason = f'{begin}HYPERLINK("http://evil")'
        (row,) = rows([TurnUsage(1, 10, sweeps=(Sweep(reason),))])
        assert begin in row["note"]
        assert not row["note"].startswith(begin)
    texts = [as_csv(TURNS, Words(lang)) for lang in ("en", "zh")]
    assert not any(cell[:1] in set("=+-@") for text in texts for cell in text.split(","))


async def usage_page(pilot: "Pilot[int]") -> UsagePage:
    pilot.app.main.navigation.enter("context")  # type: ignore[attr-defined]
    pane = inspector(pilot)
    pane._turn_to("Usage")
    page = pane.query_one(UsagePage)
    await until(pilot, lambda: page.size.width > 0)
    page.focus()
    return page


async def test_t_shows_the_bars_in_dollars_and_c_copies(tmp_path: Path) -> None:
    desk = desk_in(tmp_path, model=Priced(answered("A."), answered("B.")))
    async with running(desk, (80, 24)) as pilot:
        await say(pilot, "one")
        await say(pilot, "two")
        page = await usage_page(pilot)
        await until(pilot, lambda: shown(pilot, "tokens or money") and shown(pilot, "  12k"))
        await pilot.press("t")
        await until(pilot, lambda: shown(pilot, "$0.06"))
        assert not shown(pilot, "  12k")
        await pilot.press("t")
        await until(pilot, lambda: shown(pilot, "  12k"))
        await pilot.press("c")
        await until(pilot, lambda: shown(pilot, "Copied "))
        assert pilot.app.clipboard == as_csv(page._turns, Words("en"))
        assert len(pilot.app.clipboard.splitlines()) == 3


async def test_without_prices_there_are_no_dollars_and_without_turns_no_csv(tmp_path: Path) -> None:
    async with running(desk_in(tmp_path, answered("A."), "B.")) as pilot:
        await usage_page(pilot)
        await until(pilot, lambda: shown(pilot, "Nothing sent yet."))
        assert not shown(pilot, "copy as CSV")
        inspector(pilot)._turn_to("Request")
        await until(pilot, lambda: shown(pilot, "turn 1, not sent yet"))
        assert not shown(pilot, "+ new")  # there is no request to compare with
        await usage_page(pilot)
        await say(pilot, "one")
        await until(pilot, lambda: shown(pilot, "  12k"))
        assert shown(pilot, "copy as CSV")
        assert not shown(pilot, "tokens or money")
        await pilot.press("t")
        await pilot.pause()
        assert shown(pilot, "  12k")
        assert not shown(pilot, "~11")
        await say(pilot, "two")  # whose usage the model does not report
        await until(pilot, lambda: shown(pilot, "91% cached   ~11.8k sent   120"))
        (row,) = (one for one in lines(pilot) if re.search(r"▏ +2 +0 ", one))
        assert re.search(r" 2 +0 +· +~\d+ +0 *$", row)
