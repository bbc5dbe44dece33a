"""Pages of lines: bounded in lines and in what they cost, with no line lost."""

from hypothesis import given
from hypothesis import strategies as st

from contextui import TokenCounter
from contextui.files.textfile import split

lines_of_any_kind = st.lists(st.text(max_size=40) | st.just("笔" * 30) | st.just("<" * 30))


@given(lines_of_any_kind, st.integers(1, 200), st.integers(1, 10))
def test_every_line_is_on_one_page(lines: list[str], room: int, most: int) -> None:
    pages = split(lines, room, most)
    assert [at for page in pages for at in page] == list(range(len(lines)))
    assert all(len(page) <= most for page in pages)
    assert all(page for page in pages) or (not lines and pages == [range(0)])


def test_no_page_exceeds_its_tokens() -> None:
    for line in (
        "a(b,c){d=e[f];}",
        "0123456789abcdef",
        "笔记本龘",
        "😀😀😀",
        "&<>&<>",
        "\u202e\x1b",
    ):
        counter, lines = TokenCounter(), [line * 8] * 200
        for page in split(lines, 2_400):
            shown = "\n".join(lines[page.start : page.stop])
            assert counter.count(shown.replace("&", "&amp;").replace("<", "&lt;")) < 2_400, line
            assert len(page) > 1, line


def test_a_line_that_is_too_long_has_a_page_of_its_own() -> None:
    assert split(["a", "x" * 500, "b"], 100) == [range(1), range(1, 2), range(2, 3)]
