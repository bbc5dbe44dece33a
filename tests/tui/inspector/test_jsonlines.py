"""JSON for people: nothing of it is lost."""

import json

from hypothesis import given
from hypothesis import strategies as st

from contextui.tui.inspector.parts import WIDTH, pretty

WORDS = st.text(alphabet=st.sampled_from('ab"\\ 你好[/]é{}'), max_size=60)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | WORDS,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(WORDS, inner, max_size=5),
    max_leaves=12,
)


@given(VALUES)
def test_the_lines_are_the_value(value: object) -> None:
    assert json.loads("\n".join(pretty(value))) == value


def test_short_things_stay_in_one_line() -> None:
    assert list(pretty({"type": "ephemeral"}, 4, ",")) == ['    {"type": "ephemeral"},']


def test_long_things_are_broken_where_they_can_be() -> None:
    given = {"window_id": "todo_1", "action_id": "add", "params": {"text": "milk"}}
    value = {"type": "tool_use", "id": "toolu_01Kc", "name": "action", "input": given}
    lines = list(pretty(value))
    assert len(lines) == 2
    assert all(len(line) <= WIDTH + 8 for line in lines)


def test_a_text_keeps_its_own_lines() -> None:
    value = {"type": "text", "text": '<Window id="todo_1">\n  <Content/>\n</Window>'}
    assert list(pretty(value)) == [
        '{"type": "text", "text": "<Window id=\\"todo_1\\">',
        "    <Content/>",
        '  </Window>"}',
    ]
