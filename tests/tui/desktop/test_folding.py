"""Long lines in rows, exact to the cell."""

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from textual.content import Content

from contextui.tui.desktop.folding import fold


def rows(text: str, width: int, hanging: int = 0) -> list[str]:
    return [row.plain for row in fold(Content(text), width, hanging)]


def test_a_short_line_is_left_alone() -> None:
    assert rows("milk", 8) == ["milk"]


def test_words_stay_whole() -> None:
    assert rows("hello world this is a line", 10) == ["hello ", "world this ", "is a line"]


def test_a_word_that_is_too_long_is_cut() -> None:
    assert rows("a " + "b" * 25, 10) == ["a ", "b" * 10, "b" * 10, "b" * 5]


def test_chinese_breaks_between_characters_but_not_before_a_comma() -> None:
    assert rows("把牛奶、鸡蛋和面包放进待办，谢谢", 10) == [
        "把牛奶、鸡",
        "蛋和面包放",
        "进待办，谢",
        "谢",
    ]
    assert rows("把牛奶、鸡蛋", 7) == ["把牛", "奶、鸡", "蛋"]


def test_later_rows_hang() -> None:
    assert rows("one two three", 8, 2) == ["one two ", "  three"]


def test_styles_go_along() -> None:
    content = Content.assemble(("one two ", "bold"), ("three", "italic"))
    second = fold(content, 8)[1]
    assert [(span.start, span.end, str(span.style)) for span in second.spans] == [(0, 5, "italic")]


PIECES = ["a", "bc", " ", "  ", "你", "，", "（", "🎉", "e\u0301", "👩\u200d👩", "❤\ufe0f"]


@given(
    st.lists(st.sampled_from(PIECES), max_size=40).map("".join),
    st.integers(2, 20),
    st.integers(0, 4),
)
def test_nothing_is_lost_and_nothing_is_too_wide(text: str, width: int, hanging: int) -> None:
    found = rows(text, width, hanging)
    in_by = hanging if hanging < width // 2 else 0
    assert found[0] + "".join(row[in_by:] for row in found[1:]) == text
    for row in found:
        assert cell_len(row.rstrip(" ")) <= width
