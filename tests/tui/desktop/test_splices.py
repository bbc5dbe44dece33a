"""Two who change a text at once: nothing of either is lost."""

from hypothesis import given
from hypothesis import strategies as st

from contextui.files.buffer import Splice, change
from contextui.windows.editor.widget import rebase

TEXTS = st.text("ab \n你", max_size=20)


@given(TEXTS, TEXTS)
def test_a_change_makes_the_one_of_the_other(old: str, new: str) -> None:
    assert change(old, new).of(old) == new


def test_where_both_changed_the_same_both_stand_there() -> None:
    text = "one two three"
    mine, theirs = Splice(4, 7, "2"), Splice(4, 7, "TWO")
    assert rebase(mine, theirs).of(theirs.of(text)) == "one TWO2 three"


@given(TEXTS, TEXTS, TEXTS)
def test_what_either_wrote_is_there_in_the_end(text: str, one: str, other: str) -> None:
    mine, theirs = change(text, one), change(text, other)
    if text not in (one, other):
        both = rebase(mine, theirs).of(theirs.of(text))
        assert mine.text in both
        assert theirs.text in both or mine.end > mine.start
