"""Hints for keys: as many as there is room for."""

from contextui.tui.footer import hints_in
from contextui.words import Words

HINTS = [("enter", "run"), ("tab", "next field"), ("^j", "new line"), ("esc", "close")]


def test_the_first_and_the_last_stay_longest() -> None:
    for width, row in (
        (72, "enter run   tab next field   ^j new line   esc close   6 characters"),
        (60, "enter run   tab next field   ^j new line   esc close"),
        (50, "enter run  tab next field  ^j new line  esc close"),
        (45, "enter run   tab next field   esc close"),
        (30, "enter run   esc close"),
        (19, "esc close"),
        (4, "esc close"),
    ):
        assert hints_in(width, HINTS, Words("en"), "6 characters").plain == row
