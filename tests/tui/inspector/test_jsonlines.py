"""JSON for people: nothing of it is lost."""

import json

from hypothesis import given
from hypothesis import strategies as st

from contextui.tui.inspector.parts import lines_of

WORDS = st.text(alphabet=st.sampled_from('ab"\\ n\n你好[/]é{}'), max_size=60)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | WORDS,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(WORDS, inner, max_size=5),
    max_leaves=12,
)


@given(VALUES)
def test_the_lines_are_the_value(value: object) -> None:
    assert json.loads("\\n".join(lines_of(value))) == value
