"""Long lines in rows, exact to the cell."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from textual.content import Content

from contextui.text import for_terminal
from contextui.tui.lines import fold, inert, line, numbered, wrapped


def rows(text: str, width: int, hanging: int = 0) -> list[str]:
    return [row.plain for row in fold(Content(text), width, hanging)]


@pytest.mark.parametrize(
    ("text", "width", "hanging", "expected"),
    [
        ("hello world this is a line", 10, 0, ["hello ", "world this ", "is a line"]),
        ("a " + "b" * 25, 10, 0, ["a ", "b" * 10, "b" * 10, "b" * 5]),
        (
            "把牛奶、鸡蛋和面包放进待办，谢谢",
            10,
            0,
            ["把牛奶、鸡", "蛋和面包放", "进待办，谢", "谢"],
        ),
        ("把牛奶、鸡蛋", 7, 0, ["把牛", "奶、鸡", "蛋"]),
        ("one two three", 8, 2, ["one two ", "  three"]),
    ],
)
def test_rows_break_between_words_and_chinese_characters_but_not_before_a_comma(
    text: str, width: int, hanging: int, expected: list[str]
) -> None:
    assert rows(text, width, hanging) == expected


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


TEXTS = st.text(alphabet=st.sampled_from("ab 你好、，\t\n[/]é\u202e\x1b─😀"), max_size=200)


def test_breaks_between_words_and_chinese_anywhere() -> None:
    assert list(wrapped("milk, eggs and bread", 10)) == ["milk, eggs", "and bread"]
    assert list(wrapped("把牛奶、鸡蛋和面包放进待办", 9)) == [
        "把牛奶、", "鸡蛋和面", "包放进待", "办"
    ]  # fmt: skip
    assert list(wrapped("a\n\n    b", 20)) == ["a", "", "    b"]


def test_knows_which_line_a_piece_belongs_to() -> None:
    assert list(numbered("one two\nthree", 3)) == [
        (0, "one"), (0, "two"), (1, "thr"), (1, "ee")
    ]  # fmt: skip


def test_only_as_much_is_done_as_is_asked_for() -> None:
    pieces = wrapped("word " * 1_000_000, 20)
    assert next(pieces) == "word word word word"


@given(TEXTS, st.integers(2, 30))
def test_nothing_but_blanks_is_lost_and_no_piece_is_too_wide(text: str, width: int) -> None:
    pieces = list(wrapped(text, width))
    for piece in pieces:
        assert cell_len(piece) <= width
        assert not {"\x1b", "\u202e"} & set(piece)
    inert = for_terminal(text).expandtabs(4)
    assert "".join("".join(pieces).split()) == "".join(inert.split())


def test_shows_no_key_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k3y-that-nobody-may-see")
    text = "It is k3y-that-nobody-may-see."
    assert list(wrapped(text, 80)) == ["It is ***."]
    assert inert(text).plain == line(text) == "It is ***."
