"""The places of windows."""

from queue import Queue

from hypothesis import given
from hypothesis import strategies as st
from textual.geometry import Region, Size

from contextui import WindowManager
from contextui.tui.desktop.layout import Arrangement, Mode, Wish, Wishes, arrange
from contextui.tui.desktop.order import Order
from contextui.tui.desktop.shared import Gists
from tests.tui.desktop.samples import NoteWindow


def order(count: int, current: int = 1, wide: tuple[int, ...] = ()) -> Order:
    """Windows opened one after the other."""
    found = Order()
    ids = [f"w_{number}" for number in range(1, count + 1)]
    found.follow(ids, lambda one: int(one[2:]) in wide)
    if ids:
        found.use(f"w_{current}")
    return found


def wishes(wide: tuple[int, ...] = (), rows: int = 7, wide_rows: int = 86) -> Wishes:
    def wish(window_id: str) -> Wish:
        is_wide = int(window_id[2:]) in wide
        return Wish(is_wide, wide_rows if is_wide else rows)

    return wish


def place(found: Arrangement) -> dict[str, Region]:
    return dict(found.frames)


def test_a_main_window_stands_over_a_shelf_of_three() -> None:
    found = arrange(order(4, wide=(1,)), Size(78, 22), "stack", wishes((1,)))
    assert found.frames == (
        ("w_1", Region(0, 0, 78, 15)),
        ("w_2", Region(0, 15, 26, 7)),
        ("w_3", Region(26, 15, 26, 7)),
        ("w_4", Region(52, 15, 26, 7)),
    )
    assert found.rows == 22
    assert not found.lines
    tall = place(arrange(order(2, wide=(1,)), Size(78, 22), "stack", wishes((1,), 40)))
    assert (tall["w_1"].height, tall["w_2"].height) == (13, 9)


def test_dragged_larger_the_main_window_takes_the_rest() -> None:
    given = order(2, wide=(1,)), Size(78, 30), "stack", wishes((1,), 5, wide_rows=10)
    assert place(arrange(*given, fills=True))["w_1"].height == 25  # type: ignore[arg-type]


def test_the_next_file_takes_the_main_place_and_the_last_becomes_a_line() -> None:
    windows = order(4, current=4, wide=(1, 4))
    found = arrange(windows, Size(78, 22), "stack", wishes((1, 4)))
    assert found.shown[0] == "w_4"
    assert found.lines == ("w_1",)
    assert found.place == Region(0, 21, 78, 1)


def test_a_pinned_window_stays_and_the_next_file_takes_half() -> None:
    windows = order(3, wide=(1,))
    assert windows.promote()
    windows.follow(["w_1", "w_2", "w_3", "w_4"], lambda one: one in ("w_1", "w_4"))
    found = place(arrange(windows, Size(78, 22), "stack", wishes((1, 4)), fresh="w_4"))
    assert found["w_1"].y == 0
    assert found["w_4"].y == found["w_1"].bottom
    assert abs(found["w_1"].height - found["w_4"].height) <= 2
    assert not windows.promote() or windows.main == "w_4"


def test_when_the_present_window_is_closed_its_place_is_taken() -> None:
    windows = order(3, current=2)
    windows.follow(["w_1", "w_3"], lambda _: False)
    assert windows.current == "w_3"
    windows.follow(["w_1"], lambda _: False)
    assert windows.current == "w_1"
    windows.use("w_2")  # its focus is reported after it was closed
    assert windows.current == "w_1"
    windows.follow([], lambda _: False)
    windows.use("w_1")
    assert windows.current is None


def test_focus_never_changes_the_main_window() -> None:
    windows = order(3, wide=(1, 2))
    windows.use("w_1")
    assert windows.main == "w_2"
    windows.promote()
    assert (windows.main, windows.is_pinned) == ("w_1", True)
    windows.move(1, ["w_1", "w_2", "w_3"])
    assert windows.main == "w_2"
    assert windows.step(-1) == "w_2"


@given(saved=st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["w_1", "w_2", "?"]),
    lambda one: st.lists(one, max_size=4)
    | st.dictionaries(
        st.sampled_from(["order", "numbers", "main", "pinned", "w_1", "w_2", "w_3"]), one
    ),
    max_leaves=12,
))  # fmt: skip
def test_whatever_was_remembered_leaves_a_sound_order(saved: object) -> None:
    windows = order(3, wide=(1,))
    windows.restore(saved)
    assert sorted(windows.ids) == ["w_1", "w_2", "w_3"]
    assert len(set(windows.numbers.values())) == 3
    assert windows.main in (*windows.ids, None)


@given(
    steps=st.lists(
        st.tuples(
            st.sampled_from(["open", "close", "use", "promote", "move", "go"]), st.integers(0, 30)
        ),
        max_size=40,
    ),
    wide=st.sets(st.integers(1, 60)),
)
def test_a_number_never_changes_while_its_window_lives(
    steps: list[tuple[str, int]], wide: set[int]
) -> None:
    windows, count, known = Order(), 0, dict[str, int]()
    for step, at in steps:
        chosen = windows.ids[at % len(windows.ids)] if windows.ids else None
        if step == "open":
            count += 1
            free = set(range(1, len(windows.ids) + 2)) - set(known.values())
            windows.follow([*windows.ids, f"w_{count}"], lambda one: int(one[2:]) in wide)
            known[f"w_{count}"] = min(free)
        elif chosen is None:
            continue
        elif step == "close":
            windows.follow([one for one in windows.ids if one != chosen], lambda _: False)
            del known[chosen]
        elif step == "promote":
            windows.promote()
        elif step == "move":
            windows.move(1 if at % 2 else -1, windows.ids)
        else:
            windows.use(chosen, is_wide=step == "go")
        assert windows.numbers == known
        assert sorted(windows.recent) == sorted(windows.ids) == sorted(known)
        assert all(windows.numbered(number) == one for one, number in known.items())


MODES: list[Mode] = ["stack", "single", "zoomed"]


@given(
    mode=st.sampled_from(MODES),
    count=st.integers(0, 120),
    data=st.data(),
    width=st.integers(0, 220),
    height=st.integers(0, 70),
    columns=st.integers(1, 2),
    fills=st.booleans(),
    is_pinned=st.booleans(),
)
def test_every_window_has_its_place_and_none_covers_another(
    *,
    mode: Mode,
    count: int,
    data: st.DataObject,
    width: int,
    height: int,
    columns: int,
    fills: bool,
    is_pinned: bool,
) -> None:
    wide = data.draw(st.sets(st.integers(1, max(count, 1)), max_size=8))
    tall = data.draw(st.lists(st.integers(1, 90), min_size=1, max_size=5))
    number = st.integers(1, max(count, 1))
    windows = order(count, data.draw(number), tuple(wide))
    for one in data.draw(st.lists(number, max_size=6)) if count else []:
        windows.use(f"w_{one}")
    if is_pinned:
        windows.promote()
    fresh = data.draw(st.none() | number.map(lambda one: f"w_{one}"))

    def wish(one: str) -> Wish:
        return Wish(int(one[2:]) in wide, tall[int(one[2:]) % len(tall)])

    found = arrange(
        windows, Size(width, height), mode, wish, columns=columns, fills=fills, fresh=fresh
    )
    regions = [region for _, region in found.frames]
    if found.lines or (found.more and found.place.height):
        regions.append(found.place)
    whole = Region(0, 0, width, height)
    for at, region in enumerate(regions):
        assert region.area
        assert whole.contains_region(region)
        assert region.bottom <= found.rows
        assert not any(region.overlaps(other) for other in regions[at + 1 :])
    if not count or not whole.area:
        return
    if mode != "zoomed":
        listed = [*found.shown, *found.lines]
        assert len(listed) == len(set(listed))
        assert len(listed) + found.more == count
        assert len(found.lines) + bool(found.more and found.place.height) <= found.place.height
    if found.frames:
        assert windows.current in found.shown
    if mode == "stack" and width >= 52 and height >= 6:
        assert windows.current in found.shown
        assert fresh is None or fresh in found.shown
        assert all(region.height >= 3 for region in place(found).values())
        if width >= 78:  # what a terminal of 120 columns has, or two columns of 60
            assert all(place(found)[one].width >= 60 for one in found.shown if wish(one).is_wide)


def test_a_window_in_place_of_another_with_its_id_has_its_own_gist() -> None:
    ready: Queue[str] = Queue()
    gists = Gists(ready.put)
    for text in ("former words", "new words"):
        window = WindowManager().open(NoteWindow, text=text)
        assert (window.id, gists.of(window)) == ("note_1", "")
        assert ready.get(timeout=30) == "note_1"
        assert gists.of(window) == text
