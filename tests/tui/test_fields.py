"""What is typed into the fields of dialogs and panes is drawn."""

import asyncio
from pathlib import Path
from typing import Any

from textual.command import CommandPalette
from textual.pilot import Pilot
from textual.widgets import Input

from contextui.config.sources import Loaded, load_settings
from contextui.tui.desktop.form import Field
from contextui.tui.desktop.menu import MenuScreen
from contextui.tui.desktop.rowlist import FilterInput
from contextui.tui.dialogs.command import CommandField
from contextui.tui.dialogs.config import ConfigScreen
from contextui.tui.dialogs.model import LoginScreen, ModelScreen, ServerScreen
from contextui.tui.dialogs.sessions import SessionsScreen
from contextui.tui.inspector.item_page import Filter
from contextui.tui.link import Desk
from tests.tui.change import hosting
from tests.tui.change import question as change
from tests.tui.running import lines, running, say, until
from tests.tui.test_approval import ask
from tests.tui.test_command_dialog import question as command
from tests.tui.test_model_sheet import connected
from tests.tui.test_switch import app_of

NARROW, NORMAL = (80, 24), (120, 40)


async def types(pilot: "Pilot[Any]", drawn: str = "quo") -> None:
    """Type into the focused field, and wait until the letters stand in its own cells."""
    field = pilot.app.focused
    assert field is not None
    if isinstance(field, Input):
        field.value = ""
    await pilot.press(*"quo")

    def is_drawn() -> bool:
        across, down, width, height = field.region
        rows = lines(pilot)[down : down + height]
        return any(drawn in row[across : across + width] for row in rows)

    await until(pilot, is_drawn)


async def screen_of(pilot: "Pilot[Any]", kind: type[Any]) -> Any:
    """Wait until a dialog is open."""
    await until(pilot, lambda: isinstance(pilot.app.screen, kind))
    await pilot.pause()
    return pilot.app.screen


async def focus_in(pilot: "Pilot[Any]", kind: type[Any]) -> None:
    """Wait until a field has the focus."""
    await until(pilot, lambda: isinstance(pilot.app.focused, kind))


def configured(folder: Path) -> Desk:
    """A session with settings and models."""
    desk = connected(folder, {})
    desk.load_settings = lambda: settings_in(folder)
    return desk


def settings_in(folder: Path) -> Loaded:
    """The settings of a folder."""
    return load_settings({}, {}, folder / "home", folder / "work")


def test_what_is_typed_is_drawn_in_sheets_and_dialogs(tmp_path: Path) -> None:
    async def look() -> None:
        desk = configured(tmp_path)
        async with running(desk, NARROW) as pilot:
            app = app_of(pilot)
            run = app.main.run_command
            await say(pilot, "Hello")
            run("/sessions")
            sessions = await screen_of(pilot, SessionsScreen)
            await until(pilot, lambda: sessions.is_read and sessions._list.place is not None)
            await pilot.press("r")
            await focus_in(pilot, Input)
            await types(pilot)
            await pilot.press("escape", "slash")
            await focus_in(pilot, Input)
            await types(pilot)
            await pilot.press("escape", "escape")

            run("/config")
            await screen_of(pilot, ConfigScreen)
            await pilot.press("slash")
            await focus_in(pilot, Input)
            await types(pilot)
            await pilot.press("escape", "down", "enter")  # the model
            await focus_in(pilot, Input)
            await types(pilot)
            await pilot.press("escape", "escape")
            await until(pilot, lambda: app.screen is app.main)

            run("/model")
            models = await screen_of(pilot, ModelScreen)
            await pilot.press("slash")
            await focus_in(pilot, Input)
            await types(pilot)
            await pilot.press("escape", "escape")
            if app.screen is models:
                await pilot.press("escape")
            app.push_screen(ServerScreen(app.words, settings_in(tmp_path)))
            await screen_of(pilot, ServerScreen)
            await types(pilot)
            await pilot.press("escape")
            run("/login anthropic")
            await screen_of(pilot, LoginScreen)
            await types(pilot, "•••")
            await pilot.press("escape")

    asyncio.run(look())


def test_what_is_typed_is_drawn_in_panes_and_windows(tmp_path: Path) -> None:
    async def look() -> None:
        desk = configured(tmp_path)
        async with running(desk, NORMAL) as pilot:
            run = app_of(pilot).main.run_command
            await say(pilot, "Hello")
            await pilot.press("ctrl+p")
            await screen_of(pilot, CommandPalette)
            await types(pilot)
            await pilot.press("escape", "ctrl+g", "i", "slash")
            await focus_in(pilot, Filter)
            await types(pilot)
            await pilot.press("escape")

            run("/open files")
            await until(pilot, lambda: desk.session.windows.get("files_1"))
            await pilot.press("ctrl+g", "1", "slash")
            await focus_in(pilot, FilterInput)
            await types(pilot)
            await pilot.press("escape")

            run("/open todo")
            await until(pilot, lambda: desk.session.windows.get("todo_1"))
            await pilot.press("ctrl+g", "2", "a")
            await screen_of(pilot, MenuScreen)
            await pilot.press("enter")
            await focus_in(pilot, Field)
            await types(pilot)

    asyncio.run(look())


def test_the_reason_of_a_refusal_and_an_edited_command_are_drawn() -> None:
    async def look() -> None:
        for one in (change(["one"], ["two"]), command("pytest -q")):
            async with hosting(NARROW) as (pilot, host):
                await ask(pilot, host, one)
                await pilot.press("r")
                await focus_in(pilot, Input)
                await types(pilot)
        async with hosting(NARROW) as (pilot, host):
            await ask(pilot, host, command("pytest -q"))
            await pilot.press("e")
            await focus_in(pilot, CommandField)
            await types(pilot)

    asyncio.run(look())
