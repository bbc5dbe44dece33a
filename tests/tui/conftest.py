"""No test of the screen touches the home of the person who runs it; dialogs share an app."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

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
