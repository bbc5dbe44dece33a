"""Tags are held back however an answer is cut into pieces."""

from hypothesis import given
from hypothesis import strategies as st

from contextui.agent.tools import TagFilter

PARTS = st.lists(
    st.one_of(
        st.sampled_from(["I look. ", "a < b", "<tool", "<tool_callx>", "</tool_call>", ""]),
        st.just('<tool_call>{"name": "create"}</tool_call>'),
    ),
    max_size=6,
)


def shown_of(pieces: list[str]) -> str:
    tags = TagFilter()
    return "".join(tags.feed(piece) for piece in pieces)


@given(PARTS, st.lists(st.integers(1, 9), min_size=1, max_size=40))
def test_the_chunks_of_a_stream_do_not_matter(parts: list[str], lengths: list[int]) -> None:
    text = "".join(parts) + " end."
    pieces, rest = [], text
    for length in lengths * len(text):
        if not rest:
            break
        pieces.append(rest[:length])
        rest = rest[length:]
    assert shown_of([*pieces, rest]) == shown_of([text])
    assert '{"name": "create"}' not in shown_of([text])


def test_text_without_tags_passes() -> None:
    assert shown_of(["if a ", "< b", " and c"]) == "if a < b and c"


def test_a_long_call_takes_no_longer_than_it_must() -> None:
    tags = TagFilter()
    shown = [tags.feed("Look: <tool_call>{"), *(tags.feed("x" * 10) for _ in range(20_000))]
    assert ("".join(shown), tags._held) == ("Look: ", "")  # nothing is piled up
    assert tags.feed("}</tool_call> Done") == " Done"
