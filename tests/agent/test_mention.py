"""Mentions: what a message names with an @, and what of it goes to the model."""

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from contextui.agent.approval import ApprovalGate, NotAllowedError
from contextui.agent.mention import (
    MENTION,
    Attachments,
    MentionError,
    is_surely_path,
    mention_of,
    mentions_in,
)
from contextui.files.workspace import Workspace
from contextui.text import for_terminal
from contextui.tokens import TokenCounter
from contextui.windowing.finding.registry import discover
from contextui.windowing.manager import WindowManager
from contextui.windowing.snapshot import Lod
from tests.agent.desk import Person


def paths(text: str) -> list[str]:
    return [one.path for one in mentions_in(text)]


def test_what_is_a_mention() -> None:
    assert paths("See @src/a.py, @b.md. And @c!") == ["src/a.py", "b.md", "c"]
    assert paths('@"my notes.md" and @"a \\"b\\".txt"') == ["my notes.md", 'a "b".txt']
    assert paths("me@example.org, a@@b, http://x/@y, x.@z") == []
    assert paths("看 @甲.txt，再看") == ["甲.txt"]
    assert paths("@ alone, and @\n") == []
    whole = mentions_in('@big.py:all and @"a b":all.')
    assert [(one.path, one.is_whole) for one in whole] == [("big.py", True), ("a b", True)]


NAMES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1)


@given(NAMES.filter(lambda one: len(one) < 200), st.booleans())
@example("a:all", False)
@example('"', True)
@example("a\nb\t\x1b", False)
@example("! rm -rf ~", False)
@example("@home", False)
@example("\\x41", False)
@example("\\u0041", False)
@example("a\u202e\x9b\u200b\U000e0041\udcff", False)
def test_every_name_can_be_mentioned(name: str, is_whole: bool) -> None:
    text = f"words {mention_of(name, is_whole=is_whole)} and more"
    (found,) = mentions_in(text)
    assert (found.path, found.is_whole) == (name, is_whole)
    assert text[found.start : found.end] == mention_of(name, is_whole=is_whole)
    assert for_terminal(text, lines=False) == text


@given(st.text(st.sampled_from('@" \\\na./:l!,é'), max_size=40))
def test_mentions_lie_in_the_text_and_do_not_overlap(text: str) -> None:
    last = 0
    for one in mentions_in(text):
        assert last <= one.start < one.end <= len(text)
        assert text[one.start] == "@"
        assert one.path
        last = one.end


def test_a_long_text_is_scanned_quickly() -> None:
    hostile = '@"' + "\\" * 500_000 + "@" * 500_000 + '@"a' * 100_000
    assert len(mentions_in(hostile)) <= 20


def test_what_is_surely_a_path() -> None:
    sure = [is_surely_path(one) for one in mentions_in('@alice @types/node @./a @/etc/x @"b c"')]
    assert sure == [False, False, True, True, True]


def attachments_in(
    folder: Path, asked: Person | None = None, count: Callable[[str], int] | None = None
) -> tuple[Attachments, WindowManager]:
    windows = WindowManager(discover().classes(), workspace=Workspace(folder))
    gate = ApprovalGate("ask", asked)
    return Attachments(windows, gate, count or TokenCounter().count), windows


def read(attachments: Attachments, text: str, *chosen: str) -> list[str]:
    found = asyncio.run(attachments.read(text, chosen))
    assert all(one.mark == MENTION for one in found)
    return [one.text for one in found]


def test_the_content_of_a_file_is_attached(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n</File>\ny = 2\n")
    (tmp_path / "my notes.md").write_text("# Hi")
    attachments, _ = attachments_in(tmp_path)
    first, second = read(attachments, 'Compare @a.py with @"my notes.md", and @a.py.')
    assert first == "The person attached a.py (3 lines):\n1 x = 1\n2 </File>\n3 y = 2"
    assert second == "The person attached my notes.md (1 lines):\n1 # Hi"
    assert read(attachments, "no mention, just a word @nobody") == []


def test_a_folder_is_listed(tmp_path: Path) -> None:
    (tmp_path / "src" / "deep").mkdir(parents=True)
    (tmp_path / "src" / "a.py").touch()
    attachments, _ = attachments_in(tmp_path)
    assert read(attachments, "in @src/") == ["The person attached the folder src:\ndeep/\na.py"]


def test_a_large_file_is_an_outline_first(tmp_path: Path) -> None:
    source = "".join(f"def f{number}():\n    return {number}\n" for number in range(3_000))
    (tmp_path / "big.py").write_text(source)
    (tmp_path / "big.log").write_text("a line of a log\n" * 5_000)
    attachments, _ = attachments_in(tmp_path)
    (outline,) = read(attachments, "@big.py")
    assert outline.startswith("The person attached the outline of big.py (6000 lines;")
    assert "function f0" in outline
    assert "return 7" not in outline
    (whole,) = read(attachments, "@big.py:all")
    assert whole.endswith("5999 def f2999():\n6000     return 2999")
    (log,) = read(attachments, "@big.log")
    assert "\n60 a line of a log\n…\n4981 a line of a log\n" in log


def test_what_cannot_be_sent_is_said(tmp_path: Path) -> None:
    for text, reason in (
        ("@/etc/passwd", "workspace"),
        ("@../secret", "workspace"),
        ('@"gone.txt"', "There is no file"),
        ("@data.bin", "is not text"),
        ("@huge.txt:all", "too large"),
    ):
        (tmp_path / "data.bin").write_bytes(b"\0\1\2\3" * 100)
        with (tmp_path / "huge.txt").open("wb") as file:
            file.truncate(20_000_000)
        attachments, _ = attachments_in(tmp_path)
        with pytest.raises(MentionError, match=reason) as caught:
            read(attachments, f"Look at {text} please")
        assert "Nothing was sent" in str(caught.value), text
        assert caught.value.text("zh") != str(caught.value), text


def test_a_chosen_file_that_is_gone_is_said(tmp_path: Path) -> None:
    attachments, _ = attachments_in(tmp_path)
    with pytest.raises(MentionError, match="There is no file"):
        read(attachments, "see @a.py", "@a.py")
    assert read(attachments, "see @a.py") == []  # a word like any other


@pytest.mark.parametrize("path", [".env", "link.txt", "deep/link"])
def test_a_secret_asks_also_through_a_link(tmp_path: Path, path: str) -> None:
    (tmp_path / ".env").write_text("TOKEN=abc")
    (tmp_path / "deep").mkdir()
    os.symlink(".env", tmp_path / "link.txt")
    os.symlink("../link.txt", tmp_path / "deep" / "link")
    no = Person("no")
    attachments, _ = attachments_in(tmp_path, no)
    with pytest.raises(MentionError, match="may hold secrets"):
        read(attachments, f"@{path}")
    assert [one.target for one in no.questions] == [".env"]  # the question names the file itself
    attachments, _ = attachments_in(tmp_path, Person(otherwise=("once",)))
    (text,) = read(attachments, f"@{path}")
    assert "TOKEN=abc" in text
    attachments, _ = attachments_in(tmp_path, None)
    with pytest.raises(NotAllowedError, match="nobody to ask"):
        read(attachments, f"@{path}")


def test_an_open_file_is_its_window(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    (tmp_path / ".env").write_text("TOKEN=abc")
    attachments, windows = attachments_in(tmp_path, Person(otherwise=("no",)))
    window = windows.open("editor", path="a.py")
    windows.set_lod(window.id, Lod.GIST)
    (text,) = read(attachments, "@a.py")
    assert text == "The person refers to a.py, which is open as editor_1."
    assert window.lod is Lod.FULL
    windows.open("editor", path=".env")  # by the person: the model sees nothing of it
    with pytest.raises(MentionError, match="may hold secrets"):
        read(attachments, "@.env")
    windows.shut_down()
