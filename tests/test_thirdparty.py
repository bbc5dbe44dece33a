"""A third-party package: built, installed, found by its entry point, and opened."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests import forkserver

SAMPLE = Path(__file__).parent / "thirdparty"

LIST = """
import json, sys
from contextui.windowing.finding.registry import discover

registry = discover()
before = [entry.data() for entry in registry.entries]
assert "contextui_dice" not in sys.modules
registry.load_all()
print(json.dumps([before, [entry.data() for entry in registry.entries]]))
"""

OPEN = """
import asyncio
from contextui import WindowManager
from contextui.windowing.finding.registry import discover

windows = WindowManager(discover().classes())
dice = windows.open("dice", seed=7)
asyncio.run(windows.act("dice_1", "throw", {"dice": 3}))
print(dice.to_xml())
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the sample was installed into, without a network."""
    folder = tmp_path_factory.mktemp("thirdparty")
    shutil.copytree(SAMPLE, folder / "source")
    options = ["--no-index", "--no-deps", "--no-build-isolation", "--disable-pip-version-check"]
    done = subprocess.run(
        [sys.executable, "-m", "pip", "install", *options, "--target", "site", "./source"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "site"


def run(code: str, installed: Path) -> str:
    done = forkserver.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(installed)},
        cwd=installed,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return str(done.stdout)


def test_it_is_found_without_being_imported_and_loads(installed: Path) -> None:
    before, after = json.loads(run(LIST, installed))
    (found,) = [entry for entry in before if entry["name"] == "dice"]
    (loaded,) = [entry for entry in after if entry["name"] == "dice"]
    assert found["status"] == "found"
    assert found["origin"] == "contextui_dice:DiceWindow of the package contextui-dice 1.2.3"
    assert loaded["status"] == "ready"
    assert loaded["description"] == "Throws dice."
    assert loaded["args"] == "seed:int=0"
    assert before[0]["origin"].partition(" of the package ")[2].startswith("contextui ")


def test_it_opens_like_any_other(installed: Path) -> None:
    xml = run(OPEN, installed)
    assert xml.startswith('<Window id="dice_1" version="2.0.0" lod="Full">')
    assert "<Description>Throws dice.</Description>" in xml
    assert '<action id="throw" params="dice:int=1">Throw some dice</action>' in xml


def test_gone_it_is_gone() -> None:
    registry = run("from contextui.windowing.finding.registry import discover\n"
                   "print(*(entry.name for entry in discover().entries))", SAMPLE)  # fmt: skip
    assert "dice" not in registry.split()
