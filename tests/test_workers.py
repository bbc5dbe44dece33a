"""`pytest --workers` reports each test once, also if a worker ends too early."""

import re
import sys
from pathlib import Path

from tests import forkserver

ROOT = Path(__file__).parent.parent
CONFTEST = """
from tests.workers import Pool

def pytest_configure(config):
    config.pluginmanager.register(Pool(2, lambda: None))
"""
PASSING = """
import pytest

@pytest.fixture(scope="module")
def made(tmp_path_factory):
    with open("made", "a") as file:
        file.write("x")

@pytest.mark.parametrize("number", range(40))
def test_it(made, number, tmp_path, capfd):
    print(number)
    assert capfd.readouterr().out == f"{number}\\n"
"""


def run(folder: Path, *options: str, **files: str) -> str:
    """Return what pytest prints about these files."""
    for name, text in {"conftest": CONFTEST, **files}.items():
        (folder / f"{name}.py").write_text(text, "utf-8")
    (folder / "pytest.ini").write_text("[pytest]\n", "utf-8")
    own = f"--basetemp={folder / 'base'}"  # else it would clear away what other runs left
    argv = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", own, *options]
    environment = {"PYTHONPATH": str(ROOT), "HOME": str(folder)}
    done = forkserver.run(argv, cwd=folder, env=environment, capture_output=True, timeout=60)
    return bytes(done.stdout).decode() + bytes(done.stderr).decode()


def test_each_test_is_reported_once_and_a_group_shares_fixtures_of_its_module(
    tmp_path: Path,
) -> None:
    failing = "def test_it():\n    value = 1\n    assert value == 2\n"
    printed = run(tmp_path, test_a=PASSING, test_b=failing, test_c=PASSING)
    assert "1 failed, 80 passed" in printed, printed
    assert "assert 1 == 2" in printed
    assert len((tmp_path / "made").read_text()) <= 28  # groups of three tests


def test_a_test_that_ends_its_worker_fails_and_every_other_one_is_reported(tmp_path: Path) -> None:
    ending = "import os\ndef test_1(): pass\ndef test_2(): os._exit(0)\ndef test_3(): pass\n"
    printed = run(tmp_path, test_a=PASSING, test_b=ending)
    ((failed, passed),) = re.findall(r"(\d+) failed, (\d+) passed", printed)
    assert int(failed) + int(passed) == 43, printed
    assert "FAILED test_b.py::test_2 - The worker ended" in printed


def test_after_the_first_failure_no_test_is_begun_if_so_wanted(tmp_path: Path) -> None:
    failing = "def test_1():\n    assert False\ndef test_2():\n    assert False\n"
    printed = run(tmp_path, "-x", test_z=failing, test_a=PASSING)
    assert "1 failed" in printed, printed
    assert "stopping after 1 failures" in printed
