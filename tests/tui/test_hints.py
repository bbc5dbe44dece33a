"""Hints for keys: as many as there is room for."""

import pytest

from contextui.tui.footer import hints_in
from contextui.tui.words import Words

HINTS = [("enter", "runs it"), ("tab", "next field"), ("^j", "new line"), ("esc", "leaves")]


@pytest.mark.parametrize(
    ("width", "row"),
    [
        (72, "enter runs it   tab next field   ^j new line   esc leaves   6 characters"),
        (60, "enter runs it   tab next field   ^j new line   esc leaves"),
        (54, "enter runs it  tab next field  ^j new line  esc leaves"),
        (45, "enter runs it   tab next field   esc leaves"),
        (30, "enter runs it   esc leaves"),
        (20, "esc leaves"),
        (4, "esc leaves"),
    ],
)
def test_the_first_and_the_last_stay_longest(width: int, row: str) -> None:
    assert hints_in(width, HINTS, Words("en"), "6 characters").plain == row
