"""The code blocks of an answer, and saving them."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextui.session.code.refs import code_blocks, save_blocks
from contextui.session.code.store import CodeStore

LONG = "def load_sales(path):\n" + "    x = 1\n" * 10
SHORT = "x = 1\n" * 10


@pytest.fixture
def store(tmp_path: Path) -> CodeStore:
    return CodeStore(tmp_path / "code")


def fenced(code: str, info: str = "python", fence: str = "```") -> str:
    return f"Here:\n{fence}{info}\n{code}{fence}\nThat is it.\n"


def test_blocks_of_more_than_ten_lines_are_found() -> None:
    """R8: S4.4 as amended."""
    answer = fenced(SHORT) + fenced(LONG) + fenced(LONG, "js", "~~~~") + "```python\n" + LONG
    found = list(code_blocks(answer))
    assert [(one.language, one.code) for one in found] == [("python", LONG), ("js", LONG)]


def test_a_block_in_a_list_loses_its_indent() -> None:
    indented = "".join(f"  {line}" for line in fenced(LONG).splitlines(keepends=True))
    assert [one.code for one in code_blocks(indented)] == [LONG]


@given(st.text("`~ab \n", max_size=200))
def test_any_text_can_be_looked_through(text: str) -> None:
    for block in code_blocks(text, shortest=1):
        assert block.code in text or "\n " in text or text.startswith(" ")


def test_they_are_saved_under_ids_that_say_what_they_are(store: CodeStore) -> None:
    answer = fenced(LONG) + fenced(LONG.replace("1", "2")) + fenced("select 1;\n" * 11, "sql")
    saved = save_blocks(store, answer)
    assert [(one.code_id, one.language) for one in saved] == [
        ("code_load_sales", "python"),
        ("code_load_sales_2", "python"),
        ("code_sql", "sql"),
    ]
    assert store.read("code_load_sales") == LONG
    assert store.list()[0].description == "functions: load_sales"


def test_what_is_saved_already_is_not_saved_again_and_nothing_is_replaced(store: CodeStore) -> None:
    store.save("code_load_sales", "python", "mine")
    assert [one.code_id for one in save_blocks(store, fenced(LONG))] == ["code_load_sales_2"]
    assert save_blocks(store, fenced(LONG)) == []
    assert store.read("code_load_sales") == "mine"


@pytest.mark.parametrize("info", ["", "unknown-language", "../../etc", "<x>", "py title=a"])
def test_whatever_the_fence_says_it_is_saved_inside_the_store(store: CodeStore, info: str) -> None:
    (saved,) = save_blocks(store, fenced(LONG, info))
    assert saved.language == ("python" if info.startswith("py") else "markdown")
    assert {one.parent for one in store.folder.iterdir()} == {store.folder}
