"""Names are plain by rule: they are in XML, file names and logs without escaping."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextui.names import ANCHOR_ID, WINDOW_ID, WINDOW_NAME

ALL = [WINDOW_NAME, WINDOW_ID, ANCHOR_ID]


@pytest.mark.parametrize(
    ("pattern", "name"),
    [
        (WINDOW_NAME, "todo"),
        (WINDOW_NAME, "memory_notebook-2"),
        (WINDOW_ID, "todo_12345"),
        (WINDOW_ID, "Todo.v2_1"),
        (ANCHOR_ID, "expand-entry-1"),
        (ANCHOR_ID, "file:src.main"),
    ],
)
def test_plain_names_are_names(pattern: re.Pattern[str], name: str) -> None:
    assert pattern.fullmatch(name)


@pytest.mark.parametrize("pattern", ALL)
@pytest.mark.parametrize(
    "name",
    ["", "1a", "_a", "-a", "a b", 'a"><b', "a/b", "a\\b", "a\n", "a\0", "é", "a١", "a" * 121],
)
def test_anything_else_is_not(pattern: re.Pattern[str], name: str) -> None:
    assert not pattern.fullmatch(name)


@given(st.sampled_from(ALL), st.text())
def test_whatever_is_a_name_needs_no_escaping(pattern: re.Pattern[str], text: str) -> None:
    if pattern.fullmatch(text):
        assert text.isascii()
        assert text.isprintable()
        assert not set(text) & set("<>&\"'/\\ ")
