"""Stacked bars: their heights are their figures."""

import pytest

from contextui.session.usage import Sweep
from contextui.tui.inspector.plot import COLOURS, MONEY, TOKENS, Bar, Scale, nice, plot
from contextui.tui.inspector.usage import TurnUsage


def bars(turns: list[TurnUsage]) -> list[Bar]:
    return [Bar(one.turn, one.parts, bool(one.sweeps)) for one in turns]


def drawn(turns: list[TurnUsage], width: int, height: int, *, plain: bool = False) -> list[str]:
    return text_of(bars(turns), width, height, TOKENS, plain=plain)


def text_of(
    given: list[Bar], width: int, height: int, scale: Scale, *, plain: bool = False
) -> list[str]:
    lines = plot(given, width, height, scale, plain=plain)
    return ["".join(text for text, _ in spans).rstrip() for spans in lines]


@pytest.mark.parametrize(
    ("largest", "top"),
    [(0, 10), (9, 10), (12_430, 14_000), (14_000, 14_000), (14_001, 16_000), (99_999, 100_000)],
)
def test_the_axis_ends_at_a_round_number(largest: int, top: int) -> None:
    assert nice(largest) == top


def test_without_colours_the_parts_have_textures() -> None:
    turns = [TurnUsage(1, cached=400, written=100, uncached=100, answered=400, outdated=200)]
    column = [line[5:6] for line in drawn(turns, 12, 11, plain=True)[:-1]]
    assert column == list("▓▓▓▓██░░▒▒")


def test_with_colours_a_part_ends_where_it_ends() -> None:
    turns = [TurnUsage(1, cached=450, answered=550)]
    lines = plot(bars(turns), 12, 11)
    styles = [spans[1][1] for spans in lines[:-1]]
    assert styles[0] == f"on {COLOURS[3]}"
    assert (
        styles[5] == f"{COLOURS[1]} on {COLOURS[3]}"
    )  # half of this row is the one, half the other
    assert lines[5][1][0][0] == "▄"
    assert styles[9] == f"on {COLOURS[1]}"


def test_a_turn_with_a_sweep_is_marked() -> None:
    sweep = Sweep("price")
    turns = [TurnUsage(1, 10), TurnUsage(2, 10, sweeps=(sweep,)), TurnUsage(3, 10)]
    assert drawn(turns, 12, 8)[0].rstrip() == " " * 7 + "▼"
    assert len(drawn(turns, 12, 8)) == 8


def test_the_newest_turns_are_drawn_if_not_all_fit() -> None:
    turns = [TurnUsage(number, 10) for number in range(1, 101)]
    assert drawn(turns, 25, 8)[-1].split() == ["91", "95", "100"]


def test_nothing_is_drawn_of_nothing() -> None:
    assert drawn([TurnUsage(1)], 12, 4) == ["  10", "   5", "   0", "     1"]


@pytest.mark.parametrize(
    ("cost", "top", "half"),
    [
        (0.0123, "$0.014", "$0.007"),
        (0.00011, "$0.00012", "$0.00006"),
        (0.29, "$0.30", "$0.15"),
        (2.9, "$3.00", "$1.50"),
        (95.0, "$100.00", "$50.00"),
    ],
)
def test_the_axis_of_dollars_is_round_and_whole(cost: float, top: str, half: str) -> None:
    lines = text_of([Bar(1, (0, 0, cost, 0))], 20, 6, MONEY, plain=True)
    assert lines[0].split()[0] == top
    assert half in lines[2]
    assert lines[-2].split()[0] == "0"
