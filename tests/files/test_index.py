"""Paths are found by a few of their letters, without reading the disk again."""

import os
import time
from collections import Counter
from pathlib import Path
from unittest.mock import Mock

import pytest

from contextui.files.index import ALL, Match, PathIndex, _scored, fuzzy
from contextui.files.workspace import Workspace
from tests.counting import count_calls
from tests.files.test_listing import make
from tests.windowing.samples import together


def indexed(root: Path, *files: str) -> PathIndex:
    make(root, *files)
    index = PathIndex(root)
    index.refresh()
    return index


def paths(found: list[Match]) -> list[str]:
    return [one.path for one in found]


def marked(query: str, path: str) -> str:
    found = fuzzy(query, path)
    assert found is not None
    return "".join(
        f"[{char}]" if at in found.positions else char for at, char in enumerate(path)
    ).replace("][", "")


class TestFuzzy:
    def test_letters_are_placed_as_they_are_meant(self) -> None:
        for query, expected in (
            ("cart", "src/shop/[cart].py"),
            ("crt", "src/shop/[c]a[rt].py"),
            ("SHOP", "src/[shop]/cart.py"),
            ("sc", "src/[s]hop/[c]art.py"),
            ("shop/c", "src/[shop/c]art.py"),
            ("py cart", "src/shop/[cart].[py]"),
        ):
            assert marked(query, "src/shop/cart.py") == expected, query

    def test_beginnings_of_words_and_humps_count_more(self) -> None:
        assert marked("ce", "src/cart_export.py") == "src/[c]art_[e]xport.py"
        assert marked("wf", "tui/flow/WindowFrame.py") == "tui/flow/[W]indow[F]rame.py"

    def test_a_path_without_the_letters_in_order_does_not_fit(self) -> None:
        assert fuzzy("trac", "cart") is None
        assert fuzzy("cartt", "cart") is None

    def test_letters_of_patterns_are_letters(self) -> None:
        for char in r"\]^-[&~|.*+?(){}$#'":
            assert fuzzy(char, f"a{char}b") is not None
            assert fuzzy(char, "ab") is None

    def test_letters_whose_lower_case_is_longer_keep_their_place(self) -> None:
        assert marked("x", "İİx") == "İİ[x]"
        assert marked("牛奶", "待办/牛奶.md") == "待办/[牛奶].md"

    def test_a_name_made_to_be_slow_is_not(self) -> None:
        began = time.process_time()
        assert fuzzy("a" * 64, "a_" * 2_000) is not None
        assert fuzzy("a" * 63 + "b", "a_" * 2_000) is None
        assert time.process_time() - began < 2


class TestMatch:
    def test_the_best_name_comes_first(self, tmp_path: Path) -> None:
        index = indexed(
            tmp_path, "src/shop/cart.py", "docs/cart.md", "care/at.py", "src/cart/deep/x.py"
        )
        assert paths(index.match("cart.py", 5))[0] == "src/shop/cart.py"
        assert set(paths(index.match("cart", 2))) == {"src/shop/cart.py", "docs/cart.md"}

    def test_of_many_only_the_most_promising_are_scored(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        index = indexed(tmp_path, *(f"{one}_cart.py" for one in range(200)), "deep/down/cart.py")
        monkeypatch.setattr("contextui.files.index._scored", scored := Mock(wraps=_scored))
        assert paths(index.match("cart", 5))[0] == "deep/down/cart.py"
        assert scored.call_count <= 150

    def test_open_files_come_before_equals(self, tmp_path: Path) -> None:
        index = indexed(tmp_path, "a/one.py", "b/one.py", "c/one.py", "far.txt")
        assert paths(index.match("one", 3, first=["c/one.py"]))[0] == "c/one.py"
        assert paths(index.match("one", 3, first=["far.txt"]))[0] != "far.txt"
        assert paths(index.match("", 2, first=["b/one.py", "c/one.py"])) == ["b/one.py", "c/one.py"]

    def test_without_a_query_the_newest_come_first(self, tmp_path: Path) -> None:
        make(tmp_path, "old", "new", "older")
        for age, name in enumerate(("new", "old", "older")):
            os.utime(tmp_path / name, (1_000_000 - age, 1_000_000 - age))
        assert paths(indexed(tmp_path).match("", 2)) == ["new", "old"]

    def test_ignored_files_and_git_are_left_out(self, tmp_path: Path) -> None:
        make(tmp_path, ".gitignore", text="build/\n*.log\n")
        index = indexed(tmp_path, "build/x.py", "a.log", ".git/config", "x.py", "sub/x.py")
        assert len(index) == 3
        assert sorted(paths(index.match("x", 9))) == ["sub/x.py", "x.py"]

    def test_folders_are_offered_where_they_fit(self, tmp_path: Path) -> None:
        index = indexed(tmp_path, "shop/cart.py")
        assert paths(index.match("shop", 9)) == ["shop/cart.py"]
        assert paths(index.match("shop", 9, kinds=ALL)) == ["shop", "shop/cart.py"]

    def test_hostile_names_are_found_and_can_be_opened(self, tmp_path: Path) -> None:
        names = ["a\nb.txt", "\x1b[31mred.txt", "[red]x[/red].txt", "<Window>.txt", "\u202egpj.exe"]
        index = indexed(tmp_path, *names)
        assert sorted(paths(index.match("", 9))) == sorted(names)
        with Workspace(tmp_path) as workspace:
            assert all(workspace.read_bytes(one.path) == b"text\n" for one in index.match("", 9))
        assert paths(index.match("a\nb"[0] + "b", 1)) == ["a\nb.txt"]

    def test_unreadable_folders_loops_and_pipes_do_no_harm(self, tmp_path: Path) -> None:
        make(tmp_path, "shut/secret", "open/file")
        (tmp_path / "open" / "loop").symlink_to("..")
        os.mkfifo(tmp_path / "pipe")
        (tmp_path / "shut").chmod(0)
        try:
            found = paths(indexed(tmp_path).match("", 9))
        finally:
            (tmp_path / "shut").chmod(0o755)
        assert "pipe" not in found
        assert {"open/file", "open/loop"} <= set(found)

    def test_an_index_is_capped(self, tmp_path: Path) -> None:
        make(tmp_path, *(f"f{number}" for number in range(20)))
        index = PathIndex(tmp_path, limit=7)
        index.refresh()
        assert len(index) == 7
        assert index.is_capped


class TestFilter:
    def test_scattered_letters_count_only_if_none_has_them_in_one(self, tmp_path: Path) -> None:
        index = indexed(tmp_path, "cart.py", "cat/report.txt", "my_cart_export.py")
        assert [one.path for one in index.filter("cart")] == ["cart.py", "my_cart_export.py"]
        assert [one.path for one in index.filter("cartex")] == ["my_cart_export.py"]
        assert [one.path for one in index.filter("catrxt")] == ["cat/report.txt"]
        assert index.filter("xyz") == []


class TestWork:
    def test_matching_reads_no_disk(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        index = indexed(tmp_path, "a/b.py", "c.py")
        calls: Counter[str] = count_calls(monkeypatch, "scandir", "stat", "lstat", "open")
        index.match("b", 5)
        index.match("bp", 5)
        index.filter("b")
        assert not calls

    def test_refreshing_twice_at_once_reads_once(self, tmp_path: Path) -> None:
        index = indexed(tmp_path, "a")
        assert index.is_ready
        assert not index.is_stale
        assert not index.is_loading
        together(*[index.refresh] * 5)
        assert paths(index.match("a", 1)) == ["a"]

    def test_new_files_appear_after_a_refresh(self, tmp_path: Path) -> None:
        index = indexed(tmp_path, "a")
        make(tmp_path, "b")
        index.refresh(only_if_stale=True)
        assert index.match("b", 1) == []
        index.refresh()
        assert paths(index.match("b", 1)) == ["b"]

    def test_a_workspace_has_one_index(self, tmp_path: Path) -> None:
        with Workspace(tmp_path) as workspace:
            index = PathIndex.of(workspace)
            assert PathIndex.of(workspace) is index
            assert PathIndex.of(workspace.for_model()) is index
        make(tmp_path, "a")
        index.refresh()
        assert paths(index.match("a", 1)) == ["a"]
