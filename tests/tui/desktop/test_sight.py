"""What is typed on the screen becomes a change of the file's own characters, and of no others."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextui.files.textfile import TextFile
from contextui.windows.editor.widget import Sight


def sight(text: str, first: int = 1, count: int = 100) -> Sight:
    return Sight.of_file(TextFile(text), first, count)


def typed(seen: Sight, text: str) -> str:
    """The file once this is typed."""
    assert seen.text is not None
    splice = seen.spliced(text)
    return splice.of(seen.text) if splice else seen.text


def test_the_end_of_a_file_is_a_line_to_type_in() -> None:
    assert sight("a\nb\n").shown == "a\nb\n"
    assert sight("a\nb").shown == "a\nb"
    assert sight("").shown == ""
    assert typed(sight("a\nb\n"), "a\nb\nc") == "a\nb\nc"
    assert typed(sight(""), "new") == "new"


def test_odd_characters_are_seen_and_what_stands_beside_them_can_be_edited() -> None:
    text = "a\x1b]0;x\x07b\nc\u2028d\x0ce\n"
    seen = sight(text)
    assert "\x1b" not in seen.shown
    assert seen.shown.split("\n")[1] == "c\\u2028d␌e"
    assert typed(seen, seen.shown.replace("␇b", "␇B")) == text.replace("\x07b", "\x07B")
    assert typed(seen, seen.shown.replace("d␌", "D␌")) == text.replace("d\x0c", "D\x0c")
    with pytest.raises(ValueError, match="displayed as several"):
        seen.spliced(seen.shown.replace("\\u2028", "\\u20"))


def test_a_line_that_is_too_long_can_be_edited_where_it_is_shown() -> None:
    text = "x" * 5_000 + "\nshort\n"
    seen = sight(text)
    assert typed(seen, "A" + seen.shown) == "A" + text
    assert typed(seen, seen.shown.replace("short", "SHORT")) == text.replace("short", "SHORT")
    with pytest.raises(ValueError, match="too long"):
        seen.spliced(seen.shown.replace("more characters in this line)", ""))


LINES = st.text("ab 你\t\x0c\u2028", max_size=4)
ENDS = st.sampled_from(["\n", "\r\n"])  # behind a lone \r, a new \n would be no line of its own


@st.composite
def files(draw: st.DrawFn) -> str:
    parts = draw(st.lists(st.tuples(LINES, ENDS), max_size=6))
    return "".join(line + end for line, end in parts) + draw(LINES)


@given(files(), st.data())
def test_every_edit_changes_exactly_what_was_edited(text: str, data: st.DataObject) -> None:
    count = max(len(TextFile(text).lines), 1)
    first = data.draw(st.integers(1, count))
    seen = sight(text, first, data.draw(st.integers(1, count)))
    start = data.draw(st.integers(0, len(seen.shown)))
    end = data.draw(st.integers(start, len(seen.shown)))
    after = seen.shown[:start] + data.draw(st.text("xy\n", max_size=4)) + seen.shown[end:]
    try:
        splice = seen.spliced(after)
    except ValueError:
        return  # it would cut what is one character of the file
    if splice is None:
        assert after == seen.shown
        return
    changed = splice.of(text)
    again = seen.after(splice)
    assert again.text == changed
    assert again.shown == after
    same = Sight.of_file(TextFile(changed), first, max(len(again.lines), 1))
    assert again.begin == same.begin
    assert seen.showing(splice) == after
