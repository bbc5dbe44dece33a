"""Keys as they are meant, whatever an input method makes of them."""

import pytest
from textual.events import Key

from contextui.tui.keys import meant_key


@pytest.mark.parametrize(
    ("character", "meant"),
    [
        ("ｄ", "d"),
        ("，", "comma"),
        ("【", "left_square_bracket"),
        ("、", "slash"),
        ("／", "slash"),
        ("d", None),
        ("你", None),
        (None, None),
    ],
)
def test_full_width_letters_are_letters(character: str | None, meant: str | None) -> None:
    assert meant_key(Key("some_key", character)) == meant
