"""References to saved code in what a model says."""

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contextui.session.code.refs import resolve_code_refs
from contextui.session.code.store import CodeStore


@pytest.fixture
def store(tmp_path: Path) -> CodeStore:
    store = CodeStore(tmp_path)
    store.save("hello", "python", "print('hello')")
    store.save("page", "c++", "int main;\n")
    store.save("empty", "json", "")
    return store


@pytest.mark.parametrize(
    ("text", "shown"),
    [
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
    ],
)
def test_references_are_resolved_for_the_person(store: CodeStore, text: str, shown: str) -> None:
    assert resolve_code_refs(text, store) == shown


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


@pytest.mark.parametrize("hostile", ["`", "<code_ref>", "<code_ref> ", "```\n", "~~~ `"])
def test_hostile_text_takes_time_in_proportion(store: CodeStore, hostile: str) -> None:
    text = hostile * 100_000 + "<code_ref>"
    assert resolve_code_refs(text, store) == text
