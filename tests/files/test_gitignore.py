"""The rules of .gitignore files, as git reads them."""

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from contextui.files.gitignore import Rules, is_hidden
from contextui.files.listing import walk
from contextui.files.workspace import Workspace
from tests.thorough import times

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


def git(root: Path, *args: str, stdin: str = "") -> list[str]:
    quiet = {
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull,
        "GIT_CEILING_DIRECTORIES": str(root.parent),
        "HOME": str(root),
        "PATH": os.environ["PATH"],
    }
    done = subprocess.run(
        ["git", *args],
        cwd=root,
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
        env=quiet,
    )
    assert done.returncode in (0, 1), done.stderr
    return [name for name in done.stdout.split("\0") if name]


def seen_by_git(root: Path) -> set[str]:
    return set(git(root, "ls-files", "--others", "--exclude-standard", "-z"))


def seen_by_us(root: Path) -> set[str]:
    with Workspace(root) as workspace:
        return {entry.path for entry in walk(workspace) if entry.kind in ("file", "link")}


NAMES = ["a", "b", "ab", "abc", "a.py", "b.py", "a-b", "[a]", "a b", "A", "#a", "!a", "é", "a*"]
PIECES = [
    *("a", "b", "ab", "c", ".", "py", "*", "*", "**", "?", "/", "/", "[ab]", "[!a]", "[^b]", "é"),
    *(
        "[a-c]",
        "[c-a]",
        "[]a]",
        "[[:alpha:]]",
        "[[:nope:]]",
        "[",
        "]",
        "-",
        "\\*",
        "\\a",
        "\\",
        " ",
    ),
    *("\\ ", "!", "#", "[a-]", "[\\]]", "[a", "***"),
]
patterns = st.lists(st.sampled_from(PIECES), max_size=6).map("".join)
common = st.builds(
    "{}{}{}{}".format,
    st.sampled_from(["", "", "!"]),
    st.sampled_from(["", "/", "**/", "a/", "*/", "a/**/", "a/*/"]),
    st.sampled_from(["a", "b", "*.py", "*", "a*", "?b", "[ab]*", "**", "ab"]),
    st.sampled_from(["", "", "/", "/**", "/*", "/b"]),
)
# Where git drops letters before a "**" that is only a part of a name, it goes by another rule
# than its own manual; "\/" and "[/]" are nowhere described.
ODD = re.compile(r"\[[^\]\n]*/|[^/!]\*\*|\*\*[^/*\n]|\\/|\\\Z|\\\n")
rules = st.lists(common | patterns, max_size=6).map("\n".join).filter(lambda t: not ODD.search(t))
paths = st.lists(st.sampled_from(NAMES), min_size=1, max_size=3).map("/".join)


@needs_git
@settings(max_examples=times(25, 300))
@given(
    files=st.sets(paths, min_size=1, max_size=12),
    root_rules=rules,
    inner=st.dictionaries(paths, rules, max_size=2),
    exclude=rules | st.just(""),
)
@example({"a/b", "a/a", "b"}, "a/*\n!a/b\n", {}, "")
@example({"a/b", "b"}, "a/\n!a/b\n", {}, "")
@example({"a/b/ab", "a/ab", "ab"}, "a/**/ab", {}, "b")
@example({"a/b", "b"}, "b", {"a": "!b"}, "")
@example({"a b", "b"}, "a\\ b \r\n", {}, "")
def test_ignored_files_are_those_of_git(
    files: set[str], root_rules: str, inner: dict[str, str], exclude: str
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve() / "ws"
        (root / ".git" / "info").mkdir(parents=True)
        (root / ".git" / "objects").mkdir()
        (root / ".git" / "refs").mkdir()
        (root / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
        (root / ".git" / "info" / "exclude").write_text(exclude)
        (root / ".gitignore").write_text(root_rules)
        for name in [*files, *(f"{folder}/.gitignore" for folder in inner)]:
            try:
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                if not (root / name).exists():
                    (root / name).write_text(inner.get(name.removesuffix("/.gitignore"), ""))
            except (FileExistsError, NotADirectoryError):
                continue  # a file of that name is there already
        assert seen_by_us(root) == seen_by_git(root)


def test_one_pattern() -> None:
    for pattern, path, hidden in (
        ("*.log", "a/b/x.log", True),
        ("/x", "x", True),
        ("/x", "a/x", False),
        ("a/x", "b/a/x", False),
        ("x/", "x", False),
        ("**/x", "a/b/x", True),
        ("**/x", "x", True),
        ("a/**", "a", False),
        ("a/**", "a/b/c", True),
        ("a/**/x", "a/x", True),
        ("a/**/x", "a/b/c/x", True),
        ("a/*/x", "a/b/c/x", False),
        ("\\#x", "#x", True),
        ("\\!x", "!x", True),
        ("x ", "x", True),
        ("\ufeffx", "x", True),
        ("# x", "# x", False),
        ("[a-c]?", "bz", True),
        ("a\\", "a", False),
        ("*", "a\nb", True),
        ("?", "é", False),
        ("??", "é", True),
    ):
        assert is_hidden(tuple(path.split("/")), False, [Rules(pattern.encode())]) is hidden, (
            pattern
        )


def test_folders_only() -> None:
    assert is_hidden(("x",), True, [Rules(b"x/")])


def test_hostile_patterns_terminate() -> None:
    """Each of these would keep a naive translation busy for years."""
    name = "a" * 250
    stars = "*a" * 100 + "b"
    assert not is_hidden((name,), False, [Rules(stars.encode())])
    assert not is_hidden((name,) * 200, False, [Rules(b"/" + b"**/a*/" * 50 + b"b")])
    assert is_hidden((name,), False, [Rules(b"*a" * 100)])
