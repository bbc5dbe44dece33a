"""Names are plain by rule: they are in XML, file names and logs without escaping."""

import re

from hypothesis import given
from hypothesis import strategies as st

from contextui.names import ANCHOR_ID, WINDOW_ID, WINDOW_NAME

ALL = [WINDOW_NAME, WINDOW_ID, ANCHOR_ID]


def test_plain_names_are_names() -> None:
    for pattern, name in (
        (WINDOW_NAME, "todo"),
        (WINDOW_NAME, "memory_notebook-2"),
        (WINDOW_ID, "todo_12345"),
        (WINDOW_ID, "Todo.v2_1"),
        (ANCHOR_ID, "expand-entry-1"),
        (ANCHOR_ID, "file:src.main"),
    ):
        assert pattern.fullmatch(name), pattern


def test_anything_else_is_not() -> None:
    for name in (
        "",
        "1a",
        "_a",
        "-a",
        "a b",
        'a"><b',
        "a/b",
        "a\\b",
        "a\n",
        "a\0",
        "é",
        "a١",
        "a" * 121,
    ):
        for pattern in ALL:
            assert not pattern.fullmatch(name), (pattern, name)


@given(st.sampled_from(ALL), st.text())
def test_whatever_is_a_name_needs_no_escaping(pattern: re.Pattern[str], text: str) -> None:
    if pattern.fullmatch(text):
        assert text.isascii()
        assert text.isprintable()
        assert not set(text) & set("<>&\"'/\\ ")
