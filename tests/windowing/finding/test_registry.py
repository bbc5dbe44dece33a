"""Finding windows: in this order, each by name, and one that is broken harms no other."""

import sys
from pathlib import Path

import pytest

from contextui.windowing.finding.registry import discover
from contextui.windowing.finding.trust import TrustStore
from tests.windowing.finding.sources import SOURCE, found, lines, only_reason, point, write


def test_the_order_is_packages_files_folders_user_project(there: Path) -> None:
    home, project = there / "home", there / "project"
    write(there / "file.py", "File")
    write(there / "folder" / "x.py", "Folder")
    write(home / "windows" / "x.py", "Own")
    write(project / ".contextui" / "windows" / "x.py", "Theirs")
    TrustStore(home).trust(project / ".contextui" / "windows")
    registry = discover(
        packages=[point("todo", "contextui.windows.todo.window:TodoWindow")],
        files=["file.py"],
        folders=["folder"],
        home=home,
        project=project,
    )
    assert [entry.name for entry in registry.entries] == [
        *("todo", "file", "folder", "own", "theirs")
    ]


def test_a_folder_gives_all_files_but_helpers_and_tests(there: Path) -> None:
    for name in ("b.py", "a.py"):
        write(there / "w" / name, name[0].upper() + "x")
    for name in ("_h.py", "test_a.py", "conftest.py", ".x.py", "notes.md", "sub/c.py", "x.pyc"):
        (there / "w" / name).parent.mkdir(exist_ok=True)
        (there / "w" / name).write_text("raise SystemExit", "utf-8")
    assert [entry.name for entry in found(folders=["w"]).entries] == ["ax", "bx"]


def test_a_folder_that_is_none_says_what_to_do(there: Path) -> None:
    write(there / "hello.py")
    (there / "empty").mkdir()
    assert only_reason(found(folders=["none"])) == "none: there is no such folder"
    assert only_reason(found(folders=["hello.py"])) == (
        "hello.py: it is not a folder; give a file with --window"
    )
    assert only_reason(found(folders=["empty"])) == (
        "empty: it has no windows: name a window's file like deploy.py"
    )


def test_links_in_a_folder_of_the_users_own_are_followed(there: Path) -> None:
    write(there / "elsewhere" / "hello.py")
    (there / "w").mkdir()
    (there / "w" / "link.py").symlink_to(there / "elsewhere" / "hello.py")
    (there / "w" / "gone.py").symlink_to(there / "nowhere.py")
    assert lines(found(folders=["w"])) == [
        "[X] gone: there is no file w/gone.py: name a Python file",
        "[✓] hello: Says hello.",
    ]


def test_the_built_in_windows_are_found_like_anyones() -> None:
    registry = discover()
    (todo,) = [entry for entry in registry.entries if entry.name == "todo"]
    assert todo.status == "found"
    assert todo.origin.startswith(
        "contextui.windows.todo.window:TodoWindow of the package contextui "
    )
    assert "A to-do list." in [cls.description for cls in registry.classes()]


def test_listing_imports_no_package(there: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(there / "listed_window.py")
    monkeypatch.setattr(sys, "path", [str(there), *sys.path])
    points = [point("hello", "listed_window:Hello"), point("other", "no.such.module:Other")]
    registry = discover(packages=points)
    assert [entry.status for entry in registry.entries] == ["found", "found"]
    assert "listed_window" not in sys.modules
    try:
        assert lines(registry) == [
            "[✓] hello: Says hello.",
            "[X] other: no.such.module:Other of the package of no name: "
            "ModuleNotFoundError: No module named 'no'",
        ]
        assert "listed_window" in sys.modules
    finally:
        sys.modules.pop("listed_window", None)
        monkeypatch.undo()


def test_a_package_that_is_wrong_says_which_and_why() -> None:
    for name, value, reason in (
        (
            "x",
            "contextui.windows.todo.window:Nothing",
            "AttributeError: module 'contextui.windows.todo.window'",
        ),
        ("x", "contextui.windows.todo.window:Item", "it does not extend contextui.Window"),
        ("x", "contextui:Window", "it does not extend contextui.Window"),
        ("x", "contextui.windows.todo.window", "it does not extend contextui.Window"),
        ("x", "not an entry point", "Error"),
        (
            "x",
            "contextui.windows.todo.window:TodoWindow",
            "its window is called todo: give the entry",
        ),
        ("Bad Name", "contextui.windows.todo.window:TodoWindow", "this cannot be a window's name"),
    ):
        registry = found(
            packages=[point(name, value), point("todo", "contextui.windows.todo.window:TodoWindow")]
        )
        states = {entry.name: entry for entry in registry.load_all()}
        assert states["todo"].status == "ready", name
        assert states[name].status == "broken", name
        assert str(states[name].reason).startswith(f"{value} of the package of no name: "), name
        assert reason in str(states[name].reason), name


def test_of_two_with_one_name_the_first_is_used_and_both_are_named(there: Path) -> None:
    write(there / "first.py", words="First.")
    write(there / "more" / "second.py", words="Second.")
    registry = found(files=["first.py"], folders=["more"])
    assert lines(registry) == [
        "[✓] hello: First.",
        "[X] hello: two windows have this name: Hello in first.py, which is used, "
        "and Hello in more/second.py, which is not. Rename one of them",
    ]
    assert [entry.status for entry in registry.entries] == ["ready", "duplicate"]
    (cls,) = registry.classes()
    assert (cls.name, cls.description) == ("hello", "First.")


def test_two_in_one_file_are_distinguished_by_class(there: Path) -> None:
    write(there / "two.py", more=SOURCE.format(cls="Other", words="O.") + "    name = 'hello'\n")
    assert (
        "Hello in two.py, which is used, and Other in two.py" in lines(found(files=["two.py"]))[1]
    )


def test_one_file_found_in_two_ways_is_one_and_runs_once(there: Path) -> None:
    count = "\nwith open('runs', 'a') as runs:\n    runs.write('x')\n"
    write(there / "w" / "hello.py", more=count)
    (there / "alias").symlink_to("w")
    registry = found(files=["w/hello.py", "w/hello.py:Hello"], folders=["w", "alias"])
    assert lines(registry) == ["[✓] hello: Says hello."]
    assert (there / "runs").read_text("utf-8") == "x"
