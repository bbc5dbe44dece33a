"""Errors about files have a Chinese translation with the same facts."""

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from contextui.files.buffer import Buffer
from contextui.files.errors import FileError, reading_failed, saving_failed
from contextui.files.textfile import TextFile
from contextui.files.workspace import Workspace

TEXT = TextFile("milk\neggs\nmilk\n", path="list.md")
FACT = re.compile(r"\w+\.\w+|\d+(?:,\d+)*", re.ASCII)

Operation = Callable[[Workspace], object]
FAILURES: dict[str, Operation] = {
    "missing": lambda files: files.open_text("none.md"),
    "escape": lambda files: files.open_text("../x"),
    "link out": lambda files: files.open_text("out"),
    "circle": lambda files: files.open_text("round"),
    "empty path": lambda files: files.open_text(" "),
    "windows path": lambda files: files.open_text("C:\\x"),
    "long name": lambda files: files.open_text("x" * 300),
    "NUL": lambda files: files.open_text("a\0b"),
    "folder": lambda files: files.open_text("folder"),
    "no folder": lambda files: files.open_text("list.md/x"),
    "binary": lambda files: files.open_text("binary"),
    "encoding": lambda files: files.open_text("list.md", encoding="latin-99"),
    "taken": lambda files: files.save("list.md", TEXT, expected=None),
    "no line": lambda _: TEXT.delete_lines(2, 9),
    "no place": lambda _: TEXT.insert_lines(9, "x"),
    "nothing to replace": lambda _: TEXT.replace_text("", "x"),
    "too often": lambda _: TEXT.replace_text("milk", "tea"),
    "not at all": lambda _: TEXT.replace_text("bread", "tea"),
    "overlap": lambda _: TextFile("aaa").replace_text("aa", "b"),
    "no change": lambda _: Buffer(TEXT, TEXT).become(TEXT),
    "no characters": lambda _: Buffer(TEXT, TEXT).splice(5, 99, "x"),
    "nothing to undo": lambda _: Buffer(TEXT, TEXT).undo(),
    "nothing to redo": lambda _: Buffer(TEXT, TEXT).redo(),
    "unencodable": lambda _: TextFile("a\ud800").encoding.check("a\ud800", "list.md"),
}


def test_errors_are_translated_with_the_same_facts(tmp_path: Path) -> None:
    (tmp_path / "list.md").write_text(TEXT.text)
    (tmp_path / "folder").mkdir()
    (tmp_path / "binary").write_bytes(b"\0\1")
    (tmp_path / "out").symlink_to("/etc")
    (tmp_path / "round").symlink_to("round")
    with Workspace(tmp_path) as files:
        for fail in FAILURES.values():
            with pytest.raises(FileError) as raised:
                fail(files)
            _check_translation(raised.value)


def test_system_errors_are_translated_with_the_same_facts() -> None:
    for number in (1, 2, 5, 13, 20, 27, 28, 30, 36, 40):
        for make in (reading_failed, saving_failed):
            _check_translation(make("list.md", OSError(number, os.strerror(number))))


def _check_translation(error: FileError) -> None:
    assert error.text("en") == str(error)
    assert not error.text("zh").isascii()
    assert set(FACT.findall(error.text("zh"))) == set(FACT.findall(str(error)))
