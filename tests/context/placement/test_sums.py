"""Sums over slots are those of the plain rows, whatever was put, changed and cut."""

from hypothesis import given
from hypothesis import strategies as st

from contextui.context.placement.slots import Sums

ROWS = st.tuples(st.integers(-3, 3), st.integers(0, 5))
STEPS = st.lists(st.tuples(st.sampled_from(["add", "set", "cut"]), st.integers(0, 99), ROWS))


@given(STEPS)
def test_sums_are_those_of_the_rows(steps: list[tuple[str, int, tuple[int, int]]]) -> None:
    sums, rows = Sums(), list[tuple[int, int]]()
    for kind, number, row in steps:
        at = number % (len(rows) + 1)
        if kind == "cut":
            sums.cut(at)
            del rows[at:]
            continue
        at = len(rows) if kind == "add" else at
        sums.put(at, row)
        rows[at : at + 1] = [row]
        for end in range(len(rows) + 1):
            for column in range(2):
                assert sums.before(end, column) == sum(one[column] for one in rows[:end])
