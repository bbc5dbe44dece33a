"""Every kind of new window works as it is: its tests, types and style, and on the screen."""

import asyncio
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
from tests.tui.running import desk_in, running, shown, until

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


@pytest.mark.parametrize("kind", KINDS)
def test_its_own_tests_pass(tmp_path: Path, kind: Kind) -> None:
    window, test, *_ = write_new_window("shopping-list", tmp_path, kind)
    assert " passed" in run(window.parent, "contextui.testing", "-q", test.name)


def test_all_are_typed_and_tidy(tmp_path: Path) -> None:
    for kind in KINDS:
        for path in write_new_window(f"my-{kind}", tmp_path, kind):
            if path.parent != tmp_path:  # a package: its modules have names of their own
                path.rename(tmp_path / path.name)
    (tmp_path / "ruff.toml").write_text(RUFF)
    run(tmp_path, "ruff", "check", "--no-cache", ".")
    run(tmp_path, "ruff", "format", "--no-cache", "--check", ".")
    config = tmp_path / "mypy.ini"
    config.write_text("[mypy]\nstrict = true\n")
    files = [path.name for path in tmp_path.glob("*.py")]
    cache = str(ROOT / ".mypy_cache")
    run(tmp_path, "mypy", "--config-file", str(config), "--cache-dir", cache, *files)


SHOWN: dict[Kind, tuple[dict[str, Any], str]] = {
    "simple": ({"entries": ["bread"]}, "bread"),
    "job": ({}, "exit status: not finished"),
    "connection": ({"host": "127.0.0.1", "port": 1}, "127.0.0.1:1 "),
    "table": ({"path": "shop.db"}, "number 1"),
    "widget": ({}, "Nothing is rated yet."),
    "package": ({"entries": ["bread"]}, "bread"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_it_opens_in_the_app(tmp_path: Path, kind: Kind) -> None:
    window, *_ = write_new_window("shop", tmp_path, kind)
    args, text = SHOWN[kind]

    async def go() -> None:
        registry = discover(files=[window], packages=())
        assert [entry.warning for entry in registry.entries] == [""]
        desk = desk_in(tmp_path, windows=registry.classes())
        with closing(sqlite3.connect(tmp_path / "work" / "shop.db")) as database:
            database.execute("create table items (name text)")
        desk.session.windows.open("shop", **args)
        async with running(desk) as pilot:
            await until(pilot, lambda: shown(pilot, text))
            assert not pilot.app.screen.query_one(WindowFrame).has_class("-error")

    asyncio.run(go())


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
