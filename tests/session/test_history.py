"""The prompts of a folder, kept across sessions."""

import json
import os
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextui.session import history as module
from contextui.session.history import PromptHistory, collapse, search
from tests import forkserver

ROOT = Path(__file__).parents[2]


def history_in(tmp_path: Path, folder: str = "/a/b") -> PromptHistory:
    return PromptHistory.of_folder(folder, tmp_path / "home")


def test_prompts_are_there_again_in_order(tmp_path: Path) -> None:
    history = history_in(tmp_path)
    for text in ("one", "two\nlines", " one "):
        assert history.add(text)
    assert history_in(tmp_path).texts() == ["two\nlines", "one"]  # equal ones collapse
    assert history_in(tmp_path, "/a/c").texts() == []


def test_folders_of_the_same_name_do_not_share(tmp_path: Path) -> None:
    history_in(tmp_path, "/a-b/c").add("mine")
    other = history_in(tmp_path, "/a/b-c")
    assert other.path == history_in(tmp_path, "/a-b/c").path
    assert other.texts() == []


def test_only_the_person_can_read_it(tmp_path: Path) -> None:
    history = history_in(tmp_path)
    history.add("one")
    assert os.stat(history.path).st_mode & 0o777 == 0o600
    os.chmod(history.path, 0o644)
    history.add("two")
    assert os.stat(history.path).st_mode & 0o777 == 0o600


def test_secrets_are_not_kept(tmp_path: Path) -> None:
    history = history_in(tmp_path)
    key = "sk-ant-api03-5f3a9c27e1b84d0aa1"
    history.add(f"Use the key {key} please")
    assert key.encode() not in history.path.read_bytes()
    assert history.texts() == ["Use the key sk-ant-*** please"]


def test_damaged_lines_are_skipped(tmp_path: Path) -> None:
    history = history_in(tmp_path)
    history.add("one")
    with history.path.open("ab") as file:
        file.write(b'{"text": 3}\n\xff\xfe\n[1]\n{"at": "x", "cwd": "/a/b", "text": "t"}\n')
        file.write(b"[" * 5_000 + b"\n" + b'{"at": "2026-01-01", "cwd": "/a/b", "te')
    history.add("two")  # after a line that was cut off
    assert history.texts() == ["one", "two"]


def test_an_entry_of_another_program_has_no_control_characters(tmp_path: Path) -> None:
    history = history_in(tmp_path)
    history.add("one")
    entry = {"at": "2026-01-01T00:00:00", "cwd": "/a/b", "text": "\x1b]52;c;x\x07 \ud800"}
    with history.path.open("ab") as file:
        file.write(json.dumps(entry).encode() + b"\n")
    text = history.texts()[-1]
    assert "\x1b" not in text
    assert "\x07" not in text
    text.encode()


def test_no_link_is_followed_and_no_pipe_blocks(tmp_path: Path) -> None:
    history = history_in(tmp_path)
    history.path.parent.mkdir(parents=True)
    target = tmp_path / "other"
    target.write_text("keep me")
    history.path.symlink_to(target)
    assert not history.add("one")
    assert history.texts() == []
    assert target.read_text() == "keep me"
    history.path.unlink()
    os.mkfifo(history.path)
    assert not history.add("one")
    assert history.texts() == []


def test_it_stays_small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_LARGE", 4_000)
    history = history_in(tmp_path)
    for number in range(200):
        history.add(f"prompt {number}")
        assert history.path.stat().st_size <= 4_000
    texts = history.texts()
    assert texts[-1] == "prompt 199"
    assert texts == [f"prompt {n}" for n in range(200 - len(texts), 200)]
    assert os.stat(history.path).st_mode & 0o777 == 0o600
    assert not history.add("x" * 20_001)  # nobody looks for that


def write(home: str, name: str) -> None:
    history = PromptHistory.of_folder("/a/b", Path(home))
    for number in range(30):
        for _ in range(20):  # another one may have the lock
            if history.add(f"{name} {number}"):
                break


def test_several_processes_lose_nothing(tmp_path: Path) -> None:
    script = "import sys; from tests.session.test_history import write; write(*sys.argv[1:])"
    writers = [
        forkserver.Popen([sys.executable, "-c", script, tmp_path, name], cwd=ROOT) for name in "abc"
    ]
    assert [one.wait(60) for one in writers] == [0, 0, 0]
    texts = PromptHistory.of_folder("/a/b", tmp_path).texts()
    assert sorted(texts) == sorted(f"{name} {number}" for name in "abc" for number in range(30))
    for name in "abc":  # each in its own order
        assert [one for one in texts if one[0] == name] == [f"{name} {n}" for n in range(30)]


def test_a_search_finds_words_first_then_letters() -> None:
    texts = ["write the tests", "run pytest", "what rests", "Write more"]
    assert search(texts, "write") == ["Write more", "write the tests"]
    assert search(texts, "") == texts[::-1]
    assert search(texts, "tests the") == ["write the tests"]
    assert search(texts, "wrt") == ["Write more", "what rests", "write the tests"]
    assert search(texts, "nothing") == []
    assert search(texts, "", limit=2) == ["Write more", "what rests"]


@given(st.lists(st.text(max_size=5)), st.text(max_size=5))
def test_a_search_only_returns_what_was_typed(texts: list[str], query: str) -> None:
    found = search(collapse(texts), query)
    assert set(found) <= set(texts)
    assert len(found) == len(set(found))
    words = query.casefold().split()
    assert all(one in found for one in texts if all(word in one.casefold() for word in words))
