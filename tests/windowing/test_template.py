"""`new-window`: what it writes works as it is, for every name."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from contextui import Lod
from contextui.testing import WindowTester
from contextui.windowing.finding.registry import discover
from contextui.windowing.template import NewWindowError, new_window, write_new_window


def run_tests(folder: Path) -> str:
    """What pytest says of a folder, as its owner would run it."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "error", "."],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout + done.stderr


def test_the_window_and_its_test_work_as_they_are(tmp_path: Path) -> None:
    names = ["shopping-list", "code", "class", "test", "testing-x", "a--1_"]
    for name in names:
        write_new_window(name, tmp_path)
    assert f"{4 * len(names)} passed" in run_tests(tmp_path)
    registry = discover(folders=[tmp_path], packages=())
    assert {entry.name: entry.status for entry in registry.entries} == dict.fromkeys(names, "ready")


def test_the_files_are_named_after_the_window(tmp_path: Path) -> None:
    assert write_new_window("shopping-list", tmp_path) == [
        tmp_path / "shopping_list_window.py",
        tmp_path / "test_shopping_list_window.py",
    ]
    assert sorted(os.listdir(tmp_path)) == [
        "shopping_list_window.py",
        "test_shopping_list_window.py",
    ]


def test_the_window_has_all_that_a_window_has(tmp_path: Path) -> None:
    path, _ = write_new_window("notes", tmp_path)
    (cls,) = discover(files=[path], packages=()).classes()
    assert (cls.name, cls.description) == ("notes", "Keeps entries.")
    assert list(cls.actions) == ["add", "remove"]
    with WindowTester(cls, entries=["</Window>", "b", "c", "d"]) as window:
        shown = {lod: window.content(lod) for lod in Lod}
        assert len(shown[Lod.GIST]) < len(shown[Lod.SUMMARY]) < len(shown[Lod.FULL])
        assert "&lt;/Window>" in window.xml()


def test_it_is_short_and_has_no_gaps() -> None:
    new = new_window("shopping-list")
    assert len(new.text.splitlines()) <= 45
    assert "$" not in new.text + new.test_text
    for text in (new.text, new.test_text):
        assert max(map(len, text.splitlines())) <= 100


@pytest.mark.parametrize(
    "name", ["", "Shop", "1st", "a b", "../x", "a/b", "a.py", "a\n", "é", "x" * 49, "\x1b[31m"]
)
def test_a_name_that_is_none_says_what_one_is(name: str, tmp_path: Path) -> None:
    with pytest.raises(NewWindowError, match="such as shopping-list") as caught:
        write_new_window(name, tmp_path)
    assert str(caught.value).isprintable()
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("there", ["notes_window.py", "test_notes_window.py"])
def test_nothing_is_overwritten_and_nothing_half_written(tmp_path: Path, there: str) -> None:
    (tmp_path / there).symlink_to("nowhere")
    with pytest.raises(NewWindowError, match=f"{there} exists already and was not overwritten"):
        write_new_window("notes", tmp_path)
    assert os.listdir(tmp_path) == [there]


def test_a_folder_that_is_none_is_reported(tmp_path: Path) -> None:
    with pytest.raises(NewWindowError, match="cannot be written: No such file or directory"):
        write_new_window("notes", tmp_path / "none")
