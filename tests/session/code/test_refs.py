"""References to saved code in what a model says."""

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contextui.cli.output import Answer
from contextui.files.workspace import Workspace
from contextui.session.code.refs import FILE_LINES, resolve_code_refs, with_code
from contextui.session.code.store import CodeStore


@pytest.fixture
def store(tmp_path: Path) -> CodeStore:
    store = CodeStore(tmp_path)
    store.save("hello", "python", "print('hello')")
    store.save("page", "c++", "int main;\n")
    store.save("empty", "json", "")
    return store


def test_references_are_resolved_for_the_person(store: CodeStore) -> None:
    for text, shown in (
        ("no reference", "no reference"),
        ("<code_ref>hello</code_ref>", "```python\nprint('hello')\n```"),
        ("Look:\n<code_ref> page </code_ref>\nSo.", "Look:\n```c++\nint main;\n```\nSo."),
        ("Here <code_ref>hello</code_ref>.", "Here \n```python\nprint('hello')\n```\n."),
        ("<code_ref>empty</code_ref>", "```json\n\n```"),
        ("<code_ref>nope</code_ref>!", "<code_ref>nope</code_ref> (code not found)!"),
        ("<code_ref>../x</code_ref>", "<code_ref>../x</code_ref> (code not found)"),
        ("<code_ref>two words</code_ref>", "<code_ref>two words</code_ref> (code not found)"),
        ("`<code_ref>hello</code_ref>`", "`<code_ref>hello</code_ref>`"),
        ("```\n<code_ref>hello</code_ref>\n```", "```\n<code_ref>hello</code_ref>\n```"),
        ("~~~xml\n<code_ref>hello</code_ref>", "~~~xml\n<code_ref>hello</code_ref>"),
        ("<code_ref>hello", "<code_ref>hello"),
        ("<code_ref></code_ref>", "<code_ref></code_ref>"),
        (
            "```a``` <code_ref>empty</code_ref>\n```\n<code_ref>hello</code_ref>\n```\n"
            "<code_ref>empty</code_ref>",
            "```a``` \n```json\n\n```\n```\n<code_ref>hello</code_ref>\n```\n```json\n\n```",
        ),
    ):
        assert resolve_code_refs(text, store) == shown, text


def test_several_references_and_in_chinese(store: CodeStore) -> None:
    text = "见 <code_ref>hello</code_ref><code_ref>没有</code_ref>"
    assert resolve_code_refs(text, store, "zh") == (
        "见 \n```python\nprint('hello')\n```\n<code_ref>没有</code_ref> (找不到这段代码)"
    )


@settings(max_examples=30)
@given(code=st.text("`~ab\n\r \t<>", max_size=40))
def test_code_cannot_end_its_fence(tmp_path_factory: Any, code: str) -> None:
    store = CodeStore(tmp_path_factory.mktemp("code"))
    store.save("x", "markdown", code)
    lines = resolve_code_refs("<code_ref>x</code_ref>", store).split("\n")
    fence = lines[0].removesuffix("markdown")
    assert re.fullmatch("`{3,}", fence)
    assert lines[-1] == fence
    inner = "\n".join(lines[1:-1])
    assert inner in (code, code.removesuffix("\n"))
    assert fence not in inner


def test_code_with_references_in_it_is_not_resolved_again(store: CodeStore) -> None:
    store.save("outer", "html", "<code_ref>hello</code_ref>\n")
    assert resolve_code_refs("<code_ref>outer</code_ref>", store) == (
        "```html\n<code_ref>hello</code_ref>\n```"
    )


def test_a_store_that_cannot_be_read_spoils_no_answer(store: CodeStore) -> None:
    (store.folder / "index.sqlite").unlink()
    (store.folder / "index.sqlite").symlink_to("/dev/null")
    assert resolve_code_refs("<code_ref>hello</code_ref>", store) == (
        "<code_ref>hello</code_ref> (code not found)"
    )


def test_hostile_text_takes_time_in_proportion(store: CodeStore) -> None:
    for hostile in ("`", "<code_ref>", "<code_ref> ", "```\n", "~~~ `"):
        text = hostile * 100_000 + "<code_ref>"
        assert resolve_code_refs(text, store) == text, hostile


class TestFiles:
    """R8: `<file_ref>path</file_ref>` is resolved like a reference to code."""

    @pytest.mark.parametrize(
        ("text", "shown"),
        [
            ("See <file_ref>a/b.py</file_ref>", "See \n```python\nx = 1\n```"),
            ("<file_ref>no.txt</file_ref>", "<file_ref>no.txt</file_ref> (file not found)"),
            ("<file_ref>../out</file_ref>", "<file_ref>../out</file_ref> (file not found)"),
            ("<file_ref>a</file_ref>", "<file_ref>a</file_ref> (file not found)"),
            ("`<file_ref>a/b.py</file_ref>`", "`<file_ref>a/b.py</file_ref>`"),
            ("<file_ref>a/b.py</code_ref>", "<file_ref>a/b.py</code_ref>"),
        ],
    )
    def test_they_are_shown_to_the_person(self, tmp_path: Path, text: str, shown: str) -> None:
        (tmp_path / "a").mkdir()
        (tmp_path / "a" / "b.py").write_text("x = 1\n")
        with Workspace(tmp_path) as workspace:
            assert with_code(text, workspace) == shown

    def test_a_long_file_shows_its_first_lines(self, tmp_path: Path) -> None:
        (tmp_path / "long.txt").write_text("line\n" * (FILE_LINES + 5))
        with Workspace(tmp_path) as workspace:
            shown = with_code("<file_ref>long.txt</file_ref>", workspace)
        assert shown.count("line\n") == FILE_LINES
        assert "… more lines in long.txt" in shown

    def test_while_an_answer_streams(self, tmp_path: Path) -> None:
        (tmp_path / "b.txt").write_text("inside\n")
        with Workspace(tmp_path) as workspace:
            answer, shown = Answer(workspace), ""
            for letter in "See <file_ref>b.txt</file_ref>\nand <code_ref>no</code_ref>.":
                answer.take(letter)
                shown += answer.settled()
            shown += answer.rest()
        assert shown == ("See \n```\ninside\n```\nand <code_ref>no</code_ref> (code not found).")
