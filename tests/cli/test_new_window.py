"""`contextui new-window`: what it writes works."""

import subprocess
import sys

from tests.cli.calling import PATIENCE, Program


def test_a_new_window_works_and_its_test_passes(program: Program) -> None:
    done = program("new-window", "shopping-list")
    assert done.status == 0
    assert "shopping_list_window.py" in done.out
    assert "--window shopping_list_window.py" in done.out
    listed = program("windows", "--window", "shopping_list_window.py").out
    assert "[✓] shopping-list: " in listed
    tested = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "test_shopping_list_window.py"],
        capture_output=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert tested.returncode == 0, tested.stdout


def test_nothing_is_overwritten(program: Program) -> None:
    program.write("shop_window.py", "mine")
    program("new-window", "shop").fails(2, "shop_window.py")
    assert (program.folder / "shop_window.py").read_text() == "mine"


def test_a_name_that_cannot_be_one_is_refused(program: Program) -> None:
    program("new-window", "../evil").fails(2, "../evil")
    assert list(program.folder.iterdir()) == []
