"""The table of the usage page never cuts a figure."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from contextui.tui.inspector.usage import TurnUsage, UsagePage, fitting_cells
from tests.tui.desktop.samples import seen
from tests.tui.inspector.scene import inspector
from tests.tui.running import desk_in, running, until

WIDTHS = st.lists(st.tuples(st.integers(1, 9), st.integers(0, 4)), min_size=1, max_size=6)


@given(WIDTHS, st.integers(20, 90))
def test_columns_that_fit_have_room_for_their_figures(
    sizes: list[tuple[int, int]], width: int
) -> None:
    widths = [(needed, needed + more) for needed, more in sizes]
    chosen = fitting_cells(widths, width)
    assert 0 in chosen
    assert len(widths) - 1 in chosen  # what gives way is at the left
    assert all(cells >= widths[at][0] for at, cells in chosen.items())
    assert sum(chosen.values()) <= width
    if sum(needed for needed, _ in widths) <= width:
        assert len(chosen) == len(widths)  # nothing gives way without need


FULL = TurnUsage(
    999, cached=999_999, written=0, uncached=888_888, answered=777_777, outdated=666_666
)


async def test_all_numbers_below_a_million_fit_beside_the_chat(tmp_path: Path) -> None:
    async with running(desk_in(tmp_path)) as pilot:
        pane = inspector(pilot)
        pilot.app.main.navigation.enter("context")  # type: ignore[attr-defined]
        pane._turn_to("Usage")
        await until(pilot, lambda: pane.query_one(UsagePage).size.width > 0)
        page = pane.query_one(UsagePage)
        turns = [TurnUsage(1, cached=486, uncached=12, answered=7)] * 60
        page.show_turns([*turns, FULL])  # so many that there is a scroll bar
        text = await seen(pilot, page, "777,777")
        names = ("answered", "not cached", "cached", "outdated")
        assert [one for one in names if one not in text] == []
        row = next(one for one in text.split("\n") if "777,777" in one)
        assert row.split()[:5] == ["999", "999,999", "666,666", "888,888", "777,777"]
