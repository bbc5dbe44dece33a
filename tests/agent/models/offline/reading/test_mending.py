"""Who puts something right while they speak is taken at their second word."""

import pytest

from contextui.agent.models.offline.reading.mending import mended
from contextui.agent.models.offline.reading.words import tokens_of


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("add milk, no, eggs", "add eggs"),
        ("add milk and tea, I mean bread", "add milk and bread"),
        ("move it to the top, no, to the end", "move it to the end"),
        ("call Ana on Friday, no wait, Monday. Then close it", "call Ana on Monday. Then close it"),
        ("午饭花了28，哦不，是38", "午饭花了38"),
        ("加牛奶，不对，豆浆", "加豆浆"),
        ("加牛奶，不是豆浆", "加牛奶"),
        ("add milk, not eggs. Then close it", "add milk. Then close it"),
    ],
)
def test_what_was_said_by_mistake_is_left_out(said: str, meant: str) -> None:
    assert mended(said, tokens_of(said)) == meant


@pytest.mark.parametrize(
    "said",
    [
        "no, eggs",
        "add tea, and no milk",
        "open the list, no wait, close it",
        "add a, b, c",
        "note: he said yes, no, maybe",
        "remember that it is red, I mean blue",
        "add tea, rather strong",
        "",
    ],
)
def test_anything_else_stays_as_it_is(said: str) -> None:
    assert mended(said, tokens_of(said)) == said
