"""Every kind of new window works as it is: its tests, types and style, and on the screen."""

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import contextui
from contextui.tui.desktop.frame import WindowFrame
from contextui.windowing.finding.registry import discover
from contextui.windowing.template import KINDS, Kind, NewWindowError, write_new_window
from tests import forkserver
from tests.tui.running import desk_in, lines, running, until

ROOT = Path(contextui.__file__).parents[1]
RUFF = f"""
extend = "{ROOT / "pyproject.toml"}"
[lint]
extend-ignore = ["D1", "ARG002", "I001"]
"""


def run(folder: Path, *words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-P", "-m", *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "MYPYPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_their_own_tests_pass(tmp_path: Path) -> None:
    tests = [write_new_window(f"my-{kind}", tmp_path, kind)[1] for kind in KINDS]
    argv = [sys.executable, "-P", "-m", "contextui.testing", "-v", *map(str, tests)]
    done = forkserver.run(argv, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert all(f"{test.name}::" in done.stdout for test in tests)


def write_all(folder: Path) -> list[str]:
    for kind in KINDS:
        for path in write_new_window(f"my-{kind}", folder, kind):
            if path.parent != folder:  # a package: its modules have names of their own
                path.rename(folder / path.name)
    return [str(path) for path in folder.glob("*.py")]


def test_all_are_tidy(tmp_path: Path) -> None:
    write_all(tmp_path)
    (tmp_path / "ruff.toml").write_text(RUFF)
    run(tmp_path, "ruff", "check", "--no-cache", ".")
    run(tmp_path, "ruff", "format", "--no-cache", "--check", ".")


@pytest.mark.long
def test_all_are_typed(tmp_path: Path) -> None:
    run(ROOT, "mypy", *write_all(tmp_path))  # in this folder: `make lint` has the same cache


SHOWN: dict[Kind, tuple[dict[str, Any], str]] = {
    "simple": ({"entries": ["bread"]}, "bread"),
    "job": ({}, "exit status: not finished"),
    "connection": ({"host": "127.0.0.1", "port": 1}, "127.0.0.1:1 "),
    "table": ({"path": "shop.db"}, "number 1"),
    "widget": ({}, "Nothing is rated yet."),
    "package": ({"entries": ["butter"]}, "butter"),
}


async def test_they_open_in_the_app(tmp_path: Path) -> None:
    files = [write_new_window(f"my-{kind}", tmp_path, kind)[0] for kind in KINDS]

    registry = discover(files=files, packages=())
    assert [entry.warning for entry in registry.entries] == [""] * len(KINDS)
    desk = desk_in(tmp_path, windows=registry.classes())
    with closing(sqlite3.connect(tmp_path / "work" / "shop.db")) as database:
        database.execute("create table items (name text)")
    for kind, (args, _) in SHOWN.items():
        desk.session.windows.open(f"my-{kind}", **args)
    async with running(desk, size=(160, 100)) as pilot:

        def are_shown() -> bool:
            screen = "\n".join(lines(pilot))
            return all(text in screen for _, text in SHOWN.values())

        await until(pilot, are_shown)
        frames = pilot.app.screen.query(WindowFrame)
        assert [frame.has_class("-error") for frame in frames] == [False] * len(KINDS)


def test_a_package_is_found_once_it_is_installed(tmp_path: Path) -> None:
    """Its entry point names the class; building it is left to pip."""
    import tomllib
    from importlib.metadata import EntryPoint

    window, _, project, readme = write_new_window("shop", tmp_path, "package")
    assert window.parent.name == "contextui-shop"
    assert "contextui dev shop_window.py" in readme.read_text()
    named = tomllib.loads(project.read_text())["project"]
    (name, value) = next(iter(named["entry-points"]["contextui.windows"].items()))
    sys.path.insert(0, str(window.parent))
    try:
        (entry,) = discover(packages=[EntryPoint(name, value, "contextui.windows")]).load_all()
        assert (entry.status, entry.name) == ("ready", "shop")
    finally:
        sys.path.remove(str(window.parent))
        sys.modules.pop("shop_window", None)
    with pytest.raises(NewWindowError, match="exists already"):
        write_new_window("shop", tmp_path, "package")
