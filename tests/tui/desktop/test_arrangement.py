"""Where windows stand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.geometry import Region, Size

from contextui.tui.desktop.layout import Arrangement, Mode, Order, arrange


def order(count: int, current: int = 1) -> Order:
    ids = [f"w_{number}" for number in range(1, count + 1)]
    return Order(ids, ids[current - 1] if ids else None)


def shown(found: Arrangement) -> list[str]:
    return [window_id for window_id, _ in found.frames]


def test_the_master_stands_beside_a_stack_of_thirty_cells() -> None:
    found = arrange(order(3), Size(78, 18), "side")
    assert found.frames == (
        ("w_1", Region(0, 0, 48, 18)),
        ("w_2", Region(48, 0, 30, 9)),
        ("w_3", Region(48, 9, 30, 9)),
    )
    assert not found.lines


def test_on_a_wide_terminal_the_stack_stands_below() -> None:
    found = arrange(order(3), Size(72, 57), "below")
    assert found.frames == (
        ("w_1", Region(0, 0, 72, 34)),
        ("w_2", Region(0, 34, 36, 23)),
        ("w_3", Region(36, 34, 36, 23)),
    )


def test_a_narrow_terminal_shows_the_present_window_and_lines() -> None:
    found = arrange(order(3, current=2), Size(80, 19), "single")
    assert found.frames == (("w_2", Region(0, 0, 80, 17)),)
    assert found.lines == ("w_1", "w_3")
    assert found.place == Region(0, 17, 80, 2)


def test_one_window_has_all_the_room() -> None:
    for mode in ("side", "below", "single", "zoomed"):
        found = arrange(order(1), Size(78, 18), mode)
        assert found.frames == (("w_1", Region(0, 0, 78, 18)),)


def test_a_zoomed_window_stands_alone() -> None:
    found = arrange(order(5, current=4), Size(120, 38), "zoomed")
    assert found.frames == (("w_4", Region(0, 0, 120, 38)),)
    assert not found.lines
    assert not found.more


def test_what_does_not_fit_is_a_line() -> None:
    found = arrange(order(6), Size(78, 18), "side")
    assert shown(found) == ["w_1", "w_2", "w_3"]
    assert found.lines == ("w_4", "w_5", "w_6")
    assert found.place == Region(48, 15, 30, 3)
    assert not found.more


def test_two_hundred_windows_are_a_few_frames_and_a_few_lines() -> None:
    found = arrange(order(200), Size(78, 18), "side")
    assert len(found.frames) == 3
    assert len(found.lines) == found.place.height - 1
    assert len(found.frames) + len(found.lines) + found.more == 200


def test_going_to_a_hidden_window_moves_the_stack_as_little_as_needed() -> None:
    windows, size = order(9), Size(78, 18)
    windows.current = "w_5"
    found = arrange(windows, size, "side", first=0)
    assert shown(found) == ["w_1", "w_4", "w_5"]
    windows.current = "w_4"
    again = arrange(windows, size, "side", found.first)
    assert shown(again) == ["w_1", "w_4", "w_5"]
    windows.current = "w_1"  # the master is always there: nothing moves
    assert shown(arrange(windows, size, "side", again.first)) == ["w_1", "w_4", "w_5"]


def test_new_windows_join_the_end_and_the_present_one_stays() -> None:
    windows = order(2, current=2)
    windows.follow(["w_1", "w_2", "w_3"])
    assert (windows.ids, windows.current) == (["w_1", "w_2", "w_3"], "w_2")


def test_when_the_present_window_is_closed_its_place_is_taken() -> None:
    windows = order(3, current=2)
    windows.follow(["w_1", "w_3"])
    assert windows.current == "w_3"
    windows.follow(["w_1"])
    assert windows.current == "w_1"
    windows.follow([])
    assert windows.current is None


def test_the_master_changes_on_request_alone() -> None:
    windows = order(3, current=3)
    windows.promote()
    assert windows.ids == ["w_3", "w_1", "w_2"]
    windows.move(1)
    assert windows.ids == ["w_1", "w_3", "w_2"]
    windows.move(-1)
    windows.move(-1)
    assert windows.ids == ["w_3", "w_1", "w_2"]
    assert windows.step(1) == "w_1"
    assert windows.step(-1) is None


@pytest.mark.parametrize("mode", ["side", "below", "single", "zoomed"])
@given(
    count=st.integers(0, 250),
    current=st.integers(1, 250),
    width=st.integers(0, 220),
    height=st.integers(0, 70),
    first=st.integers(0, 250),
)
def test_every_window_has_its_place_and_none_covers_another(
    mode: Mode, *, count: int, current: int, width: int, height: int, first: int
) -> None:
    windows = order(count, min(current, max(count, 1)))
    found = arrange(windows, Size(width, height), mode, first)
    regions = [region for _, region in found.frames]
    if found.lines or found.more:
        regions.append(found.place)
    whole = Region(0, 0, width, height)
    for at, region in enumerate(regions):
        assert whole.contains_region(region)
        assert not any(region.overlaps(other) for other in regions[at + 1 :])
    if count and mode != "zoomed" and whole.area:
        listed = [*shown(found), *found.lines]
        assert len(listed) == len(set(listed))
        assert len(listed) + found.more == count
        assert len(found.lines) + bool(found.more and found.place.height) <= found.place.height
    if found.frames:
        assert windows.current in shown(found)
