"""Widgets of strangers that fail: their window goes on without them, and so does the app."""

import asyncio
from pathlib import Path

import pytest
from textual.pilot import Pilot

from contextui.tui.app import ContextUIApp
from contextui.tui.desktop.frame import WindowFrame
from contextui.tui.inspector.pane import Inspector
from tests.tui.desktop.own_widgets import WAYS, FailsWithin, window_with
from tests.tui.running import desk_in, running, shown, until

QUICK = {"in a handler of a message", "in a worker", "when drawn"}
OWN = "tests.tui.desktop.own_widgets:FailsWithin"


@pytest.mark.parametrize(
    "way",
    [*sorted(QUICK), *(pytest.param(way, marks=pytest.mark.long) for way in sorted(WAYS - QUICK))],
)
def test_whatever_fails_within_the_app_lives(
    tmp_path: Path, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FailsWithin, "way", way)

    async def go() -> None:
        desk = desk_in(tmp_path, windows=[window_with(OWN)])
        desk.session.windows.open("own")
        async with running(desk) as pilot:
            await until(pilot, lambda: shown(pilot, "a child"))
            await pilot.press("ctrl+g", "1")
            await until(pilot, lambda: isinstance(pilot.app.focused, WindowFrame))
            pilot.app.screen.query_one("Child").focus()
            await pilot.press("f")
            await until(pilot, lambda: shown(pilot, "0 in words"))
            await until(
                pilot, lambda: shown(pilot, f"own could not be drawn: ValueError: not {way}")
            )
            await until(pilot, lambda: isinstance(pilot.app.focused, WindowFrame))
            await goes_on(pilot)
            assert not shown(pilot, "a child")
            assert log_tells(pilot, f"own_1 could not be drawn: ValueError: not {way}")

    asyncio.run(go())


async def goes_on(pilot: "Pilot[int]") -> None:
    """That keys, windows and the conversation work as before."""
    app = pilot.app
    assert isinstance(app, ContextUIApp)
    assert app.desk is not None
    assert app.return_code is None
    await app.desk.session.windows.act("own_1", "up")
    await until(pilot, lambda: shown(pilot, "1 in words"))
    await pilot.press("ctrl+g", "p", "h", "i")
    assert app.main.prompt.text == "hi"


def log_tells(pilot: "Pilot[int]", text: str) -> bool:
    told = pilot.app.screen.query_one(Inspector).query_one("LogPage")
    return any(text in entry.text for entry in told._told)  # type: ignore[attr-defined]
