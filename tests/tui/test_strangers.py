"""Widgets of strangers that fail: their window goes on without them, and so does the app."""

from functools import partial
from pathlib import Path

import pytest
from textual.pilot import Pilot

from contextui.tui.desktop.frame import WindowFrame
from contextui.tui.inspector.pane import Inspector
from tests.tui.desktop.own_widgets import WAYS, FailsWithin, window_with
from tests.tui.running import app_of, desk_in, desk_of, running, shown, until
from tests.tui.terminal import Terminal

QUICK = {"in a handler of a message", "in a worker", "when drawn"}
OWN = "tests.tui.desktop.own_widgets:FailsWithin"


@pytest.mark.parametrize(
    "ways",
    [sorted(QUICK), pytest.param(sorted(WAYS - QUICK), marks=pytest.mark.long)],
    ids=["quick", "others"],
)
async def test_whatever_fails_within_the_app_lives(
    tmp_path: Path, ways: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = desk_in(tmp_path, windows=[window_with(OWN)])
    async with running(desk) as pilot:
        for number, way in enumerate(ways, 1):
            monkeypatch.setattr(FailsWithin, "way", way)
            window = desk.session.windows.open("own")
            await until(pilot, lambda: pilot.app.screen.query("Child"))
            await pilot.press("ctrl+g", "1")
            await until(pilot, lambda: isinstance(pilot.app.focused, WindowFrame))
            pilot.app.screen.query_one("Child").focus()
            await pilot.press("space")
            await until(pilot, lambda: pilot.app.screen.query(".trouble"))
            await until(pilot, partial(shown, pilot, f"could not be drawn: {wrong(way)}"))
            assert shown(pilot, "0 in words")
            await until(pilot, lambda: isinstance(pilot.app.focused, WindowFrame))
            assert not shown(pilot, "a child")
            logged = f"own_{number} could not be drawn: {wrong(way)}"
            await until(pilot, partial(log_shows, pilot, logged))
            if way != ways[-1]:
                desk.session.windows.close(window.id)
                await until(pilot, lambda: not pilot.app.screen.query(WindowFrame))
        await goes_on(pilot, f"own_{len(ways)}")


def wrong(way: str) -> str:
    return f"ValueError: not {way}"


STUBBORN = """
import asyncio
from contextui import Window
from textual.widgets import Static

class Stubborn(Static, can_focus=True):
    def __init__(self, window):
        super().__init__("never gives up")

    async def on_key(self):
        await asyncio.Event().wait()

    async def on_unmount(self):
        while True:
            try:
                await asyncio.sleep(3600)
            except asyncio.CancelledError:
                pass

class StubbornWindow(Window):
    name, widget = "stubborn", "stubborn:Stubborn"

    def content(self, lod):
        return "stubborn"
"""


@pytest.mark.long
@pytest.mark.parametrize("keys", ["\x11", "\x071\rx\x11"], ids=["unmount", "key"])
def test_what_does_not_stop_when_asked_ends_with_the_process(tmp_path: Path, keys: str) -> None:
    work, library = tmp_path / "work", tmp_path / "library"
    work.mkdir()
    library.mkdir()
    (library / "stubborn.py").write_text(STUBBORN)
    window = str(library / "stubborn.py")
    with Terminal(["--window", window], work, PYTHONPATH=str(library)) as terminal:
        terminal.wait_for(terminal.is_ready)
        terminal.type("/open stubborn\r")
        terminal.wait_for(lambda: terminal.shows("never gives up"))
        terminal.type(keys)
        assert terminal.end() == 0
        assert b"Stopped a task that did not exit in time." in terminal.written
        assert terminal.now() == terminal.before


async def goes_on(pilot: "Pilot[int]", window_id: str) -> None:
    """That keys, windows and the conversation work as before."""
    app = app_of(pilot)
    assert app.return_code is None
    await desk_of(pilot).session.windows.act(window_id, "up")
    await until(pilot, lambda: shown(pilot, "1 in words"))
    await pilot.press("ctrl+g", "p", "h", "i")
    assert app.main.prompt.text == "hi"


def log_shows(pilot: "Pilot[int]", text: str) -> bool:
    log = pilot.app.screen.query_one(Inspector).query_one("LogPage")
    return any(text in entry.text for entry in log._log)  # type: ignore[attr-defined]
