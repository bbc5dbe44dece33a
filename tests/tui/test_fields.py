"""What is typed into the fields of dialogs and panes is drawn."""

import asyncio
from pathlib import Path
from typing import Any

from textual.pilot import Pilot
from textual.widgets import Input

from contextui.config.sources import Loaded, load_settings
from contextui.tui.app import ContextUIApp
from contextui.tui.app_session import AppSession
from contextui.tui.desktop.form import Field
from contextui.tui.desktop.menu import MenuScreen
from contextui.tui.desktop.rowlist import FilterInput
from contextui.tui.dialogs.command import CommandField
from contextui.tui.dialogs.config import ConfigScreen
from contextui.tui.dialogs.model import LoginScreen, ModelScreen, ServerScreen
from contextui.tui.dialogs.sessions import SessionsScreen
from contextui.words import Words
from tests.tui.change import question as change_question
from tests.tui.running import lines, running, say, until
from tests.tui.sharing import SharedApp
from tests.tui.test_approval import ask, host_of
from tests.tui.test_command_dialog import question as command
from tests.tui.test_model_sheet import connected
from tests.tui.test_switch import app_of


async def types(pilot: "Pilot[Any]", drawn: str = "qz") -> None:
    """Type into the focused field, and wait until the letters stand in its own cells."""
    field = pilot.app.focused
    assert field is not None
    if isinstance(field, Input):
        field.value = ""
    await pilot.press(*"qz")

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


def configured(folder: Path) -> AppSession:
    """A session with settings and models."""
    desk = connected(folder, {})
    desk.load_settings = lambda: settings_in(folder)
    return desk


def settings_in(folder: Path) -> Loaded:
    """The settings of a folder."""
    return load_settings({}, {}, folder / "home", folder / "work")


def test_what_is_typed_is_drawn_in_sheets_panes_and_windows(tmp_path: Path) -> None:
    async def look() -> None:
        desk = configured(tmp_path)
        async with running(desk, (80, 24)) as pilot:
            await say(pilot, "Hello")  # a session that can be listed
            await type_in_sheets(pilot, app_of(pilot))
            app_of(pilot).push_screen(ServerScreen(Words("en"), settings_in(tmp_path)))
            await screen_of(pilot, ServerScreen)
            await types(pilot)
            await pilot.press("escape")
            await type_in_panes(pilot, desk)

    asyncio.run(look())


async def type_in_sheets(pilot: "Pilot[Any]", app: ContextUIApp) -> None:
    run = app.main.run_command
    run("/sessions")
    sessions = await screen_of(pilot, SessionsScreen)
    await until(pilot, lambda: sessions.is_read and sessions._list.place is not None)
    await pilot.press("slash")
    await focus_in(pilot, Input)
    await types(pilot)
    await pilot.press("escape", "escape")

    run("/config")
    await screen_of(pilot, ConfigScreen)
    await pilot.press("down", "enter")  # the model
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
    run("/login anthropic")
    await screen_of(pilot, LoginScreen)
    await types(pilot, "••")
    await pilot.press("escape")


async def type_in_panes(pilot: "Pilot[Any]", desk: AppSession) -> None:
    for name in ("files", "todo"):
        desk.session.windows.open(name)
    await pilot.press("ctrl+g", "i", "slash")
    await focus_in(pilot, FilterInput)
    await types(pilot)
    await pilot.press("escape", "ctrl+g", "1", "slash")
    await focus_in(pilot, FilterInput)
    await types(pilot)
    await pilot.press("escape", "ctrl+g", "2", "a")
    await screen_of(pilot, MenuScreen)
    await pilot.press("enter")
    await focus_in(pilot, Field)
    await types(pilot)


def test_the_reason_of_a_refusal_and_an_edited_command_are_drawn(dialogs: SharedApp) -> None:
    async def look(pilot: "Pilot[Any]") -> None:
        host = host_of(pilot)
        change = change_question(["one"], ["two"])
        for one, key in ((change, "r"), (command("pytest -q"), "r"), (command("pytest -q"), "e")):
            await ask(pilot, host, one)
            await pilot.press(key)
            await focus_in(pilot, Input if key == "r" else CommandField)
            await types(pilot)

    dialogs.run(look, (80, 24))
