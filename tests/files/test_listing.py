"""Folders are read when they are shown, and searches as far as one reads on."""

import os
import socket
from collections import Counter
from itertools import count
from pathlib import Path

import pytest

from contextui.files import listing
from contextui.files.errors import FileError, MissingFileError, NotAFolderError, PathEscapeError
from contextui.files.listing import FolderEntry, list_folder, tree, walk
from contextui.files.search import Hit, SearchTimeout, find_names, find_text
from contextui.files.workspace import Workspace
from tests.counting import count_calls


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often the system is asked about files."""
    return count_calls(monkeypatch, "scandir", "stat", "lstat", "open", "pread", "readlink")


def make(root: Path, *files: str, text: str = "text\n") -> None:
    for name in files:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


def names(root: Path, path: str = ".", **options: bool) -> list[str]:
    with Workspace(root) as workspace:
        return [entry.name for entry in list_folder(workspace, path, **options).entries]


class TestListFolder:
    def test_folders_come_first_and_names_are_sorted(self, tmp_path: Path) -> None:
        make(tmp_path, "b.txt", "A.txt", "z/x", "Y/x", "é")
        assert names(tmp_path) == ["Y", "z", "A.txt", "b.txt", "é"]

    def test_ignored_names_are_counted_not_shown(self, tmp_path: Path) -> None:
        make(tmp_path, ".gitignore", text="*.pyc\nbuild/\n")
        make(tmp_path, "a.py", "a.pyc", "b.pyc", "build/x", "sub/a.pyc", "sub/a.py")
        make(tmp_path, ".git/config", "sub/.git")
        with Workspace(tmp_path) as workspace:
            listing = list_folder(workspace)
        assert [entry.name for entry in listing.entries] == ["sub", ".gitignore", "a.py"]
        assert listing.hidden == 3
        assert names(tmp_path, "sub") == ["a.py"]
        assert names(tmp_path, "build") == []
        assert names(tmp_path, "build", ignored=True) == ["x"]
        assert ".git" not in names(tmp_path, ignored=True)

    def test_kinds_are_listed_and_links_not_followed(self, tmp_path: Path) -> None:
        root = tmp_path / "ws"
        make(root, "folder/file")
        (root / "link").symlink_to("folder")
        (root / "out").symlink_to(tmp_path)
        os.mkfifo(root / "fifo")
        (root / "back\\slash").write_text("")
        with Workspace(root) as workspace:
            entries = list_folder(workspace).entries
            assert {entry.name: entry.kind for entry in entries} == {
                "folder": "folder",
                "link": "link",
                "out": "link",
                "fifo": "other",
                "back\\slash": "other",
            }
            linked = list_folder(workspace, "link")
            assert linked.entries == (FolderEntry("file", "link/file", "file"),)
            with pytest.raises(PathEscapeError):
                list_folder(workspace, "out")
            assert [entry.path for entry in walk(workspace)] == [
                *("folder", "folder/file", "back\\slash", "fifo", "link", "out")
            ]

    def test_unfinished_saves_are_not_shown(self, tmp_path: Path) -> None:
        make(tmp_path, ".contextui-0123456789abcdef.tmp", "a")
        assert names(tmp_path, ignored=True) == ["a"]

    def test_only_folders_can_be_listed(self, tmp_path: Path) -> None:
        make(tmp_path, "file")
        with Workspace(tmp_path) as workspace:
            with pytest.raises(NotAFolderError):
                list_folder(workspace, "file")
            with pytest.raises(MissingFileError):
                list_folder(workspace, "nothing")
            with pytest.raises(FileError):
                list_folder(workspace, "..")

    def test_a_gitignore_that_is_not_a_file_is_skipped(self, tmp_path: Path) -> None:
        root = tmp_path / "ws"
        make(root, "a", "b/.gitignore/x", "b/a")
        make(tmp_path, "rules", text="*")
        (root / ".gitignore").symlink_to("../rules")
        assert names(root) == ["b", ".gitignore", "a"]
        assert names(root, "b") == [".gitignore", "a"]


class TestTree:
    def rows(self, workspace: Workspace, *expanded: str) -> list[tuple[str, int, int | None]]:
        rows = tree(workspace, list_folder(workspace), expanded)
        return [(row.entry.path, row.depth, row.inside) for row in rows]

    def test_expanded_entries_follow_their_folder(self, tmp_path: Path) -> None:
        make(tmp_path, "a/b/c", "a/d", "e/f")
        (tmp_path / "empty").mkdir()
        with Workspace(tmp_path) as workspace:
            assert self.rows(workspace) == [("a", 0, None), ("e", 0, None), ("empty", 0, None)]
            assert self.rows(workspace, "a", "a/b", "empty") == [
                ("a", 0, 2),
                ("a/b", 1, 1),
                ("a/b/c", 2, None),
                ("a/d", 1, None),
                ("e", 0, None),
                ("empty", 0, 0),
            ]
            assert self.rows(workspace, "a/b") == self.rows(workspace)

    def test_a_removed_folder_is_shown_collapsed(self, tmp_path: Path) -> None:
        make(tmp_path, "file")
        (tmp_path / "gone").symlink_to("nowhere")
        (tmp_path / "out").symlink_to("/")
        with Workspace(tmp_path) as workspace:
            rows = self.rows(workspace, "file", "gone", "out", "never")
        assert rows == [("file", 0, None), ("gone", 0, None), ("out", 0, None)]


@pytest.fixture(scope="module")
def big(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """800 files in 20 folders of 4 folders each."""
    root = tmp_path_factory.mktemp("big")
    for folder in range(20):
        for inner in range(4):
            path = root / f"{folder:02}" / f"{inner}"
            path.mkdir(parents=True)
            for number in range(10):
                (path / f"{number}.txt").touch()
    return Workspace(root)


class TestWork:
    def test_only_what_is_shown_is_read(self, big: Workspace, calls: Counter[str]) -> None:
        assert len(list_folder(big).entries) == 20
        assert calls["scandir"] == 1
        assert sum(calls.values()) < 20
        calls.clear()
        assert len(list_folder(big, "07/3").entries) == 10
        assert calls["scandir"] == 1
        assert sum(calls.values()) < 30
        calls.clear()
        assert len(list(walk(big))) == 900
        assert calls["scandir"] == 101

    def test_a_search_stops_at_its_timeout(self, big: Workspace, calls: Counter[str]) -> None:
        ticks = count()
        timeout = SearchTimeout(100, clock=lambda: float(next(ticks)))
        assert 0 < len(list(find_names(big, ".txt", timeout=timeout))) < 100
        assert timeout.expired
        assert calls["scandir"] < 20
        calls.clear()
        assert list(find_text(big, "x", timeout=timeout)) == []
        assert calls["scandir"] <= 1


class TestSearch:
    def test_by_name(self, tmp_path: Path) -> None:
        make(tmp_path, ".gitignore", text="build\n")
        make(tmp_path, "src/Main.py", "src/main_test.py", "docs/main.md", "build/main.py")
        with Workspace(tmp_path) as workspace:

            def found(text: str, under: str = ".") -> list[str]:
                return [entry.path for entry in find_names(workspace, text, under)]

            assert found("MAIN") == ["docs/main.md", "src/Main.py", "src/main_test.py"]
            assert found("*.py") == ["src/Main.py", "src/main_test.py"]
            assert found("src/*_test.py") == ["src/main_test.py"]
            assert found("main", "docs") == ["docs/main.md"]
            assert found("") == []

    def test_by_content(self, tmp_path: Path) -> None:
        make(tmp_path, ".gitignore", text="ignored\n")
        make(tmp_path, "a.txt", "ignored", text="one\r\nTwo needle\rthree\u2028needle\n")
        (tmp_path / "b.bin").write_bytes(b"needle\0")
        (tmp_path / "c.txt").write_bytes("\ufeffneedle".encode("utf-16-le"))
        (tmp_path / "d.txt").write_bytes("é needle".encode("cp1252"))
        (tmp_path / "link").symlink_to("a.txt")
        with Workspace(tmp_path) as workspace:
            assert list(find_text(workspace, "needle")) == [
                Hit("a.txt", 2, "Two needle"),
                Hit("a.txt", 3, "three\u2028needle"),
                Hit("c.txt", 1, "needle"),
                Hit("d.txt", 1, "é needle"),
            ]
            assert [hit.line for hit in find_text(workspace, "TWO", ignore_case=True)] == [2]
            assert list(find_text(workspace, "two")) == []
            assert list(find_text(workspace, "")) == []
            assert list(find_text(workspace, "one\nTwo")) == []
            assert list(find_text(workspace, "n.*e")) == []

    def test_a_large_file_is_read_in_pieces(self, tmp_path: Path) -> None:
        lines = [f"line {number} é".encode() for number in range(150_000)]
        (tmp_path / "large").write_bytes(b"\r\n".join(lines))
        with Workspace(tmp_path) as workspace:
            for number in (0, 77_777, 149_999):
                (hit,) = find_text(workspace, f"line {number} é")
                assert hit.line == number + 1
            timeout = SearchTimeout(3, clock=count().__next__)  # reached within the file
            assert list(find_text(workspace, f"line {number} é", timeout=timeout)) == []

    def test_a_long_line_shows_what_is_around(self, tmp_path: Path) -> None:
        (tmp_path / "long").write_text("x" * 1_500_000 + "needle" + "y" * 1_500_000 + "\nneedle")
        with Workspace(tmp_path) as workspace:
            first, second = find_text(workspace, "needle")
        assert (first.line, second.line) == (1, 2)
        assert len(first.text) < 250
        assert "xneedley" in first.text

    def test_it_skips_special_files(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        os.mkfifo(tmp_path / "fifo")
        monkeypatch.chdir(tmp_path)
        with socket.socket(socket.AF_UNIX) as unix, Workspace(tmp_path) as workspace:
            unix.bind("socket")
            assert list(find_text(workspace, "x")) == []


def test_a_folder_of_many_names_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path, *(f"many/{number}.txt" for number in range(6)), "few/a.txt")
    monkeypatch.setattr(listing, "MOST_NAMES", 5)
    with Workspace(tmp_path) as workspace:
        with pytest.raises(FileError, match="more than 5 names"):
            list_folder(workspace, "many")
        assert [entry.path for entry in walk(workspace)] == ["few", "few/a.txt", "many"]
