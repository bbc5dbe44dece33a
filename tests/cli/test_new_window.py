"""`contextui new-window`: the window and the test that it writes work."""

import sys
from pathlib import Path

import pytest

from tests import forkserver
from tests.cli.calling import PATIENCE, Program

SAFE: dict[str, list[str]] = {"contextui.testing": ["-P"], "pytest": []}
"""Plain pytest works too, but looks at all that is in the folder."""


def test_a_new_window_works_and_its_test_passes(program: Program) -> None:
    done = program("new-window", "shopping-list")
    assert done.status == 0
    assert "shopping_list_window.py" in done.out
    assert "contextui dev shopping_list_window.py" in done.out
    listed = program("windows", "--window", "shopping_list_window.py").out
    assert "[✓] shopping-list: " in listed
    for module in ("contextui.testing", "pytest"):
        tested = forkserver.run(
            [sys.executable, *SAFE[module], "-m", module, "-q", "test_shopping_list_window.py"],
            capture_output=True, timeout=PATIENCE, check=False,
        )  # fmt: skip
        assert tested.returncode == 0, tested.stdout
        assert b"4 passed" in tested.stdout


def test_a_kind_can_be_chosen(program: Program) -> None:
    done = program("new-window", "stars", "--kind", "widget")
    assert done.out.startswith("Wrote stars_window.py, _stars_widget.py and test_stars_window.py.")
    done = program("new-window", "shop", "--kind", "package")
    assert "contextui dev contextui-shop/shop_window.py" in done.out
    done = program("new-window", "chat", "--kind", "connection")
    assert "contextui dev chat_window.py host=localhost port=7000" in done.out
    program("new-window", "x", "--kind", "big").fails(2, "--kind must be one of", "simple")


def test_nothing_is_overwritten(program: Program) -> None:
    program.write("shop_window.py", "mine")
    program("new-window", "shop").fails(2, "shop_window.py")
    assert (program.folder / "shop_window.py").read_text() == "mine"


def test_a_name_that_is_taken_is_refused(program: Program) -> None:
    program("new-window", "todo").fails(2, "There is already a window todo", "contextui")
    program("new-window", "shop")
    program.set(CONTEXTUI_WINDOW="shop_window.py")
    program("new-window", "shop").fails(2, "There is already a window shop", "shop_window.py")
    assert sorted(path.name for path in program.folder.glob("*.py")) == [
        "shop_window.py",
        "test_shop_window.py",
    ]


def test_the_command_that_tests_it_works_here(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    program.set(PATH="/usr/bin")
    *_, last = program("new-window", "shop").out.splitlines()
    assert last == f"Test it:  {sys.executable} -P -m contextui.testing test_shop_window.py"
    program.set(PATH=str(Path(sys.executable).parent))
    *_, last = program("new-window", "shed").out.splitlines()
    assert last == "Test it:  python -P -m contextui.testing test_shed_window.py"
    monkeypatch.setattr("contextui.cli.new_window.find_spec", lambda name: None)
    *_, last = program("new-window", "barn").out.splitlines()
    assert last == "This needs pytest: python -P -m pip install pytest"


def test_a_name_that_cannot_be_one_is_refused(program: Program) -> None:
    program("new-window", "../evil").fails(2, "../evil")
    assert list(program.folder.iterdir()) == []
