"""The example windows: their own tests, their size, their package, and each one in the app."""

import asyncio
import os
import sqlite3
import sys
import tomllib
from contextlib import closing
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from contextui.windowing.window import Window
from tests import forkserver
from tests.tui.running import desk_in, running, shown, until

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples"
PROJECT = tomllib.loads((EXAMPLES / "pyproject.toml").read_text("utf-8"))
WINDOWS: dict[str, str] = PROJECT["project"]["entry-points"]["contextui.windows"]
MOST_LINES, MOST_LINES_OF_A_PART = 140, 210


def run(*command: str, cwd: Path, path: Path = ROOT) -> str:
    done = forkserver.run(
        [sys.executable, "-P", *command],
        cwd=cwd,
        env={
            **os.environ,
            "PYTHONPATH": f"{path}{os.pathsep}{ROOT}",
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return str(done.stdout)


@pytest.mark.long
def test_their_own_tests_pass_without_an_installation() -> None:
    said = run("-m", "pytest", "-q", "-p", "no:cacheprovider", cwd=EXAMPLES)
    assert " passed" in said


def test_each_is_short() -> None:
    modules = {origin.partition(":")[0].rpartition(".")[2] for origin in WINDOWS.values()}
    for path in (EXAMPLES / "contextui_examples").glob("*.py"):
        count = len(path.read_text("utf-8").splitlines())
        most = MOST_LINES if path.stem in modules else MOST_LINES_OF_A_PART
        assert count <= most, f"{path.name} has {count} lines"


def test_the_readme_links_to_what_exists() -> None:
    text = (EXAMPLES / "README.md").read_text("utf-8")
    targets = [part.partition(")")[0] for part in text.split("](")[1:]]
    assert [one for one in targets if not (EXAMPLES / one).exists()] == []
    for name in WINDOWS:
        assert f"[{name}]" in text


OPENED: dict[str, tuple[dict[str, Any], str]] = {
    "kanban": ({"cards": ["Paint the door"]}, "Paint the door"),
    "sqlite": ({"path": "a.db"}, "CREATE TABLE people"),
    "test_runner": ({}, "No tests have run yet."),
    "web_page": ({}, "No page yet"),
    "chart": ({"title": "load"}, "no points yet"),
}


def test_each_opens_in_the_app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLES))
    assert sorted(OPENED) == sorted(WINDOWS)
    places = (WINDOWS[name].partition(":") for name in OPENED)
    classes: list[type[Window]] = [getattr(import_module(place), cls) for place, _, cls in places]
    (tmp_path / "work").mkdir()
    with closing(sqlite3.connect(tmp_path / "work" / "a.db")) as link:
        link.execute("CREATE TABLE people (name)")

    async def go() -> None:
        desk = desk_in(tmp_path, windows=classes)
        windows = desk.session.windows
        async with running(desk) as pilot:
            for name, (args, text) in OPENED.items():
                await asyncio.to_thread(windows.open, name, **args)
                await until(pilot, partial(shown, pilot, text))
                assert not shown(pilot, "could not be drawn"), name
                if name != "chart":
                    await asyncio.to_thread(windows.close, f"{name}_1")
            for value in (1.0, 5.0, 2.0):
                await windows.act("chart_1", "add", {"value": value})
            await until(pilot, lambda: shown(pilot, "⠀"))

    asyncio.run(go())
