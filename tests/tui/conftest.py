"""Run async tests, those with a pilot in the app of their module; each has its own home folder."""

import asyncio
import inspect
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from tests.tui.change import Host, hosting
from tests.tui.sharing import SharedApp


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "own-home"
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("CONTEXTUI_HOME", str(home / ".contextui"))
    return home


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The workspace of the program in a terminal."""
    work = tmp_path / "work"
    work.mkdir()
    return work


@pytest.fixture(scope="module")
def dialogs() -> Iterator[SharedApp]:
    """An app that only asks, for all tests of a module."""

    @asynccontextmanager
    async def start() -> "AsyncIterator[Pilot[int]]":
        async with hosting() as (pilot, _):
            yield pilot

    async def tidy(pilot: "Pilot[int]") -> None:
        assert isinstance(pilot.app, Host)
        pilot.app.decisions.clear()

    app = SharedApp(start, tidy)
    yield app
    app.close()


@pytest.fixture
def shared(dialogs: SharedApp) -> SharedApp:
    """The app of tests with a pilot; other modules have others."""
    return dialogs


@pytest.fixture
def size() -> tuple[int, int]:
    return (120, 40)


@pytest.fixture
def pilot(shared: SharedApp, size: tuple[int, int]) -> SharedApp:
    """The shared app, in which the test runs; it gives the test a pilot."""
    return shared


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run an async test: in the shared app if it has a pilot."""
    test = pyfuncitem.obj
    if not inspect.iscoroutinefunction(test):
        return None
    values: dict[str, Any] = pyfuncitem.funcargs
    given = {name: values[name] for name in inspect.signature(test).parameters}
    if "pilot" in given:
        app: SharedApp = given["pilot"]
        app.run(lambda pilot: test(**{**given, "pilot": pilot}), values["size"])
    else:
        asyncio.run(test(**given))
    return True
